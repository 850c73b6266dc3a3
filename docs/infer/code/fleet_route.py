"""Engines behind a router: which request goes where, and what a late engine costs.

Every engine is that of serve_sim.py with a budget of 2048 tokens.

Usage
    python docs/infer/code/fleet_route.py              # four engines behind a router
    python docs/infer/code/fleet_route.py --scaling    # a surge, and a second engine that is late
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator
from typing import Any

import simpy
from serve_curves import at, good
from serve_requests import Request, trace
from serve_sim import Engine, Server

ENGINE = Engine(budget=2048)
Route = Callable[[Request, list[Server]], Server]


def any_one(request: Request, servers: list[Server]) -> Server:
    """Any engine."""
    return random.Random(request.number).choice(servers)


def in_turn(request: Request, servers: list[Server]) -> Server:
    """One after the other."""
    return servers[request.number % len(servers)]


def fewest(_: Request, servers: list[Server]) -> Server:
    """The engine with the fewest requests."""
    return min(servers, key=lambda one: one.load)


def fewest_tokens(_: Request, servers: list[Server]) -> Server:
    """The engine with the fewest tokens still to be prefilled, then the fewest requests."""
    return min(servers, key=lambda one: (one.backlog, one.load))


def same_start(request: Request, servers: list[Server]) -> Server:
    """By the start of the prompt, so that its pages are there already."""
    return servers[hash_of(str(request.prefix[0])) % len(servers)]


def same_start_unless_busy(request: Request, servers: list[Server]) -> Server:
    """By the start of the prompt, unless that engine has far more than the least loaded."""
    home, least = same_start(request, servers), fewest(request, servers)
    return home if home.load <= 1.5 * least.load + 8 else least


def hash_of(name: str) -> int:
    """Return a hash that is the same in every run."""
    value = 0
    for letter in name:
        value = (value * 131 + ord(letter)) % 1_000_003
    return value


def fleet(
    requests: list[Request], count: int, route: Route, late: float | None = None
) -> list[Server]:
    """Serve a trace by so many engines; with `late`, all but the first start at that time."""
    env = simpy.Environment()
    servers = [Server(env, ENGINE) for _ in range(count)]

    def feed() -> Iterator[Any]:
        for request in requests:
            yield env.timeout(request.arrival - env.now)
            ready = servers if late is None or env.now >= late else servers[:1]
            route(request, ready).submit(request)

    env.process(feed())
    while sum(len(one.done) for one in servers) < len(requests):
        env.step()
    return servers


def kinds(requests: list[Request], names: int, tokens: int = 2048) -> list[Request]:
    """Give each request one of many system prompts, some far more popular than others."""
    draw = random.Random(6)
    weights = [1 / (i + 1) for i in range(names)]
    for one in requests:
        one.prefix = (f"system {draw.choices(range(names), weights)[0]}", tokens)
        one.prompt += tokens
    return requests


def line(name: str, servers: list[Server], warm: int) -> str:
    """Return the row of a fleet."""
    done = [one for each in servers for one in each.done if one.number >= warm]
    counts = [len(each.done) for each in servers]
    hit = sum(one.hit for one in done) / sum(one.prompt for one in done)
    return (
        f"{name:<26}{at([o.ttft for o in done], 0.5):>9.2f}{at([o.ttft for o in done], 0.99):>7.2f}"
        f"{1e3 * at([o.tpot or 0 for o in done], 0.99):>10.1f}"
        f"{sum(map(good, done)) / len(done):>6.0%}{hit:>6.0%}"
        f"{max(counts) / (sum(counts) / len(counts)):>9.2f}"
    )


def routing() -> list[str]:
    """Return what the router does to four engines."""
    head = f"{'':<26}{'TTFT p50':>9}{'p99':>7}{'TPOT p99':>10}{'good':>6}{'hit':>6}{'fullest':>9}"
    lines = ["4 engines, 72 requests/s together; fullest: its requests over the mean", head]
    for name, route in (
        ("at random", any_one),
        ("in turn", in_turn),
        ("fewest requests", fewest),
        ("fewest tokens to prefill", fewest_tokens),
    ):
        lines.append(line(name, fleet(trace(72, 2400), 4, route), 400))
    lines += ["", "4 engines, 40 requests/s, 400 system prompts of 2048 tokens (Zipf)", head]
    for name, route in (
        ("fewest requests", fewest),
        ("same start", same_start),
        ("same start unless busy", same_start_unless_busy),
    ):
        lines.append(line(name, fleet(kinds(trace(40, 2000), 400), 4, route), 400))
    return lines


def surge(low: float = 12, high: float = 36) -> list[Request]:
    """Return a trace whose rate trebles after 30 s and stays so for 90 s."""
    calm = trace(low, round(30 * low), seed=2)
    storm = trace(high, round(90 * high), seed=3)
    for one in storm:
        one.number += len(calm)
        one.arrival += 30.0
    return sorted(calm + storm, key=lambda one: one.arrival)


def scaling() -> list[str]:
    """Return what a late second engine costs."""
    lines = ["12 requests/s, from 30 s on 36 for 90 s; one engine, a second one later"]
    lines.append(f"{'second engine':<26}{'TTFT p50':>9}{'p99':>7}{'good':>6}{'worst 10 s':>12}")
    for name, late in (
        ("from the start", 0.0),
        ("after 5 s", 35.0),
        ("after 30 s", 60.0),
        ("after 60 s", 90.0),
    ):
        servers = fleet(surge(), 2, fewest, late)
        done = [one for each in servers for one in each.done if one.arrival >= 30]
        spans = [
            [o for o in done if start <= o.arrival < start + 10] for start in range(30, 115, 10)
        ]
        worst = min(sum(map(good, part)) / len(part) for part in spans if part)
        first = [one.ttft for one in done]
        lines.append(
            f"{name:<26}{at(first, 0.5):>9.2f}{at(first, 0.99):>7.2f}"
            f"{sum(map(good, done)) / len(done):>6.0%}{worst:>12.0%}"
        )
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Engines behind a router.")
    parser.add_argument("--scaling", action="store_true", help="a surge and a late engine")
    print("\n".join(scaling() if parser.parse_args().scaling else routing()))
