"""What must hold of the calculators' formulas for any entries: monotony, symmetry, limits."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hooks.calc import engine
from hooks.calc.engine import Engine

few = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
UNITS = ["Gb/s", "GB/s", "GiB/s", "Tb/s", "TB/s", "TiB/s", "Mb/s", "MB/s"]
sizes = st.floats(1, 1e12)
times = st.floats(0.1, 100)


@pytest.fixture(scope="module")
def calc() -> Engine:
    return engine.default()


# Units


@few
@given(value=st.floats(0.001, 1e4), unit=st.sampled_from(UNITS), direction=st.booleans())
def test_directions_and_units_agree(value: float, unit: str, direction: bool, calc: Engine) -> None:
    entries = {"value": value, "unit": unit, "direction": "bi" if direction else "uni"}
    answer = calc.run("units", entries)
    assert answer["bi"] == pytest.approx(2 * answer["uni"])
    assert answer["uni_gbit"] == pytest.approx(8 * answer["uni"])
    assert answer["uni_gib"] * 2**30 == pytest.approx(answer["uni"] * 1e9)
    back = calc.run("units", {"value": answer["uni_gbit"], "unit": "Gb/s", "direction": "uni"})
    assert back["uni"] == pytest.approx(answer["uni"])


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


@few
@given(per_node=st.integers(1, 16), nodes=st.integers(1, 64), size=sizes)
def test_hierarchy_of_one_node_is_the_ring(
    per_node: int, nodes: int, size: float, calc: Engine
) -> None:
    link = {"alpha": 1e-6, "bandwidth": 1e11}
    slow = {"alpha": 1e-5, "bandwidth": 1e10}
    one = calc.formula("hierarchicalAllReduce", per_node, 1, size, link, slow)
    assert one == pytest.approx(calc.formula("ringAllReduce", per_node, size, 1e-6, 1e11))
    many = calc.formula("hierarchicalAllReduce", per_node, nodes, size, link, slow)
    assert many >= one * (1 - 1e-9)


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


@few
@given(
    m=st.integers(1, 9999),
    n=st.integers(1, 9999),
    tile=st.integers(1, 256),
    sms=st.integers(1, 200),
)
def test_tiles_waste_between_nothing_and_all(
    m: int, n: int, tile: int, sms: int, calc: Engine
) -> None:
    found = calc.formula("gemmTiles", m, n, tile, tile, sms)
    assert 0 < found["wave_share"] <= 1
    assert 0 < found["tile_share"] <= 1
    assert found["waves"] - 1 < found["exact_waves"] <= found["waves"]
    mirror = calc.formula("gemmTiles", n, m, tile, tile, sms)
    assert mirror == found


@few
@given(peak=st.floats(1, 1e5), bandwidth=st.floats(1, 1e5), intensity=st.floats(0.01, 1e5))
def test_roofs_meet_at_the_ridge(
    peak: float, bandwidth: float, intensity: float, calc: Engine
) -> None:
    ridge = calc.formula("ridge", peak, bandwidth)
    assert calc.formula("attainable", peak, bandwidth, ridge) == pytest.approx(peak)
    assert calc.formula("attainable", peak, bandwidth, intensity) <= peak


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
    assert kept("selective", True) <= kept("selective", False)


@few
@given(tokens=st.floats(1e6, 1e14), gpus=st.integers(1, 100_000), mfu=st.floats(1, 100))
def test_time_and_throughput_are_two_ways_of_one_sum(
    tokens: float, gpus: int, mfu: float, calc: Engine
) -> None:
    common = {"model": "", "gpu": "", "peak": 989, "active": 7e9, "tokens": tokens, "gpus": gpus}
    forward = calc.run("training-time", {**common, "utilisation": mfu})
    speed = {"mode": "throughput", "throughput": forward["throughput"]}
    if not 1e-3 <= speed["throughput"] <= 1e15:
        return
    back = calc.run("training-time", {**common, **speed})
    assert back["mfu"] == pytest.approx(mfu / 100)
    assert back["time"] == pytest.approx(forward["time"])


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
@given(
    p=st.integers(2, 6),
    v=st.integers(2, 4),
    groups=st.integers(1, 4),
    ratio=st.sampled_from([1, 2]),
)
def test_interleaving_divides_the_bubble(
    p: int, v: int, groups: int, ratio: int, calc: Engine
) -> None:
    work = {"forward": 1.0, "input": ratio / 2, "weight": ratio / 2}
    game = played(calc, "interleaved", p, v, groups * p, work)
    assert game["idle"] == pytest.approx(
        calc.formula("pipelineBubble", "interleaved", p, v, work), abs=1e-9
    )


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


@few
@given(total=st.floats(1e9, 1e12), share=st.floats(0.01, 1), batch=st.integers(1, 4096))
def test_experts_read_grow_from_active_to_all(
    total: float, share: float, batch: int, calc: Engine
) -> None:
    read = calc.formula("weightsRead", total, total * share, batch)
    assert total * share * (1 - 1e-9) <= read <= total * (1 + 1e-9)
    assert calc.formula("weightsRead", total, total * share, 1) == pytest.approx(total * share)


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


@few
@given(
    ports=st.integers(1, 3000),
    k=st.sampled_from([16, 64, 144]),
    levels=st.sampled_from([2, 3]),
    ratio=st.sampled_from([1, 1.5, 2, 3]),
)
def test_uplinks_fit_the_switches_above(
    ports: int, k: int, levels: int, ratio: float, calc: Engine
) -> None:
    tree = calc.formula("fatTree", ports, k, levels, ratio)
    if ports > tree["largest"]:
        return
    assert tree["leaves"] * tree["down"] >= ports
    if tree["leaves"] > 1:
        above = tree["middle"] * (k / 2) if levels == 3 else tree["top"] * k
        assert above >= tree["uplinks"]
        assert tree["top"] * k >= (tree["middle"] * (k / 2) if levels == 3 else tree["uplinks"])
