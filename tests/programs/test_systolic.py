"""The systolic array: the right product in the cycles that the formula says, whatever the shape."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tools.figures.files import load_program

array = load_program("chip/code/systolic.py")


@pytest.mark.parametrize("edge", [2, 4, 8])
@pytest.mark.parametrize(
    ("rows", "depth", "columns"),
    [(1, 1, 1), (3, 8, 8), (8, 8, 8), (5, 7, 9), (20, 11, 3), (2, 12, 12), (33, 8, 16)],
)
def test_values_that_only_move_to_neighbours_give_the_product(
    edge: int, rows: int, depth: int, columns: int
) -> None:
    random = np.random.default_rng(rows + depth + columns)
    x = random.integers(-99, 99, (rows, depth))
    w = random.integers(-99, 99, (depth, columns))
    result, took = array.multiply(edge, x, w)
    assert np.array_equal(result, x @ w)
    assert took == array.cycles(edge, rows, depth, columns)


@pytest.mark.parametrize("edge", [128, 256])
@pytest.mark.parametrize("side", [1, 64, 100, 128])
def test_a_product_costs_whole_tiles(edge: int, side: int) -> None:
    """Fewer columns or less depth than a tile save nothing; one more than a tile costs another."""
    assert array.cycles(edge, 1000, side, side) == array.cycles(edge, 1000, edge, edge)
    assert array.cycles(edge, 1000, edge, edge + 1) == array.cycles(edge, 1000, edge, edge) + 1000


def test_fewer_rows_than_the_edge_wait_for_the_next_weights() -> None:
    tiles = 32 * 32
    for rows in (1, 8, 128):
        assert array.cycles(128, rows, 4096, 4096) >= (tiles - 1) * 128
    assert array.used(128, 8, 4096, 4096) == pytest.approx(8 / 128, rel=0.01)


def test_no_shape_uses_more_than_the_array_has() -> None:
    for _, *shape in array.SHAPES:
        assert 0 < array.used(256, *shape) < 1
        assert 0 < array.used(128, *shape) < 1


def test_each_row_passes_each_cell_once() -> None:
    seen = Counter(
        (place, cell)
        for line in array.wave(3, 4)
        for place, cell in enumerate(line.split())
        if cell != "."
    )
    assert len(seen) == 9 * 4
    assert set(seen.values()) == {1}


@pytest.mark.parametrize(
    ("rows", "columns", "times"), [(8, 128, 1), (4096, 100, 1.28), (4096, 1, 128), (1, 128, 8)]
)
def test_memory_is_whole_tiles_too(rows: int, columns: int, times: float) -> None:
    assert array.padded(rows, columns) == pytest.approx(times)
