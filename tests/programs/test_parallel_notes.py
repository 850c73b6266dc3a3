"""The schedule player and the tensor split of the notes, against formulas and the calculator."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import pytest

from hooks.calc import engine
from hooks.calc.engine import Engine
from tests import ours
from tools.figures.files import load_program

schedule = load_program("train/code/pipeline_schedule.py")
tensor = load_program("train/code/tensor_split.py")
SHAPES = [(2, 8, 2), (4, 8, 2), (4, 12, 3), (8, 16, 4), (8, 32, 2)]


@pytest.fixture(scope="module")
def calc() -> Engine:
    return engine.default(ours.facts())


@pytest.mark.parametrize(("p", "m", "v"), SHAPES)
@pytest.mark.parametrize("name", ["gpipe", "1f1b", "interleaved", "zb-h1"])
def test_played_schedule_agrees_with_the_calculator(
    calc: Engine, name: str, p: int, m: int, v: int
) -> None:
    chunks = v if name == "interleaved" else 1
    pieces = schedule.play(name, p, m, chunks)
    given = {"schedule": name, "stages": p, "micro": m, "chunks": chunks}
    if name != "interleaved":
        del given["chunks"]
    answer = calc.run("pipeline", given)
    assert float(schedule.step(pieces)) == pytest.approx(answer["step"])
    assert float(schedule.idle(pieces)) == pytest.approx(answer["bubble"])
    assert float(schedule.held(pieces, 0, chunks)) == pytest.approx(answer["held"])


@pytest.mark.parametrize(("p", "m", "v"), SHAPES)
@pytest.mark.parametrize("name", ["gpipe", "1f1b", "interleaved", "zb-h1"])
def test_every_job_is_played_once_and_never_early(name: str, p: int, m: int, v: int) -> None:
    chunks = v if name == "interleaved" else 1
    pieces = schedule.play(name, p, m, chunks)
    ends = {(x.kind, x.micro, x.chunk * p + x.gpu): x.end for x in pieces}
    assert len(ends) == len(pieces) == m * p * chunks * (3 if name == "zb-h1" else 2)
    for x in pieces:
        place = x.chunk * p + x.gpu
        before = {"F": place - 1, "B": place + 1, "W": place}[x.kind]
        kind = {"F": "F", "B": "B", "W": "B"}[x.kind]
        assert x.start >= ends.get((kind, x.micro, before), Fraction(0))
        if x.kind == "B":
            assert x.start >= ends["F", x.micro, place]
    for gpu in range(p):
        mine = sorted((x.start, x.end) for x in pieces if x.gpu == gpu)
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(mine))


def test_interleaving_refuses_a_remainder() -> None:
    with pytest.raises(ValueError, match="no multiple of 4"):
        schedule.play("interleaved", 4, 6, 2)


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_ring_sums_and_sends_what_the_formula_says(ranks: int) -> None:
    random.seed(ranks)
    held = [[[random.random() for _ in range(8)] for _ in range(4)] for _ in range(ranks)]
    ring = tensor.Ring(ranks)
    total = ring.all_reduce(held)
    assert tensor.off(total, tensor.add(held)) < 1e-12
    assert ring.sent == 2 * (ranks - 1) / ranks * 32 * tensor.VALUE


def test_rows_first_is_not_the_same_layer() -> None:
    random.seed(3)
    x = [[random.gauss(0, 1) for _ in range(4)] for _ in range(2)]
    a = [[random.gauss(0, 1) for _ in range(4)] for _ in range(4)]
    partial = [tensor.mul(tensor.columns(x, r, 2), tensor.rows(a, r, 2)) for r in range(2)]
    early = tensor.add([tensor.each(tensor.gelu, u) for u in partial])
    assert tensor.off(early, tensor.each(tensor.gelu, tensor.mul(x, a))) > 0.01
