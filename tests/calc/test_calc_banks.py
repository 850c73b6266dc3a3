"""Bank conflicts against the figures of the CUDA Programming Guide 13, section 2.3.4.2.

Cases of 8 and 16 bytes, which the guide leaves out, are those that were measured on an H200.
"""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hooks.calc.engine import CalcError, Engine
from tests.calc.conftest import few


@pytest.mark.parametrize(
    ("entries", "wavefronts", "degree"),
    [
        pytest.param({}, 32, 32, id="guide, figure 17: column of 32 x 32"),
        pytest.param({"padding": 1}, 1, 1, id="guide, figure 18: 32 x 33"),
        pytest.param({"swizzle": True}, 1, 1, id="column, swizzled"),
        pytest.param({"swizzle": True, "index": 13}, 1, 1, id="another column, swizzled"),
        pytest.param({"access": "row"}, 1, 1, id="guide, figure 17: row"),
        pytest.param({"access": "row", "swizzle": True, "index": 5}, 1, 1, id="row, swizzled"),
        pytest.param({"access": "same"}, 1, 1, id="guide, figure 16: broadcast"),
        pytest.param({"row": 1}, 1, 1, id="guide, figure 15: stride of 1"),
        pytest.param({"row": 2}, 2, 2, id="guide, figure 15: stride of 2"),
        pytest.param({"row": 3}, 1, 1, id="guide, figure 15: stride of 3"),
        pytest.param({"row": 12}, 4, 4, id="stride of 12"),
        pytest.param({"row": 64}, 32, 32, id="64 floats a row"),
        pytest.param({"row": 16}, 16, 16, id="16 floats a row"),
        pytest.param({"access": "row", "width": 8}, 2, 1, id="64 bits in a row: two halves"),
        pytest.param({"access": "row", "width": 16}, 4, 1, id="128 bits in a row: four quarters"),
        pytest.param({"width": 16}, 32, 8, id="128 bits, column of 32 x 32 words"),
        pytest.param({"width": 16, "padding": 4}, 4, 1, id="128 bits, column of 32 x 36 words"),
        pytest.param({"width": 16, "swizzle": True}, 4, 1, id="128 bits, units swizzled"),
        pytest.param({"width": 8}, 32, 16, id="64 bits, column of 32 x 32 words"),
        pytest.param({"width": 8, "padding": 2}, 2, 1, id="64 bits, padded by one unit"),
        pytest.param({"width": 16, "access": "same"}, 4, 1, id="128 bits, broadcast per phase"),
    ],
)
def test_turns(calc: Engine, entries: dict[str, Any], wavefronts: int, degree: int) -> None:
    """Cases beyond the guide are those measured on an H200: banks of 4 bytes, phases by width."""
    found = calc.run("bank-conflicts", entries)
    assert found["wavefronts"] == wavefronts
    assert found["least"] == int(entries.get("width", 4)) // 4
    assert found["conflict"]["en"] == ("none" if degree == 1 else f"{degree}-way")


@pytest.mark.parametrize("stride", range(34))
def test_a_stride_costs_its_divisor(calc: Engine, stride: int) -> None:
    found = calc.formula("bankConflicts", [lane * stride for lane in range(32)], 1)
    assert found["wavefronts"] == (math.gcd(stride, 32) if stride else 1)


def test_phases_do_not_disturb_each_other(calc: Engine) -> None:
    """The same 32 vectors, every fourth or eighth to a phase: 16 cycles were measured, not 4."""
    for step in (4, 8):
        order = [(lane * step) % 32 + lane * step // 32 for lane in range(32)]
        found = calc.formula("bankConflicts", [4 * one for one in order], 4)
        assert found["wavefronts"] == 16, step
    even = [2 * ((2 * lane) % 32 + 2 * lane // 32) for lane in range(32)]
    assert calc.formula("bankConflicts", even, 2)["wavefronts"] == 4


def test_pairs_that_share_a_word_do_not_conflict(calc: Engine) -> None:
    assert calc.formula("bankConflicts", [lane // 2 for lane in range(32)], 1)["wavefronts"] == 1
    assert calc.formula("bankConflicts", [lane % 2 * 32 for lane in range(32)], 1)["degree"] == 2


@few
@given(
    units=st.sampled_from([1, 2, 4, 8, 16, 32, 64]),
    words=st.sampled_from([1, 2, 4]),
    index=st.integers(0, 63),
)
def test_a_swizzle_moves_units_within_their_row(
    units: int, words: int, index: int, calc: Engine
) -> None:
    row = units * words
    for access in ("row", "column"):
        at = index % units
        plain = calc.formula("tileWords", access, row, 0, False, words, at)
        moved = calc.formula("tileWords", access, row, 0, True, words, at)
        assert [one // row for one in plain] == [one // row for one in moved]
        assert len(set(plain)) == len(set(moved))
    if units >= 32 // words:  # a row fills the banks: neither rows nor columns conflict
        found = calc.formula("bankConflicts", moved, words)
        assert found["degree"] == 1


@pytest.mark.parametrize(
    ("entries", "key", "words"),
    [
        ({"width": 16, "row": 33}, "row", "multiple of 4 words"),
        ({"width": 16, "padding": 1}, "padding", "misaligned"),
        ({"swizzle": True, "row": 48}, "row", "power of two"),
        ({"index": 32}, "index", "A row has 32 units"),
    ],
)
def test_tiles_that_make_no_sense(
    calc: Engine, entries: dict[str, Any], key: str, words: str
) -> None:
    with pytest.raises(CalcError, match=f"bank-conflicts: {key}: .*{words}"):
        calc.run("bank-conflicts", entries)


@pytest.mark.parametrize(
    "entries", [{}, {"width": 16}, {"access": "same"}, {"width": 8, "padding": 2}]
)
def test_the_map_has_a_row_per_turn(calc: Engine, entries: dict[str, Any]) -> None:
    drawing = calc.show("bank-conflicts", entries, "en")["drawing"]
    assert (
        len(re.findall(r">turn \d+<", drawing)) == calc.run("bank-conflicts", entries)["wavefronts"]
    )
