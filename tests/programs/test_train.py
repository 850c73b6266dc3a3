"""The programs on training: exact results, bytes and times, against what others printed."""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hooks.calc import engine
from hooks.calc.engine import Engine
from tests import ours
from tests.programs import printed

ring_attention, balance, lora, goodput, moe, schedule, tensor, planner, counting, timing, data = (
    printed.load(
        "train/code",
        *("ring_attention", "document_balance", "lora_bytes", "goodput", "moe_balance"),
        *("pipeline_schedule", "tensor_split", "planner", "transformer_math", "layer_time"),
        "data_prep",
    )
)
rl_step, rl_bytes, overlap, rl_seeds = printed.load(
    "train/code", "rl_step", "rl_bytes", "overlap_trace", "rl_run_seeds"
)

# ring_attention, document_balance


@pytest.mark.parametrize("place", [ring_attention.contiguous, ring_attention.zigzag])
@pytest.mark.parametrize("ranks", [2, 4])
def test_all_ways_give_plain_attention(
    place: Callable[[int, int], list[np.ndarray]], ranks: int
) -> None:
    q, k, v = np.random.default_rng(7).standard_normal((3, 32, 4, 8))
    plain = ring_attention.attention(q, k, v, np.arange(32), np.arange(32))
    for way in (ring_attention.ring, ring_attention.gathered):
        np.testing.assert_allclose(way(q, k, v, place(32, ranks)), plain, atol=1e-12)
    np.testing.assert_allclose(ring_attention.ulysses(q, k, v, ranks), plain, atol=1e-12)


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_zigzag_balances_and_plain_order_does_not(ranks: int) -> None:
    even = ring_attention.rounds(ring_attention.zigzag(512, ranks)).sum(1)
    uneven = ring_attention.rounds(ring_attention.contiguous(512, ranks)).sum(1)
    assert even.max() == even.min()
    assert uneven.max() / uneven.mean() == pytest.approx((2 * ranks - 1) / ranks, rel=0.02)


def test_bytes_of_a_step_are_equal_at_six_ranks() -> None:
    ring, ulysses = (
        getattr(ring_attention, f"{way}_bytes")(4096, 6, 8) for way in ("ring", "ulysses")
    )
    assert 3 * ring == pytest.approx(2 * ulysses)


def test_pairs_are_those_of_the_mask_and_only_documents_cut_one_by_one_are_even() -> None:
    sizes = np.array([32, 16, 48])
    owner = np.repeat(np.arange(3), sizes)
    mask = np.tril(owner[:, None] == owner[None, :])
    for places in (balance.contiguous(96, 4), balance.zigzag(96, 4)):
        assert balance.work(places, sizes).tolist() == [int(mask[at].sum()) for at in places]
    sizes = np.array([16, 64, 160, 16])
    places = balance.each(sizes, 4)
    assert sorted(np.concatenate(places).tolist()) == list(range(256))
    assert balance.most(places, sizes) == 1
    assert balance.most(balance.zigzag(256, 4), sizes) > 1.1
    assert balance.most(balance.zigzag(256, 4), np.array([256])) == 1


# lora_bytes: bytes of each way, NF4, and what an H100 kept

SMALL, LARGE = lora.MODELS
LORA = printed.record("train/measured/lora_memory")


def measured(result: str, **where: object) -> float:
    """Return the one value of the record that fits."""
    (found,) = printed.at(LORA[result], **where)
    return float(found)


def test_shapes_and_adapters_have_the_published_parameters() -> None:
    for shape, billions in ((SMALL, 8.03), (LARGE, 70.55)):
        assert (shape.linear + shape.tables) / 1e9 == pytest.approx(billions, rel=1e-3)
    assert 2 * SMALL.adapters(16) / 1e6 == pytest.approx(83.9, abs=0.05)  # the note on serving
    assert measured("trained", layers=32, way="lora", recompute=0) == SMALL.adapters(16)


def test_states_and_bits() -> None:
    assert sum(lora.held(SMALL, "full").values()) == 16 * (SMALL.linear + SMALL.tables)
    assert (lora.bits(second=None), lora.bits()) == (4.5, pytest.approx(4.127, abs=5e-4))
    whole, quantised = (sum(lora.held(LARGE, way).values()) for way in ("lora", "qlora"))
    assert whole - quantised == pytest.approx(LARGE.linear * (2 - 4.127 / 8), rel=1e-4)


