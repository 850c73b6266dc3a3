"""The tile model of a Da Vinci core: bytes conserved, waits real, limits where it says."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from tools.figures.files import load_program

npu = load_program("chip/code/npu_tile.py")
SHAPE = npu.Shape(160, 96, 320)
TILES = [npu.Tile(64, 48, 64, 16), npu.Tile(160, 96, 320, 64), npu.Tile(48, 80, 48, 48)]


@pytest.mark.parametrize("tile", TILES)
def test_every_byte_of_the_formula_is_moved_and_every_product_is_computed(tile: Any) -> None:
    _, paths, products = npu.schedule(npu.L2, SHAPE, tile)
    assert paths == npu.moved(SHAPE, tile)
    assert paths["to L1"] == paths["to L0A"] + paths["to L0B"]
    assert products == SHAPE.m * SHAPE.n * SHAPE.k


@pytest.mark.parametrize("tile", TILES)
@pytest.mark.parametrize("core", [npu.L2, npu.DRAM])
def test_a_schedule_lies_between_the_busiest_unit_and_no_overlap(core: Any, tile: Any) -> None:
    work = npu.busy(core, SHAPE, tile).values()
    two = npu.schedule(core, SHAPE, tile)[0]
    one = npu.schedule(core, SHAPE, tile, halves=1)[0]
    assert max(work) <= two <= one <= sum(work) + 1e-6


def test_one_large_tile_has_nothing_to_overlap() -> None:
    tile = npu.Tile(160, 96, 320, 320)
    total = npu.schedule(npu.L2, SHAPE, tile)[0]
    assert total == pytest.approx(sum(npu.busy(npu.L2, SHAPE, tile).values()))


@pytest.mark.parametrize("core", [npu.L2, npu.DRAM])
def test_the_choice_is_near_the_best_of_all(core: Any) -> None:
    shape = npu.Shape(128, 96, 512)
    chosen = npu.schedule(core, shape, npu.choose(core, shape))[0]
    best = min(npu.schedule(core, shape, tile)[0] for tile in npu.candidates(core, shape))
    assert chosen <= 1.05 * best


@pytest.mark.parametrize(("rows", "bound"), [(16, "MTE1"), (32, "MTE1"), (48, "cube")])
def test_few_rows_are_bound_by_the_way_into_l0b(rows: int, bound: str) -> None:
    """Whatever feeds L1: 256 bytes a cycle are 128 columns of B for each row of 16 products."""
    fast = dataclasses.replace(npu.L2, memory=10**9)
    work = npu.busy(fast, npu.Shape(rows, 1024, 1024), npu.Tile(rows, 512, 16, 16))
    assert max(work, key=lambda unit: work[unit]) == bound


def test_catlass_default_tile_fills_the_buffers_of_atlas_a2() -> None:
    core = dataclasses.replace(npu.L2, l0c=128 * 1024, l1=512 * 1024)
    assert npu.fits(core, npu.Tile(128, 256, 256, 64))
    for larger in [(144, 256, 256, 64), (128, 272, 256, 64), (128, 256, 256, 80)]:
        assert not npu.fits(core, npu.Tile(*larger))
