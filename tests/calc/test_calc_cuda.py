"""Threads, coalescing, bank conflicts and streams of CUDA: what holds whatever is entered.

What NVIDIA's guides print stands in answers.yml.
"""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hooks.calc.engine import Engine
from tests.calc.conftest import few

Triple = list[int]
small = st.lists(st.integers(1, 4), min_size=3, max_size=3)


@few
@given(grid=small, block=small, size=st.lists(st.integers(1, 12), min_size=3, max_size=3))
def test_threads_number_and_cover_the_array_once(
    grid: Triple, block: Triple, size: Triple, calc: Engine
) -> None:
    """Played thread by thread: numbers are a permutation, elements are met once, x is fastest."""
    numbers, elements, ranks = [], [], []
    for at in itertools.product(*(range(one) for one in reversed(grid))):
        for thread in itertools.product(*(range(one) for one in reversed(block))):
            found = calc.formula("cudaThread", grid, block, at[::-1], thread[::-1], size)
            numbers.append(found["number"])
            ranks.append(found["rank"])
            elements += [found["element"]] * found["works"]
    threads = math.prod(block)
    assert numbers == list(range(len(numbers)))
    assert ranks[:threads] == list(range(threads))
    assert len(set(elements)) == len(elements) == len(numbers) - found["stopped"]
    assert math.prod(size) - len(elements) == found["missing"]


def test_idle_dimensions_do_not_count(calc: Engine) -> None:
    plain = {"dims": 1, "gx": 4, "bx": 256, "nx": 1000, "ix": 3, "tx": 200}
    answer = calc.run("cuda-threads", plain)
    assert (answer["warp"], answer["lane"], answer["stopped"]) == (6, 8, 24)
    assert answer == calc.run("cuda-threads", {**plain, "by": 9, "nz": 77})


def test_a_thread_without_an_element_says_why(calc: Engine) -> None:
    shown = calc.show("cuda-threads", {"tx": 15}, "en")
    assert shown["rows"][0]["text"] == "none: x = 47 ≥ 40, the guard stops it"
    assert "lane 31 of warp 1" in shown["drawing"]


def test_large_launches_are_drawn_in_part(calc: Engine) -> None:
    wide = {
        "dims": 1,
        "gx": 2_000_000,
        "bx": 1024,
        "nx": 2_000_000_000,
        "ix": 1_000_000,
        "tx": 1000,
    }
    drawing = calc.show("cuda-threads", wide, "en")["drawing"]
    assert ">1000000</text>" in drawing and len(drawing) < 40_000
    tall = {"bx": 1, "by": 1024, "tx": 0, "ty": 900, "ny": 5000}
    drawing = calc.show("cuda-threads", tall, "en")["drawing"]
    assert ">y900</text>" in drawing and "992 more rows" in drawing and len(drawing) < 40_000


@pytest.mark.parametrize(
    ("width", "parts"), [(1, [1]), (2, [2]), (4, [4]), (8, [4, 4]), (16, [4, 4, 4, 4])]
)
def test_wide_loads_go_in_parts_of_128_bytes(calc: Engine, width: int, parts: list[int]) -> None:
    found = calc.formula("coalescing", width, 1, 0)
    assert [group["sectors"] for group in found["groups"]] == parts
    assert [group["lines"] for group in found["groups"]] == [1] * len(parts)
    assert found["groups"][-1]["last"] == 31


@few
@given(
    width=st.sampled_from([1, 2, 4, 8, 16]), stride=st.integers(0, 70), offset=st.integers(0, 70)
)
def test_sectors_are_those_of_the_bytes(width: int, stride: int, offset: int, calc: Engine) -> None:
    bytes_ = {
        (offset + lane * stride) * width + byte for lane in range(32) for byte in range(width)
    }
    found = calc.formula("coalescing", width, stride, offset)
    assert found["sectors"] == sorted({byte // 32 for byte in bytes_})
    assert found["lines"] == sorted({byte // 128 for byte in bytes_})
    assert found["used"] == len(bytes_)
    drawing = calc.show("coalescing", {"bytes": width, "stride": stride, "offset": offset}, "en")[
        "drawing"
    ]
    assert drawing.count("sector: moved") == len(found["sectors"])


@pytest.mark.parametrize("stride", range(34))
def test_a_stride_costs_its_divisor(calc: Engine, stride: int) -> None:
    found = calc.formula("bankConflicts", [lane * stride for lane in range(32)], 1)
    assert found["wavefronts"] == (math.gcd(stride, 32) if stride else 1)


def test_phases_do_not_disturb_each_other(calc: Engine) -> None:
    """The same 32 vectors, every fourth or eighth to a phase: 16 cycles were measured, not 4."""
    for step in (4, 8):
        order = [(lane * step) % 32 + lane * step // 32 for lane in range(32)]
        found = calc.formula("bankConflicts", [4 * one for one in order], 4)
        assert found["wavefronts"] == 16, step
    even = [2 * ((2 * lane) % 32 + 2 * lane // 32) for lane in range(32)]
    assert calc.formula("bankConflicts", even, 2)["wavefronts"] == 4


def test_pairs_that_share_a_word_do_not_conflict(calc: Engine) -> None:
    assert calc.formula("bankConflicts", [lane // 2 for lane in range(32)], 1)["wavefronts"] == 1
    assert calc.formula("bankConflicts", [lane % 2 * 32 for lane in range(32)], 1)["degree"] == 2


@few
@given(
    units=st.sampled_from([1, 2, 4, 8, 16, 32, 64]),
    words=st.sampled_from([1, 2, 4]),
    index=st.integers(0, 63),
)
def test_a_swizzle_moves_units_within_their_row(
    units: int, words: int, index: int, calc: Engine
) -> None:
    row = units * words
    for access in ("row", "column"):
        at = index % units
        plain = calc.formula("tileWords", access, row, 0, False, words, at)
        moved = calc.formula("tileWords", access, row, 0, True, words, at)
        assert [one // row for one in plain] == [one // row for one in moved]
        assert len(set(plain)) == len(set(moved))
    if units >= 32 // words:  # a row fills the banks: neither rows nor columns conflict
        found = calc.formula("bankConflicts", moved, words)
        assert found["degree"] == 1


@pytest.mark.parametrize(
    "entries", [{}, {"width": 16}, {"access": "same"}, {"width": 8, "padding": 2}]
)
def test_the_map_has_a_row_per_turn(calc: Engine, entries: dict[str, Any]) -> None:
    drawing = calc.show("bank-conflicts", entries, "en")["drawing"]
    assert (
        len(set(re.findall(r">turn \d+<", drawing)))
        == calc.run("bank-conflicts", entries)["wavefronts"]
    )


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
    found = calc.formula("streamTimeline", chunks, times, streams, engines, pinned)
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
