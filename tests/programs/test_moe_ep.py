"""The router, the loads and the states of the note on experts."""

from __future__ import annotations

import numpy as np
import pytest

from tools.figures.files import load_program

moe = load_program("train/code/moe_balance.py")


def test_router_chooses_the_best_and_keeps_to_the_limit_on_nodes() -> None:
    score = moe.Tokens(seed=5).batch(200)
    none = np.zeros(moe.EXPERTS, np.float32)
    free = moe.route(score, none)
    best = np.sort(score, axis=1)[:, -moe.TOP :].sum(axis=1)
    assert np.take_along_axis(score, free, axis=1).sum(axis=1) == pytest.approx(best)
    limited = moe.route(score, none, limit=4)
    nodes = limited // (moe.EXPERTS // moe.NODES)
    assert max(len(set(row)) for row in nodes.tolist()) <= 4
    assert all(len(set(row)) == moe.TOP for row in limited.tolist())


def test_bias_evens_the_load_without_touching_the_scores() -> None:
    source = moe.Tokens(seed=5)
    none = np.zeros(moe.EXPERTS, np.float32)
    bias = moe.trained(source, none, 60, speed=0.003)
    score = source.batch(4096)
    before, after = (moe.loads(moe.route(score, b)) for b in (none, bias))
    assert before.sum() == after.sum() == 4096 * moe.TOP
    assert moe.worst(after, moe.EXPERTS) < moe.worst(before, moe.EXPERTS) / 2
    assert moe.dropped(after, 1.25) < moe.dropped(before, 1.25) / 4


def test_larger_groups_of_experts_are_never_less_even() -> None:
    load = moe.loads(moe.route(moe.Tokens(seed=6).batch(2048), np.zeros(moe.EXPERTS)))
    assert moe.worst(load, 8) <= moe.worst(load, 64) <= moe.worst(load, 256)
    assert moe.worst(load, 1) == 1


def test_states_add_up_to_18_bytes_a_parameter() -> None:
    copies = 512 / (8 * 64)
    parts = moe.states(moe.ROUTED, 0, 512, pp=8, ep=64)
    assert sum(parts) * 512 * 1e9 == pytest.approx(18 * moe.ROUTED * copies)
