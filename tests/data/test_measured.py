"""Measured records: read with places, refused when they contradict themselves, drawn in full."""

from __future__ import annotations

import copy
import datetime
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from hooks.data.facts import FactBase, Family
from hooks.data.measured_check import check_record
from hooks.data.options import BlockError
from hooks.data.wording import number
from hooks.pages import measured_table
from hooks.pages.frame import Stock

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = "int main() { return 0; }\n"
RECORD: dict[str, Any] = json.loads(Path(__file__).with_name("p2p.json").read_text("utf-8"))


def repository(folder: Path) -> Path:
    """Write one program, one family of facts and one record, measured and computed."""
    for name in ("docs/t/code", "docs/t/measured", "docs/t/simulated"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "docs/t/code/p2p.cu").write_text(PROGRAM, encoding="utf-8")
    text = write(folder, RECORD).read_text(encoding="utf-8")
    (folder / "docs/t/simulated/p2p.json").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return repository(tmp_path)


LANE = {"value": 12.5, "source": "s", "read": datetime.date(2026, 1, 2), "confidence": "A"}
FACTS = FactBase(
    {
        "nvlink": Family.model_validate(
            {
                **{"family": "nvlink", "title": "T", "columns": {"lane": {"title": "L"}}},
                "rows": {"h100": {"title": "H100", "cells": {"lane": LANE}}},
            }
        )
    }
)


def write(root: Path, record: object) -> Path:
    """Write the record of the repository."""
    path = root / "docs/t/measured/p2p.json"
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False), encoding="utf-8")
    return path


def changed(edits: dict[str, Any]) -> dict[str, Any]:
    """Return the record with other values at some paths; None drops the field."""
    record = copy.deepcopy(RECORD)
    for path, value in edits.items():
        *above, last = (int(step) if step.isdecimal() else step for step in path.split("/"))
        at: Any = record
        for step in above:
            at = at[step]
        if value is None:
            del at[last]
        else:
            at[last] = value
    return record


def test_a_good_record_passes(root: Path) -> None:
    assert check_record(root / "docs/t/measured/p2p.json", root, FACTS) == []


LANES = "docs/data/facts/nvlink.yml: h100, lanes"
# Edits, rule after `measurement-`, text on the line that the finding must name, part of the message
WRONG: list[tuple[dict[str, Any], str, str, str]] = [
    ({"date": None}, "field", "{", "'date' is missing"),
    ({"schema": 2}, "field", '"schema"', "'schema'"),
    ({"date": "2999-01-01"}, "field", '"date"', "in the future"),
    ({"date": "soon"}, "field", '"date"', "'date'"),
    ({"program/sha256": "abc"}, "field", '"sha256"', "'sha256' in 'program'"),
    ({"results/0/direction": "both"}, "field", '"direction": "both"', "'direction' in 'results'"),
    ({"results/0/points/1/dst": None}, "field", '"src": 1', "lacks dst"),
    ({"results/0/points/1/value": "200"}, "field", '"src": 1', "lacks value"),
    ({"results/0/spec": "gpu_un"}, "reference", '"spec": "gpu_un"', "'gpu_un'"),
    ({"summary/0/ratio_to/spec": "gpu"}, "reference", '"spec": "gpu"', "'gpu'"),
    ({"summary/0/result": "pair"}, "reference", '"result": "pair"', "'pair'"),
    (
        {"results/1/id": "pairs", "summary/1/result": "pairs"},
        *("reference", '"id": "pairs"', "two results"),
    ),
    (
        {"specification/1/value": 25},
        *("reference", '"value": 25', "12.5 in docs/data/facts/nvlink.yml"),
    ),
    ({"specification/1/source": LANES}, "reference", LANES, "there is no"),
    (
        {"summary/0/ratio_to/ratio": 0.98},
        *("ratio", '"ratio_to"', "ratio 0.98 is not 396 / 450 = 0.88"),
    ),
    ({"summary/0/direction": "bi"}, "ratio", '"ratio_to"', "compares direction bi with uni"),
    ({"summary/0/unit": "GiB/s"}, "ratio", '"ratio_to"', "compares unit GiB/s with GB/s"),
    ({"program/sha256": "0" * 64}, "stale", '"program"', "has changed since it was measured"),
    ({"program/path": "docs/t/code/gone.cu"}, "stale", '"program"', "is not in the repository"),
]


