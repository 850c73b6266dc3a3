"""The program of the note on context parallelism: exact results, balance, bytes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tools.figures.files import load_program

program = load_program("train/code/ring_attention.py")


@pytest.mark.parametrize("place", [program.contiguous, program.zigzag])
@pytest.mark.parametrize("ranks", [2, 4])
def test_all_ways_give_plain_attention(
    place: Callable[[int, int], list[np.ndarray]], ranks: int
) -> None:
    q, k, v = np.random.default_rng(7).standard_normal((3, 32, 4, 8))
    every = np.arange(32)
    plain = program.attention(q, k, v, every, every)
    for got in (program.ring(q, k, v, place(32, ranks)),
                program.gathered(q, k, v, place(32, ranks)),
                program.ulysses(q, k, v, ranks)):  # fmt: skip
        np.testing.assert_allclose(got, plain, atol=1e-12)


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_zigzag_balances_and_plain_order_does_not(ranks: int) -> None:
    even = program.rounds(program.zigzag(512, ranks)).sum(1)
    uneven = program.rounds(program.contiguous(512, ranks)).sum(1)
    assert even.max() == even.min()
    assert uneven.max() / uneven.mean() == pytest.approx((2 * ranks - 1) / ranks, rel=0.02)


def test_bytes_of_a_step_are_equal_at_six_ranks() -> None:
    assert 3 * program.ring_bytes(4096, 6, 8) == pytest.approx(
        2 * program.ulysses_bytes(4096, 6, 8)
    )