def test_nf4_has_sixteen_levels_and_uses_the_ends_seldom(
    capsys: pytest.CaptureFixture[str],
) -> None:
    levels = lora.LEVELS
    assert len(set(levels)) == 16
    assert levels == sorted(levels)
    assert {-1.0, 0.0, 1.0} <= set(levels)
    assert levels[1] == pytest.approx(-0.6962, abs=1e-4)
    assert lora.rounded([0.5, -2.0, 0.0], levels)[1:] == [-2.0, 0.0]
    lora.demo()
    used = [float(x) for x in capsys.readouterr().out.splitlines()[-1].split()[2:]]
    assert sum(used) == pytest.approx(100, abs=0.5)
    assert max(used[0], used[-1]) < 2.5 < 8 < max(used)


def test_the_counts_are_what_an_h100_kept() -> None:
    held = lora.held(SMALL, "lora")
    assert measured("rest", layers=32, way="lora", recompute=0) == pytest.approx(
        sum(held.values()) - held["gradients"], rel=0.01
    )
    full, seven, two = (
        measured("layers_keep", layers=8, way=way, rank=rank, targets=targets, recompute=0)
        for way, rank, targets in (("full", 0, ""), ("lora", 16, 7), ("lora", 16, 2))
    )
    assert seven == pytest.approx(full, rel=0.005)
    assert two / full == pytest.approx(32 / 41, rel=0.01)


# goodput: against the first-order formula


def test_rare_failures_follow_the_first_order() -> None:
    between = goodput.GPU / 1024
    for plan in goodput.PLANS[:4]:
        assert abs(goodput.simulate(plan, between) - goodput.first_order(plan, between)) < 0.005


def test_each_measure_helps_at_scale() -> None:
    shares = [goodput.simulate(plan, goodput.JOB) for plan in goodput.PLANS]
    assert shares == sorted(shares)
    slow = replace(goodput.PLANS[-1], detect=1800)
    assert goodput.simulate(slow, goodput.JOB) < shares[3]


@pytest.mark.parametrize(
    ("hangs", "order"),
    [(0.1, "pause restart hang"), (0.5, "pause hang restart"), (1.0, "hang pause restart")],
)
def test_the_share_of_hangs_decides_what_helps_most(hangs: float, order: str) -> None:
    base, *alone = goodput.ALONE
    gain = {plan.name.split()[0]: goodput.simulate(plan, goodput.JOB, hangs) for plan in alone}
    assert min(gain.values()) > goodput.simulate(base, goodput.JOB, hangs)
    assert sorted(gain, key=gain.__getitem__, reverse=True) == order.split()


# moe_balance: the router, the loads and the states

NO_BIAS = np.zeros(moe.EXPERTS, np.float32)


def test_router_chooses_the_best_and_keeps_to_the_limit_on_nodes() -> None:
    score = moe.Tokens(seed=5).batch(200)
    free = moe.route(score, NO_BIAS)
    best = np.sort(score, axis=1)[:, -moe.TOP :].sum(axis=1)
    assert np.take_along_axis(score, free, axis=1).sum(axis=1) == pytest.approx(best)
    limited = moe.route(score, NO_BIAS, limit=4)
    nodes = limited // (moe.EXPERTS // moe.NODES)
    assert max(len(set(row)) for row in nodes.tolist()) <= 4
    assert all(len(set(row)) == moe.TOP for row in limited.tolist())


def test_bias_evens_the_load_without_touching_the_scores() -> None:
    source = moe.Tokens(seed=5)
    bias = moe.trained(source, NO_BIAS, 60, speed=0.003)
    score = source.batch(4096)
    before, after = (moe.loads(moe.route(score, b)) for b in (NO_BIAS, bias))
    assert before.sum() == after.sum() == 4096 * moe.TOP
    assert moe.worst(after, moe.EXPERTS) < moe.worst(before, moe.EXPERTS) / 2
    assert moe.dropped(after, 1.25) < moe.dropped(before, 1.25) / 4
    # larger groups of experts are never less even
    assert 1 == moe.worst(before, 1) <= moe.worst(before, 8) <= moe.worst(before, 64)


