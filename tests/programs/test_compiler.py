"""Graph optimisations of the compiler volume; allocator, autograd and files of the frameworks."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest

from tests.programs import printed

(g,) = printed.load("compiler/code", "graph_opts")
allocator, autograd, onnx_file = printed.load(
    "framework/code", "allocator", "autograd", "onnx_file"
)


def graphs(seed: int) -> dict[str, Any]:
    """A random graph: an input, then operations of random kinds that read earlier values."""
    draw = random.Random(seed)
    ops = [g.Op("in", "input", (), 8)]
    for number in range(draw.randint(4, 9)):
        reads = tuple(draw.sample([op.name for op in ops], k=min(len(ops), draw.randint(1, 2))))
        kind = draw.choice(("pointwise", "pointwise", "reduction", "product"))
        size = draw.choice((1, 2, 4, 8))
        saves = reads if draw.random() < 0.7 else ()
        ops.append(g.Op(f"v{number}", kind, reads, size, saves))
    return {op.name: op for op in ops}


@pytest.mark.parametrize("epilogues", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_fused_groups_can_run_in_order(seed: int, epilogues: bool) -> None:
    """Each operation is in one group, and reads only what earlier groups or its own has made."""
    graph = graphs(seed)
    groups = g.fused(graph, epilogues)
    assert sorted(itertools.chain(*groups)) == sorted(op.name for op in g.kernels(graph))
    done = {"in"}
    for group in groups:
        for name in group:
            assert set(graph[name].reads) <= done
            done.add(name)
        products = [name for name in group if graph[name].kind == "product"]
        assert len(products) <= 1
        assert not products or group == products or epilogues
    apart = [[op.name] for op in g.kernels(graph)]
    assert g.traffic(graph, groups) <= g.traffic(graph, apart)


@pytest.mark.parametrize("seed", range(40))
def test_a_plan_overlaps_nothing_that_is_alive(seed: int) -> None:
    graph = graphs(seed)
    spans = g.lifetimes(graph, g.fused(graph))
    places = g.planned(graph, spans)
    for one, other in itertools.combinations(spans, 2):
        together = spans[one][0] <= spans[other][1] and spans[other][0] <= spans[one][1]
        apart = places[one] + graph[one].size <= places[other]
        assert apart or places[other] + graph[other].size <= places[one] or not together
    top = max(places[name] + graph[name].size for name in spans)
    assert g.peak(graph, spans) <= top <= sum(graph[name].size for name in spans)


def enough(graph: dict[str, Any], kept: set[str], fixed: set[str]) -> bool:
    """Whether backward's values follow from the kept ones by pointwise operations."""
    known = {"in"} | kept
    for op in g.kernels(graph):
        again = op.kind == "pointwise" and op.name not in fixed
        if again and set(op.reads) <= known:
            known.add(op.name)
    return {name for op in graph.values() for name in op.saves} <= known


