"""The simulations of the Ethernet notes: against their formulas and their committed records."""

from __future__ import annotations

import pytest

from tools.figures.files import load_program

dcqcn, pfc, headroom, frame_budget = (
    load_program(f"link/ethernet/code/{name}.py")
    for name in ("dcqcn", "pfc", "headroom", "frame_budget")
)


@pytest.mark.parametrize("name", ["authors", "alibaba"])
def test_recovery_rises_as_the_formula_says(name: str) -> None:
    p = dcqcn.SETS[name]
    found = dcqcn.report(p, dcqcn.simulate(p))
    assert found["rise after C and D stop, Gb/s per ms and flow"] == pytest.approx(
        dcqcn.slope(p), rel=0.03
    )
    assert found["lowest rate of four, Gb/s (fair share 10)"] > 8
    assert found["highest rate of four, Gb/s"] < 12


@pytest.mark.parametrize(
    ("kilobytes", "share"), [(41, 0.0), (535.6, 0.5), (1030, 1.0), (2000, 1.0)]
)
def test_marking_is_linear_between_the_thresholds(kilobytes: float, share: float) -> None:
    import random

    import simpy

    port = dcqcn.Port(simpy.Environment(), dcqcn.SETS["authors"], random.Random(2))
    port.packets.extend([None] * round(kilobytes * 1000 / dcqcn.PACKET))
    marked = sum(port.marks() for _ in range(4000)) / 4000
    assert marked == pytest.approx(share, abs=0.03)


def test_a_storm_stops_the_flow_of_a_healthy_receiver() -> None:
    series = pfc.storm().run()
    assert series["h2"][4] == pytest.approx(50, abs=2)
    assert series["h2"][-1] == 0
    guarded = pfc.storm(200).run()
    assert guarded["h2"][-1] == pytest.approx(50, abs=2)


def test_a_ring_locks_only_under_overload_and_a_second_class_frees_it() -> None:
    locked = pfc.ring()
    assert all(series[-1] == 0 for series in locked.run().values())
    assert locked.cycle() == ["1->2", "2->3", "3->1"]
    locked.sending = False  # it stays when every sender stops
    locked.env.run(locked.env.now + 1000)
    assert locked.cycle() == ["1->2", "2->3", "3->1"]
    for free in (pfc.ring(45), pfc.ring(dateline=("3", "1"))):
        assert all(series[-1] > 25 for series in free.run().values())
        assert free.cycle() == []
        assert free.dropped == 0


@pytest.mark.parametrize(("rate", "metres"), [(100, 3), (400, 100), (800, 300)])
def test_headroom_bounds_the_worst_peak_and_not_by_much(rate: int, metres: int) -> None:
    bound = headroom.formula(rate, metres)
    peaks = [headroom.peak(rate, metres, a / 7, 2 + b / 7) for a in range(7) for b in range(7)]
    assert max(peaks) <= bound + headroom.CELL
    assert max(peaks) >= bound - headroom.FRAME


def test_smallest_frames_come_at_the_textbook_rate() -> None:
    assert frame_budget.frames(10, 64) == pytest.approx(14.88, abs=0.005)
    assert frame_budget.requests(1 << 20) == (256, 1)
    assert frame_budget.requests(1) == (1, 1)
