"""The note on Slurm: backfill keeps its promise, and the scripts are sound."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tools.figures.files import load_program

backfill = load_program("eng/code/backfill.py")


def used(jobs: list[Any], starts: list[int], at: int) -> int:
    return sum(
        job.gpus
        for job, start in zip(jobs, starts, strict=True)
        if start <= at < start + min(job.takes, job.limit)
    )


@pytest.mark.parametrize("filled", [False, True])
def test_no_gpu_is_given_twice_and_every_job_runs(filled: bool) -> None:
    jobs = backfill.workload(80, seed=3, spread=2)
    starts = backfill.run(jobs, 64, filled)
    assert all(start >= job.arrives for start, job in zip(starts, jobs, strict=True))
    assert all(used(jobs, starts, start) <= 64 for start in starts)


def test_in_order_means_in_order() -> None:
    jobs = backfill.workload(80, seed=3, spread=2)
    starts = backfill.run(jobs, 64, backfill=False)
    assert all(first <= then for first, then in itertools.pairwise(starts))


def test_a_job_that_fits_by_its_limit_passes_and_delays_nobody() -> None:
    names = list(backfill.FOUR)
    plain = dict(zip(names, backfill.run(list(backfill.FOUR.values()), 8, False), strict=True))
    filled = dict(zip(names, backfill.run(list(backfill.FOUR.values()), 8, True), strict=True))
    assert filled["D"] < filled["B"] == plain["B"]
    assert filled["C"] == plain["C"]
