"""Prefill and decode on one pool or two: the simulation, its formula, the record that is kept."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
import simpy

from tools.figures.files import ROOT, load_program

sys.path.insert(0, str(ROOT / "docs/infer/code"))
pd = load_program("infer/code/disaggregation.py")
sizing = load_program("infer/code/disaggregation_sizing.py")
RECORD = ROOT / "docs/infer/simulated/disaggregation_sizing.json"
STEPS = pd.fit()


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


@pytest.mark.slow
@pytest.mark.parametrize("load", sizing.LOADS[:3], ids=str)
def test_the_simulation_comes_near_the_formula(load: Any) -> None:
    """At 30 ms goodput stays below what the GPU seconds allow, by at most a third."""
    prefill, decode, _ = sizing.seconds_of(load, 0.03)
    found, _ = sizing.best(load, "split", sizing.Limits(0.03))
    assert 0.67 < found * (prefill + decode) < 1.1


@pytest.mark.slow
def test_what_is_kept_is_what_is_computed() -> None:
    """A few of the points; all of them take a minute (below)."""
    results = {one["id"]: one["points"] for one in json.loads(RECORD.read_text("utf-8"))["results"]}
    for name, tail in (("mean_2048_256", False), ("tail_2048_256", True)):
        for point in (one for one in results[name] if one["limit"] == 20):
            way = (point["way"], point["setting"])
            fresh = sizing.goodput(pd.Load(2048, 256), way, sizing.Limits(0.02, tail))
            assert round(fresh, 2) == point["value"]


@pytest.mark.slow
def test_the_whole_record_is_fresh() -> None:
    program = "docs/infer/code/disaggregation_sizing.py"
    run = subprocess.run([sys.executable, program, "--check"], cwd=ROOT, check=False)
    assert run.returncode == 0


def test_the_table_of_the_note_is_that_of_the_record() -> None:
    """Every point that the table shows: result, limit in ms, ratio as it is printed."""
    results = {one["id"]: one["points"] for one in json.loads(RECORD.read_text("utf-8"))["results"]}
    shown = [("tail_512_512", 20), ("tail_512_512", 30), ("tail_2048_256", 15)]
    shown += [("tail_2048_256", 20), ("mean_2048_256", 20), ("mean_2048_256", 50)]
    shown += [
        ("tail_8192_256", 15),
        ("tail_8192_256", 20),
        ("mean_8192_256", 20),
        ("mean_8192_256", 50),
    ]
    rows = [[one for one in results[name] if one["limit"] == limit] for name, limit in shown]
    rows.append([one for one in results["longer"] if one["load"] == "8192/256"])
    for name, opening, closing in (
        ("disaggregation.en.md", " (", ")"),
        ("disaggregation.md", "（", "）"),
    ):
        text = (ROOT / "docs/infer" / name).read_text("utf-8")
        for here, there in rows:
            cells = [f"{p['value']:.2f}{opening}{p['setting']}{closing}" for p in (here, there)]
            assert f"| {cells[0]} | {cells[1]} |" in text