# pipeline_schedule, tensor_split: against formulas and the calculator

PLAYED = pytest.mark.parametrize(
    ("name", "p", "m", "v"),
    [
        (name, p, m, v if name == "interleaved" else 1)
        for name in ("gpipe", "1f1b", "interleaved", "zb-h1")
        for p, m, v in ((2, 8, 2), (4, 8, 2), (4, 12, 3), (8, 16, 4), (8, 32, 2))
    ],
)


@pytest.fixture(scope="module")
def calc() -> Engine:
    return engine.default(ours.facts())


@PLAYED
def test_played_schedule_agrees_with_the_calculator(
    calc: Engine, name: str, p: int, m: int, v: int
) -> None:
    pieces = schedule.play(name, p, m, v)
    given = {"schedule": name, "stages": p, "micro": m}
    answer = calc.run("pipeline", given | ({"chunks": v} if name == "interleaved" else {}))
    assert float(schedule.step(pieces)) == pytest.approx(answer["step"])
    assert float(schedule.idle(pieces)) == pytest.approx(answer["bubble"])
    assert float(schedule.held(pieces, 0, v)) == pytest.approx(answer["held"])


@PLAYED
def test_every_job_is_played_once_and_never_early(name: str, p: int, m: int, v: int) -> None:
    pieces = schedule.play(name, p, m, v)
    ends = {(x.kind, x.micro, x.chunk * p + x.gpu): x.end for x in pieces}
    assert len(ends) == len(pieces) == m * p * v * (3 if name == "zb-h1" else 2)
    for x in pieces:
        place = x.chunk * p + x.gpu
        kind, before = {"F": ("F", place - 1), "B": ("B", place + 1), "W": ("B", place)}[x.kind]
        assert x.start >= ends.get((kind, x.micro, before), Fraction(0))
        assert x.kind != "B" or x.start >= ends["F", x.micro, place]
    for gpu in range(p):
        mine = sorted((x.start, x.end) for x in pieces if x.gpu == gpu)
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(mine))


def test_interleaving_refuses_a_remainder() -> None:
    with pytest.raises(ValueError, match="no multiple of 4"):
        schedule.play("interleaved", 4, 6, 2)


def numbers(rows: int, columns: int) -> list[list[float]]:
    return [[random.gauss(0, 1) for _ in range(columns)] for _ in range(rows)]


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_ring_sums_and_sends_what_the_formula_says(ranks: int) -> None:
    random.seed(ranks)
    held = [numbers(4, 8) for _ in range(ranks)]
    ring = tensor.Ring(ranks)
    assert tensor.off(ring.all_reduce(held), tensor.add(held)) < 1e-12
    assert ring.sent == 2 * (ranks - 1) / ranks * 32 * tensor.VALUE


def test_rows_first_is_not_the_same_layer() -> None:
    random.seed(3)
    x, a = numbers(2, 4), numbers(4, 4)
    partial = [tensor.mul(tensor.columns(x, r, 2), tensor.rows(a, r, 2)) for r in range(2)]
    early = tensor.add([tensor.each(tensor.gelu, u) for u in partial])
    assert tensor.off(early, tensor.each(tensor.gelu, tensor.mul(x, a))) > 0.01


# planner: what divides, what fits, and how far it is right

SHAPES, H100, Plan = planner.SHAPES, planner.H100, planner.Plan


def test_planned_shapes_have_the_published_parameters() -> None:
    for name, billions in (("8b", 8.03), ("70b", 70.55), ("405b", 405.85)):
        assert SHAPES[name].parameters / 1e9 == pytest.approx(billions, rel=2e-3)


def test_layouts_divide_fit_and_are_sorted() -> None:
    m = SHAPES["70b"]
    plans = list(planner.layouts(m, H100, 128))
    assert len(plans) == len(set(plans)) > 100
    for p in plans:
        assert p.tp * p.pp * p.cp * p.dp == 64
        assert p.tp <= 8 and m.kv_heads % p.tp == 0 and m.layers % p.pp == 0
        assert 128 % (p.dp * p.micro) == 0 and p.cp == 1
    _, fits = planner.search(m, H100, 128)
    assert all(planner.memory(m, H100, p, 128) <= 0.9 * H100.memory for p in fits)
    steps = [planner.estimate(m, H100, p, 128).step for p in fits]
    assert steps == sorted(steps)
    assert Plan(tp=8, pp=4, dp=2) in fits
    assert Plan(dp=64) not in fits  # ZeRO-1 alone


