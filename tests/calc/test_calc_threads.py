"""Thread hierarchy: numbers of threads as section 2.3.2 of the CUDA Programming Guide has them."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hooks.calc.engine import CalcError, Engine
from tests.calc.conftest import few

ONE = [1, 1, 1]
Triple = list[int]


@pytest.mark.parametrize(
    ("grid", "block", "at", "thread", "size", "expected"),
    [
        pytest.param(
            [4, 1, 1],
            [256, 1, 1],
            [3, 0, 0],
            [200, 0, 0],
            [1000, 1, 1],
            {"rank": 200, "warp": 6, "lane": 8, "element": 968, "blocks": 4, "stopped": 24},
            id="one dimension",
        ),
        pytest.param(
            [4, 1, 1],
            [256, 1, 1],
            [3, 0, 0],
            [232, 0, 0],
            [1000, 1, 1],
            {"element": -1, "works": False, "place": [1000, 0, 0]},
            id="the first that the guard stops",
        ),
        pytest.param(
            [3, 2, 1],
            [16, 16, 1],
            [1, 1, 0],
            [15, 1, 0],
            [48, 32, 1],
            {"rank": 31, "warp": 0, "lane": 31, "place": [31, 17, 0], "stopped": 0},
            id="two rows of 16 are a warp",
        ),
        pytest.param(
            [1, 1, 1],
            [10, 10, 1],
            [0, 0, 0],
            [9, 9, 0],
            [10, 10, 1],
            {"rank": 99, "warp": 3, "lane": 3, "warps": 4, "empty": 28, "element": 99},
            id="a block of 100 has four lanes in its last warp",
        ),
        pytest.param(
            [2, 2, 2],
            [4, 4, 4],
            [1, 0, 1],
            [3, 2, 1],
            [8, 8, 8],
            {"rank": 27, "number": 5 * 64 + 27, "element": (5 * 8 + 2) * 8 + 7, "missing": 0},
            id="three dimensions",
        ),
        pytest.param(
            [1, 1, 1],
            [128, 1, 1],
            [0, 0, 0],
            [0, 0, 0],
            [1000, 1, 1],
            {"missing": 872, "stopped": 0},
            id="a grid that is too small",
        ),
    ],
)
def test_a_thread_has_its_place(
    calc: Engine,
    grid: Triple,
    block: Triple,
    at: Triple,
    thread: Triple,
    size: Triple,
    expected: dict[str, Any],
) -> None:
    found = calc.formula("cudaThread", grid, block, at, thread, size)
    assert {key: found[key] for key in expected} == expected


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


@pytest.mark.parametrize(
    ("entries", "key", "words"),
    [
        ({"bx": 64, "by": 32}, "bx", "2048 threads; 1024 is the most"),
        ({"ix": 3}, "ix", "from 0 to 2"),
        ({"ty": 8}, "ty", "from 0 to 7"),
        ({"dims": 3, "bz": 65}, "bz", "from 1 to 64"),
    ],
)
def test_launches_that_fail_are_refused(
    calc: Engine, entries: dict[str, Any], key: str, words: str
) -> None:
    with pytest.raises(CalcError, match=f"cuda-threads: {key}: .*{words}"):
        calc.run("cuda-threads", entries)


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
