"""The programs of the note on transformer arithmetic, against figures that others printed."""

from __future__ import annotations

import pytest

from tools.figures.files import load_program

counting, timing = (
    load_program(f"train/code/{name}.py") for name in ("transformer_math", "layer_time")
)
MODELS = counting.load()


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("llama2-7b", 6_738_415_616),  # as PEFT prints it
        ("llama31-8b", 8_030_261_248),  # metadata of the weight files
    ],
)
def test_counts_to_the_last_parameter(name: str, printed: int) -> None:
    assert MODELS[name].parameters() == printed


@pytest.mark.parametrize(("name", "printed"), counting.PUBLISHED.items())
def test_counts_agree_with_what_makers_print(name: str, printed: tuple[str, str]) -> None:
    total, active = printed
    assert MODELS[name].parameters() / 1e9 == pytest.approx(float(total), rel=0.02)
    if active:
        # makers differ on whether the input embedding is active
        low, high = MODELS[name].multiplied(), MODELS[name].parameters(active=True)
        assert 0.97 * low <= float(active) * 1e9 <= 1.02 * high


def test_own_model_has_the_parameters_that_the_record_says() -> None:
    shape = counting.Shape(24, 2048, 16, 16, 128, 50304, ffn=8192, matrices=2, tied=True,
                           positions=2048, vectors=4, all_bias=True)  # fmt: skip
    assert shape.parameters() == 1_315_819_520


@pytest.mark.parametrize("sequence", [1024, 12288, 98304])
def test_attention_over_matrices_is_s_over_6h_in_a_gpt(sequence: int) -> None:
    shape = counting.Shape(10, 4096, 32, 32, 128, 0, ffn=4 * 4096, matrices=2)
    ratio = shape.training(sequence) / shape.training() - 1
    assert ratio == pytest.approx(sequence / (6 * 4096))
    half = shape.training(sequence, causal=True) / shape.training() - 1
    assert half == pytest.approx(ratio / 2)


def test_fit_gives_what_the_abstract_and_bloomberg_print() -> None:
    assert counting.fitted(1e12)[1] == pytest.approx(30_000, rel=0.02)
    depth, width = counting.fitted(12 * 70 * 7510**2)
    assert (round(depth), round(width, -1)) == (70, 7510)


def test_large_layers_are_timed_within_a_tenth_and_never_above() -> None:
    shares = [int(line.rsplit(None, 1)[1].rstrip("%")) for line in timing.measured()[1:]]
    assert max(shares) <= 100
    assert min(shares[-3:]) >= 90


def test_written_out_products_move_two_rows_a_token_and_the_scores() -> None:
    b, s, h, a = 2, 8, 16, 4
    products = [
        one for one in timing.Layer(b, s, h, a, fused=False).core() if one.kind == "product"
    ]
    scores, rows = b * a * s * s, b * s * h
    assert [one.bytes for one in products] == [2 * (rows + rows + scores)] * 2
    assert sum(one.flop for one in products) == 4 * b * s * s * h


def test_fused_layers_of_one_shape_take_less_time() -> None:
    for written, fused in ((0, 1), (2, 3)):
        slow, fast = (list(timing.LAYERS[k][1].forward()) for k in (written, fused))
        assert timing.shares(fast)[2] < timing.shares(slow)[2]
