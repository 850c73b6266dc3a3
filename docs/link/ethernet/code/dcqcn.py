"""DCQCN at one bottleneck: four senders, one 40 Gb/s port, two published parameter sets.

Units: us = 10^-6 s, Gb/s = 10^9 bit/s, kB = 10^3 bytes. Everything printed is simulated.

The model is in dcqcn_flow.py. Senders A and B start at 0, C and D at 2 ms; C and D stop at 24 ms.

The sets are those of two public simulators and are never mixed:
  authors  config.txt of ns3-rdma: one CNP per 50 us, alpha decays every 55 us, cut at the CNP.
           Its byte counter of 300 MB is never reached here, so recovery is by time alone.
  alibaba  `run.py --cc dcqcn` of the HPCC simulator: a mark with every packet's ACK, alpha
           and rate looked at every 1 us and 4 us; recovery every 300 us.

Usage
    python docs/link/ethernet/code/dcqcn.py                  # the table of the note
    python docs/link/ethernet/code/dcqcn.py --write          # and the record of the charts
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from pathlib import Path

import simpy
from dcqcn_flow import PACKET, SETS, Parameters, Port, Process, Sender

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "code"))
from simulated import Point, arguments, axis, keep, record, result

END, JOIN, LEAVE = 40_000.0, 2_000.0, 24_000.0
"""us: the end, and when C and D start and stop."""
SAMPLE = 500.0
NAMES = ("A", "B", "C", "D")


@dataclass(frozen=True)
class Outcome:
    """What one set did: a sample each SAMPLE us."""

    rates: list[list[float]]  # Gb/s, by sender
    queue: list[float]  # kB
    longest: float  # kB
    cuts: int

    def window(self, series: list[float], start: float, end: float) -> list[float]:
        return series[round(start / SAMPLE) : round(end / SAMPLE)]


def simulate(p: Parameters, seed: int = 1) -> Outcome:
    """Return what the four senders and the queue did."""
    env = simpy.Environment()
    port = Port(env, p, random.Random(seed))
    hours = [(0.0, END), (0.0, END), (JOIN, LEAVE), (JOIN, LEAVE)]
    senders = [Sender(port, *pair) for pair in hours]
    rates: list[list[float]] = [[] for _ in senders]
    queue: list[float] = []

    def watch() -> Process:
        before = [0] * len(senders)
        while True:
            yield env.timeout(SAMPLE)
            for i, sender in enumerate(senders):
                rates[i].append((sender.sent - before[i]) * 8e-3 / SAMPLE)
                before[i] = sender.sent
            queue.append(port.bytes() / 1000)

    for process in (port.run(), watch(), *(sender.run() for sender in senders)):
        env.process(process)
    env.run(END + 1)
    cuts = sum(sender.cuts for sender in senders)
    return Outcome(rates, queue, port.longest * PACKET / 1000, cuts)


def slope(p: Parameters) -> float:
    """Gb/s per ms and flow that recovery adds once fast recovery is over: R / T."""
    return (p.r_hai if p.hyper_by_time else p.r_ai) / p.increase_us * 1000


def report(p: Parameters, o: Outcome) -> dict[str, float]:
    """Return the figures of the note."""
    four = [o.window(series, 16_000, LEAVE) for series in o.rates]
    means = [sum(series) / len(series) for series in four]
    queue = o.window(o.queue, 16_000, LEAVE)
    alone = [sum(pair) / 2 for pair in zip(o.rates[0], o.rates[1], strict=True)]
    first, last = round(26_000 / SAMPLE), round(32_000 / SAMPLE)
    return {
        "lowest rate of four, Gb/s (fair share 10)": min(means),
        "highest rate of four, Gb/s": max(means),
        "mean queue, kB": sum(queue) / len(queue),
        "longest queue, kB": o.longest,
        "rise after C and D stop, Gb/s per ms and flow": (alone[last] - alone[first]) / 6,
        "the same by formula, R / T": slope(p),
    }


def results(outcomes: dict[str, Outcome]) -> list[dict[str, object]]:
    """Return the charts' figures."""
    clock = axis("ms", "时间", "time", "ms")

    def points(series: list[float], key: str, value: str) -> list[Point]:
        return [
            {"ms": round((i + 1) * SAMPLE / 1000, 1), key: value, "value": round(v, 2)}
            for i, v in enumerate(series)
        ]

    rate, queue = {"zh": "发送速率", "en": "sending rate"}, {"zh": "队列", "en": "queue"}
    who, sets = axis("sender", "发送方", "sender"), axis("set", "参数组", "set")
    found = []
    for name, o in outcomes.items():
        pairs = zip(NAMES, o.rates, strict=True)
        rates = [point for sender, s in pairs for point in points(s, "sender", sender)]
        found.append(result(f"rates_{name}", rate, "Gb/s", [clock, who], rates))
    queues = [point for name, o in outcomes.items() for point in points(o.queue, "set", name)]
    return [*found, result("queue", queue, "kB", [clock, sets], queues)]


def main() -> None:
    """Print the table; keep or compare the record where asked."""
    options = arguments(__doc__).parse_args()
    outcomes = {name: simulate(p) for name, p in SETS.items()}
    columns = {name: report(SETS[name], o) for name, o in outcomes.items()}
    print(f"{'simulated, 16 to 24 ms unless said':<46}" + "".join(f"{n:>10}" for n in columns))
    for line in columns["authors"]:
        print(f"{line:<46}" + "".join(f"{figures[line]:>10.2f}" for figures in columns.values()))
    if options.write or options.check:
        title = {"zh": "DCQCN，模拟", "en": "DCQCN, simulated"}
        keep(record(__file__, title, None, results(outcomes)), options.write)


if __name__ == "__main__":
    main()
