"""Signatures of faults: which figures of an engine move, and which do not (simulated).

One engine of serve_sim.py at 12 requests/s with system prompts that are shared; then one thing at
a time goes wrong. Queue and prefill are the two parts of TTFT, as vLLM's histograms of
request_queue_time_seconds and request_prefill_time_seconds split it.

Usage
    python docs/infer/code/night_shift.py
"""

from __future__ import annotations

import random
from dataclasses import astuple, replace

import simpy
from serve_curves import at
from serve_requests import Request, trace
from serve_sim import Engine, Server, arrive
from step_time import Steps, fit

COUNT, WARM = 600, 100


class Watched(Server):
    """A server that looks at its gauges before every step."""

    def __init__(self, env: simpy.Environment, engine: Engine, steps: Steps) -> None:
        super().__init__(env, engine, steps)
        self.seen: list[tuple[int, int, float]] = []

    def schedule(self) -> dict[int, tuple[Request, int]]:
        plan = super().schedule()
        used = 1 - self.pool.room / self.pool.pages
        self.seen.append((len(self.running), len(self.waiting), used))
        return plan


def asked(rate: float, prompt: float = 512, output: float = 128) -> list[Request]:
    """Return a trace with one of eight system prompts of 1024 tokens before each prompt."""
    draw = random.Random(8)
    return [
        replace(one, prompt=one.prompt + 1024, prefix=(f"system {draw.randrange(8)}", 1024))
        for one in trace(rate, COUNT, prompt=prompt, output=output)
    ]


FAULTS: dict[str, tuple[list[Request], Engine, float]] = {
    "normal": (asked(12), Engine(), 1),
    "twice the requests": (asked(24), Engine(), 1),
    "prompts 3 x as long": (asked(12, prompt=1536), Engine(), 1),
    "answers 3 x as long": (asked(12, output=384), Engine(), 1),
    "a tenth of the cache": (asked(12), Engine(pool_tokens=42_000), 1),
    "no prefix hits": (asked(12), Engine(prefix_cache=False), 1),
    "16 places": (asked(12), Engine(max_seqs=16), 1),
    "a budget of 128": (asked(12), Engine(budget=128), 1),
    "steps twice as slow": (asked(12), Engine(), 2),
}


def figures(requests: list[Request], engine: Engine, slower: float) -> str:
    """Return the row of one case."""
    env = simpy.Environment()
    server = Watched(env, engine, Steps(*(slower * part for part in astuple(fit()))))
    env.process(arrive(env, requests, server))
    while len(server.done) < len(requests):
        env.step()
    done = [one for one in server.done if one.number >= WARM]
    queue = at([(one.started or 0) - one.arrival for one in done], 0.95)
    prefill = at([one.times[0] - (one.started or 0) for one in done], 0.95)
    tpot = at([one.tpot or 0 for one in done], 0.95)
    running, waiting, used = (sum(part) / len(part) for part in zip(*server.seen, strict=True))
    hit = sum(one.hit for one in done) / sum(one.prompt for one in done)
    return (
        f"{queue:>8.2f}{prefill:>9.2f}{1e3 * tpot:>7.1f}{running:>9.0f}{waiting:>9.0f}{used:>7.0%}"
        f"{hit:>6.0%}{server.preemptions:>9}"
    )


def main() -> None:
    """Print a row per fault: 95th percentiles in s (TPOT in ms), means, and counts."""
    head = (
        f"{'queue':>8}{'prefill':>9}{'TPOT':>7}{'running':>9}{'waiting':>9}{'cache':>7}{'hits':>6}"
    )
    print(f"{'':<22}{head}{'preempt':>9}")
    for name, (requests, engine, slower) in FAULTS.items():
        print(f"{name:<22}{figures(requests, engine, slower)}")


if __name__ == "__main__":
    main()
