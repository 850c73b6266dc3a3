"""The programs of the notes on quantisation and speculative decoding."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tools.figures.files import load_program

tiny_lm, quantize, speculative, edge_fold = (
    load_program(f"infer/code/{name}.py")
    for name in ("tiny_lm", "quantize", "speculative", "edge_fold")
)
MODEL = tiny_lm.load()
SEEN, JUDGED = MODEL.inputs(MODEL.calibration), MODEL.inputs(MODEL.held_out)


def test_gradients_are_those_of_the_loss() -> None:
    rng = np.random.default_rng(2)
    weights = {
        name: getattr(MODEL, name).astype(np.float64)
        for name in ("embedding", "first", "gain", "middle", "last")
    }
    codes = MODEL.calibration[:40]
    x, y = tiny_lm.windows(codes)
    slopes = tiny_lm.gradients(weights, x, y)
    for name, slope in slopes.items():
        way = rng.normal(size=slope.shape)
        losses = []
        for step in (1e-5, -1e-5):
            moved = {**weights, name: weights[name] + step * way}
            model = tiny_lm.Model(**moved, calibration=codes, held_out=codes)
            losses.append(model.loss(model.inputs(codes) @ model.middle, codes))
        assert (losses[0] - losses[1]) / 2e-5 == pytest.approx((slope * way).sum(), rel=1e-4)


@pytest.mark.parametrize("method", quantize.METHODS.values())
@pytest.mark.parametrize(("bits", "group"), [(8, 384), (4, 128), (3, 32)])
def test_each_group_names_no_more_values_than_its_bits_allow(
    method: Any, bits: int, group: int
) -> None:
    rounded = method(MODEL.middle, SEEN[:512], bits, group)
    if method is quantize.awq:
        return  # its rows are divided by the scales again
    for at in range(0, len(rounded), group):
        column = rounded[at : at + group, 0]
        assert len(np.unique(column.round(9))) <= 2**bits


@pytest.mark.parametrize(
    ("bits", "group"),
    [
        (4, 128),
        (2, 32),
        *(pytest.param(*one, marks=pytest.mark.slow) for one in ((4, 384), (3, 128))),
    ],
)
def test_gptq_errs_least_and_more_bits_err_less(bits: int, group: int) -> None:
    exact = JUDGED @ MODEL.middle
    error = {
        name: quantize.relative(JUDGED @ method(MODEL.middle, SEEN, bits, group), exact)
        for name, method in quantize.METHODS.items()
    }
    assert error["GPTQ"] < 0.95 * error["RTN"]
    more = quantize.relative(JUDGED @ quantize.rtn(MODEL.middle, SEEN, bits + 1, group), exact)
    assert more < 0.6 * error["RTN"]


def test_gptq_without_correlation_is_rounding() -> None:
    white = np.eye(len(MODEL.middle))
    assert np.allclose(
        quantize.gptq(MODEL.middle, white, 4, 128), quantize.rtn(MODEL.middle, white, 4, 128)
    )


def test_large_channels_change_no_product_and_smoothing_none_either() -> None:
    weight, seen, judged = quantize.with_outliers(MODEL, 4, 100.0)
    assert np.allclose(judged @ weight, JUDGED @ MODEL.middle)
    s = quantize.smoothing(weight, seen)
    assert np.allclose((judged / s) @ (weight * s[:, None]), JUDGED @ MODEL.middle)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("drafts", [1, 2, 4])
def test_the_law_of_the_output_is_the_targets(seed: int, drafts: int) -> None:
    p, q = speculative.chain(seed), speculative.chain(seed + 100)
    for draft in (q, speculative.greedy(q)):
        law = speculative.law_of(p, draft, speculative.exact, drafts, 3)
        assert law == speculative.plain(p, 3)
        assert sum(law.values()) == 1


def test_a_wrong_rule_is_found_out() -> None:
    p, q = speculative.chain(1), speculative.chain(3)
    for rule in (speculative.careless, speculative.typical):
        law = speculative.law_of(p, q, rule, 2, 3)
        assert speculative.distance(law, speculative.plain(p, 3)) > Fraction(1, 100)


def test_a_draft_that_is_the_target_is_always_accepted() -> None:
    p = speculative.chain(1)
    rounds = list(speculative.round_(p, p, speculative.exact, speculative.START, 3))
    assert sum(chance for text, chance in rounds if len(text) == 4) == 1


def test_a_check_costs_at_least_a_step_and_less_than_so_many_sequences() -> None:
    times, token = speculative.measured()
    for drafts in (1, 3):
        for batch, step in times.items():
            wide = times.get(batch * (drafts + 1))
            if wide:
                again = drafts * batch * speculative.CONTEXT * token
                assert step < wide - again < wide


def test_a_cached_token_costs_what_its_bytes_take() -> None:
    _, token = speculative.measured()
    assert 131072 / 3352e9 < token < 1.6 * 131072 / 3352e9


def test_a_folded_convolution_is_the_convolution_and_its_norm() -> None:
    rng = np.random.default_rng(5)
    x, weight = rng.normal(size=(4, 6, 6)), rng.normal(size=(3, 4, 3, 3))
    norm = {name: rng.uniform(0.5, 2, 3) for name in ("gain", "shift", "mean", "variance")}
    shaped = {name: value[:, None, None] for name, value in norm.items()}
    plain = edge_fold.convolved(x, weight, np.zeros(3))
    assert plain[1, 2, 3] == pytest.approx((x[:, 1:4, 2:5] * weight[1]).sum())
    exact = (plain - shaped["mean"]) / np.sqrt(shaped["variance"] + 1e-5)
    got = edge_fold.convolved(x, *edge_fold.folded(weight, norm))
    assert np.allclose(got, exact * shaped["gain"] + shaped["shift"])


def test_a_scale_per_channel_serves_the_smallest_channel() -> None:
    weight = np.random.default_rng(6).normal(size=(2, 4, 3, 3))
    weight[1] /= 1000
    assert not edge_fold.eight_bits(weight, per_channel=False)[1].any()
    assert np.allclose(edge_fold.eight_bits(weight, per_channel=True), weight, rtol=0.5, atol=0.02)