@pytest.mark.parametrize("keep_operands", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_the_cut_is_the_cheapest_choice(seed: int, keep_operands: bool) -> None:
    """Compared with every subset of the values."""
    graph = graphs(seed)
    products = {name for op in graph.values() if op.kind == "product" for name in op.saves}
    fixed = products if keep_operands else set()
    names = [op.name for op in g.kernels(graph)]
    found = g.kept(graph, keep_operands)
    assert enough(graph, found, fixed)
    cheapest = min(
        sum(graph[name].size for name in subset)
        for count in range(len(names) + 1)
        for subset in itertools.combinations(names, count)
        if enough(graph, set(subset), fixed)
    )
    assert sum(graph[name].size for name in found) == cheapest


def test_the_block_keeps_what_pytorch_printed() -> None:
    """Saved by PyTorch 2.11.0 for this block (TORCH_LOGS=aot_graphs): rsqrt, mul_1, three wide."""
    kept = g.kept(g.merged(g.block()), keep_operands=True)
    assert kept == {"scale", "y", "gate", "up", "hidden"}
    assert len(g.saved(g.block())) == 9


def test_the_record_supports_what_the_notes_on_tvm_conclude() -> None:
    """Reordering brings most; tiles alone no more; sums in registers reach the library."""
    points = printed.record("compiler/measured/tvm_schedule")["speed"]
    speed = {(p["n"], p["schedule"]): p["value"] for p in points}
    for side in (256, 512):
        assert speed[side, "reorder"] > 10
        assert speed[side, "tiles"] < speed[side, "reorder"]
        assert speed[side, "cache_write"] > speed[side, "numpy"]


# allocator

TRACES = {"2000 tokens, 11 steps": [2000] * 11, "1000 to 2000 tokens": list(range(1000, 2001, 100))}


@pytest.mark.parametrize("what", ["allocated", "reserved"])
def test_the_model_reserves_what_a_gpu_reserved(what: str) -> None:
    """Every case that was measured, to the byte."""
    points = printed.record("framework/measured/allocator")[what]
    assert len(points) == 11
    for point in points:
        model = allocator.Allocator(expandable=point["segments"] == "expandable")
        if point["asked"] in TRACES:
            allocator.replay(allocator.steps(TRACES[point["asked"]]), model)
        else:
            model.malloc(int(point["asked"].removesuffix(" B")))
        assert getattr(model, f"peak_{what}") == point["value"], point


@pytest.mark.parametrize("expandable", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_blocks_never_overlap_and_nothing_is_lost(seed: int, expandable: bool) -> None:
    draw = random.Random(seed)
    one = allocator.Allocator(expandable=expandable)
    held: list[tuple[Any, int]] = []
    for _ in range(200):
        if held and draw.random() < 0.45:
            one.free(held.pop(draw.randrange(len(held)))[0])
        else:
            size = draw.choice((1, 600, 1 << 19, 1 << 21, 11 << 20)) + draw.randrange(5000)
            held.append((one.malloc(size), size))
        for segment in one.segments:
            places = [(block.start, block.start + block.size) for block in segment.blocks]
            assert all(a[1] == b[0] for a, b in itertools.pairwise(places))
        assert one.allocated == sum(block.size for block, _ in held) <= one.reserved
    assert all(block.used and block.size >= size for block, size in held)


def test_a_full_device_gives_back_what_is_free_before_it_fails() -> None:
    one = allocator.Allocator(capacity=64 << 20)
    for block in [one.malloc(15 << 20) for _ in range(4)]:
        one.free(block)
    whole = one.malloc(60 << 20)
    with pytest.raises(MemoryError):
        one.malloc(15 << 20)
    assert whole.size == 60 << 20


# autograd, onnx_file


@pytest.mark.parametrize("seed", range(10))
def test_gradients_agree_with_differences(seed: int) -> None:
    x, weights, target = autograd.network(depth=3, width=6, rows=5)
    autograd.backward(autograd.loss_of(x, weights, target))
    draw = random.Random(seed)
    w, at = draw.choice(weights), (draw.randrange(6), draw.randrange(6))
    values = []
    for step in (1e-6, -1e-6):
        w.data[at] += step
        values.append(float(autograd.loss_of(x, weights, target).data))
        w.data[at] -= step
    assert w.grad[at] == pytest.approx((values[0] - values[1]) / 2e-6, abs=1e-7)


@pytest.mark.parametrize("blocks", [1, 2, 3, 8])
def test_recomputation_changes_memory_and_not_gradients(blocks: int) -> None:
    x, weights, target = autograd.network(width=8, rows=4)
    plain = autograd.loss_of(x, weights, target)
    kept = autograd.kept_bytes(plain, (x, *weights))
    autograd.backward(plain)
    wanted = [w.grad for w in weights]
    for w in weights:
        w.grad = None
    loss = autograd.loss_of(x, weights, target, blocks)
    assert autograd.kept_bytes(loss, (x, *weights)) == blocks * x.data.nbytes < kept
    autograd.backward(loss)
    assert all(np.allclose(w.grad, g) for w, g in zip(weights, wanted, strict=True))


def test_fields_of_a_message_are_those_of_the_library() -> None:
    model = onnx_file.build()
    found = {number: size for number, _, size in onnx_file.fields(model.SerializeToString())}
    assert found[7] == model.graph.ByteSize()
    assert set(found) == {field.number for field, _ in model.ListFields()}
