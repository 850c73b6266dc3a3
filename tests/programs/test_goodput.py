"""The goodput simulation of the note on fault tolerance, against the first-order formula."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tools.figures.files import load_program

program = load_program("train/code/goodput.py")


def test_rare_failures_follow_the_first_order() -> None:
    between = program.GPU / 1024
    for plan in program.PLANS[:4]:
        assert abs(program.simulate(plan, between) - program.first_order(plan, between)) < 0.005


def test_each_measure_helps_at_scale() -> None:
    shares = [program.simulate(plan, program.JOB) for plan in program.PLANS]
    assert shares == sorted(shares)
    slow = replace(program.PLANS[-1], detect=1800)
    assert program.simulate(slow, program.JOB) < program.simulate(program.PLANS[3], program.JOB)


@pytest.mark.parametrize(
    ("hangs", "order"),
    [(0.1, "pause restart hang"), (0.5, "pause hang restart"), (1.0, "hang pause restart")],
)
def test_the_share_of_hangs_decides_what_helps_most(hangs: float, order: str) -> None:
    base, *alone = program.ALONE
    gain = {plan.name.split()[0]: program.simulate(plan, program.JOB, hangs) for plan in alone}
    assert min(gain.values()) > program.simulate(base, program.JOB, hangs)
    assert sorted(gain, key=gain.__getitem__, reverse=True) == order.split()
