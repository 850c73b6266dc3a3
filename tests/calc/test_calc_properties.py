"""What must hold of the calculators' formulas for any entries: monotony, symmetry, limits."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hooks.calc.engine import Engine
from tests.calc.conftest import few

UNITS = ["Gb/s", "GB/s", "GiB/s", "Tb/s", "TB/s", "TiB/s", "Mb/s", "MB/s"]
sizes = st.floats(1, 1e12)
times = st.floats(0.1, 100)


# Units


@few
@given(value=st.floats(1e-3, 1e15), digits=st.integers(2, 8))
def test_written_numbers_keep_their_digits(value: float, digits: int, calc: Engine) -> None:
    text = str(calc._call("number", [value, digits]))
    mantissa, _, power = text.replace(",", "").replace("−", "-").partition("×10")
    exponent = int(power.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")) or 0)
    assert float(mantissa) * 10**exponent == pytest.approx(
        value, rel=0.5 * 10 ** (1 - digits) * 1.01
    )


# Collectives


@few
@given(n=st.integers(2, 512), size=sizes, alpha=st.floats(1e-7, 1e-3), rate=st.floats(1e8, 1e12))
def test_no_algorithm_beats_the_bandwidth_bound(
    n: int, size: float, alpha: float, rate: float, calc: Engine
) -> None:
    bound = 2 * (n - 1) / n * size / rate
    for name in ("ringAllReduce", "halvingDoublingAllReduce", "treeAllReduce"):
        time = calc.formula(name, n, size, alpha, rate)
        assert time >= bound * (1 - 1e-9), name
        assert calc.formula(name, n, 2 * size, alpha, rate) > time, name
        assert calc.formula(name, n, size, 2 * alpha, rate) > time, name
    ring = calc.formula("ringAllReduce", n, size, alpha, rate)
    assert ring == pytest.approx(2 * calc.formula("ringHalf", n, size, alpha, rate))
    # The fewest messages: halving and doubling never lose to the ring.
    assert calc.formula("halvingDoublingAllReduce", n, size, alpha, rate) <= ring * (1 + 1e-9)


FAST = {"alpha": 1e-6, "bandwidth": 4.5e11}
SLOW = {"alpha": 3e-6, "bandwidth": 5e10}


def seconds(calc: Engine, name: str, *arguments: object) -> float:
    return float(calc.formula("costTime", calc.formula(name, *arguments)))


@few
@given(per_node=st.integers(1, 16), nodes=st.integers(2, 64), size=sizes)
def test_over_nodes_no_algorithm_beats_what_a_node_must_send(
    per_node: int, nodes: int, size: float, calc: Engine
) -> None:
    """Each node sends (N-1)/N of the buffer twice, and overlapping the phases is the least."""
    floor = 2 * (nodes - 1) / nodes * size / per_node / 5e10
    links = (FAST, SLOW)
    for length in (size, 2 * size):
        found = [
            seconds(calc, "railRing", per_node, nodes, length, *links, 2),
            seconds(calc, "railTree", per_node, nodes, length, *links),
            seconds(calc, "hierarchical", per_node, nodes, length, *links, 2, False),
            seconds(calc, "hierarchical", per_node, nodes, length, *links, 2, True),
        ]
        assert min(found) >= floor * length / size * (1 - 1e-9)
        assert found[3] <= found[2]
    half = seconds(calc, "railRing", per_node, nodes, size, *links, 1)
    assert 2 * half == pytest.approx(seconds(calc, "railRing", per_node, nodes, size, *links, 2))


@few
@given(
    nodes=st.integers(1, 32),
    size=st.floats(1, 1e11),
    operation=st.sampled_from(
        ["all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast", "reduce"]
    ),
)
def test_more_algorithms_and_faster_ports_never_cost_time(
    nodes: int, size: float, operation: str, calc: Engine
) -> None:
    def time(**more: object) -> float:
        entries = {"operation": operation, "ranks": 8 * nodes, "size": size, **more}
        return float(calc.run("collective", entries)["time"])

    assert time(library="any") <= time()
    assert time(bandwidth_out=100) <= time() * (1 + 1e-9)
    assert time(protocol="own") <= time(protocol="own", alpha_out=27) * (1 + 1e-9)
    assert time() <= min(time(protocol=one) for one in ("LL", "LL128", "Simple")) * (1 + 1e-9)


# Occupancy and tiles

SM = {"threads": 2048, "blocks": 32, "registers": 65536, "shared": 233472, "shared_block": 232448}


@few
@given(threads=st.integers(1, 1024), registers=st.integers(1, 254), shared=st.integers(0, 200_000))
def test_more_of_a_resource_never_raises_occupancy(
    threads: int, registers: int, shared: int, calc: Engine
) -> None:
    def blocks(**kernel: int) -> int:
        sm = {**SM, "reserved": 1024}
        return int(calc.formula("occupancy", sm, kernel)["blocks"])

    here = blocks(threads=threads, registers=registers, shared=shared)
    assert 0 <= here * math.ceil(threads / 32) <= 64
    assert blocks(threads=threads, registers=registers + 1, shared=shared) <= here
    assert blocks(threads=threads, registers=registers, shared=shared + 128) <= here


# Training


@few
@given(parameters=st.floats(1e6, 1e13), ranks=st.integers(1, 10_000))
def test_each_zero_stage_saves_and_one_rank_saves_nothing(
    parameters: float, ranks: int, calc: Engine
) -> None:
    def total(stage: int, n: int) -> float:
        return float(sum(calc.formula("modelStates", parameters, [2, 2, 12], stage, n).values()))

    sums = [total(stage, ranks) for stage in range(4)]
    assert sums == sorted(sums, reverse=True)
    assert {total(stage, 1) for stage in range(4)} == {sums[0]}
    assert sums[3] == pytest.approx(16 * parameters / ranks)


shapes = st.fixed_dictionaries(
    {
        "s": st.integers(1, 32768),
        "b": st.integers(1, 16),
        "h": st.sampled_from([1024, 4096, 12288]),
        "a": st.sampled_from([8, 32, 96]),
        "t": st.sampled_from([1, 2, 4, 8]),
        "c": st.sampled_from([1, 2, 4]),
    }
)


@few
@given(shape=shapes, sequence_parallel=st.booleans())
def test_recomputing_more_keeps_less(
    shape: dict[str, int], sequence_parallel: bool, calc: Engine
) -> None:
    def kept(recompute: str, spread: bool = sequence_parallel) -> float:
        return float(calc.formula("layerActivations", shape, spread, recompute))

    assert kept("none") >= kept("selective") >= kept("full") > 0
    for recompute in ("none", "selective", "full"):
        assert kept(recompute, True) <= kept(recompute, False)
    assert kept("full", True) == pytest.approx(kept("full", False) / shape["t"])


@few
@given(routed=st.floats(1e6, 1e12), stage=st.integers(0, 3), power=st.integers(0, 6))
def test_more_expert_parallelism_never_takes_more(
    routed: float, stage: int, power: int, calc: Engine
) -> None:
    def total(ep: int) -> float:
        ranks = {"tp": 2, "dp": 64, "cp": 1, "ep": ep}
        found = calc.formula("expertStates", 1e10, routed, [2, 4, 12], stage, ranks)
        return float(sum(found.values()))

    assert total(2 ** (power + 1)) <= total(2**power) * (1 + 1e-9)
    # Each sharded byte is on one rank: ZeRO-3 needs no expert parallelism to spread.
    if stage == 3:
        assert total(2 ** (power + 1)) == pytest.approx(total(2**power))


# Pipelines: the formula against the schedule played piece by piece


def played(calc: Engine, schedule: str, p: int, v: int, m: int, work: dict[str, float]) -> Any:
    return calc.formula("playPipeline", schedule, p, v, m, work)


@few
@given(
    schedule=st.sampled_from(["gpipe", "1f1b"]),
    p=st.integers(1, 8),
    m=st.integers(1, 24),
    forward=times,
    backward=times,
)
def test_flushed_schedules_idle_as_the_formula_says(
    schedule: str, p: int, m: int, forward: float, backward: float, calc: Engine
) -> None:
    work = {"forward": forward, "input": backward / 2, "weight": backward / 2}
    game = played(calc, schedule, p, 1, m, work)
    assert game["idle"] == pytest.approx((p - 1) * (forward + backward), abs=1e-9)
    assert game["end"] == pytest.approx((m + p - 1) * (forward + backward))


@few
@given(p=st.integers(1, 8), more=st.integers(0, 12), time=times)
def test_zero_bubble_with_equal_times(p: int, more: int, time: float, calc: Engine) -> None:
    work = {"forward": time, "input": time, "weight": time}
    m = 2 * p - 1 + more
    assert played(calc, "zb-h1", p, 1, m, work)["idle"] == pytest.approx(
        (p - 1) * time, abs=1e-9 * time * m
    )
    assert played(calc, "zb-h2", p, 1, m, work)["idle"] == pytest.approx(0, abs=1e-9 * time * m)


@few
@given(
    schedule=st.sampled_from(["gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2"]),
    p=st.integers(1, 5),
    groups=st.integers(1, 4),
    forward=times,
    backward=times,
    weight=times,
)
def test_a_played_schedule_does_all_work_once_and_in_order(
    schedule: str, p: int, groups: int, forward: float, backward: float, weight: float, calc: Engine
) -> None:
    v = 2 if schedule == "interleaved" else 1
    m = p * groups
    work = {"forward": forward, "input": backward, "weight": weight}
    pieces = played(calc, schedule, p, v, m, work)["pieces"]
    kinds = 3 if schedule.startswith("zb") else 2
    named = {(one["kind"], one["micro"], one["chunk"], one["stage"]): one for one in pieces}
    assert len(pieces) == len(named) == p * v * m * kinds
    for stage in range(p):
        own = sorted((x["start"], x["end"]) for x in pieces if x["stage"] == stage)
        for (_, end), (start, _) in itertools.pairwise(own):
            assert start >= end - 1e-9
    for (kind, micro, chunk, stage), one in named.items():
        before = ("B", micro, chunk, stage) if kind == "W" else ("F", micro, chunk, stage)
        if kind != "F":
            assert one["start"] >= named[before]["end"] - 1e-9
        ahead = {"F": stage - 1, "B": stage + 1}.get(kind)
        if ahead is not None and 0 <= ahead < p:
            assert one["start"] >= named[(kind, micro, chunk, ahead)]["end"] - 1e-9


# Inference


@few
@given(
    heads=st.sampled_from([8, 32, 128]),
    groups=st.sampled_from([1, 2, 8]),
    layers=st.integers(1, 128),
    bytes_each=st.sampled_from([0.5, 1, 2, 4]),
)
def test_gqa_lies_between_mqa_and_mha(
    heads: int, groups: int, layers: int, bytes_each: float, calc: Engine
) -> None:
    shape = {"layers": layers, "heads": heads, "kv_heads": groups, "head_dim": 128}

    def cached(attention: str) -> float:
        full = {
            **shape,
            "attention": attention,
            "bytes": bytes_each,
            "kv_rank": 512,
            "rope_dim": 64,
        }
        return float(calc.formula("kvBytesPerToken", full))

    assert cached("mqa") * groups == cached("gqa") <= cached("mha") == cached("mqa") * heads
    assert cached("mla") == layers * 576 * bytes_each


mixtures = st.fixed_dictionaries(
    {
        "parameters": st.floats(2e10, 1e12),
        "embedding": st.floats(0, 1e9),
        "routed": st.floats(1e9, 1.9e10),
        "experts": st.sampled_from([8, 64, 256]),
        "chosen": st.integers(1, 8),
        "copied": st.just(0),
    }
)


@few
@given(model=mixtures, batch=st.integers(1, 4096), gpus=st.integers(1, 64))
def test_weights_read_grow_from_the_chosen_experts_to_all(
    model: dict[str, float], batch: int, gpus: int, calc: Engine
) -> None:
    def read(tokens: int, **more: float) -> float:
        return float(calc.formula("weightsRead", {**model, **more}, gpus, tokens))

    fixed = model["parameters"] - model["embedding"] - model["routed"]
    chosen = model["routed"] * model["chosen"] / model["experts"]
    assert read(1) == pytest.approx((fixed + chosen) / gpus)
    assert read(1) * (1 - 1e-9) <= read(batch) <= read(2 * batch) * (1 + 1e-9)
    assert read(batch) <= (fixed + model["routed"]) / gpus * (1 + 1e-9)
    # What each GPU holds whole is read by each: never less than when it is cut.
    assert read(batch, copied=fixed / 2) >= read(batch) * (1 - 1e-9)
    assert read(batch, copied=fixed) >= fixed


@few
@given(alpha=st.floats(0, 1), drafts=st.integers(1, 50), cost=st.floats(0, 1))
def test_speculation_gains_at_most_one_over_the_rejections(
    alpha: float, drafts: int, cost: float, calc: Engine
) -> None:
    tokens = calc.formula("expectedTokens", alpha, drafts)
    assert 1 <= tokens <= drafts + 1 + 1e-9
    if alpha < 1:
        assert tokens <= 1 / (1 - alpha) + 1e-9
    assert calc.formula("speculativeSpeedup", alpha, drafts, cost) <= tokens
    assert calc.formula("speculativeOperations", alpha, drafts, cost) >= 1 - 1e-9


# Operations


@few
@given(cost=st.floats(0.1, 600), mtbf=st.floats(3600, 1e7))
def test_daly_nears_young_and_both_are_near_the_best(
    cost: float, mtbf: float, calc: Engine
) -> None:
    young = calc.formula("youngInterval", cost, mtbf)
    daly = calc.formula("dalyInterval", cost, mtbf)
    if cost < mtbf / 1000:
        assert daly == pytest.approx(young, rel=0.05)

    def loss(interval: float) -> float:
        return float(calc.formula("checkpointLoss", interval, cost, mtbf, 0))

    if cost < mtbf / 100:
        assert loss(daly) <= min(loss(daly / 2), loss(daly * 2))


@few
@given(half=st.integers(2, 32))
def test_full_fat_trees_have_the_sizes_of_the_textbook(half: int, calc: Engine) -> None:
    k = 2 * half
    two = calc.formula("fatTree", k * k // 2, k, 2, 1)
    assert (two["leaves"], two["top"], two["largest"]) == (k, half, k * k // 2)
    three = calc.formula("fatTree", k**3 // 4, k, 3, 1)
    assert three["largest"] == k**3 // 4
    assert three["switches"] == 5 * k * k // 4
    assert three["cables"] == 3 * k**3 // 4


# The fleet


@few
@given(
    requests=st.floats(0.01, 1e4),
    prompt=st.integers(1, 50_000),
    output=st.integers(100, 4000),
    tpot=st.floats(15, 500),
    hit=st.floats(0, 90),
)
def test_a_fleet_keeps_its_limits_and_never_shrinks_with_the_load(
    requests: float, prompt: int, output: int, tpot: float, hit: float, calc: Engine
) -> None:
    entries = {"requests": requests, "prompt": prompt, "output": output, "hit": hit}
    entries |= {"tpot_limit": tpot, "ttft_limit": 20}
    answer = calc.run("fleet", entries)
    if isinstance(answer["gpus"], dict):
        return
    assert answer["tpot"] <= tpot / 1000 * (1 + 1e-6)
    assert answer["ttft"] <= 20 * (1 + 1e-6)
    assert answer["rate"] * answer["replicas"] * 0.8 >= requests * (1 - 1e-6)
    assert calc.run("fleet", {**entries, "requests": 2 * requests})["gpus"] >= answer["gpus"]
    whole = 1 + 1.1 / max(1, answer["batch"])  # batches are whole numbers
    for more in ({"output": 2 * output}, {"prompt": 2 * prompt}):
        other = calc.run("fleet", {**entries, **more})
        assert isinstance(other["gpus"], dict) or other["rate"] <= answer["rate"] * whole
    looser = calc.run("fleet", {**entries, "tpot_limit": 2 * tpot, "ttft_limit": 40})
    assert looser["gpus"] <= answer["gpus"]


def test_a_fleet_that_cannot_be_says_why(calc: Engine) -> None:
    for entries, words in (
        ({"gpus": 1, "weight_bytes": "2"}, "do not fit"),
        ({"tpot_limit": 1}, "misses the limit of TPOT"),
        ({"ttft_limit": 0.01}, "misses the limit of TTFT"),
    ):
        assert words in str(calc.run("fleet", entries)["gpus"])
        calc.show("fleet", entries, "en")


def test_what_binds_a_replica_is_named(calc: Engine) -> None:
    for entries, words in (
        ({"cap": 2}, "cap"),
        ({"tpot_limit": 5000, "ttft_limit": 1000}, "memory"),
        ({"tpot_limit": 20}, "TPOT"),
        ({"tpot_limit": 500, "ttft_limit": 0.5, "prompt": 4000, "output": 50}, "TTFT"),
    ):
        assert words in str(calc.run("fleet", entries)["bound"]), entries


# Quantised weights


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


def test_parameters_that_are_kept_count(calc: Engine) -> None:
    shown = calc.show("quantization", {"kept": "own", "kept_parameters": "100B"}, "en")
    assert "cannot exceed" in str(shown)
    assert calc.run("quantization", {"model": "llama31-70b"})["mean"] > 4.4  # scales, and the head
