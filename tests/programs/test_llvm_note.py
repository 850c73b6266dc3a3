"""The small language of the LLVM note: what its program prints is what both notes show."""

from __future__ import annotations

import re

import pytest

from tests.programs import printed

TOOL = "llvmlite"
NOTES = ("compiler/llvm", "compiler/llvm.en")


def row(function: str, stage: str) -> list[int]:
    """The numbers of one stage of one function in the output that the notes show."""
    _, block = printed.by(TOOL, NOTES[1])
    part = block[block.index(f"\n{function} ") :]
    line = re.search(rf"^  {re.escape(stage)} {{2,}}(.*)$", part, re.M)
    assert line is not None
    return [int(number) for number in line[1].split()]


@pytest.mark.parametrize(
    ("function", "stage", "column", "number", "said"),
    [
        ("root", "as emitted", slice(3, 5), 14, "14, then 0"),
        ("root", "sroa", slice(3, 5), 0, "14, then 0"),
        ("root", "sroa", slice(5, 6), 3, "| 3 |"),
        ("root", "O2", slice(0, 1), 1, "blocks left from a loop of 20 iterations | 1 |"),
        ("sum", "O2", slice(8, 9), 0, "vector instructions | 0 |"),
        ("sum", "O2, may reassociate", slice(8, 9), 21, "reordered: vector instructions | 21 |"),
        ("scale", "O2", slice(1, 2), 153, "instructions | 153 |"),
        ("scale", "O2, arrays apart", slice(1, 2), 80, "overlap: instructions | 80 |"),
        ("scale", "O2", slice(7, 8), 1, "1, before the loop"),
        ("scale", "O2, may reassociate", slice(7, 8), 6, "6, inside the loops"),
    ],
)
def test_the_table_is_what_the_program_printed(
    function: str, stage: str, column: slice, number: int, said: str
) -> None:
    assert sum(row(function, stage)[column]) == number
    assert said in printed.text(NOTES[1])
