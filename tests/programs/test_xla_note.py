"""The partitioner in the XLA note: what its program prints is what both notes show."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys

import pytest

from tools.figures.files import ROOT

PROGRAM = "docs/compiler/code/spmd.py"
SHOWN = re.compile(r"```text title=\"printed by jax ([^\"]+)\"\n(.*?)\n```", re.S)
ROW = re.compile(r"^\| [^|]+ \| (?P<inserted>\S+(?: \d+)?) \| (?P<arguments>\d+) \|$", re.M)
ENGLISH = {"无": "none", "全归约": "all-reduce", "全收集": "all-gather"}


def text(note: str) -> str:
    return (ROOT / f"docs/compiler/{note}.md").read_text("utf-8")


def shown(note: str) -> tuple[str, str]:
    found = SHOWN.search(text(note))
    assert found is not None
    return found[1], found[2]


def test_both_languages_show_one_output() -> None:
    assert shown("xla") == shown("xla.en")


@pytest.mark.parametrize("note", ["xla", "xla.en"])
def test_the_table_has_the_rows_of_the_output(note: str) -> None:
    """Collectives and arguments of the ten cases, in the order of the program."""
    _, printed = shown(note)
    lines = printed.splitlines()[2:-1]
    wanted = [re.search(r" (\d+) +[\d.]+  (none|all-\w+ \d+)$", line) for line in lines]
    rows = []
    for row in ROW.finditer(text(note)):
        kind, *size = row["inserted"].split()
        rows.append((row["arguments"], " ".join([ENGLISH.get(kind, kind), *size])))
    assert rows == [(found[1], found[2]) for found in wanted if found]
    assert len(rows) == len(lines)


def test_the_program_prints_what_the_notes_show() -> None:
    done = subprocess.run(
        [sys.executable, PROGRAM], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if importlib.util.find_spec("jax") is None:
        assert done.returncode == 77
        pytest.skip("no jax here")
    version, printed = shown("xla.en")
    if not done.stdout.startswith(f"jax {version},"):
        pytest.skip("another version of jax")
    assert done.stdout.rstrip("\n") == printed
