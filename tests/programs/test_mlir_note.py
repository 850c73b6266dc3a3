"""The lowering of the MLIR note: what its program prints is what both notes show."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tools.figures.files import ROOT

PROGRAM = "docs/compiler/code/mlir_steps.py"
SHOWN = re.compile(r"```text title=\"printed by MLIR ([^\"]+)\"\n(.*?)\n```", re.S)
ROW = re.compile(r"^\| (?P<step>[^|]+) \| (?P<number>\d+) \|", re.M)


def text(note: str) -> str:
    return (ROOT / f"docs/compiler/{note}.md").read_text("utf-8")


def shown(note: str) -> tuple[str, str]:
    found = SHOWN.search(text(note))
    assert found is not None
    return found[1], found[2]


def test_both_languages_show_one_output() -> None:
    assert shown("mlir") == shown("mlir.en")


@pytest.mark.parametrize("note", ["mlir", "mlir.en"])
def test_the_table_has_the_numbers_of_the_output(note: str) -> None:
    _, printed = shown(note)
    cpu = printed.split("for a GPU")[0]
    counted = re.findall(r"^  \w+ +(\d+):", cpu, re.M)
    assert [row["number"] for row in ROW.finditer(text(note))] == counted


def test_the_program_prints_what_the_notes_show() -> None:
    done = subprocess.run(
        [sys.executable, PROGRAM], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode == 77:
        assert done.stderr.startswith("skipped: no ")
        pytest.skip("no tools of MLIR here")
    version, printed = shown("mlir.en")
    if not done.stdout.startswith(f"MLIR {version}\n"):
        pytest.skip("another version of MLIR")
    assert done.stdout.rstrip("\n") == printed
