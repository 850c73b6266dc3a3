"""Counts of a convolution's traffic against walks that fetch every element."""

from __future__ import annotations

from typing import Any

import pytest

from tools.figures.files import load_program

flow = load_program("chip/code/dataflow.py")
LAYERS = [
    flow.Layer(5, 6, 4, 6, 3, 1),
    flow.Layer(7, 5, 3, 4, 3, 0),
    flow.Layer(6, 6, 5, 3, 1, 0),
    flow.Layer(1, 1, 8, 5, 1, 0),
]
SMALL = flow.Array(atom_c=2, atom_k=2, stripe=3)


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", flow.ORDERS)
def test_an_order_computes_the_convolution(layer: Any, name: str) -> None:
    assert flow.walk(layer, SMALL, flow.ORDERS[name])[1] == flow.plain(layer)


@pytest.mark.parametrize("layer", LAYERS[:2])
@pytest.mark.parametrize("name", flow.ORDERS)
def test_fetches_are_those_of_the_walk(layer: Any, name: str) -> None:
    order = flow.ORDERS[name]
    assert flow.fetches(layer, SMALL, order) == flow.walk(layer, SMALL, order)[0]


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("stays", ["inputs", "weights"])
@pytest.mark.parametrize(("rows", "kernels"), [(1, 1), (2, 2), (3, 4), (100, 1), (1, 100)])
def test_bytes_from_dram_are_those_of_the_walk(
    layer: Any, stays: str, rows: int, kernels: int
) -> None:
    split = flow.Split(rows, kernels, stays)
    assert flow.traffic(layer, split) == flow.walk_traffic(layer, split)


@pytest.mark.parametrize("machine", [flow.SMALL, flow.LARGE])
def test_a_chosen_split_fits_the_buffer(machine: Any) -> None:
    layer = flow.CONV
    for split in flow.splits(layer, machine, "inputs"):
        sets = 1 if split.kernels == layer.kernels else 2
        weights = sets * split.kernels * layer.channels * layer.filter**2
        inputs = (split.rows + layer.filter - 1) * layer.width * layer.channels
        assert weights + inputs <= machine.banks * machine.bank_bytes
