"""Streams: the estimates of the Best Practices Guide, section 10.1.2, and what always holds."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hooks.calc.engine import Engine
from tests.calc.conftest import few


def timeline(calc: Engine, *arguments: Any) -> dict[str, Any]:
    found: dict[str, Any] = calc.formula("streamTimeline", *arguments)
    return found


@pytest.mark.parametrize(
    ("chunks", "times", "streams", "engines", "pinned", "end"),
    [
        pytest.param(4, [2, 3, 2], 1, 2, True, 28, id="one stream: the sum"),
        pytest.param(4, [2, 3, 2], 4, 2, False, 28, id="pageable: the sum"),
        pytest.param(1, [2, 3, 2], 4, 2, True, 7, id="one chunk: the sum"),
        pytest.param(4, [2, 3, 2], 4, 2, True, 2 + 4 * 3 + 2, id="kernels are the slowest"),
        pytest.param(4, [5, 3, 2], 4, 2, True, 4 * 5 + 3 + 2, id="copies in are the slowest"),
        pytest.param(4, [2, 3, 6], 4, 2, True, 2 + 3 + 4 * 6, id="copies out are the slowest"),
        pytest.param(4, [2, 2, 2], 4, 1, True, 16, id="one engine: both copies on it"),
        pytest.param(8, [1, 4, 0], 8, 2, True, 1 + 8 * 4, id="practices: tE + tT/n"),
        pytest.param(8, [4, 1, 0], 8, 2, True, 8 * 4 + 1, id="practices: tT + tE/n"),
        pytest.param(4, [2, 2, 2], 2, 2, True, 14, id="two streams: every second chunk waits"),
    ],
)
def test_time_of_all_chunks(
    calc: Engine,
    chunks: int,
    times: list[float],
    streams: int,
    engines: int,
    pinned: bool,
    end: float,
) -> None:
    assert timeline(calc, chunks, times, streams, engines, pinned)["end"] == end


@few
@given(
    chunks=st.integers(1, 12),
    times=st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(lambda one: one[1] > 0),
    streams=st.integers(1, 12),
    engines=st.sampled_from([1, 2]),
    pinned=st.booleans(),
)
def test_engines_and_streams_keep_their_order(
    chunks: int, times: list[int], streams: int, engines: int, pinned: bool, calc: Engine
) -> None:
    found = timeline(calc, chunks, times, streams, engines, pinned)
    for key in ("engine", "stream"):
        rows: dict[int, list[dict[str, Any]]] = {}
        for piece in found["pieces"]:
            rows.setdefault(piece[key], []).append(piece)
        for row in rows.values():
            for before, after in itertools.pairwise(row):
                assert before["end"] <= after["start"], key
    assert found["busiest"] <= found["end"] <= found["sum"] == chunks * sum(times)
    if streams == 1 or not pinned:
        assert (found["end"], found["overlap"]) == (found["sum"], 0)
    if pinned and engines == 2 and streams >= chunks and min(times) > 0:
        assert found["end"] == (chunks - 1) * max(times) + sum(times)
    ticks = [
        sum(piece["start"] <= tick < piece["end"] for piece in found["pieces"])
        for tick in range(int(found["end"]))
    ]
    assert found["overlap"] == sum(count > 1 for count in ticks)
    assert all(ticks)  # somebody is always at work


def test_overhead_makes_fine_chunks_slow(calc: Engine) -> None:
    def time(chunks: int, overhead: float) -> float:
        entries = {"chunks": chunks, "streams": 64, "overhead": overhead}
        return float(calc.run("stream-timeline", entries)["makespan"])

    assert time(64, 0) < time(16, 0) < time(4, 0)
    assert time(64, 200) > time(8, 200)


def test_rows_of_the_drawing_are_the_engines(calc: Engine) -> None:
    drawing = calc.show("stream-timeline", {}, "en")["drawing"]
    assert drawing.count("<title>") == 4 * 3
    assert "copy out 4, stream 4: 14–16 ms" in drawing
    one = calc.show("stream-timeline", {"engines": 1}, "en")["drawing"]
    assert ">copies</text>" in one and ">copies</text>" not in drawing
