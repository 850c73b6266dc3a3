"""Is B faster than A? An interval for the ratio of paired runs, and designs that make it lie.

python docs/eng/code/ab.py             simulated runs, and two cards of our own records
python docs/eng/code/ab.py FILE        your runs: a line for each pair, time of A, time of B
"""

from __future__ import annotations

import json
import math
import random
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

PAIRS = 15
TRIALS = 400
DRAWS = 300
Pairs = list[tuple[float, float]]


# --8<-- [start:interval]
def interval(pairs: Pairs, rng: random.Random, level: float = 0.95) -> tuple[float, float, float]:
    """Return time of B over time of A: the middle of the pairs, and both ends of an interval.

    The interval is a bootstrap: whole pairs are drawn again and again, with replacement.
    """
    ratios = [math.log(b / a) for a, b in pairs]
    drawn = sorted(statistics.median(rng.choices(ratios, k=len(ratios))) for _ in range(DRAWS))
    cut = round((1 - level) / 2 * (DRAWS - 1))
    middle = statistics.median(ratios)
    return math.exp(middle), math.exp(drawn[cut]), math.exp(drawn[-1 - cut])


# --8<-- [end:interval]


class Machine:
    """A machine that gets hot, wanders, and is now and then interrupted: all of it made up."""

    def __init__(self, rng: random.Random) -> None:
        """Start cold."""
        self.rng = rng
        self.runs = 0
        self.wander = 0.0

    def run(self, true: float) -> float:
        """Return the time of one run that would take `true` on an ideal machine."""
        self.runs += 1
        self.wander = 0.95 * self.wander + self.rng.gauss(0, 0.003)
        heat = 0.03 * (1 - math.exp(-self.runs / 10))  # 3 % slower once it is warm
        time = true * (1 + heat + self.wander + self.rng.expovariate(100))
        return time * self.rng.uniform(1.2, 2) if self.rng.random() < 0.03 else time


Design = Callable[[Machine, float], Pairs]


def blocks(machine: Machine, ratio: float) -> Pairs:
    """All of A, then all of B."""
    first = [machine.run(1.0) for _ in range(PAIRS)]
    return list(zip(first, (machine.run(ratio) for _ in range(PAIRS)), strict=True))


def warmed(machine: Machine, ratio: float) -> Pairs:
    """All of A, then all of B, after forty runs that are thrown away."""
    for _ in range(40):
        machine.run(1.0)
    return blocks(machine, ratio)


def alternating(machine: Machine, ratio: float) -> Pairs:
    """A, B, A, B, ..., after forty runs that are thrown away."""
    for _ in range(40):
        machine.run(1.0)
    return [(machine.run(1.0), machine.run(ratio)) for _ in range(PAIRS)]


def shuffled(machine: Machine, ratio: float) -> Pairs:
    """The same, and a coin says which of a pair comes first."""
    for _ in range(40):
        machine.run(1.0)
    pairs = []
    for _ in range(PAIRS):
        if machine.rng.random() < 0.5:
            pairs.append((machine.run(1.0), machine.run(ratio)))
        else:
            b = machine.run(ratio)
            pairs.append((machine.run(1.0), b))
    return pairs


def verdicts(design: Design, ratio: float) -> tuple[float, float, float]:
    """Return shares of trials that claim a gain, that claim a loss, and the middle width."""
    rng = random.Random(3)
    gains = losses = 0
    widths = []
    for _ in range(TRIALS):
        _, low, high = interval(design(Machine(rng), ratio), rng)
        gains += high < 1
        losses += low > 1
        widths.append(high - low)
    return gains / TRIALS, losses / TRIALS, statistics.median(widths)


def many(options: int, level: float) -> tuple[float, float, float]:
    """Try options of which none helps: share of trials with a winner, what it seems to gain, again.

    Of each trial the best option is taken; `again` is what it gains in new runs.
    """
    rng = random.Random(5)
    found, seems, again = 0, [], []
    for _ in range(TRIALS // 8):
        results = [interval(shuffled(Machine(rng), 1.0), rng, level) for _ in range(options)]
        found += any(high < 1 for _, _, high in results)
        seems.append(1 - min(results)[0])
        again.append(1 - interval(shuffled(Machine(rng), 1.0), rng)[0])
    return found / (TRIALS // 8), statistics.median(seems), statistics.median(again)


def cards(first: str, second: str) -> str:
    """Compare two cards of one model over all products of their records."""

    def rates(name: str) -> dict[tuple[str, int], float]:
        file = Path(__file__).resolve().parents[2] / f"chip/measured/{name}.json"
        results = json.loads(file.read_text("utf-8"))["results"]
        points = next(one["points"] for one in results if one["id"] == "square")
        return {(one["type"], one["m"]): one["value"] for one in points if one["m"] >= 2048}

    one, two = rates(first), rates(second)
    ratios = sorted(two[key] / one[key] for key in one)
    low, high = ratios[len(ratios) // 20], ratios[-1 - len(ratios) // 20]
    middle = statistics.median(ratios)
    return (
        f"{len(ratios)} products, rate of B / A: {middle:.3f}, 5 to 95 %: {low:.3f} to {high:.3f}"
    )


def own(lines: Sequence[str]) -> str:
    """Judge the pairs of a file."""
    pairs = [(float(a), float(b)) for a, b in (line.split()[:2] for line in lines if line.strip())]
    middle, low, high = interval(pairs, random.Random(1))
    return f"{len(pairs)} pairs, time of B / A: {middle:.3f}, 95 % interval {low:.3f} to {high:.3f}"


def main(arguments: list[str]) -> None:
    if arguments:
        print(own(Path(arguments[0]).read_text("utf-8").splitlines()))
        return
    print(f"{'15 runs each':<34}{'no difference':>16}{'B 1 % faster':>16}{'width':>8}")
    print(f"{'claims by 95 % intervals':<34}{'faster  slower':>16}{'faster  slower':>16}")
    for name, design in (
        ("A x 15, B x 15, from cold", blocks),
        ("A x 15, B x 15, warm", warmed),
        ("A B A B ..., warm", alternating),
        ("order of each pair by coin, warm", shuffled),
    ):
        cells = [verdicts(design, ratio) for ratio in (1.0, 0.99)]
        shown = "".join(f"{gain:>8.0%}{loss:>8.0%}" for gain, loss, _ in cells)
        print(f"{name:<34}{shown}{cells[0][2]:>8.1%}")
    for level in (0.95, 0.9975):
        found, seems, again = many(20, level)
        print(
            f"20 options, none helps, {level:.2%}: a winner in {found:.0%}, "
            f"best seems {seems:+.2%}, again {again:+.2%}"
        )
    for model, names in (
        ("H100", ("gemm_h100", "gemm_h100_b")),
        ("H200", ("gemm", "gemm_h200_b")),
    ):
        print(f"two {model}: {cards(*names)}")


if __name__ == "__main__":
    main(sys.argv[1:])
