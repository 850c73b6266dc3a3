"""The export rule's arithmetic: its lines, and the numbers that the note quotes."""

from __future__ import annotations

import re

import pytest

from tests.programs import printed
from tools.figures.files import load_program

export = load_program("chip/code/export_rule.py")
NOTES = ["chip/export-skus", "chip/export-skus.en"]


@pytest.mark.parametrize(
    ("tpp", "density", "paragraph"),
    [
        (4800, 0.1, "a"),
        (4799, 0.1, "-"),
        (1600, 5.92, "a"),
        (1599, 99.0, "-"),
        (4799, 5.92, "a"),
        (4799, 5.91, "b"),
        (2400, 1.6, "b"),
        (2400, 1.59, "-"),
        (2399, 3.19, "-"),
        (1600, 3.2, "b"),
    ],
)
def test_lines_of_2023(tpp: float, density: float, paragraph: str) -> None:
    assert export.rule_2023(tpp, density) == paragraph


@pytest.mark.parametrize(
    ("tpp", "link", "inside"),
    [(4800, 600, True), (4799, 900, False), (16_000, 599, False)],
)
def test_the_rule_of_2022_needed_both(tpp: float, link: float, inside: bool) -> None:
    assert export.rule_2022(tpp, link) is inside


@pytest.mark.parametrize("area", [50.0, 294.5, 480.0, 608.0, 750.0, 814.0, 1500.0, 1628.0, 4000.0])
def test_no_paragraph_below_the_limit_and_one_from_it_on(area: float) -> None:
    edge = export.limit(area)
    below = [edge * step / 1000 for step in range(1, 1000)]
    above = [edge * (1 + step / 100) for step in range(300)]
    assert {export.rule_2023(tpp, tpp / area) for tpp in below} == {"-"}
    assert "-" not in {export.rule_2023(tpp, tpp / area) for tpp in above}


def test_bits_times_rate_is_the_agencys_own_example() -> None:
    assert export.performance({"int8": 600.0}) == 4800
    assert export.performance({"fp16": 300.0}) == 4800


def test_parts_fall_where_their_makers_put_them() -> None:
    parts = export.parts()
    found = {
        name: (
            export.rule_2022(parts[name].tpp, parts[name].link),
            export.rule_2023(parts[name].tpp, parts[name].density),
        )
        for name in export.ORDER
    }
    assert found == {
        "a100-sxm-80": (True, "a"),
        "a800": (False, "a"),
        "h100-sxm": (True, "a"),
        "h800-sxm": (False, "a"),
        "h20-sxm": (False, "-"),
        "l20": (False, "-"),
        "l2": (False, "-"),
    }
    judged = [export.case_by_case(parts[name].tpp, parts[name].memory) for name in export.LATER]
    assert judged == [True, True, False]


def test_rates_are_equal_where_one_part_overtakes_the_other() -> None:
    parts = export.parts()
    h20, h100 = parts["h20-sxm"], parts["h100-sxm"]
    cross = export.faster_below(h20, h100)
    assert export.rate(h20, cross) == pytest.approx(export.rate(h100, cross))
    assert export.rate(h20, cross * 0.9) > export.rate(h100, cross * 0.9)
    assert export.rate(h20, cross * 1.1) < export.rate(h100, cross * 1.1)


@pytest.mark.parametrize("note", NOTES)
def test_the_note_quotes_what_the_program_computes(note: str) -> None:
    text, parts = printed.text(note), export.parts()
    h20, h100 = parts["h20-sxm"], parts["h100-sxm"]
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    share = [parts[name].tpp / export.limit(parts[name].area) for name in ("h20-sxm", "l20", "l2")]
    assert min(share) >= 0.96
    assert max(share) <= 0.99
    assert f"148 ÷ 3.352 = {export.faster_below(h20, h100):.0f} FLOP" in text
    assert f"{parts['a800'].tpp:.0f}" in plain
    assert f"{parts['h800-sxm'].tpp:.0f}" in plain
    assert f"{export.limit(1628):.0f}" in plain
    assert f"{export.limit(1628) / export.limit(814) - 1:.0%}".replace("%", " %") in text
    assert f"{8 * h20.fp16:.0f}" in plain
    assert f"{4 * h100.fp16:.0f}" in plain
    ridge = h20.fp16 / h20.memory * 1000
    assert f"{ridge:.0f}" in text
    assert f"242 ÷ 37 = {export.mla(128) / ridge:.1f}" in text
    assert f"{export.mla(128) / ridge / 8:.2f}" in text
    assert f"{h100.fp16 / h20.fp16:.1f}" in text
