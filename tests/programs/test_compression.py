"""Compressed collectives: the roundings, the sums, error feedback, and the break-even rate."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tools.figures.files import load_program

c = load_program("ccl/code/compression.py")


def test_e4m3_has_the_values_of_the_format() -> None:
    """Every finite E4M3 number stays, and halves between neighbours go to the even one."""
    numbers = [m * 2.0**-9 for m in range(8)]
    numbers += [(1 + m / 8) * 2.0**e for e in range(-6, 9) for m in range(8)]
    numbers = [x for x in numbers if x <= 448]
    assert len(numbers) == 127 and max(numbers) == 448
    kept = np.array(numbers)
    assert (c.e4m3(kept) == kept).all() and (c.e4m3(-kept) == -kept).all()
    halves = (kept[:-1] + kept[1:]) / 2
    even = np.where(np.arange(126) % 2 == 0, kept[:-1], kept[1:])
    assert (c.e4m3(halves) == even).all()
    assert c.e4m3(np.array([1e6]))[0] == 448


@pytest.mark.parametrize("bits", [4, 8])
def test_integers_err_by_half_a_step_at_most(bits: int) -> None:
    values = c.drawn(2)[0]
    blocks = np.abs(values).reshape(-1, c.BLOCK)
    step = blocks.max(axis=1) / (2 ** (bits - 1) - 1)
    error = np.abs(c.integer(bits)(values) - values).reshape(-1, c.BLOCK).max(axis=1)
    assert (error <= step / 2 * (1 + 1e-9)).all()


@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_without_rounding_both_ways_give_the_sum(ranks: int) -> None:
    values = c.drawn(ranks)
    for way in (c.ring, c.two_shot):
        assert np.allclose(way(values, lambda v: v), values.sum(axis=0))


@pytest.mark.parametrize(
    "ranks", [pytest.param(n, marks=[pytest.mark.slow] if n > 16 else []) for n in c.RANKS]
)
def test_errors_follow_the_formulas_of_the_note(ranks: int) -> None:
    """Independent values: e sqrt((n + 1) / 2) by a ring, e sqrt 2 by two shots."""
    values, rounding = c.drawn(ranks), c.integer(8)
    once = c.relative_error(rounding(values[0]), values[:1])
    found = [c.relative_error(way(values, rounding), values) for way in (c.ring, c.two_shot)]
    assert found[0] == pytest.approx(once * math.sqrt((ranks + 1) / 2), rel=0.05)
    assert found[1] == pytest.approx(once * math.sqrt(2), rel=0.05)


def test_equal_values_err_less_in_two_shots() -> None:
    """With half of the variance common to all ranks the sum is larger than the errors."""
    values = c.drawn(32, 0.5)
    apart = c.drawn(32)
    for way in (c.ring, c.two_shot):
        near = c.relative_error(way(values, c.integer(8)), values)
        assert near < c.relative_error(way(apart, c.integer(8)), apart)


@pytest.mark.slow
def test_feedback_reaches_what_compression_alone_does_not() -> None:
    last = {name: c.train(*method)[-1] for name, method in c.METHODS.items()}
    assert last["full"] < 1e-3
    for name in ("1 bit", "top 1/16"):
        assert last[name] > 0.25
        assert last[f"{name}, feedback"] < 0.02


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("size", [2**20, 2**28])
def test_at_the_break_even_rate_both_take_the_same_time(bits: int, size: int) -> None:
    rate = c.break_even(8, size, bits)
    plain, small = c.times(8, size, rate, bits)
    assert plain == pytest.approx(small)
    slow, fast = c.times(8, size, rate / 2, bits), c.times(8, size, rate * 2, bits)
    assert slow[0] > slow[1] and fast[0] < fast[1]
