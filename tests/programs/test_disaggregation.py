"""Prefill and decode on one pool or two: the simulation, its formula, the record that is kept."""

from __future__ import annotations

import json
from typing import Any

import pytest
import simpy

from tools.figures.files import ROOT, load_program

pd = load_program("infer/code/disaggregation.py")
sizing = load_program("infer/code/disaggregation_sizing.py")
RECORD = ROOT / "docs/infer/simulated/disaggregation_sizing.json"
STEPS = pd.fit()


def results() -> dict[str, list[dict[str, Any]]]:
    """Return the points of the record, by the names of its results."""
    made = json.loads(RECORD.read_text("utf-8"))["results"]
    return {one["id"]: one["points"] for one in made}


def alone(way: str, link: float = 50e9) -> Any:
    """Serve one request of 2048 and 3 tokens on an empty machine."""
    env = simpy.Environment()
    request = pd.Request(0.0, 2048, 3, 2048)
    if way == "together":
        pd.together([pd.Engine(env, 2048, [])])(request)
    else:
        pd.split(env, 1, 1, link, [])(request)
    env.run(until=5)
    return request


def test_alone_the_times_are_those_of_the_steps() -> None:
    prefill = STEPS.time(0, 0, 2048, pd.pairs_of(2048))
    decode = STEPS.time(1, 2049) + STEPS.time(1, 2050)
    here, there = alone("together"), alone("split")
    assert here.first == pytest.approx(prefill)
    assert here.last - here.first == pytest.approx(decode)
    assert there.first == pytest.approx(prefill + 2048 * 131072 / 50e9)
    assert there.last - there.first == pytest.approx(decode)


def test_a_slow_link_delays_the_first_token_only() -> None:
    fast, slow = alone("split"), alone("split", 1e9)
    assert slow.first - fast.first == pytest.approx(2048 * 131072 * (1 / 1e9 - 1 / 50e9))
    assert slow.last - slow.first == pytest.approx(fast.last - fast.first)


def test_every_token_is_counted_and_the_cache_comes_back() -> None:
    env, gaps = simpy.Environment(), list[tuple[float, int]]()
    pool = [pd.Engine(env, 512, gaps) for _ in range(2)]
    enter = pd.together(pool)
    requests = pd.trace(pd.Load(1000, 50), 5, 10)
    for request in requests:
        enter(request)
    env.run(until=200)
    assert all(0 < one.first < one.last for one in requests)
    assert sum(count for _, count in gaps) == sum(one.output - 1 for one in requests)
    assert [(e.used, e.read, e.queued, e.decoding) for e in pool] == [(0, 0, 0, 0)] * 2


def test_hits_take_work_off_the_prefill_only() -> None:
    cold, warm = (sizing.seconds_of(pd.Load(8192, 256, hit), 0.03) for hit in (0.0, 0.5))
    assert warm[1:] == cold[1:]
    assert 0.4 < warm[0] / cold[0] < 0.6


@pytest.mark.parametrize("load", sizing.LOADS[:3], ids=str)
def test_the_simulation_comes_near_the_formula(load: Any) -> None:
    """At 30 ms goodput stays below what the GPU seconds allow, by at most a third."""
    prefill, decode, _ = sizing.seconds_of(load, 0.03)
    points = results()[f"mean_{load.prompt}_{load.output}"]
    (found,) = (one["value"] for one in points if (one["limit"], one["way"]) == (30, "split"))
    assert 0.67 < found * (prefill + decode) < 1.1


def kept(load: Any, kind: str, value: float, limits: Any, link: float = sizing.LINK) -> set[int]:
    """Return the settings that serve the rate of a record well; none does a step of 5 % more.

    To look for that rate anew, setting by setting, takes three times as long.
    """
    above = [0.0, *(round(rate, 2) for rate in sizing.RATES)].index(value)
    numbers = sizing.BUDGETS if kind == "together" else range(1, sizing.GPUS)

    def served(rate: float) -> set[int]:
        outs = {n: pd.run(load, (kind, n), rate, link) for n in numbers}
        return {n for n, out in outs.items() if out.good(limits.gap, limits.tail, limits.ttft)}

    assert not served(sizing.RATES[above]), (load, kind, value, limits)
    return served(sizing.RATES[above - 1]) if above else set(numbers)


@pytest.mark.release
@pytest.mark.parametrize("load", sizing.LOADS, ids=str)
def test_the_record_is_fresh(load: Any) -> None:
    """Rates on a grid, their best settings, and what the formula says."""
    points_of = results()
    size = f"{load.prompt}/{load.output}"
    cases = [
        (point, sizing.Limits(point["limit"] / 1e3, tail))
        for name, tail in (("mean", False), ("tail", True))
        if not load.hit
        for point in points_of[f"{name}_{size.replace('/', '_')}"]
    ]
    longer = [one for one in points_of["longer"] if one["load"] == size and not load.hit]
    for point, limits in [*cases, *((one, sizing.Limits(0.02, True, 3.0)) for one in longer)]:
        assert point["setting"] in kept(load, point["way"], point["value"], limits)
    for point in points_of["link"] if size == "2048/256" else []:
        assert kept(load, "split", point["value"], sizing.Limits(0.02, True), point["link"] * 1e9)
    formula, simulation = (
        one["value"] for one in points_of["share"] if one["load"] == f"{size}, {load.hit:.0%}"
    )
    prefill, decode, _ = sizing.seconds_of(load, 0.03)
    assert formula == round(sizing.GPUS * prefill / (prefill + decode), 1)
    limits = sizing.Limits(0.03, True)
    value = round(sizing.goodput(load, ("split", simulation), limits), 2)
    assert simulation == min(kept(load, "split", value, limits))


def test_the_table_of_the_note_is_that_of_the_record() -> None:
    """Every point that the table shows: result, limit in ms, ratio as it is printed."""
    points_of = results()
    shown = [("tail_512_512", 20), ("tail_512_512", 30), ("tail_2048_256", 15)]
    shown += [("tail_2048_256", 20), ("mean_2048_256", 20), ("mean_2048_256", 50)]
    shown += [
        ("tail_8192_256", 15),
        ("tail_8192_256", 20),
        ("mean_8192_256", 20),
        ("mean_8192_256", 50),
    ]
    rows = [[one for one in points_of[name] if one["limit"] == limit] for name, limit in shown]
    rows.append([one for one in points_of["longer"] if one["load"] == "8192/256"])
    for name, opening, closing in (
        ("disaggregation.en.md", " (", ")"),
        ("disaggregation.md", "（", "）"),
    ):
        text = (ROOT / "docs/infer" / name).read_text("utf-8")
        for here, there in rows:
            cells = [f"{p['value']:.2f}{opening}{p['setting']}{closing}" for p in (here, there)]
            assert f"| {cells[0]} | {cells[1]} |" in text
