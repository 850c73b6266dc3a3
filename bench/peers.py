"""The tools that others use for the same work: how each is run, and which pages it blames."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.timing import Run, run

_PAGE = re.compile(r"((?:defect|valid)-\d+)\.(?:md|html)")
_MKDOCS = re.compile(r"Doc file '([^']+)'")
BIN = Path(sys.executable).parent


@dataclass(frozen=True, slots=True)
class Peer:
    """A tool."""

    name: str
    command: Callable[[Path], list[str]]
    """The command for the folder that holds `mkdocs.yml`, `docs/` and a built `site/`."""
    blamed: Callable[[Run], set[str]]
    """The pages in which it reports something: names such as `defect-03`."""
    is_build: bool = False
    """It builds the site while it checks."""


def page_names(text: str) -> set[str]:
    """Return the names of planted pages in a text."""
    return set(_PAGE.findall(text))


def _ours(root: Path) -> list[str]:
    return [
        sys.executable,
        "-m",
        "hooks",
        "check",
        "--docs",
        str(root / "docs"),
        "--format",
        "json",
    ]


def _ours_blamed(done: Run) -> set[str]:
    return page_names(" ".join(row["file"] for row in json.loads(done.output or "[]")))


def _mkdocs(root: Path) -> list[str]:
    config, site = str(root / "mkdocs.yml"), str(root / "site")
    return [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", config, "-d", site]


def _mkdocs_blamed(done: Run) -> set[str]:
    lines = [line for line in done.errors.splitlines() if line.startswith(("WARNING", "ERROR"))]
    return {name for line in lines for name in page_names(" ".join(_MKDOCS.findall(line)))}


def _proofer(root: Path) -> list[str]:
    config, site = str(root / "proofer.yml"), str(root / "site-proofer")
    return [sys.executable, "-m", "mkdocs", "build", "-f", config, "-d", site]


def _proofer_blamed(done: Run) -> set[str]:
    lines = [line for line in done.errors.splitlines() if "htmlproofer: invalid" in line]
    return {name for line in lines for name in page_names(line.rpartition("[")[2])}


def _linkchecker(root: Path) -> list[str]:
    options = ["--no-status", "--no-robots", "-o", "csv", "--config", str(root / "linkchecker.rc")]
    return [str(BIN / "linkchecker"), *options, str(root / "site" / "index.html")]


def _linkchecker_blamed(done: Run) -> set[str]:
    lines = [line for line in done.output.splitlines() if not line.startswith("#")]
    rows = csv.DictReader(io.StringIO("\n".join(lines)), delimiter=";")
    bad = [row for row in rows if row.get("valid") == "False" or row.get("warningstring")]
    return {name for row in bad for name in page_names(row.get("parentname") or "")}


def _lychee(root: Path) -> list[str]:
    options = ["--offline", "--include-fragments", "--no-progress", "--format", "json"]
    site = root / "site"
    return [str(BIN / "lychee"), *options, "--root-dir", str(site), f"{site}/**/*.html"]


def _lychee_blamed(done: Run) -> set[str]:
    found = json.loads(done.output)
    rows = {**found.get("error_map", {}), **found.get("fail_map", {})}
    return {name for page, bad in rows.items() if bad for name in page_names(page)}


OURS = Peer("this handbook's check", _ours, _ours_blamed)
PEERS = (
    Peer("MkDocs, strict, every warning on", _mkdocs, _mkdocs_blamed, is_build=True),
    Peer("mkdocs-htmlproofer-plugin", _proofer, _proofer_blamed, is_build=True),
    Peer("LinkChecker", _linkchecker, _linkchecker_blamed),
    Peer("lychee", _lychee, _lychee_blamed),
)


def configure(root: Path) -> None:
    """Write the configurations that peers need beside `mkdocs.yml`."""
    text = (root / "mkdocs.yml").read_text(encoding="utf-8")
    plugin = (
        "plugins: [search, {htmlproofer: {validate_external_urls: false, raise_error: false, "
        "skip_downloads: true, warn_on_ignored_urls: false}}]\n"
    )
    text = re.sub(r"^plugins:.*\n", plugin, text, flags=re.MULTILINE)
    text = re.sub(r"^strict:.*\n", "", text, flags=re.MULTILINE)
    (root / "proofer.yml").write_text(text, encoding="utf-8")
    rc = "[filtering]\ncheckextern=0\n[AnchorCheck]\n"
    (root / "linkchecker.rc").write_text(rc, encoding="utf-8")


def measure(peer: Peer, root: Path) -> Run:
    """Run a peer on a tree."""
    return run(peer.command(root))