@pytest.mark.parametrize(("edits", "rule", "at", "said"), WRONG)
def test_what_is_wrong_is_found_at_its_line(
    edits: dict[str, Any], rule: str, at: str, said: str, root: Path
) -> None:
    path = write(root, changed(edits))
    found = [f for f in check_record(path, root, FACTS) if f.rule == f"measurement-{rule}"]
    assert [said in f.message for f in found] == [True], found
    assert found[0].file == "docs/t/measured/p2p.json"
    assert found[0].severity == ("warning" if rule == "stale" else "error")
    lines = path.read_text(encoding="utf-8").split("\n")
    line = lines[found[0].line - 1].strip()
    # An object in a list starts on a line of its own; what tells it apart is on the next.
    assert at in (lines[found[0].line] if line == "{" != at else line), found


def test_text_that_is_no_json(root: Path) -> None:
    path = root / "docs/t/measured/p2p.json"
    path.write_text('{\n "schema": 1,\n}\n', encoding="utf-8")
    found = check_record(path, root, FACTS)
    assert [f.rule for f in found] == ["measurement-field"]
    assert found[0].line in (2, 3)
    assert "not JSON" in found[0].message


def test_a_program_that_was_only_laid_out_anew_is_not_stale(root: Path) -> None:
    program = root / "docs/t/code/p2p.cu"
    program.write_text(PROGRAM.replace(" ", "  "), encoding="utf-8")
    same = hashlib.sha256(program.read_bytes()).hexdigest()
    path = write(root, changed({"program/same": [same]}))
    assert check_record(path, root, FACTS) == []


def test_a_changed_program_makes_the_record_stale(root: Path) -> None:
    path = root / "docs/t/measured/p2p.json"
    (root / "docs/t/code/p2p.cu").write_text(PROGRAM + "// faster\n", encoding="utf-8")
    assert [f.rule for f in check_record(path, root, FACTS)] == ["measurement-stale"]
    tree = drawn(root)
    assert words(tree, ".measured__stale") == [
        "The program has changed since; the figures belong to its former version: "
        "docs/t/code/p2p.cu"
    ]


# --------------------------------------------------------------------- drawing


def drawn(root: Path, more: str = "") -> LexborHTMLParser:
    """Parse the HTML of a block."""
    stock = Stock(FACTS, root / "docs", root)
    return LexborHTMLParser(
        measured_table.render(f"file: t/measured/p2p.json\n{more}", stock, "en", "en/t")
    )


def words(tree: LexborHTMLParser, selector: str) -> list[str]:
    """Texts of all matches, blanks collapsed."""
    return [" ".join(node.text().split()) for node in tree.css(selector)]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("view: heat", "no view 'heat'; did you mean 'heatmap'?"),
        ("view: points\nresults: [pair]", "no result 'pair'; did you mean 'pairs'?"),
        ("results: [pair]", "no result 'pair'"),
        ("results: pairs", "must be a list"),
        ("view: heatmap\nresults: [sizes]", "needs two axes; the result 'sizes' has bytes"),
        ("title: x", "no field of a measured block 'title'"),
    ],
)
def test_what_a_block_may_not_ask(more: str, said: str, root: Path) -> None:
    with pytest.raises(BlockError, match=re.escape(said)):
        drawn(root, more)


def test_a_missing_record_suggests_the_nearest(root: Path) -> None:
    with pytest.raises(BlockError, match=re.escape("did you mean 't/measured/p2p.json'?")):
        Stock(FACTS, root / "docs", root).record("t/measured/p2p2.json")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (450, "450"),
        (1048576, "1048576"),
        (396.8, "396.8"),
        (26.562, "26.562"),
        (0.08832, "0.08832"),
        (391.23456, "391.2"),
        (1234.5678, "1235"),
        (0.0123456, "0.01235"),
        (-12.345678, "-12.35"),
        (0.0, "0.0"),
    ],
)
def test_numbers_keep_four_digits_or_what_the_record_rounded_to(value: float, shown: str) -> None:
    assert number(value) == shown
