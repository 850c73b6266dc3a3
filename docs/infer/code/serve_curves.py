"""Scheduling policies compared in the simulation of serve_sim.py: curves and tables of the note.

All requests are made: Poisson arrivals, log-normal lengths (medians 512 in, 128 out). A request
is good if its first token comes within 0.5 s and each further one within 30 ms on average, the
limits of MLPerf's interactive scenario for Llama 3.1 8B, here per request.

Usage
    python docs/infer/code/serve_curves.py              # policies and budgets
    python docs/infer/code/serve_curves.py --pressure   # priorities, pre-emption, prefix cache
    python docs/infer/code/serve_curves.py --write      # the record behind the charts
"""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from serve_requests import Request, trace
from serve_sim import Engine, Server, serve

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "code"))
from simulated import arguments, axis, keep, record, result

TTFT, TPOT = 0.5, 0.030
"""Limits of a good request, in seconds."""
POLICIES = {
    "static, 64": Engine("static", max_seqs=64),
    "prefill first": Engine("prefill-first", 8192),
    "chunked, 512": Engine("chunked", 512),
    "chunked, 2048": Engine("chunked", 2048),
    "chunked, 8192": Engine("chunked", 8192),
}
RATES = (2, 5, 10, 15, 20, 25, 30)
COUNT, WARM = 600, 60
"""Requests of a run, and the first ones that are not counted."""
SECONDS = 100
"""Arrivals of a run by rate last at least so long; near the knee a shorter one flatters."""


