"""The load of an engine: a formula against the simulation.

Formula. In a steady state an engine that gets r requests per second makes a step in s seconds:

    s = fixed / (1 - r w),   w = E[in] token + E[pairs] pair + E[out] (sequence + cached context)

w is the work of a request, the seconds that it adds to all the steps it takes part in; r w is the
load, and 1 / w the rate that no scheduler can pass. By Little's law r E[out] s sequences decode at
a time. Unlike in M/M/c a place has no service time of its own: each step is shared by all.

Usage
    python docs/infer/code/fleet_queue.py            # by rate, and rates for limits
    python docs/infer/code/fleet_queue.py --write    # the record behind the chart
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from serve_curves import summary
from serve_requests import Request, trace
from serve_sim import Engine, Server, serve
from step_time import fit, pairs_of

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "code"))
from simulated import axis, record, result, run

ENGINE = Engine(budget=2048)


# --8<-- [start:formula]
@dataclass(frozen=True)
class Load:
    """What an engine needs for requests of given lengths."""

    fixed: float
    work: float
    output: float

    def step(self, rate: float) -> float:
        """Return the mean time of a step, and so of a token, in seconds."""
        return self.fixed / (1 - rate * self.work)

    def batch(self, rate: float) -> float:
        """Return how many sequences decode at a time."""
        return rate * self.output * self.step(rate)

    def rate(self, tpot: float) -> float:
        """Return the requests per second at which a token takes so long on average."""
        return (1 - self.fixed / tpot) / self.work


def load_of(requests: list[Request]) -> Load:
    """Return the load of a trace: means over its requests."""
    steps, n = fit(), len(requests)
    work = 0.0
    for one in requests:
        work += steps.token * one.prompt + steps.pair * pairs_of(one.prompt)
        read = sum(range(one.prompt + 1, one.prompt + one.output))
        work += steps.sequence * (one.output - 1) + steps.cached * read
    return Load(steps.fixed, work / n, sum(one.output - 1 for one in requests) / n)


# --8<-- [end:formula]


def mean_tpot(server: Server, warm: int) -> float:
    """Return the mean time of a token after the first, over all tokens."""
    done = [one for one in server.done if one.number >= warm]
    tokens = sum(len(one.times) - 1 for one in done)
    return sum(one.times[-1] - one.times[0] for one in done) / tokens


def one_engine(rates: tuple[int, ...] = (2, 5, 10, 15, 20, 25)) -> list[dict[str, float]]:
    """Return formula and simulation by rate, for the same trace."""
    found = []
    for rate in rates:
        requests = trace(rate, 1000)
        span = requests[-1].arrival - requests[0].arrival
        real = (len(requests) - 1) / span
        load = load_of(requests)
        server = serve(requests, ENGINE)
        found.append(
            {
                "rate": rate,
                "load": real * load.work,
                "formula": load.step(real),
                "simulated": mean_tpot(server, 100),
                "batch": load.batch(real),
                **summary(server, 100),
            }
        )
    return found


def report() -> list[str]:
    """Return formula against simulation, and rates for limits."""
    load = load_of(trace(1, 20_000, seed=9))
    lines = [
        f"work of a request {1e3 * load.work:.1f} ms: at most {1 / load.work:.1f} requests/s",
        f"{'rate':>5}{'load':>6}{'TPOT formula':>14}{'simulated':>11}{'p95':>7}{'batch':>7}"
        f"{'TTFT p95':>10}{'good':>6}",
    ]
    lines += [
        f"{one['rate']:>5}{one['load']:>6.2f}{1e3 * one['formula']:>14.1f}"
        f"{1e3 * one['simulated']:>11.1f}{1e3 * one['tpot95']:>7.1f}{one['batch']:>7.0f}"
        f"{one['ttft95']:>10.2f}{one['good']:>6.0%}"
        for one in one_engine()
    ]
    lines += [
        f"mean TPOT {limit} ms by the formula: {load.rate(limit / 1e3):.1f} requests/s"
        for limit in (15, 20, 30, 50)
    ]
    asked, hour = trace(1, 20_000, seed=9), 18 * 3600
    prompt = sum(one.prompt for one in asked) / len(asked)
    output = sum(one.output for one in asked) / len(asked)
    lines.append(
        f"18 requests/s for an hour: {hour * prompt / 1e6:.1f} M tokens in, "
        f"{hour * output / 1e6:.1f} M out"
    )
    for rate, count in ((17, 3400), (18.5, 3700), (25, 1000), (25, 6000)):
        server = serve(trace(rate, count), ENGINE)
        found = summary(server, count // 10)
        lines.append(
            f"{rate} requests/s for {max(one.arrival for one in server.done):.0f} s: "
            f"TPOT {1e3 * mean_tpot(server, count // 10):.1f} ms, "
            f"p95 {1e3 * found['tpot95']:.1f}, good {found['good']:.1%}"
        )
    return lines


def made() -> dict[str, Any]:
    """Return the record of the chart: a token's time by the formula and by simulation."""
    points = [
        {"way": way, "rate": one["rate"], "value": float(f"{one[field]:.4g}")}
        for way, field in (
            ("formula", "formula"),
            ("simulated", "simulated"),
            ("simulated, p95", "tpot95"),
        )
        for one in one_engine()
    ]
    return record(
        __file__,
        {"zh": "一台引擎的负载：公式与模拟", "en": "Load of an engine: formula and simulation"},
        {
            "zh": "Llama 3.1 8B 与一块 H100，每步预算 2048 个 token，泊松到达，每次 1000 个请求，前 100 个不计。",  # noqa: E501
            "en": "Llama 3.1 8B on one H100, a budget of 2048 tokens, Poisson arrivals, 1000 requests a run, the first 100 not counted.",  # noqa: E501
        },
        [
            result(
                "tpot",
                {"zh": "每输出 token 时间", "en": "Time per output token"},
                "s",
                [axis("way", "算法", "way"), axis("rate", "每秒请求", "requests per second")],
                points,
            )
        ],
    )


if __name__ == "__main__":
    run(__doc__, lambda: "\n".join(report()), made)