def test_layout_a_is_what_the_running_example_says() -> None:
    e = planner.estimate(SHAPES["70b"], replace(H100, nvlink=450e9), Plan(tp=8, pp=4, dp=2), 128)
    assert e.parts["tensor"] == pytest.approx(1202.6e9 / 450e9, rel=1e-3)
    bubble = e.parts["bubble"]
    assert bubble / (sum(e.parts.values()) - bubble) == pytest.approx(3 / 64, abs=0.002)


def test_published_steps_with_model_parallelism_are_met_within_a_quarter() -> None:
    for source, m, p, figure, own in planner.compare():
        if p.stage == 3:
            assert own > 1.4 * figure  # ZeRO-3 of 2021: the planner is far too hopeful
        else:
            assert abs(own / figure - 1) < 0.25, (source, m.name)


@pytest.mark.parametrize(("chunks", "flight"), [(1, 15), (8, 16 + 13 / 8)])
def test_the_second_stage_is_the_fullest_where_the_first_has_a_layer_less(
    chunks: int, flight: float
) -> None:
    """Llama 3: 126 layers on 16 stages, 7 on the outer two."""
    m = SHAPES["405b"]
    kept = 8 * flight * 38.25 * 8192 * 16384 / 8
    states = m.layer * (2 + 16 / 64)  # eight layers over TP 8; gradients and optimiser over DP
    plan = replace(planner.LLAMA, dp=64, chunks=chunks)
    assert planner.memory(m, H100, plan, 2048) == pytest.approx(kept + states, rel=1e-6)


# rl_step, rl_bytes


def test_memory_of_the_first_question() -> None:
    resident = rl_bytes.tokens(rl_bytes.room(16, 4, False)[2], 4)
    assert rl_bytes.room(8, 4, False)[2] < 0
    # a full replica of mean lengths does not fit
    assert resident < rl_step.SLOTS * rl_step.MEDIAN * 1.4
    assert (rl_bytes.PARAMS, rl_bytes.KV_TOKEN) == (rl_step.PARAMS, rl_step.KV_TOKEN)


def test_a_response_costs_what_its_steps_cost() -> None:
    replica = rl_step.Replica(running=[rl_step.Response(0, 100)])
    alone = replica.step()
    assert replica.advance(float("inf"))[0].done == 100
    assert replica.clock == pytest.approx(100 * alone)


def test_no_token_is_lost_when_generation_is_interrupted() -> None:
    rollout = rl_step.Rollout([rl_step.Replica() for _ in range(2)], random.Random(3))
    rollout.submit(4)
    wanted = sum(one.length for group in rollout.members.values() for one in group)
    for until in (5.0, 20.0, float("inf")):
        rollout.run(until)
        rollout.again()
    assert sorted(rollout.ready) == [0, 1, 2, 3]
    assert sum(one.tokens for one in rollout.replicas) == wanted


# rl_run_seeds


def test_single_seeds_follow_from_the_run() -> None:
    run = ours.ROOT / "docs/data/raw/2026-11-28-1x-h200-rl"
    with (run / "rl_run.jsonl").open(encoding="utf-8") as lines:
        found = [json.dumps(one) + "\n" for one in rl_seeds.seeds(lines)]
    assert "".join(found) == (run / "rl_run_seeds.jsonl").read_text("utf-8")


# data_prep: near duplicates and packing


@pytest.mark.parametrize(("similarity", "chance"), [(0.7, 56), (0.75, 77), (0.8, 92), (0.85, 98.8)])
def test_chances_are_those_of_the_paper(similarity: float, chance: float) -> None:
    """FineWeb, appendix E.1, in percent."""
    assert 100 * data.chance(similarity) == pytest.approx(chance, abs=0.5)


def test_one_changed_word_spoils_five_runs() -> None:
    text = [f"w{at}" for at in range(100)]
    one, two = data.shingles(text), data.shingles([*text[:50], "x", *text[51:]])
    assert (len(one), len(one & two)) == (96, 91)


