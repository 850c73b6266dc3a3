"""Goodput of a synchronous job that fails, simulated failure by failure. Standard library only.

Run:  python docs/train/code/goodput.py

All durations in seconds. Failures are a Poisson process; each stops the whole job.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

HOUR = 3600.0
INTERRUPTIONS, DAYS, GPUS = 419, 54, 16384  # Llama 3 405B, unexpected ones
JOB = DAYS * 24 * HOUR / INTERRUPTIONS
GPU = JOB * GPUS  # one GPU with its share of everything else


@dataclass(frozen=True)
class Plan:
    name: str
    pause: float  # training stands still for a save
    detect: float  # until the failure is noticed
    restart: float  # until training runs again
    near: float = 0.0  # share of failures that a copy in memory survives
    near_every: float = 0.0  # seconds of work between such copies


def young(pause: float, between: float) -> float:
    return math.sqrt(2 * pause * between)


# --8<-- [start:simulate]
def simulate(plan: Plan, between: float, failures: int = 40000, seed: int = 1) -> float:
    """Useful time over all time; after each failure work since the last save is done again."""
    chance = random.Random(seed)
    every = young(plan.pause, between)
    total = useful = 0.0
    for _ in range(failures):
        up = chance.expovariate(1 / between)
        saved = int(up / (every + plan.pause)) * every
        if chance.random() < plan.near:
            worked = up * every / (every + plan.pause)
            saved = max(saved, worked - worked % plan.near_every)
        useful += saved
        total += up + plan.detect + plan.restart
    return useful / total


# --8<-- [end:simulate]


def first_order(plan: Plan, between: float) -> float:
    every = young(plan.pause, between)
    again = (every + plan.pause) / 2 + plan.detect + plan.restart
    return 1 - plan.pause / (every + plan.pause) - again / between


PLANS = (
    Plan("hang found after 30 min, pause 60 s", 60, 1800, 600),
    Plan("hang found after 1 min, pause 60 s", 60, 60, 600),
    Plan("the same, pause 1 s (asynchronous)", 1, 60, 600),
    Plan("the same, hot spare: restart 3 min", 1, 60, 180),
    Plan("the same, 90 % from memory each 60 s", 1, 60, 180, 0.9, 60),
)


def replicas(groups: int, between: float, repair: float) -> float:
    """Share of work where one failed replica group leaves and the others go on."""
    return 1 - repair / between / groups


def main() -> None:
    print(f"Llama 3 405B: one in {JOB / HOUR:.2f} h, {GPU / HOUR / 24 / 365.25:.1f} years a GPU; "
          f"64 GPUs: one in {GPU / 64 / 24 / HOUR:.0f} days")  # fmt: skip
    for gpus in (64, 1024, 16384):
        print(f"{gpus} GPUs, a failure every {GPU / gpus / HOUR:.1f} h: simulated, first order")
        for plan in PLANS:
            first = f"{first_order(plan, GPU / gpus):6.1%}" if not plan.near else "     -"
            print(f"  {plan.name:37s} {simulate(plan, GPU / gpus):6.1%} {first}")
    print("replica groups, the failed one away for 1 h, 16384 GPUs:")
    for groups in (8, 32, 128):
        print(f"  {groups:3d} groups {replicas(groups, JOB, HOUR):6.1%}")


if __name__ == "__main__":
    main()
