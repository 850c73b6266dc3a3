"""What tests of programs share: notes, records, programs that run here, a C compiler."""

from __future__ import annotations

import importlib.metadata
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools.figures.files import ROOT, load_program, load_record

LANGUAGES = pytest.mark.parametrize("language", ["", ".en"], ids=["zh", "en"])
DISTRIBUTIONS = {"PyTorch": "torch", "Triton": "triton"}
"""Tools whose version their programs do not print."""


def load(folder: str, *names: str) -> list[Any]:
    """Load programs of a folder below `docs/`."""
    return [load_program(f"{folder}/{name}.py") for name in names]


def text(note: str) -> str:
    """Return a note's source; `note` is its file below `docs/`, without `.md`."""
    return (ROOT / f"docs/{note}.md").read_text("utf-8")


def blocks(note: str) -> list[tuple[str, str]]:
    """Return the titles and the texts of its blocks of output."""
    return re.findall(r'```text title="([^"]*)"\n(.*?)\n```', text(note), re.S)


def by(tool: str, note: str) -> tuple[str, str]:
    """Return the version of a tool that a note names, and what its program printed with it."""
    start = f"printed by {tool} "
    ((title, block),) = [one for one in blocks(note) if one[0].startswith(start)]
    return title.removeprefix(start), block


def record(file: str) -> dict[str, list[dict[str, Any]]]:
    """Return the points of each result of a record; `file` as of a note."""
    return load_record(f"{file}.json")


def at(points: list[dict[str, Any]], **where: object) -> list[Any]:
    """Return the values of the points at a place."""
    return [
        point["value"]
        for point in points
        if all(str(point[axis]) == str(there) for axis, there in where.items())
    ]


def said(*command: str | Path, **options: Any) -> str:
    """Run a command from the repository's root; it must end well. Return what it printed."""
    options.setdefault("cwd", ROOT)
    run = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert run.returncode == 0, run.stderr
    return str(run.stdout)


def by_python(*words: str | Path, **options: Any) -> str:
    """Run a program with this Python, as `said` does."""
    return said(sys.executable, *words, **options)


def compiled(folder: Path, source: Path, *options: str) -> Path:
    """Compile a program in C into a folder, without a warning; skip where there is no compiler."""
    if shutil.which("gcc") is None:
        pytest.skip("no C compiler on this machine")
    said("gcc", "-Wall", "-Wextra", "-Werror", *options, "-o", folder / "program", source, "-lm")
    return folder / "program"


def check(program: str, tool: str, note: str) -> None:
    """Run a program of a tool and compare; skip without the tool or with another version.

    A program that cannot run here ends with 77 and says so.
    """
    done = subprocess.run(
        [sys.executable, program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode == 77:
        assert done.stderr.startswith("skipped: ")
        pytest.skip(done.stderr.strip().splitlines()[0])
    version, output = by(tool, note)
    assert done.returncode == 0, done.stderr
    if name := DISTRIBUTIONS.get(tool):
        here = importlib.metadata.version(name).partition("+")[0]
    else:
        name, here = done.stdout.split()[:2]
        assert name == tool
    if here.rstrip(",") != version:
        pytest.skip(f"another version of {tool}")
    assert done.stdout.rstrip("\n") == output
