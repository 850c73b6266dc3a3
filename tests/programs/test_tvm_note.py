"""The schedules of the TVM note: counts of the program's output, times of the record."""

from __future__ import annotations

import json
import re

import pytest

from tests.programs import printed
from tools.figures.files import ROOT

RECORD = "docs/compiler/measured/tvm_schedule.json"
TOOL = "TVM"
NOTES = ("compiler/tvm", "compiler/tvm.en")
ROW = re.compile(r"^\| [^|]+ \| (\d+) \| (\d+)[^|\d]+(one|\d+)[^|]* \| [^|]+ \| [^|]+ \|$", re.M)
WIDTHS = {"scalar": "1", "256": "8", "512": "16"}


def counted() -> list[tuple[str, str, str]]:
    """Return each schedule's steps, its multiply-adds and their elements, as printed."""
    block = printed.by(TOOL, NOTES[1])[1]
    found = []
    for steps, *counts in re.findall(r"^  \w+ +(\d+) +(\d+) +(\d+) +(\d+)$", block, re.M):
        ((width, number),) = [
            (width, number)
            for width, number in zip(WIDTHS.values(), counts, strict=True)
            if number != "0"
        ]
        found.append((steps, number, width))
    return found


@pytest.mark.parametrize("note", NOTES)
def test_the_table_has_the_counts_of_the_output(note: str) -> None:
    rows = [
        (steps, number, width.replace("one", "1"))
        for steps, number, width in ROW.findall(printed.text(note))
    ]
    assert rows == counted()
    assert len(rows) == 5


@pytest.mark.parametrize("note", NOTES)
def test_wrong_results_are_those_of_the_output(note: str) -> None:
    block = printed.by(TOOL, note)[1]
    wrong = set(re.findall(r"(\d+) of 4096 results wrong", block))
    rows = re.findall(r"^\| [^|]+ \| \d+ [^|\d]+ \d+ \| (\d+) \|$", printed.text(note), re.M)
    assert set(rows) == wrong


def test_the_record_supports_what_the_notes_conclude() -> None:
    """Reordering brings most; tiles alone no more; sums in registers reach the library."""
    results = json.loads((ROOT / RECORD).read_text("utf-8"))["results"]
    speed = {(p["n"], p["schedule"]): p["value"] for p in results[0]["points"]}
    for side in (256, 512):
        assert speed[side, "reorder"] > 10
        assert speed[side, "tiles"] < speed[side, "reorder"]
        assert speed[side, "cache_write"] > speed[side, "numpy"]
