"""Bounds of machines that decode from fast memory, and a product inside a memory array."""

from __future__ import annotations

import numpy as np
import pytest

from tools.figures.files import load_program

machines = load_program("chip/code/sram_machines.py")
array = load_program("chip/code/cim_array.py")
INPUTS, WEIGHTS = array.data()
TRUTH = INPUTS @ WEIGHTS


@pytest.mark.parametrize("one", machines.MACHINES)
def test_as_many_chips_as_needed_and_none_more(one: object) -> None:
    weights = machines.PARAMETERS * 2
    count = machines.chips(one, 16)
    assert (count - 1) * one.capacity < weights <= count * one.capacity  # type: ignore[attr-defined]


@pytest.mark.parametrize("one", machines.MACHINES)
def test_no_sequence_is_faster_than_the_memory_reads_itself(one: object) -> None:
    """All chips together, just enough of them: the rate is how often each is read whole."""
    whole = one.bandwidth / one.capacity  # type: ignore[attr-defined]
    rate = machines.together(one, 16, machines.chips(one, 16))
    assert whole <= rate < 1.55 * whole  # the last chip is not full


def test_batch_that_feeds_an_h100_is_its_ridge_point() -> None:
    """In 16 bits a sequence adds one FLOP per byte; the roofline note has 295."""
    assert machines.batch(machines.MACHINES[0], 16) == pytest.approx(295, abs=0.5)


@pytest.mark.parametrize("rows", [32, 100, 128, 256, 1024])
def test_an_adder_tree_gives_the_exact_product(rows: int) -> None:
    assert np.array_equal(array.product(INPUTS, WEIGHTS, rows), TRUTH)


@pytest.mark.parametrize("rows", [32, 128])
def test_enough_bits_lose_nothing_and_one_less_does(rows: int) -> None:
    bits = array.exact_bits(rows)
    assert array.error(array.product(INPUTS, WEIGHTS, rows, bits), TRUTH) == 0
    assert array.error(array.product(INPUTS, WEIGHTS, rows, bits - 1), TRUTH) > 0


def test_fewer_rows_need_fewer_bits_and_more_conversions() -> None:
    assert array.exact_bits(32) < array.exact_bits(128)
    assert array.conversions(1024, 32) == 4 * array.conversions(1024, 128)


def test_a_converter_stays_in_its_range_and_within_half_a_step() -> None:
    counts = np.arange(0, 129)
    codes = array.adc(counts, 4, 128)
    assert len(set(codes)) == 16
    assert codes.max() == 128
    assert np.abs(codes - counts).max() <= 128 / 15 / 2


@pytest.mark.parametrize("bits", [3, 5])
def test_half_the_range_is_worth_a_bit(bits: int) -> None:
    half = array.error(array.product(INPUTS, WEIGHTS, 128, bits, clip=0.5), TRUTH)
    whole = array.error(array.product(INPUTS, WEIGHTS, 128, bits + 1), TRUTH)
    assert half == pytest.approx(whole, rel=0.05)


def test_cells_that_vary_spoil_even_an_ideal_converter() -> None:
    spoilt = [
        array.error(array.product(INPUTS, WEIGHTS, 128, spread=s), TRUTH) for s in (0.01, 0.1)
    ]
    assert 0 < spoilt[0] < spoilt[1]
