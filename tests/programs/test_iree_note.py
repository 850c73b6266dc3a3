"""The phases of the IREE note: what its program prints is what both notes show."""

from __future__ import annotations

import re

import pytest

from tests.programs import printed

TOOL = "IREE"
NOTES = ("compiler/iree-tpumlir", "compiler/iree-tpumlir.en")


@pytest.mark.parametrize("note", NOTES)
def test_the_first_table_has_the_numbers_of_the_output(note: str) -> None:
    """Memory, concurrency, imports and sizes, in the order of the table."""
    block = printed.by(TOOL, note)[1]
    patterns = (
        r"transient: (\d+)", r"external: (\d+)", r"at the same time: (\d+)",
        r"imports (\d+)", r"bytecode: (\d+)", r"llvm-cpu\S+ \S+ +(\d+)", r"x86_64\.so (\d+)",
    )  # fmt: skip
    wanted = [re.findall(pattern, block)[0] for pattern in patterns]
    table = printed.text(note).split("| ---: |\n", 1)[1].split("\n\n")[0]
    rows = [line.rsplit("|", 2)[1] for line in table.splitlines()]
    assert re.findall(r"\d+", " ".join(rows[1:])) == wanted
    dispatches = re.findall(r"(\d+) dispatches", block)
    assert re.findall(r"\d+", rows[0])[1:] == dispatches


@pytest.mark.parametrize("note", NOTES)
def test_the_table_of_files_has_the_sizes_of_the_output(note: str) -> None:
    block = printed.by(TOOL, note)[1]
    files = re.findall(r"^  [\w, -]+? +(\d+)  module\.fb", block, re.M)
    rows = re.findall(r"^\| `(?:llvm|vmvx|vulkan|rocm)[^|]*\| (\d+) \|", printed.text(note), re.M)
    assert rows == files
    assert len(files) == 4
