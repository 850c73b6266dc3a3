"""The NCCL notes: variables against the list from the source, choices against NCCL's own log."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tools.figures.files import load_program

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/ccl/nccl"
PARAMETERS = json.loads((FOLDER / "params.json").read_text(encoding="utf-8"))
VARIABLES: dict[str, dict[str, Any]] = PARAMETERS["variables"]
ROWS = yaml.safe_load((ROOT / "docs/data/facts/nccl-env.yml").read_text(encoding="utf-8"))["rows"]
choose = load_program("ccl/nccl/code/choose.py")
NO_VARIABLES = {
    "NCCL_HOME",  # of the shell
    "NCCL_TIMEOUT",  # shown as one that does not exist
    "NCCL_NCCL_ALLOC_P2P_NET_LL_BUFFERS",  # what old versions asked for
    "NCCL_LL_THRESHOLD",  # these are gone
    "NCCL_TREE_THRESHOLD",
    "NCCL_RINGS",
    "NCCL_SHM_USE_CUDA_MEMCPY",
}


@pytest.mark.parametrize("row", ROWS.values(), ids=list(ROWS))
def test_variable_is_in_the_source(row: dict[str, Any]) -> None:
    known, cells = VARIABLES[row["title"]], row["cells"]
    path, line = cells["where"]["value"].rsplit(":", 1)
    assert f"src/{path}#L{line}" in known["where"]
    assert known["first"].rsplit("-", 1)[0] == f"v{cells['first']['value']}"


@pytest.mark.parametrize("row", ROWS.values(), ids=list(ROWS))
def test_default_that_is_a_plain_number(row: dict[str, Any]) -> None:
    default = VARIABLES[row["title"]]["default"] or ""
    if re.fullmatch(r"\d+", default):
        assert row["cells"]["default"]["value"] == default


@pytest.mark.parametrize("name", ["tuning", "tuning.en", "internals", "internals.en"])
def test_names_in_a_note_exist(name: str) -> None:
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\bNCCL_[A-Z0-9_]+\b", text))
    assert named <= VARIABLES.keys() | NO_VARIABLES
    assert not NO_VARIABLES & VARIABLES.keys()


@pytest.mark.parametrize("name", ["one_host", "two_hosts", "four_hosts"])
def test_the_model_chooses_what_nccl_chose(name: str) -> None:
    log = (FOLDER / f"measured/captures/{name}.txt").read_text(encoding="utf-8")
    cells, form = choose.table(log), choose.shape(log)
    chosen = re.findall(r"AllReduce: (\d+) Bytes -> Algo (\w+) proto (\w+)", log)
    assert len(chosen) == (2 if name == "four_hosts" else 3)
    for size, algorithm, protocol in chosen:
        best = min(cells, key=lambda cell: choose.microseconds(cell, int(size), *form))
        assert (best[0].upper(), best[1].upper()) == (algorithm, protocol), size


def test_choices_over_a_link() -> None:
    """The table of the tuning note, and NCCL's own model of two GPUs, against the log."""
    log = (FOLDER / "measured/captures/nvlink_two.txt").read_text(encoding="utf-8")
    plain, *others = log.split("# the same with ")
    cells, form = choose.table(plain), choose.shape(plain)
    chosen = re.findall(r"AllReduce: (\d+) Bytes -> Algo (\w+) proto (\w+)", plain)
    assert len(chosen) == 5
    for size, algorithm, protocol in chosen:
        best = min(cells, key=lambda cell: choose.microseconds(cell, int(size), *form))
        assert (best[0].upper(), best[1].upper()) == (algorithm, protocol), size
    rows = (FOLDER / "tuning.en.md").read_text(encoding="utf-8").splitlines()
    for part in (plain, *others):
        setting = (
            "| nothing |" if part is plain else f"{part.partition(': choices')[0].split()[-1]}` |"
        )
        for size in (1024, 1 << 20):
            line = rf"AllReduce: {size} Bytes -> Algo (\w+) proto (\w+) channel.*\.\.(\d+)"
            for algorithm, protocol, last in re.findall(line, part):
                row = next(row for row in rows if setting in row)
                assert f"{algorithm} {protocol}, {int(last) + 1}" in row, (setting, size)
