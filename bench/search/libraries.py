"""MiniSearch and FlexSearch under Node, asked every query in one go."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.search.evaluation.engines import Recorded
from bench.search.evaluation.queries import Query

FOLDER = Path(__file__).parent / "node"
NAMES = ("minisearch", "flexsearch")
_TAG = re.compile(r"<[^>]*>")


class LibraryError(RuntimeError):
    """Node or a package is missing, or a library failed."""


def install(cache: Path) -> Path:
    """Install the packages into a folder below the cache, as package-lock.json says."""
    folder = cache / "libraries"
    lock = (FOLDER / "package-lock.json").read_text(encoding="utf-8")
    stamp = folder / "installed.json"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == lock:
        return folder
    if shutil.which("npm") is None:
        raise LibraryError("npm is not installed; the libraries are left out")
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(FOLDER / name, folder / name)
    run = subprocess.run(
        ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if run.returncode:
        raise LibraryError(f"npm ci failed: {run.stderr[-500:]}")
    stamp.write_text(lock, encoding="utf-8")
    return folder


def documents(index: dict[str, Any]) -> list[dict[str, str]]:
    """Return the sections of a stock index as plain text, with their languages."""
    return [
        {
            "id": entry["location"],
            "language": "en" if entry["location"].startswith("en/") else "zh",
            "title": _plain(entry["title"]),
            "text": _plain(entry["text"]),
        }
        for entry in index["docs"]
    ]


def _plain(text: str) -> str:
    return html.unescape(_TAG.sub(" ", text)).replace("\u200b", "")


def answers(
    library: str, cache: Path, index: dict[str, Any], queries: Sequence[Query]
) -> tuple[Recorded, dict[str, Any]]:
    """Ask a library every query.

    Returns the answers as an engine, and version, milliseconds to build and to answer, and
    megabytes of heap. Raises LibraryError.
    """
    folder = install(cache)
    given, taken = folder / f"{library}.in.json", folder / f"{library}.out.json"
    asked = [{"language": query.language, "text": query.text} for query in queries]
    given.write_text(
        json.dumps({"documents": documents(index), "queries": asked}), encoding="utf-8"
    )
    run = subprocess.run(
        [
            "node",
            "--expose-gc",
            "--max-old-space-size=6000",
            str(FOLDER / "answer.mjs"),
            library,
            str(given),
            str(taken),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if run.returncode:
        raise LibraryError(f"{library} failed: {run.stderr[-800:]}")
    result: dict[str, Any] = json.loads(taken.read_text(encoding="utf-8"))
    kept: dict[tuple[str, str], list[str]] = {
        (query.language, query.text): locations
        for query, locations in zip(queries, result.pop("answers"), strict=True)
    }
    return Recorded(kept), result
