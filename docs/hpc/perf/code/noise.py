"""How often a true gain is seen through noise, and the laws that bound it: made-up timings.

python docs/hpc/perf/code/noise.py
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence

TRIALS = 4000
GAIN = 0.97  # the new version takes 3 % less
Estimate = Callable[[Sequence[float]], float]


def timing(rng: random.Random, scale: float) -> float:
    """Return one run: a little above the true time, and now and then interrupted."""
    time = scale * (1 + rng.expovariate(1 / 0.02))
    return time * rng.uniform(1.5, 3) if rng.random() < 0.05 else time


def seen(runs: int, estimate: Estimate, *, drift: float = 0.0, interleaved: bool = True) -> float:
    """Return the share of trials in which the faster version also looks faster.

    With drift the machine slows down by that share over all runs of a trial.
    """
    rng = random.Random(7)
    right = 0
    for _ in range(TRIALS):
        times: tuple[list[float], list[float]] = ([], [])
        for place in range(2 * runs):
            which = place % 2 if interleaved else place // runs
            slow = 1 + drift * place / (2 * runs)
            times[which].append(slow * timing(rng, GAIN if which else 1.0))
        right += estimate(times[1]) < estimate(times[0])
    return right / TRIALS


def amdahl(serial: float, workers: int) -> float:
    return 1 / (serial + (1 - serial) / workers)


def gustafson(serial: float, workers: int) -> float:
    return serial + (1 - serial) * workers


def main() -> None:
    print("a version 3 % faster looks faster")
    for name, runs, estimate in (
        ("one run each", 1, statistics.mean),
        ("mean of 5", 5, statistics.mean),
        ("median of 5", 5, statistics.median),
        ("mean of 25", 25, statistics.mean),
        ("median of 25", 25, statistics.median),
        ("least of 25", 25, min),
    ):
        print(f"  {name:<38}{seen(runs, estimate):>6.1%}")
    print("the same, while the clock falls by 6 %, median of 25")
    for name, interleaved in (("all old runs, then all new", False), ("alternating", True)):
        share = seen(25, statistics.median, drift=0.06, interleaved=interleaved)
        print(f"  {name:<38}{share:>6.1%}")
    print(f"{'serial share':<14}{'8 workers':>10}{'64':>8}{'512':>8}{'scaled, 512':>13}")
    for serial in (0.001, 0.01, 0.05):
        fixed = [amdahl(serial, workers) for workers in (8, 64, 512)]
        print(
            f"{serial:<14.1%}{fixed[0]:>10.1f}{fixed[1]:>8.1f}{fixed[2]:>8.1f}"
            f"{gustafson(serial, 512):>13.1f}"
        )


if __name__ == "__main__":
    main()