def at(values: list[float], share: float) -> float:
    """Return a percentile, by rank."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def good(request: Request) -> bool:
    """Say whether a request kept both limits."""
    return request.ttft <= TTFT and (request.tpot or 0) <= TPOT


def summary(server: Server, warm: int = WARM) -> dict[str, float]:
    """Return the figures of a run in seconds, without the requests of the start."""
    done = [one for one in server.done if one.number >= warm]
    gaps = [b - a for one in done for a, b in zip(one.times, one.times[1:], strict=False)]
    return {
        "ttft50": at([one.ttft for one in done], 0.5),
        "ttft95": at([one.ttft for one in done], 0.95),
        "tpot50": at([one.tpot or 0 for one in done], 0.5),
        "tpot95": at([one.tpot or 0 for one in done], 0.95),
        "gap99": at(gaps, 0.99),
        "good": sum(map(good, done)) / len(done),
        "hit": sum(one.hit for one in done) / sum(one.prompt for one in done),
        "redone": server.recomputed / sum(one.prompt + one.output for one in server.done),
        "preemptions": server.preemptions,
    }


def long_run(rate: float, engine: Engine) -> dict[str, float]:
    """Return the figures of a run of enough requests, without the first tenth."""
    count = max(COUNT, round(rate * SECONDS))
    return summary(serve(trace(rate, count), engine), count // 10)


def by_rate() -> dict[tuple[str, int], dict[str, float]]:
    """Run every policy at every rate."""
    runs = {}
    for name, engine in POLICIES.items():
        for rate in RATES:
            found = long_run(rate, engine)
            runs[name, rate] = found | {"goodput": rate * found["good"]}
    return runs


HEAD = f"{'TTFT p50':>10}{'p95':>8}{'TPOT p50':>10}{'p95':>7}{'gap p99':>9}{'good':>7}"


def row(found: dict[str, float]) -> str:
    """Return the columns of HEAD: TTFT in s, the others in ms and per cent."""
    return (
        f"{found['ttft50']:>10.2f}{found['ttft95']:>8.2f}{1e3 * found['tpot50']:>10.1f}"
        f"{1e3 * found['tpot95']:>7.1f}{1e3 * found['gap99']:>9.1f}{found['good']:>7.0%}"
    )


def report() -> list[str]:
    """Return policies at one rate, and budgets at one rate."""
    lines = []
    for rate, policies in ((5, list(POLICIES)[:1]), (15, list(POLICIES))):
        lines += [
            f"{rate} requests/s; TTFT in s, TPOT and gap between tokens in ms",
            f"{'':<15}{HEAD}",
        ]
        lines += [f"{name:<15}{row(long_run(rate, POLICIES[name]))}" for name in policies] + [""]
    lines += ["20 requests/s, chunked, by token budget", f"{'':<15}{HEAD}"]
    for budget in (256, 512, 1024, 2048, 4096, 8192):
        lines.append(f"{budget:<15}{row(long_run(20, Engine(budget=budget)))}")
    return lines


def urgent(rate: float, count: int = 1500, share: float = 0.1) -> list[Request]:
    """Return a trace in which some requests have priority 0 and the rest 1."""
    draw = random.Random(3)
    return [replace(one, priority=int(draw.random() >= share)) for one in trace(rate, count)]


def assistants(rate: float, tokens: int = 2048, kinds: int = 4) -> list[Request]:
    """Return a trace in which each prompt starts with one of a few system prompts."""
    draw, made = random.Random(4), []
    for one in trace(rate, COUNT):
        name = f"system {draw.randrange(kinds)}"
        made.append(replace(one, prompt=tokens + one.prompt, prefix=(name, tokens)))
    return made


def pressure() -> list[str]:
    """Return what priorities, a small cache and a prefix cache do."""
    lines = ["28 requests/s, above capacity, 128 places, 10 % urgent: TTFT p95 in s"]
    lines.append(f"{'':<22}{'urgent':>9}{'others':>9}")
    for name, by_priority in (("first come, first", False), ("by priority", True)):
        server = serve(urgent(28), Engine(by_priority=by_priority, max_seqs=128))
        done = [one for one in server.done if one.number >= WARM]
        first = [at([o.ttft for o in done if o.priority == p], 0.95) for p in (0, 1)]
        lines.append(f"{name:<22}{first[0]:>9.2f}{first[1]:>9.2f}")
    lines += [
        "",
        "12 requests/s, by tokens of cache; redone: computed anew, per token of the trace",
    ]
    lines.append(
        f"{'':<31}{'preempted':>10}{'redone':>8}{'TTFT p95':>10}{'TPOT p95':>10}{'good':>6}"
    )
    for tokens in (60_000, 40_000, 30_000, 24_000):
        base = Engine(pool_tokens=tokens)
        for name, engine in (
            ("whole prompt", base),
            ("first chunk", replace(base, whole_prompt=False)),
            ("first chunk, no reuse", replace(base, whole_prompt=False, prefix_cache=False)),
        ):
            found = summary(serve(trace(12, COUNT), engine))
            lines.append(
                f"{f'{tokens}, {name}':<31}{found['preemptions']:>10.0f}{found['redone']:>8.1%}"
                f"{found['ttft95']:>10.2f}{1e3 * found['tpot95']:>10.1f}{found['good']:>6.0%}"
            )
    lines += ["", "8 requests/s, one of 4 system prompts of 2048 tokens before each prompt"]
    lines.append(f"{'prefix cache':<15}{HEAD}{'hit':>7}")
    for name, on in (("off", False), ("on", True)):
        found = summary(serve(assistants(8), Engine(prefix_cache=on)))
        lines.append(f"{name:<15}{row(found)}{found['hit']:>7.0%}")
    return lines


def made() -> dict[str, Any]:
    """Return the record of the charts."""
    runs = by_rate()
    axes = [
        axis("policy", "策略", "policy"),
        axis("rate", "每秒到达的请求", "requests arriving per second"),
    ]

    def points(field: str) -> list[dict[str, Any]]:
        return [
            {"policy": name, "rate": rate, "value": float(f"{found[field]:.4g}")}
            for (name, rate), found in runs.items()
        ]

    titles = {
        "ttft95": ("首 token 时延，第 95 百分位", "Time to first token, 95th percentile", "s"),
        "tpot95": (
            "每输出 token 时间，第 95 百分位",
            "Time per output token, 95th percentile",
            "s",
        ),
        "goodput": ("每秒合格的请求", "Good requests per second", "1/s"),
    }
    return record(
        __file__,
        {"zh": "调度策略：时延与有效吞吐", "en": "Scheduling policies: latency and goodput"},
        {
            "zh": f"Llama 3.1 8B 与一块 H100，步时由实测拟合（step_time.py）。泊松到达，对数正态长度，中位数输入 512、输出 128；每次到达 {SECONDS} s、至少 {COUNT} 个请求，前十分之一不计。合格：首 token 0.5 s 内，其后平均每 token 30 ms 内。",  # noqa: E501
            "en": f"Llama 3.1 8B on one H100, step times fitted to measured ones (step_time.py). Poisson arrivals, log-normal lengths, medians 512 in and 128 out; runs of {SECONDS} s of arrivals and at least {COUNT} requests, the first tenth not counted. Good: first token within 0.5 s, then 30 ms per token on average.",  # noqa: E501
        },
        [
            result(name, {"zh": zh, "en": en}, unit, axes, points(name))
            for name, (zh, en, unit) in titles.items()
        ],
    )


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--pressure", action="store_true", help="priorities, pre-emption, prefixes")
    options = parser.parse_args()
    if options.write or options.check:
        keep(made(), options.write)
    else:
        print("\n".join(pressure() if options.pressure else report()))
