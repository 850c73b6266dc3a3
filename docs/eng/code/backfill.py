"""A scheduler with and without backfill: what time limits are worth. Only Python.

A cluster of equal GPUs; jobs come in order and wait in order. Without backfill the first job
that does not fit blocks all behind it. With it, a later job may start at once if, by its time
limit, it delays no earlier one: each waiting job holds the resources of its planned start, as
in Slurm's sched/backfill.
"""

from __future__ import annotations

import argparse
import heapq
import random
import statistics
from dataclasses import dataclass


@dataclass(frozen=True)
class Job:
    """GPUs, the real run time, the time limit that the user gave, and the arrival, in minutes."""

    gpus: int
    takes: int
    limit: int
    arrives: int = 0


class Plan:
    """How many GPUs are free from now on, as steps in time."""

    def __init__(self, now: int, free: int) -> None:
        self.times, self.free = [now], [free]

    def _cut(self, at: int) -> int:
        """Begin a step at a time, and return its place."""
        place = next((i for i, time in enumerate(self.times) if time >= at), len(self.times))
        if place == len(self.times) or self.times[place] != at:
            self.times.insert(place, at)
            self.free.insert(place, self.free[place - 1])
        return place

    def add(self, start: int, end: int | None, gpus: int) -> None:
        """Change the free GPUs between two times, or from a time on."""
        first = self._cut(start)
        last = len(self.times) if end is None else self._cut(end)
        for place in range(first, last):
            self.free[place] += gpus

    def earliest(self, gpus: int, minutes: int) -> int:
        """Return the first time from which this many GPUs are free for so long."""
        for i, start in enumerate(self.times):
            held = (
                free
                for time, free in zip(self.times[i:], self.free[i:], strict=True)
                if time < start + minutes
            )
            if all(free >= gpus for free in held):
                return start
        raise ValueError("more GPUs than the cluster has")


def run(jobs: list[Job], size: int, backfill: bool, depth: int = 100) -> list[int]:
    """Return the start of each job, in minutes."""
    starts = [-1] * len(jobs)
    waiting: list[int] = []
    running: list[tuple[int, int]] = []  # end, job
    coming = sorted(range(len(jobs)), key=lambda i: (jobs[i].arrives, i))
    free, now = size, 0
    while coming or waiting:
        ends = [running[0][0]] if running else []
        now = min(ends + ([jobs[coming[0]].arrives] if coming else []))
        while running and running[0][0] <= now:
            free += jobs[heapq.heappop(running)[1]].gpus
        while coming and jobs[coming[0]].arrives <= now:
            waiting.append(coming.pop(0))
        plan = Plan(now, free)
        for _, i in running:  # a scheduler knows limits, not the future
            plan.add(max(starts[i] + jobs[i].limit, now + 1), None, jobs[i].gpus)
        for i in waiting[:depth]:
            job = jobs[i]
            start = plan.earliest(job.gpus, job.limit)
            if start == now:
                starts[i] = now
                free -= job.gpus
                heapq.heappush(running, (now + min(job.takes, job.limit), i))
            elif not backfill:
                break
            plan.add(start, start + job.limit, -job.gpus)
        waiting = [i for i in waiting if starts[i] < 0]
    return starts


def workload(count: int, seed: int, spread: float, size: int = 64) -> list[Job]:
    """Return jobs whose limits are `spread` times what they take, at most a day."""
    rng = random.Random(seed)
    jobs, now = [], 0.0
    for _ in range(count):
        gpus = rng.choice([1, 1, 2, 4, 8, 8, 16, 32, size])
        takes = max(2, min(1440, round(rng.lognormvariate(4.2, 1.2))))
        now += rng.expovariate(1 / 32)
        jobs.append(Job(gpus, takes, min(1440, max(takes, round(takes * spread))), int(now)))
    return jobs


# --8<-- [start:four]
FOUR = {  # eight GPUs: A runs, B waits for all of them; who may start before B?
    "A": Job(6, takes=60, limit=100),
    "B": Job(8, takes=30, limit=60, arrives=1),
    "C": Job(2, takes=20, limit=200, arrives=2),
    "D": Job(2, takes=20, limit=30, arrives=3),
}
# --8<-- [end:four]


def four() -> None:
    for backfill in (False, True):
        starts = run(list(FOUR.values()), 8, backfill)
        shown = "  ".join(f"{name} at {start:>3}" for name, start in zip(FOUR, starts, strict=True))
        print(f"{'backfill' if backfill else 'in order':<10} {shown}")


def waits(spread: float, backfill: bool, honest_small: bool = False) -> tuple[float, float, float]:
    """Return use of the cluster, and the mean wait in hours of jobs up to 8 GPUs and above."""
    used: list[float] = []
    small: list[float] = []
    large: list[float] = []
    for seed in range(4):
        jobs = workload(200, seed, spread)
        if honest_small:
            jobs = [
                Job(j.gpus, j.takes, round(j.takes * 1.1) + 1, j.arrives) if j.gpus <= 8 else j
                for j in jobs
            ]
        starts = run(jobs, 64, backfill)
        end = max(start + job.takes for start, job in zip(starts, jobs, strict=True))
        used.append(sum(job.gpus * job.takes for job in jobs) / (64 * end))
        for start, job in zip(starts, jobs, strict=True):
            (small if job.gpus <= 8 else large).append((start - job.arrives) / 60)
    return statistics.fmean(used), statistics.fmean(small), statistics.fmean(large)


def compare() -> None:
    print("64 GPUs, 4 x 200 jobs         used  wait, h: <= 8 GPUs  more")
    for name, case in {
        "in order": waits(1.1, backfill=False),
        "backfill, limits x 1.1": waits(1.1, backfill=True),
        "backfill, limits x 3": waits(3, backfill=True),
        "backfill, limits x 10": waits(10, backfill=True),
        "backfill, everyone one day": waits(10_000, backfill=True),
        "only small jobs honest": waits(10_000, backfill=True, honest_small=True),
    }.items():
        print(f"{name:<28} {case[0]:>5.0%} {case[1]:>19.1f} {case[2]:>5.1f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--compare", action="store_true", help="limits of different quality")
    compare() if parser.parse_args().compare else four()


if __name__ == "__main__":
    main()
