"""The simulations of the Ethernet notes: against their formulas and their committed records."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tools.figures import ethernet as figures_ethernet

ROOT = Path(__file__).resolve().parents[2]
CODE = ROOT / "docs/link/ethernet/code"


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> ModuleType:
    """Return a program by its name; the others beside it can be imported meanwhile."""
    monkeypatch.syspath_prepend(str(CODE))
    for name in ("dcqcn", "dcqcn_flow", "pfc", "pfc_network", "headroom"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return __import__(request.param)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dcqcn", "pfc", "headroom"])
def test_committed_record_is_what_the_program_computes(name: str) -> None:
    command = [sys.executable, str(CODE / f"{name}.py"), "--check"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("program", ["dcqcn"], indirect=True)
@pytest.mark.parametrize("name", ["authors", "alibaba"])
def test_recovery_rises_as_the_formula_says(program: ModuleType, name: str) -> None:
    p = program.SETS[name]
    found = program.report(p, program.simulate(p))
    assert found["rise after C and D stop, Gb/s per ms and flow"] == pytest.approx(
        program.slope(p), rel=0.03
    )
    assert found["lowest rate of four, Gb/s (fair share 10)"] > 8
    assert found["highest rate of four, Gb/s"] < 12


@pytest.mark.parametrize("program", ["dcqcn"], indirect=True)
@pytest.mark.parametrize(
    ("kilobytes", "share"), [(41, 0.0), (535.6, 0.5), (1030, 1.0), (2000, 1.0)]
)
def test_marking_is_linear_between_the_thresholds(
    program: ModuleType, kilobytes: float, share: float
) -> None:
    import random

    import simpy

    port = program.Port(simpy.Environment(), program.SETS["authors"], random.Random(2))
    port.packets.extend([None] * round(kilobytes * 1000 / program.PACKET))
    marked = sum(port.marks() for _ in range(4000)) / 4000
    assert marked == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize("program", ["pfc"], indirect=True)
def test_a_storm_stops_the_flow_of_a_healthy_receiver(program: ModuleType) -> None:
    series = program.storm().run()
    assert series["h2"][4] == pytest.approx(50, abs=2)
    assert series["h2"][-1] == 0
    guarded = program.storm(200).run()
    assert guarded["h2"][-1] == pytest.approx(50, abs=2)


@pytest.mark.parametrize("program", ["pfc"], indirect=True)
def test_a_ring_locks_only_under_overload_and_a_second_class_frees_it(
    program: ModuleType,
) -> None:
    locked = program.ring()
    assert all(series[-1] == 0 for series in locked.run().values())
    assert locked.cycle() == ["1->2", "2->3", "3->1"]
    locked.sending = False  # it stays when every sender stops
    locked.env.run(locked.env.now + 1000)
    assert locked.cycle() == ["1->2", "2->3", "3->1"]
    for free in (program.ring(45), program.ring(dateline=("3", "1"))):
        assert all(series[-1] > 25 for series in free.run().values())
        assert free.cycle() == []
        assert free.dropped == 0


@pytest.mark.parametrize("program", ["headroom"], indirect=True)
@pytest.mark.parametrize(("rate", "metres"), [(100, 3), (400, 100), (800, 300)])
def test_headroom_bounds_the_worst_peak_and_not_by_much(
    program: ModuleType, rate: int, metres: int
) -> None:
    bound = program.formula(rate, metres)
    peaks = [program.peak(rate, metres, a / 7, 2 + b / 7) for a in range(7) for b in range(7)]
    assert max(peaks) <= bound + program.CELL
    assert max(peaks) >= bound - program.FRAME


@pytest.mark.parametrize("program", ["frame_budget"], indirect=True)
def test_smallest_frames_come_at_the_textbook_rate(program: ModuleType) -> None:
    assert program.frames(10, 64) == pytest.approx(14.88, abs=0.005)
    assert program.requests(1 << 20) == (256, 1)
    assert program.requests(1) == (1, 1)


@pytest.mark.parametrize("name", figures_ethernet.FIGURES)
def test_committed_figure_is_what_the_program_draws(name: str) -> None:
    committed = (figures_ethernet.FOLDER / name).read_text(encoding="utf-8")
    assert committed == figures_ethernet.FIGURES[name](), "run: python -m tools.figures"
