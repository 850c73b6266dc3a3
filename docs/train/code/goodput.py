"""Goodput of a synchronous job that fails, simulated failure by failure. Standard library only.

Run:  python docs/train/code/goodput.py [--hangs 0.1]

All durations in seconds. Failures are a Poisson process; each stops the whole job. A share of
them are hangs, noticed only after a timeout; all others are noticed after a minute.
"""

from __future__ import annotations

import argparse
import math
import random
from dataclasses import dataclass, replace

HOUR = 3600.0
INTERRUPTIONS, DAYS, GPUS = 419, 54, 16384  # Llama 3 405B, unexpected ones
JOB = DAYS * 24 * HOUR / INTERRUPTIONS
GPU = JOB * GPUS  # one GPU with its share of everything else
HANGS = 0.1  # share of failures that leave the job hanging: an assumption, see --hangs
NOTICED = 60.0  # until a failure that is no hang is noticed: a process exits, a host is gone


@dataclass(frozen=True)
class Plan:
    name: str
    pause: float  # training stands still for a save
    detect: float  # until a hang is noticed
    restart: float  # until training runs again
    near: float = 0.0  # share of failures that a copy in memory survives
    near_every: float = 0.0  # seconds of work between such copies


def young(pause: float, between: float) -> float:
    return math.sqrt(2 * pause * between)


# --8<-- [start:simulate]
def simulate(plan: Plan, between: float, hangs: float = HANGS, failures: int = 40000) -> float:
    """Useful time over all time; after each failure work since the last save is done again."""
    chance = random.Random(1)
    every = young(plan.pause, between)
    total = useful = 0.0
    for _ in range(failures):
        up = chance.expovariate(1 / between)
        saved = int(up / (every + plan.pause)) * every
        if chance.random() < plan.near:
            worked = up * every / (every + plan.pause)
            saved = max(saved, worked - worked % plan.near_every)
        useful += saved
        noticed = plan.detect if chance.random() < hangs else NOTICED
        total += up + noticed + plan.restart
    return useful / total


# --8<-- [end:simulate]


def first_order(plan: Plan, between: float, hangs: float = HANGS) -> float:
    every = young(plan.pause, between)
    noticed = hangs * plan.detect + (1 - hangs) * NOTICED
    again = (every + plan.pause) / 2 + noticed + plan.restart
    return 1 - plan.pause / (every + plan.pause) - again / between


TODAY = Plan("save pauses 60 s, restart 10 min, hang 30 min", 60, 1800, 600)
PLANS = (  # each adds to the one above
    TODAY,
    Plan("pause 1 s (asynchronous save)", 1, 1800, 600),
    Plan("and restart 3 min (hot spare)", 1, 1800, 180),
    Plan("and hang found after 1 min", 1, 60, 180),
    Plan("and 90 % from memory, a copy each 60 s", 1, 60, 180, 0.9, 60),
)
ALONE = (  # each changes one thing
    TODAY,
    replace(TODAY, name="pause 1 s", pause=1),
    replace(TODAY, name="restart 3 min", restart=180),
    replace(TODAY, name="hang found after 1 min", detect=60),
)
SHARES = (0.02, 0.1, 0.25, 0.5, 1.0)


def replicas(groups: int, between: float, repair: float) -> float:
    """Share of work where one failed replica group leaves and the others go on."""
    return 1 - repair / between / groups


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--hangs", type=float, default=HANGS, help="share of failures that hang")
    hangs = parser.parse_args().hangs
    print(f"Llama 3 405B: one in {JOB / HOUR:.2f} h, {GPU / HOUR / 24 / 365.25:.1f} years a GPU; "
          f"64 GPUs: one in {GPU / 64 / 24 / HOUR:.0f} days")  # fmt: skip
    for gpus in (64, 1024, 16384):
        between = GPU / gpus
        print(f"{gpus} GPUs, a failure every {between / HOUR:.1f} h, {hangs:.0%} hang: "
              "simulated, first order")  # fmt: skip
        for plan in PLANS:
            first = f"{first_order(plan, between, hangs):6.1%}" if not plan.near else "     -"
            print(f"  {plan.name:46s} {simulate(plan, between, hangs):6.1%} {first}")
    print("16384 GPUs, one thing changed, by the share of failures that hang:")
    print(" " * 48 + " ".join(f"{share:6.0%}" for share in SHARES))
    for plan in ALONE:
        row = " ".join(f"{simulate(plan, JOB, share):6.1%}" for share in SHARES)
        print(f"  {plan.name:46s}{row}")
    print("replica groups, the failed one away for 1 h, 16384 GPUs:")
    for groups in (8, 32, 128):
        print(f"  {groups:3d} groups {replicas(groups, JOB, HOUR):6.1%}")


if __name__ == "__main__":
    main()
