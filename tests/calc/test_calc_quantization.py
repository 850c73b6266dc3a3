"""The calculator of quantised weights, against sizes that others printed and files that were made.

llama.cpp prints bits per weight of Llama 3.1 8B in tools/quantize/README.md (as in the source
package of llama-cpp-python 0.3.36, read 2026-11-23); which tensors of Q4_K_M are in Q6_K says
src/llama-quant.cpp (`use_more_bits`).
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hooks.calc import engine
from hooks.calc.engine import Engine
from tests import ours
from tests.calc.conftest import few

SHAPES = {  # layers, hidden, width of keys, inner, vocabulary
    "llama31-8b": (32, 4096, 1024, 14336, 128256),
    "llama31-70b": (80, 8192, 1024, 28672, 128256),
}


def in_more_bits(model: str) -> int:
    """Parameters that Q4_K_M puts into Q6_K: the head, and of half of the layers two matrices."""
    layers, hidden, keys, inner, vocabulary = SHAPES[model]
    eighth = layers // 8
    chosen = [
        layer
        for layer in range(layers)
        if layer < eighth or layer >= 7 * layers // 8 or (layer - eighth) % 3 == 2
    ]
    return vocabulary * hidden + len(chosen) * hidden * (keys + inner)


def q4_k_m(model: str) -> dict[str, object]:
    return {
        "model": model,
        "format": "q4-k",
        "kept": "own",
        "kept_parameters": in_more_bits(model),
        "kept_bits": 6.5625,
    }


@pytest.mark.parametrize(
    ("entries", "printed"),
    [
        pytest.param({"format": "bf16", "kept": "none"}, 16.0005, id="F16"),
        pytest.param({"format": "q8-0", "kept": "none"}, 8.5008, id="Q8_0"),
        pytest.param({"format": "q6-k", "kept": "none"}, 6.5633, id="Q6_K"),
        pytest.param(q4_k_m("llama31-8b"), 4.8944, id="Q4_K_M"),
    ],
)
def test_bits_per_weight_are_those_that_llama_cpp_prints(
    entries: dict[str, object], printed: float, calc: Engine
) -> None:
    ours = calc.run("quantization", {"model": "llama31-8b", **entries})["mean"]
    assert ours == pytest.approx(printed, abs=0.001)  # norms stay in FP32, 0.0005 of F16


@pytest.mark.parametrize(
    ("entries", "made"),
    [
        pytest.param({"format": "bf16", "kept": "none"}, 16_061_054_976, id="F16"),
        pytest.param({"format": "q8-0", "kept": "none"}, 8_532_934_656, id="Q8_0"),
        pytest.param(q4_k_m("llama31-8b"), 4_912_898_048, id="Q4_K_M"),
    ],
)
def test_sizes_are_those_of_files_that_we_made(
    entries: dict[str, object], made: int, calc: Engine
) -> None:
    """`model_size` in docs/data/raw/2026-11-23-1x-h100-llama/llama_bench.jsonl."""
    ours = calc.run("quantization", {"model": "llama31-8b", **entries})["size"]
    assert ours == pytest.approx(made, rel=0.0005)


@pytest.mark.parametrize(
    ("model", "printed", "within"),
    [("llama31-8b", 4.9e9, 0.01), ("llama31-70b", 43.1e9, 0.015)],
)
def test_whole_files_of_q4_k_m(model: str, printed: float, within: float, calc: Engine) -> None:
    """The 70B is printed 1.4 % above ours; its embedding's and values' rules explain 0.1 %."""
    ours = calc.run("quantization", q4_k_m(model))["size"]
    assert ours == pytest.approx(printed, rel=within)


def test_a_mixture_needs_its_scales_and_the_head() -> None:
    assert engine.default(ours.facts()).run("quantization", {"model": "llama31-70b"})["mean"] > 4.4


@pytest.mark.parametrize("model", ["llama31-8b", "llama31-70b"])
def test_without_quantisation_arithmetic_binds_at_the_ridge(model: str, calc: Engine) -> None:
    answer = calc.run("quantization", {"model": model, "format": "bf16", "gpu": "h100-sxm"})
    assert answer["turning"] == pytest.approx(989.4e12 / 3352e9, abs=1.1)  # a lookup multiplies not


@few
@given(bits=st.floats(1, 16), extra=st.floats(0, 64), group=st.integers(1, 4096))
def test_the_gain_is_bounded_by_the_bits(
    bits: float, extra: float, group: int, calc: Engine
) -> None:
    entries = {"bits": bits, "extra": extra, "group": group}
    answer = calc.run("quantization", {**entries, "kept": "none"})
    assert answer["per_weight"] == pytest.approx(bits + extra / group)
    assert answer["gain"] == pytest.approx(16 / answer["per_weight"])
    assert answer["ratio"] == pytest.approx(answer["per_weight"] / 16)
    ends = calc.run("quantization", entries)
    assert min(16, answer["per_weight"]) - 1e-9 <= ends["mean"] <= max(16, answer["per_weight"])


def test_what_cannot_be_is_said(calc: Engine) -> None:
    shown = calc.show("quantization", {"kept": "own", "kept_parameters": "100B"}, "en")
    assert "cannot exceed" in str(shown)
