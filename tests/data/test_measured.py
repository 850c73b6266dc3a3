"""Measured records: read with places, refused when they contradict themselves, drawn in full."""

from __future__ import annotations

import copy
import datetime
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from hooks.data.facts import FactBase, Family
from hooks.data.measured_check import check_record
from hooks.data.options import BlockError
from hooks.data.wording import number
from hooks.pages.measured_table import render_measured

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = "int main() { return 0; }\n"

RECORD: dict[str, Any] = {
    "schema": 1,
    "id": "p2p",
    "title": {"zh": "对等拷贝", "en": "Peer copies"},
    "date": "2026-11-21",
    "machine": {
        "description": {"zh": "四卡 <主机>", "en": "four-GPU <host>"},
        "gpu": "NVIDIA H200",
        "gpu_count": 4,
        "driver": "580.159",
        "cuda": "13.0",
        "nccl": "2.28.9",
        "free": "anything",
    },
    "program": {
        "path": "docs/t/code/p2p.cu",
        "sha256": hashlib.sha256(PROGRAM.encode()).hexdigest(),
    },
    "command": "nvcc p2p.cu && ./a.out",
    "notes": {"zh": "预热后", "en": "after warm-up"},
    "specification": [
        {
            "id": "gpu_uni",
            "value": 450,
            "unit": "GB/s",
            "direction": "uni",
            "per": "GPU",
            "source": "https://example.org/h200",
        },
        {
            "id": "lane",
            "value": 12.5,
            "unit": "GB/s",
            "direction": "uni",
            "per": "lane",
            "source": "docs/data/facts/nvlink.yml: h100, lane",
        },
    ],
    "results": [
        {
            "id": "pairs",
            "title": {"zh": "每对", "en": "Each pair"},
            "unit": "GB/s",
            "direction": "uni",
            "per": "pair",
            "statistic": "median",
            "n": 20,
            "axes": ["src", "dst"],
            "points": [
                {"src": 0, "dst": 1, "value": 400, "p5": 399.1, "p95": 401.2},
                {"src": 1, "dst": 0, "value": 200, "p5": 199.0, "p95": 201.0},
            ],
            "spec": "gpu_uni",
        },
        {
            "id": "sizes",
            "title": "Sizes",
            "unit": "us",
            "statistic": "median",
            "n": 20,
            "direction": None,
            "per": None,
            "axes": [{"name": "bytes"}],
            "points": [{"bytes": 4194304, "value": 12.34567}, {"bytes": 1000, "value": 3}],
        },
    ],
    "summary": [
        {
            "title": {"zh": "中位数", "en": "Median of all"},
            "value": 396,
            "unit": "GB/s",
            "direction": "uni",
            "per": "pair",
            "ratio_to": {"spec": "gpu_uni", "ratio": 0.88},
            "statistic": "median",
            "spread": {"min": 395.5, "max": 397},
            "result": "pairs",
        },
        {"title": "Latency", "value": 3, "unit": "us", "result": "sizes"},
    ],
}


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


def changed(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """Return the record with one change."""
    record = copy.deepcopy(RECORD)
    change(record)
    return record


def test_a_good_record_passes(root: Path) -> None:
    assert check_record(root / "docs/t/measured/p2p.json", root, FACTS) == []


# Change, rule, text on the line that the finding must name, part of the message
WRONG: list[tuple[Callable[[dict[str, Any]], object], str, str, str]] = [
    (lambda r: r.pop("date"), "measurement-field", "{", "'date' is missing"),
    (lambda r: r.update(schema=2), "measurement-field", '"schema"', "'schema'"),
    (lambda r: r.update(date="2999-01-01"), "measurement-field", '"date"', "in the future"),
    (lambda r: r.update(date="soon"), "measurement-field", '"date"', "'date'"),
    (
        lambda r: r["program"].update(sha256="abc"),
        *("measurement-field", '"sha256"', "'sha256' in 'program'"),
    ),
    (
        lambda r: r["results"][0].update(direction="both"),
        *("measurement-field", '"direction": "both"', "'direction' in 'results'"),
    ),
    (
        lambda r: r["results"][0]["points"][1].pop("dst"),
        *("measurement-field", '"src": 1', "lacks dst"),
    ),
    (
        lambda r: r["results"][0]["points"][1].update(value="200"),
        *("measurement-field", '"src": 1', "lacks value"),
    ),
    (
        lambda r: r["results"][0].update(spec="gpu_un"),
        *("measurement-reference", '"spec": "gpu_un"', "'gpu_un'"),
    ),
    (
        lambda r: r["summary"][0]["ratio_to"].update(spec="gpu"),
        *("measurement-reference", '"spec": "gpu"', "'gpu'"),
    ),
    (
        lambda r: r["summary"][0].update(result="pair"),
        *("measurement-reference", '"result": "pair"', "'pair'"),
    ),
    (
        lambda r: (r["results"][1].update(id="pairs"), r["summary"].pop()),
        *("measurement-reference", '"id": "pairs"', "two results"),
    ),
    (
        lambda r: r["specification"][1].update(value=25),
        *("measurement-reference", '"value": 25', "12.5 in docs/data/facts/nvlink.yml"),
    ),
    (
        lambda r: r["specification"][1].update(source="docs/data/facts/nvlink.yml: h100, lanes"),
        *("measurement-reference", '"docs/data/facts/nvlink.yml: h100, lanes"', "there is no"),
    ),
    (
        lambda r: r["summary"][0]["ratio_to"].update(ratio=0.98),
        *("measurement-ratio", '"ratio_to"', "ratio 0.98 is not 396 / 450 = 0.88"),
    ),
    (
        lambda r: r["summary"][0].update(direction="bi"),
        *("measurement-ratio", '"ratio_to"', "compares direction bi with uni"),
    ),
    (
        lambda r: r["summary"][0].update(unit="GiB/s"),
        *("measurement-ratio", '"ratio_to"', "compares unit GiB/s with GB/s"),
    ),
    (
        lambda r: r["program"].update(sha256="0" * 64),
        *("measurement-stale", '"program"', "has changed since it was measured"),
    ),
    (
        lambda r: r["program"].update(path="docs/t/code/gone.cu"),
        *("measurement-stale", '"program"', "is not in the repository"),
    ),
]


@pytest.mark.parametrize(("change", "rule", "at", "said"), WRONG)
def test_what_is_wrong_is_found_at_its_line(
    change: Callable[[dict[str, Any]], object], rule: str, at: str, said: str, root: Path
) -> None:
    path = write(root, changed(change))
    found = [f for f in check_record(path, root, FACTS) if f.rule == rule]
    assert [said in f.message for f in found] == [True], found
    assert found[0].file == "docs/t/measured/p2p.json"
    assert found[0].severity == ("warning" if rule == "measurement-stale" else "error")
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
    path = write(root, changed(lambda record: record["program"].update(same=[same])))
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
    html = render_measured(
        f"file: t/measured/p2p.json\n{more}",
        docs_dir=root / "docs",
        root=root,
        language="en",
        page_dir="en/t",
    )
    return LexborHTMLParser(html)


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
        render_measured(
            "file: t/measured/p2p2.json", docs_dir=root / "docs", root=root, language="zh"
        )


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
