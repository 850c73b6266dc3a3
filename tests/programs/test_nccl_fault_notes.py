"""The notes on faults of NCCL quote transcripts word by word; the programs are those that ran."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/ccl/nccl"
QUOTE = re.compile(r'```text title="(measured/captures/[\w.-]+)[^"]*"\n(.*?)```', re.DOTALL)
NOTES = ["fault-tolerance.md", "fault-tolerance.en.md", "night-shift.md", "night-shift.en.md"]


@pytest.mark.parametrize("note", NOTES)
def test_quotes_are_in_the_transcripts(note: str) -> None:
    quotes = QUOTE.findall((FOLDER / note).read_text())
    assert quotes
    for file, quoted in quotes:
        recorded = (FOLDER / file).read_text().splitlines()
        places = [recorded.index(line) for line in quoted.splitlines()]
        assert places == sorted(places), (note, file)


def as_it_ran(name: str) -> bytes:
    """Return the program without what has changed since the run: how --help begins."""
    text = (FOLDER / "code" / name).read_bytes()
    if name == "kill_a_rank.h":
        text = text.replace(b'"usage: kill_a_rank ', b'"kill_a_rank ')
        text = text.replace(b'    "                   [--', b'    "            [--')
    return text


def test_programs_are_those_that_ran() -> None:
    for line in (FOLDER / "measured/captures/programs.sha256").read_text().splitlines():
        digest, name = line.split()
        assert hashlib.sha256(as_it_ran(name)).hexdigest() == digest, name


def test_last_survivor_of_each_cure_has_the_right_sum() -> None:
    for cure, sums in {
        "shrink-local": "4",
        "revoke-local": "4",
        "reinit-hosts": "3",
        "shrink-hosts": "3",
        "revoke-hosts": "3",
        "shrink-blocking-hosts": "3",
    }.items():
        text = (FOLDER / f"measured/captures/kill-{cure}.txt").read_text()
        assert f"sum {sums}" in text and "# exit 0" in text and "WRONG" not in text, cure
