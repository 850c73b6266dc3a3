"""The programs of the note on fine-tuning: bytes of each way, NF4, and what was measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.figures.files import load_program

DOCS = Path(__file__).resolve().parents[2] / "docs"
program = load_program("train/code/lora_bytes.py")
SMALL, LARGE = program.MODELS
RECORD = json.loads((DOCS / "train/measured/lora_memory.json").read_text(encoding="utf-8"))


def measured(result: str, **where: object) -> float:
    """The one value of the record that fits."""
    points = next(one["points"] for one in RECORD["results"] if one["id"] == result)
    (found,) = [p for p in points if all(p[key] == value for key, value in where.items())]
    return float(found["value"])


@pytest.mark.parametrize(("shape", "billions"), [(SMALL, 8.03), (LARGE, 70.55)])
def test_shapes_have_the_published_parameters(shape: object, billions: float) -> None:
    assert (shape.linear + shape.tables) / 1e9 == pytest.approx(billions, rel=1e-3)  # type: ignore[attr-defined]


def test_an_adapter_is_as_large_as_the_note_on_serving_says() -> None:
    assert 2 * SMALL.adapters(16) / 1e6 == pytest.approx(83.9, abs=0.05)
    assert measured("trained", layers=32, way="lora", recompute=0) == SMALL.adapters(16)


def test_states_and_bits() -> None:
    assert sum(program.held(SMALL, "full").values()) == 16 * (SMALL.linear + SMALL.tables)
    assert program.bits(second=None) == 4.5
    assert program.bits() == pytest.approx(4.127, abs=5e-4)
    lora, qlora = (sum(program.held(LARGE, way).values()) for way in ("lora", "qlora"))
    assert lora - qlora == pytest.approx(LARGE.linear * (2 - 4.127 / 8), rel=1e-4)


def test_nf4_has_sixteen_levels_with_zero_and_both_ends() -> None:
    levels = program.LEVELS
    assert len(set(levels)) == 16
    assert levels == sorted(levels)
    assert {-1.0, 0.0, 1.0} <= set(levels)
    assert levels[1] == pytest.approx(-0.6962, abs=1e-4)
    assert program.rounded([0.5, -2.0, 0.0], levels)[1:] == [-2.0, 0.0]


def test_the_counts_are_what_an_h100_kept() -> None:
    at_rest = measured("rest", layers=32, way="lora", recompute=0)
    held = program.held(SMALL, "lora")
    assert at_rest == pytest.approx(sum(held.values()) - held["gradients"], rel=0.01)
    full, all_seven, two = (
        measured("layers_keep", layers=8, way=way, rank=rank, targets=targets, recompute=0)
        for way, rank, targets in (("full", 0, ""), ("lora", 16, 7), ("lora", 16, 2))
    )
    assert all_seven == pytest.approx(full, rel=0.005)
    assert two / full == pytest.approx(32 / 41, rel=0.01)


def test_nf4_uses_its_end_levels_seldom(capsys: pytest.CaptureFixture[str]) -> None:
    program.demo()
    used = [float(x) for x in capsys.readouterr().out.splitlines()[-1].split()[2:]]
    assert sum(used) == pytest.approx(100, abs=0.5)
    assert max(used[0], used[-1]) < 2.5 < 8 < max(used)
