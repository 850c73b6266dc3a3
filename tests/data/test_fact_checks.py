"""Equations between columns: what holds, what does not, and what is no equation."""

from __future__ import annotations

from pathlib import Path

import pytest

from hooks.data.load import load_facts
from tests import ours

FAMILY = Path(__file__).with_name("arithmetic.yml").read_text(encoding="utf-8")
SOURCES = """\
paper: {title: T, publisher: P, url: "https://example.org/", read: 2026-11-21, kind: primary}
"""


def check(tmp_path: Path, checks: str, family: str = FAMILY) -> list[str]:
    """Load the family with these lines as its checks; findings as text."""
    folder = tmp_path / "docs/data"
    for name in ("facts", "sources"):
        (folder / name).mkdir(parents=True)
    (folder / "facts/gpu.yml").write_text(family + checks, encoding="utf-8")
    (folder / "sources/a.yml").write_text(SOURCES, encoding="utf-8")
    return [finding.text for finding in load_facts(folder)[1]]


@pytest.mark.parametrize(
    "equation",
    [
        "links * link = gpu",  # Gb/s against GB/s
        "gpu = links * link",
        "stacks * number(pins) * pin = memory",
        "sparse = 2 * dense",
        "gpu <= memory",
        "memory >= gpu",
        "sparse / dense = 2",
        "number(gpu) ** 2 = 202500",
        "-(gpu - memory) = 2900 * gpu / 450",
    ],
)
def test_equations_that_hold(equation: str, tmp_path: Path) -> None:
    text = f"  one: {{holds: '{equation}', tolerance: 0.1%}}\n"
    assert check(tmp_path, text) == []


def test_a_contradiction_names_the_cell_both_sides_and_the_repair(tmp_path: Path) -> None:
    family = FAMILY.replace("value: 450", "value: 400")
    assert check(tmp_path, "  links: {holds: links * link = gpu}\n", family) == [
        "docs/data/facts/gpu.yml:21:13: error[facts-check] row 'h100' fails check 'links': "
        "links * link is 450 GB/s, but gpu is 400 GB/s "
        "(11.11% apart, 0.00% allowed); correct a cell, or except the row and say why; "
        "did you mean '450'?"
    ]


# Lines of checks, part of the one finding.
WRONG = [
    ("  a: {holds: links * lnik = gpu}", "gpu.yml:35:7: error[facts-check]"),
    ("  a: {holds: links * lnik = gpu}", "did you mean 'link'?"),
    ("  a: {holds: links * link}", "must read 'expression = expression'"),
    ("  a: {holds: links = link = gpu}", "must read 'expression = expression'"),
    ("  a: {holds: links * = gpu}", "'links *' is no expression"),
    ("  a: {holds: links.real = 18}", "there is no column 'real'"),
    ("  a: {holds: __import__(links) = 18}", "there is no column '__import__'"),
    ("  a: {holds: link = watts}", "left side is information / time, the right side power"),
    ("  a: {holds: stacks * pins * pin = memory}", "number(column) drops a unit"),
    ("  a: {holds: link + watts = gpu}", "adds what has different units"),
    ("  a: {holds: links / (stacks - 5) = 1}", "zero"),
    ("  a: {holds: links * link = gpu, tolerance: half}", "must be a percentage such as 0.5%"),
    ("  a: {holds: links * link = gpu, tolernace: 1%}", "did you mean 'tolerance'?"),
    ("  a: {holds: links * link = gpu, except: {h10: why}}", "did you mean 'h100'?"),
    ("  a: {holds: form = 1}", "warning[facts-check] check 'a' applies to no row"),
    ("  a: {holds: sparse = 2 * dense}", "(0.01% apart, 0.00% allowed)"),
    ("  a: {holds: sparse = 2 * dense}", "did you mean '1978.8'?"),
    ("  a: {holds: 2 * gpu <= gpu}", "2 * gpu is 900 GB/s, but gpu is 450 GB/s"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), WRONG, ids=[f"{a.strip()} | {b}" for a, b in WRONG])
def test_what_is_wrong_with_a_check(text: str, said: str, tmp_path: Path) -> None:
    found = check(tmp_path, text + "\n")
    assert len(found) == 1, found
    assert said in found[0]


def test_an_exception_with_a_reason_silences_its_row_only(tmp_path: Path) -> None:
    family = FAMILY.replace("value: 450", "value: 400")
    family = family.replace("links: {value: 99", "gpu: {value: 1, source: paper, read: 2026-11-21, "
        "confidence: A}\n      link: {value: 1, source: paper, read: 2026-11-21, confidence: A}\n"
        "      links: {value: 99")  # fmt: skip
    text = "  a: {holds: links * link = gpu, except: {h100: the vendor rounds}}\n"
    found = check(tmp_path, text, family)
    assert len(found) == 1
    assert "row 'part' fails" in found[0]


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("unit: Gb/S, direction: uni, per: link", "unit 'Gb/S' is not known ('S'); did you mean"),
        ("unit: Gb/s, per: link", "is a data rate; add 'direction: uni'"),
        ("unit: Gb/s, direction: uni", "is a data rate; add 'per: link'"),
        ("unit: TOPS", "is a compute rate; add 'density: dense'"),
    ],
)
def test_a_column_says_all_that_its_unit_needs(column: str, said: str, tmp_path: Path) -> None:
    family = FAMILY.replace("unit: Gb/s, direction: uni, per: link", column, 1)
    found = check(tmp_path, "  a: {holds: gpu <= memory}\n", family)
    assert any(said in text for text in found), found


def test_the_handbook_checks_its_own_arithmetic() -> None:
    base = ours.facts()
    checked = {name for name, family in base.families.items() if family.checks}
    assert {"nvlink", "nvswitch", "nvlink-nodes", "scale-up"} <= checked
