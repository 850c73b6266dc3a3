"""The programs of the framework volume, and that their records say what the notes say."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import numpy as np
import pytest

from tools.figures.files import ROOT, load_program

allocator = load_program("framework/code/allocator.py")
autograd = load_program("framework/code/autograd.py")
onnx_file = load_program("framework/code/onnx_file.py")


def record(name: str, result: str) -> list[dict[str, Any]]:
    """The points of one result of a record."""
    said = json.loads((ROOT / f"docs/framework/measured/{name}.json").read_text(encoding="utf-8"))
    points: list[dict[str, Any]] = next(o for o in said["results"] if o["id"] == result)["points"]
    return points


TRACES = {"2000 tokens, 11 steps": [2000] * 11, "1000 to 2000 tokens": list(range(1000, 2001, 100))}


@pytest.mark.parametrize("what", ["allocated", "reserved"])
def test_the_model_reserves_what_a_gpu_reserved(what: str) -> None:
    """Every case that was measured, to the byte."""
    points = record("allocator", what)
    assert len(points) == 11
    for point in points:
        model = allocator.Allocator(expandable=point["segments"] == "expandable")
        if point["asked"] in TRACES:
            allocator.replay(allocator.steps(TRACES[point["asked"]]), model)
        else:
            model.malloc(int(point["asked"].removesuffix(" B")))
        assert getattr(model, f"peak_{what}") == point["value"], point


@pytest.mark.parametrize("expandable", [False, True])
@pytest.mark.parametrize("seed", range(20))
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


@pytest.mark.parametrize("seed", range(10))
def test_gradients_agree_with_differences(seed: int) -> None:
    x, weights, target = autograd.network(depth=3, width=6, rows=5)
    loss = autograd.loss_of(x, weights, target)
    autograd.backward(loss)
    draw = random.Random(seed)
    w = draw.choice(weights)
    at = draw.randrange(6), draw.randrange(6)
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


@pytest.mark.parametrize("language", ["", ".en"])
def test_the_table_of_saved_tensors_is_the_record(language: str) -> None:
    text = (ROOT / f"docs/framework/autograd{language}.md").read_text(encoding="utf-8")
    saved = {(p["device"], p["operation"]): p["value"] for p in record("saved_tensors", "saved")}
    for key, shown in {
        ("cuda", "dropout 0.1"): "| 1 |",
        ("cuda", "linear, no bias"): "| 2 |",
        ("cuda", "h * k"): "| 4 |",
        ("cuda", "silu(h) * k"): "| 6 |",
        ("cpu", "rms_norm"): "| 8.01 |",
    }.items():
        assert float(shown.strip("| ")) == saved[key]
        assert shown in text
    assert (saved["cuda", "layer_norm"], saved["cuda", "rms_norm"]) == (2.02, 2.01)
    assert saved["cuda", "attention (SDPA)"] == 4.06  # with q, k, v in one storage


@pytest.mark.parametrize("language", ["", ".en"])
def test_the_tables_of_pytorch_are_the_records(language: str) -> None:
    text = (ROOT / f"docs/framework/pytorch-internals{language}.md").read_text(encoding="utf-8")
    cost = {(p["device"], p["call"]): p["value"] for p in record("op_cost", "host")}
    for call in ("no gradient wanted", "recorded for autograd", "inference_mode"):
        cpu, cuda = cost["cpu", call] / 1000, cost["cuda", call] / 1000
        assert f"| {cpu:.2f} µs | {cuda:.2f} µs |" in text, call
    reserved = {(p["asked"], p["segments"]): p["value"] for p in record("allocator", "reserved")}
    for name in TRACES:
        default, growing = reserved[name, "default"] / 1e9, reserved[name, "expandable"] / 1e9
        assert f"{default:.2f}" in text
        assert f"{growing:.2f}" in text


def test_fields_of_a_message_are_those_of_the_library() -> None:
    model = onnx_file.build()
    found = {number: size for number, _, size in onnx_file.fields(model.SerializeToString())}
    assert found[7] == model.graph.ByteSize()
    assert set(found) == {field.number for field, _ in model.ListFields()}