@pytest.mark.parametrize("length", [512, 2048, 8192])
def test_best_fit_holds_every_piece_and_overfills_nothing(length: int) -> None:
    pieces = [part for one in data.documents(500) for part in data.parts(one, length)]
    full = data.best_fit(pieces, length)
    assert sum(full) == sum(pieces)
    assert max(full) <= length
    assert len(full) >= math.ceil(sum(pieces) / length)
    assert sorted(data.best_fit([6, 5, 4, 3], 10)) == [8, 10]  # where it leaves least room


# transformer_math, layer_time: against figures that others printed

MODELS = counting.load()


def test_counts_to_the_last_parameter() -> None:
    assert MODELS["llama2-7b"].parameters() == 6_738_415_616  # as PEFT prints it
    assert MODELS["llama31-8b"].parameters() == 8_030_261_248  # metadata of the weight files
    own = counting.Shape(24, 2048, 16, 16, 128, 50304, ffn=8192, matrices=2, tied=True,
                         positions=2048, vectors=4, all_bias=True)  # fmt: skip
    assert own.parameters() == 1_315_819_520  # of the record of our own model


@pytest.mark.parametrize(("name", "published"), counting.PUBLISHED.items())
def test_counts_agree_with_what_makers_print(name: str, published: tuple[str, str]) -> None:
    total, active = published
    assert MODELS[name].parameters() / 1e9 == pytest.approx(float(total), rel=0.02)
    if active:
        # makers differ on whether the input embedding is active
        low, high = MODELS[name].multiplied(), MODELS[name].parameters(active=True)
        assert 0.97 * low <= float(active) * 1e9 <= 1.02 * high


@pytest.mark.parametrize("sequence", [1024, 12288, 98304])
def test_attention_over_matrices_is_s_over_6h_in_a_gpt(sequence: int) -> None:
    shape = counting.Shape(10, 4096, 32, 32, 128, 0, ffn=4 * 4096, matrices=2)
    ratio, half = (
        shape.training(sequence, causal=causal) / shape.training() - 1 for causal in (False, True)
    )
    assert ratio == pytest.approx(sequence / (6 * 4096))
    assert half == pytest.approx(ratio / 2)


def test_fit_gives_what_the_abstract_and_bloomberg_print() -> None:
    assert counting.fitted(1e12)[1] == pytest.approx(30_000, rel=0.02)
    depth, width = counting.fitted(12 * 70 * 7510**2)
    assert (round(depth), round(width, -1)) == (70, 7510)


def test_large_layers_are_timed_within_a_tenth_and_never_above() -> None:
    shares = [int(line.rsplit(None, 1)[1].rstrip("%")) for line in timing.measured()[1:]]
    assert max(shares) <= 100
    assert min(shares[-3:]) >= 90


# overlap_trace: sets of instants, and the names of kernels


@pytest.mark.parametrize("seed", range(8))
def test_what_is_hidden_and_what_is_bare_make_the_whole(seed: int) -> None:
    draw = random.Random(seed)
    spans, others = ([(at := draw.randrange(60), at + draw.randrange(9)) for _ in "12345678"]
                     for _ in "12")  # fmt: skip
    one, two = ({t for a, b in each for t in range(a, b)} for each in (spans, others))
    bare = overlap.without(overlap.merged(spans), overlap.merged(others))
    assert {t for a, b in bare for t in range(a, b)} == one - two
    assert all(a < b < c for (a, b), (c, _) in itertools.pairwise(bare))


def test_a_copy_and_an_exchange_are_communication_and_each_instant_counts_once() -> None:
    names = ("void deep_ep::dispatch_impl", "Memcpy PtoP (Device -> Device)",
             "ncclDevKernel_SendRecv", "ncclSymkDevKernel_AllGather_ST", "nvjet_tst")  # fmt: skip
    found = overlap.read([
        {"ph": "X", "cat": "gpu_memcpy" if "copy" in name else "kernel", "name": name,
         "ts": 0, "dur": 5} for name in names])  # fmt: skip
    assert set(found) == {"expert exchange", "copies between GPUs", "other NCCL", "all-gather",
                          "computing"}  # fmt: skip
