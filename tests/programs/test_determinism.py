"""The note on determinism: what its model and its record claim."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tests.programs.printed import text
from tools.figures.files import ROOT, load_program

sum_order = load_program("infer/code/sum_order.py")
RECORD = json.loads((ROOT / "docs/infer/measured/batch_invariance.json").read_text("utf-8"))


def points(result: str, **where: str | int) -> list[dict[str, Any]]:
    """Return the points of a result of the record that have these labels."""
    (found,) = [one for one in RECORD["results"] if one["id"] == result]
    return [p for p in found["points"] if all(str(p[k]) == str(v) for k, v in where.items())]


@pytest.mark.parametrize(
    ("x", "rounded"),
    [(1 + 2**-8, 1.0), (1 + 3 * 2**-8, 1 + 2**-6), (1 + 2**-7, 1 + 2**-7), (-4.01, -4.0)],
)
def test_bf16_rounds_to_the_nearest_even(x: float, rounded: float) -> None:
    assert float(sum_order.bf16(np.float32(x))) == rounded


@pytest.mark.parametrize("parts", [1, 2, 8])
def test_attention_in_parts_is_attention(parts: int) -> None:
    random = np.random.default_rng(4)
    q, k, v = (random.standard_normal((3, n, 128)).astype(np.float32) for n in (1, 50, 50))
    scores = (q.astype(float) @ k.transpose(0, 2, 1) / 128**0.5)[:, 0]
    weights = np.exp(scores - scores.max(1, keepdims=True))
    exact = np.einsum("bl,bld->bd", weights / weights.sum(1, keepdims=True), v)
    assert np.allclose(sum_order.attention(q[:, 0], k, v, parts), exact, atol=5e-3)


def test_only_the_parts_change_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"STEPS": 8, "PROMPTS": 16, "CACHE": 96}.items():
        monkeypatch.setattr(sum_order, name, value)
    model = sum_order.Model(1)
    alone, two, many = (model.answers(batch) for batch in (1, 2, 64))
    assert np.array_equal(alone.logits, two.logits), "as many parts, the same bits"
    assert (alone.logits != many.logits).any()
    monkeypatch.setattr(sum_order, "parts_for", lambda batch: 4)
    fixed = [model.answers(batch) for batch in (1, 64)]
    assert np.array_equal(fixed[0].logits, fixed[1].logits)
    assert np.array_equal(fixed[0].tokens, fixed[1].tokens)


def test_products_repeat_and_only_a_cut_sum_depends_on_the_batch() -> None:
    assert {p["value"] for p in points("product_results")} == {1}
    assert {p["value"] for p in points("product_changed", mode="no workspace")} == {0}
    for shape in ("qkv", "gate and up", "vocabulary"):
        assert {p["value"] for p in points("product_changed", mode="default", shape=shape)} == {0}
    for shape in ("output", "down"):
        for mode in ("default", "deterministic"):
            (most,) = points("product_changed", mode=mode, shape=shape, batch=256)
            assert most["value"] > 0
    assert {p["value"] for p in points("padded_results")} == {1}
    assert {p["value"] for p in points("decode_results", way="flash")} == {1}


def test_what_the_note_says_without_markers_is_in_the_record() -> None:
    assert max(p["value"] for p in points("decode_results", way="cudnn")) == 56
    assert min(p["batch"] for p in points("decode_results", way="cudnn") if p["value"] > 1) == 16
    assert {p["value"] for p in points("chunk_changed") if p["chunk"] >= 512} == {0}
    assert {p["value"] for p in points("logits_changed", batch=2)} == {0}
    widest = {p["value"] for p in points("flip_margin") if p["batch"] > 2}
    assert widest == {0.0625}
    for note in ("infer/determinism", "infer/determinism.en"):
        assert "0.0625" in text(note)
