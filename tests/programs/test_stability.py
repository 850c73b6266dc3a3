"""The programs and the figure of the note on training stability."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.programs import printed

spikes, adam, logits = printed.load("train/code", "loss_spikes", "adam_spike", "logit_overflow")


def log(**planted: float) -> list[tuple[int, float]]:
    """Four hundred values near 2, with what is planted (s300=5.0) put in."""
    values = {step: 2.0 + 0.01 * math.sin(step * 12.9898) for step in range(400)}
    values.update({int(key[1:]): value for key, value in planted.items()})
    return sorted(values.items())


PLANTED: dict[str, tuple[dict[str, float], list[tuple[str, int, int]]]] = {
    "nothing": ({}, []),
    "one batch": ({"s300": 5.0}, [("spike", 300, 300)]),
    "downwards is no spike": ({"s200": 1.0}, []),
    "near ones are one event": (
        {"s200": 5.0, "s205": 4.0, "s240": 3.0},
        [("spike", 200, 205), ("spike", 240, 240)],
    ),
    "nan within a spike": (
        {"s200": 5.0, "s201": math.nan, "s202": 4.0},
        [("spike", 200, 202), ("not a number", 201, 201)],
    ),
    "nan in a row is one event": (
        {f"s{step}": math.nan for step in range(300, 320)},
        [("not a number", 300, 319)],
    ),
    "constant log": (
        {f"s{step}": 2.0 for step in range(400)} | {"s300": 5.0},
        [("spike", 300, 300)],
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_spikes_found(name: str) -> None:
    planted, found = PLANTED[name]
    assert [(e.kind, e.first, e.last) for e in spikes.watch(log(**planted))] == found


def test_second_spike_is_hidden_from_standard_deviations_only() -> None:
    both = log(s200=5.0, s260=3.2)
    assert [run[0] for run in spikes.rule_of_std(both)] == [200]
    assert [e.first for e in spikes.watch(both)] == [200, 260]


def test_step_left_behind_shows_afterwards() -> None:
    raised = [(step, value + (0.07 if step > 200 else 0.0)) for step, value in log(s200=5.0)]
    (event, *_) = spikes.watch(raised)
    assert event.first == 200
    assert event.after == pytest.approx(0.07, abs=0.005)


def test_a_level_that_stays_becomes_the_new_base() -> None:
    higher = [(step, value + (1.0 if step >= 200 else 0.0)) for step, value in log()]
    later = [(step + 400, value + 1.0) for step, value in log(s200=4.0)]
    first, second = spikes.watch(higher + later)
    assert (first.first, first.last) == (200, 327)
    assert first.after == pytest.approx(1.0, abs=0.02)
    assert (second.first, second.last) == (600, 600)


MEGATRON = (
    " iteration     7000/  159576 | consumed samples:  260912 | lm loss: 6.444662E+00 | "
    "loss scale: 2048.0 | grad norm: 98258.265 |\nother line\n"
)


def test_logs_read_and_unknown_columns_refused(tmp_path: Path) -> None:
    file = tmp_path / "log"
    for text, column, rows in (
        ("step,loss\n3,2.5\n4,\n5,2.25\n", "loss", [(3, 2.5), (5, 2.25)]),
        ("loss\n2.5\n2.25\n", "loss", [(0, 2.5), (1, 2.25)]),
        (MEGATRON, "grad norm", [(7000, 98258.265)]),
    ):
        file.write_text(text, encoding="utf-8")
        assert spikes.read(file, column) == rows
    file.write_text("step,loss\n1,2\n", encoding="utf-8")
    with pytest.raises(ValueError, match="no column 'lss'; there are: loss, step"):
        spikes.read(file, "lss")


@pytest.mark.parametrize("beta2", [0.9, 0.95, 0.99, 0.999])
def test_outlier_moves_as_the_formula_says(beta2: float) -> None:
    update = adam.settled(beta2).update(1e6)
    assert update == pytest.approx(0.1 / math.sqrt(1 - beta2), rel=1e-3)


@pytest.mark.parametrize(
    ("cast", "value", "stored"),
    [
        *(("fp16", 65519.0, 65504.0), ("fp16", 65520.0, math.inf), ("fp16", -1e6, -math.inf)),
        ("bf16", 1e6, 999424.0),  # coarse
        ("bf16", 1001.0, 1000.0),  # a grid of four
        ("bf16", 257.0, 256.0),  # a tie, to even
    ],
)
def test_rounding(cast: str, value: float, stored: float) -> None:
    assert getattr(logits, cast)(value) == stored
