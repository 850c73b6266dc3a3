"""The lowering of the MLIR note: what its program prints is what both notes show."""

from __future__ import annotations

import re

import pytest

from tests.programs import printed

TOOL = "MLIR"
NOTES = ("compiler/mlir", "compiler/mlir.en")
ROW = re.compile(r"^\| (?P<step>[^|]+) \| (?P<number>\d+) \|", re.M)


@pytest.mark.parametrize("note", NOTES)
def test_the_table_has_the_numbers_of_the_output(note: str) -> None:
    cpu = printed.by(TOOL, note)[1].split("for a GPU")[0]
    counted = re.findall(r"^  \w+ +(\d+):", cpu, re.M)
    assert [row["number"] for row in ROW.finditer(printed.text(note))] == counted
