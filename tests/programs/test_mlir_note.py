"""The lowering of the MLIR note: what its program prints is what both notes show."""

from __future__ import annotations

import re

import pytest

from tests.programs import printed

PROGRAM = "docs/compiler/code/mlir_steps.py"
TOOL = "MLIR"
NOTES = ("compiler/mlir", "compiler/mlir.en")
ROW = re.compile(r"^\| (?P<step>[^|]+) \| (?P<number>\d+) \|", re.M)


def test_both_languages_show_one_output() -> None:
    assert printed.by(TOOL, NOTES[0]) == printed.by(TOOL, NOTES[1])


@pytest.mark.parametrize("note", NOTES)
def test_the_table_has_the_numbers_of_the_output(note: str) -> None:
    cpu = printed.by(TOOL, note)[1].split("for a GPU")[0]
    counted = re.findall(r"^  \w+ +(\d+):", cpu, re.M)
    assert [row["number"] for row in ROW.finditer(printed.text(note))] == counted


def test_the_program_prints_what_the_notes_show() -> None:
    printed.check(PROGRAM, TOOL, NOTES[1])
