"""The partitioner in the XLA note: what its program prints is what both notes show."""

from __future__ import annotations

import re

import pytest

from tests.programs import printed

TOOL = "jax"
NOTES = ("compiler/xla", "compiler/xla.en")
ROW = re.compile(r"^\| [^|]+ \| (?P<inserted>\S+(?: \d+)?) \| (?P<arguments>\d+) \|$", re.M)
ENGLISH = {"无": "none", "全归约": "all-reduce", "全收集": "all-gather"}


@pytest.mark.parametrize("note", NOTES)
def test_the_table_has_the_rows_of_the_output(note: str) -> None:
    """Collectives and arguments of the ten cases, in the order of the program."""
    lines = printed.by(TOOL, note)[1].splitlines()[2:-1]
    wanted = [re.search(r" (\d+) +[\d.]+  (none|all-\w+ \d+)$", line) for line in lines]
    rows = []
    for row in ROW.finditer(printed.text(note)):
        kind, *size = row["inserted"].split()
        rows.append((row["arguments"], " ".join([ENGLISH.get(kind, kind), *size])))
    assert rows == [(found[1], found[2]) for found in wanted if found]
    assert len(rows) == len(lines)
