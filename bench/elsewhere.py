"""What the check finds in large public trees of notes, at the commits that were judged by hand.

A tree is taken from a bare copy below `$BENCH_MIRROR` (`owner+name/repo`) where there is one, else
it is cloned from GitHub. Files that the copy lacks, such as large pictures, are made empty: that
they exist is all the check asks.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

from bench.timing import ROOT, record, run

_JUDGED = ROOT / "bench" / "judged.yml"
_READ = tuple(
    ".md .mdx .html .htm .css .scss .js .ts .mjs .jsx .tsx .vue .json .yml .yaml .toml .txt .xml"
    " .rst .py .cfg .ini .sh .cpp .hpp .h .c .java .hs .tex".split()
)


def main(options: list[str]) -> int:
    """Check every tree; `options` are not used."""
    judged = yaml.safe_load(_JUDGED.read_text(encoding="utf-8"))
    rows = []
    with tempfile.TemporaryDirectory(prefix="bench-trees-") as name:
        for tree in judged["trees"]:
            root = Path(name) / tree["repository"].replace("/", "+")
            _export(tree["repository"], tree["commit"], root)
            rows.append({**tree, **_findings((root / tree["docs"]).resolve())})
            found = ", ".join(f"{rule} {n}" for rule, n in rows[-1]["found"].items())
            print(f"{tree['repository']}: {rows[-1]['notes']} notes: {found}", flush=True)
    file = record("trees", [], {"judged": str(judged["day"]), "trees": rows})
    print(f"bench: {file.relative_to(ROOT)} written")
    return 0


def _git(folder: Path, *arguments: str) -> bytes:
    command = ["git", "--git-dir", str(folder), "-c", "core.quotepath=off", *arguments]
    return subprocess.run(command, check=True, capture_output=True).stdout


def _export(repository: str, commit: str, root: Path) -> None:
    """Write the files of a commit below `root`."""
    copy = Path(os.environ.get("BENCH_MIRROR", "")) / repository.replace("/", "+") / "repo"
    if not copy.is_dir():
        copy = root.with_suffix(".git")
        address = f"https://github.com/{repository}"
        subprocess.run(["git", "clone", "--quiet", "--bare", address, str(copy)], check=True)
    for line in _git(copy, "ls-tree", "-r", "-z", commit).decode().split("\0"):
        if not line:
            continue
        mark, path = line.split("\t", 1)
        mode, kind, blob = mark.split()
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            text = kind == "blob" and mode != "120000" and path.endswith(_READ)
            file.write_bytes(_git(copy, "cat-file", "blob", blob) if text else b"")
        except subprocess.CalledProcessError:
            file.write_bytes(b"")


def _findings(docs: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "hooks", "check", "--docs", str(docs), "--format", "json"]
    done = run(command, REPO_URL="", SITE_URL="")
    if done.status not in (0, 1):
        raise SystemExit(f"bench: the check broke down:\n{done.errors}")
    found = Counter(row["rule"] for row in json.loads(done.output or "[]"))
    notes = int(done.errors.split("check: ")[-1].split()[0])
    return {"notes": notes, "found": dict(sorted(found.items()))}
