"""How many GPUs prefill and how many decode: by a formula, and by the simulation.

Usage
    python docs/infer/code/disaggregation_sizing.py            # GPUs of each kind by the formula
    python docs/infer/code/disaggregation_sizing.py --links    # bytes of a prompt's cache, per link
    python docs/infer/code/disaggregation_sizing.py --one      # one load, both ways, simulated
    python docs/infer/code/disaggregation_sizing.py --service  # DeepSeek's service, added up
    python docs/infer/code/disaggregation_sizing.py --check    # the record against a fresh one
    python docs/infer/code/disaggregation_sizing.py --write    # simulate and keep it (a minute)
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disaggregation import BUDGETS, GPUS, KV, LINK, POOL, PREFILL_BUDGET, TTFT, Load, Way, run
from step_time import fit, pairs_of

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "code"))
from simulated import axis, keep, record, result

RATES = [0.25 * 1.05**i for i in range(96)]
LIMITS = (12, 15, 20, 30, 50)
TITLE = {"zh": "预填充与解码分开或同在，模拟", "en": "Prefill and decode apart or not, simulated"}
NOTES = {
    "zh": "8 块 H100，Llama 3.1 8B，每块一个引擎。泊松到达，长度对数正态（sigma 0.5，均值如题），"
    "40 s，前 10 s 不计。90 % 的请求要满足 TTFT ≤ 1 s 与每 token 上限。"
    "速率网格 5 %，取最好的设置。",
    "en": "8 H100, Llama 3.1 8B, one engine per GPU. Poisson arrivals, log-normal lengths (sigma "
    "0.5, means as in the title), 40 s, the first 10 s left out. 90 % of requests must meet a "
    "TTFT of 1 s and the limit per token. Rates on a grid of 5 %, each way at its best setting.",
}
Found = tuple[float, int]
"""Requests per second and GPU; minus the setting that gave it."""


@dataclass(frozen=True)
class Limits:
    """Seconds: gap per token (mean, or with `tail` 99 % of all too), and time to first token."""

    gap: float
    tail: bool = False
    ttft: float = TTFT


def goodput(load: Load, way: Way, limits: Limits, link: float = LINK) -> float:
    """Return the most requests per second and GPU, on a grid of 5 %, that are served well."""
    low, high = 0, len(RATES)
    while low < high:
        middle = (low + high) // 2
        out = run(load, way, RATES[middle], link)
        if out.good(limits.gap, limits.tail, limits.ttft):
            low = middle + 1
        else:
            high = middle
    return RATES[low - 1] if low else 0.0


def best(load: Load, kind: str, limits: Limits, link: float = LINK) -> Found:
    """Return the best goodput of a kind and its setting: budget, or GPUs that prefill."""
    numbers = BUDGETS if kind == "together" else range(1, GPUS)
    return max((goodput(load, (kind, n), limits, link), -n) for n in numbers)


# --8<-- [start:formula]
def seconds_of(load: Load, limit: float) -> tuple[float, float, int]:
    """Return GPU seconds per request to prefill and to decode, and the batch that decodes."""
    steps, todo = fit(), load.prompt * (1 - load.hit)
    prefill = todo * (steps.token + steps.start / PREFILL_BUDGET)
    prefill += steps.pair * pairs_of(round(todo), load.prompt - round(todo))
    each = steps.sequence + steps.cached * (load.prompt + load.output / 2)
    batch = min(int((limit - steps.fixed) / each), POOL // (load.prompt + load.output))
    return prefill, (load.output - 1) * (steps.fixed + batch * each) / batch, batch


# --8<-- [end:formula]
LOADS = [
    Load(512, 512),
    Load(2048, 256),
    Load(8192, 256),
    Load(8192, 256, 0.5),
    Load(12000, 350, 0.4),
]


def print_formula(limit: float = 0.03) -> None:
    """GPUs of each kind by load, for a limit of 30 ms per token."""
    print("prompt  answer  hit   prefill    decode  batch  GPUs that prefill, of 8")
    for load in LOADS:
        prefill, decode, batch = seconds_of(load, limit)
        print(
            f"{load.prompt:6}  {load.output:6}  {load.hit:3.0%}  {1e3 * prefill:5.0f} ms"
            f"  {1e3 * decode:5.0f} ms  {batch:5}  {8 * prefill / (prefill + decode):.1f}"
        )


def print_links(tokens: int = 8192) -> None:
    """Bytes of a prompt's cache and milliseconds on links, at the rate of the link itself."""
    print(f"cache of {tokens} tokens       GB   450 GB/s    50 GB/s    25 GB/s  12.5 GB/s")
    for name, each in (("Llama 3.1 8B", KV), ("Llama 3.1 70B", 327680), ("DeepSeek-V3", 70272)):
        size = tokens * each
        times = "".join(f"{1e3 * size / rate:8.1f} ms" for rate in (450e9, 50e9, 25e9, 12.5e9))
        print(f"{name:<22} {size / 1e9:6.2f}{times}")


def print_one() -> None:
    """One load at one rate, every setting."""
    load, rate = Load(2048, 256), 6.0
    print("setting        TTFT p50  TTFT p90  TPOT p50  gap p99")
    ways = [("together", n) for n in BUDGETS] + [("split", n) for n in (3, 4, 5)]
    for way in ways:
        out = run(load, way, rate)
        first = sorted((r.first or 1e3) - r.arrival for r in out.requests)
        each = sorted((r.last - r.first) / (r.output - 1) for r in out.requests if r.last)
        n = len(first)
        cells = (first[n // 2], first[9 * n // 10], each[len(each) // 2], out.tail())
        print(f"{way[0]:<8} {way[1]:5} " + "".join(f"{1e3 * cell:7.0f} ms" for cell in cells))


def print_service() -> None:
    """DeepSeek's figures of 24 hours, put together."""
    day, nodes, gpus = 86400, 226.75, 8
    prefill, decode = 608e9 / day / 73.7e3, 168e9 / day / 14.8e3
    print(
        f"prefill 608e9 / day / 73.7k = {prefill:.1f} nodes, decode {decode:.1f}: "
        f"{prefill + decode:.1f}, said {nodes}"
    )
    print(f"share that prefills {prefill / (prefill + decode):.0%}; hits {342 / 608:.1%}")
    without = prefill / (1 - 342 / 608)
    print(f"without hits {without:.0f} nodes would prefill, {without / (without + decode):.0%}")
    live = 168e9 / day / 21 / (decode * gpus)
    print(
        f"{live:.0f} sequences per decode GPU at 21 tokens/s, "
        f"{live * 4989 * 70272 / 1e9:.0f} GB of cache at 4,989 tokens of 70,272 B"
    )
    print(
        f"cache out of a prefill node {73.7e3 * 70272 / 1e9:.1f} GB/s; "
        f"rent {nodes * gpus * 24 * 2:,.0f} dollars a day"
    )


def curves() -> list[dict[str, Any]]:
    """Return goodput by limit for three loads, by link, and the best split against the formula."""
    both = [axis("limit", "每 token 上限（ms）", "limit per token, ms"), axis("way", "方式", "way")]
    out = []
    for load in LOADS[:3]:
        for tail, zh, en in (
            (False, "平均间隔", "mean gap"),
            (True, "99 % 的间隔", "99 % of gaps"),
        ):
            points = []
            for limit in LIMITS:
                for kind in ("together", "split"):
                    value, setting = best(load, kind, Limits(limit / 1e3, tail))
                    points.append(
                        {"limit": limit, "way": kind, "value": round(value, 2), "setting": -setting}
                    )
            name = f"{'tail' if tail else 'mean'}_{load.prompt}_{load.output}"
            size = f"{load.prompt}/{load.output}"
            title = {
                "zh": f"有效吞吐（{size}，限制{zh}）",
                "en": f"Goodput ({size}, limit on {en})",
            }
            out.append(result(name, title, "1/s", both, points))
    points = [
        {
            "link": rate,
            "value": round(best(LOADS[1], "split", Limits(0.02, True), rate * 1e9)[0], 2),
        }
        for rate in (0.625, 1.25, 2.5, 5, 12.5, 25, 50)
    ]
    title = {"zh": "有效吞吐与链路", "en": "Goodput by link"}
    out.append(result("link", title, "1/s", [axis("link", "链路（GB/s）", "link, GB/s")], points))
    points = []
    for load in LOADS:
        prefill, decode, _ = seconds_of(load, 0.03)
        found = best(load, "split", Limits(0.03, True))
        case = f"{load.prompt}/{load.output}, {load.hit:.0%}"
        points += [
            {"load": case, "by": "formula", "value": round(GPUS * prefill / (prefill + decode), 1)},
            {"load": case, "by": "simulation", "value": -found[1]},
        ]
    waits = []
    for load in LOADS[1:3]:
        for kind in ("together", "split"):
            value, setting = best(load, kind, Limits(0.02, True, 3.0))
            case = f"{load.prompt}/{load.output}"
            waits.append({"load": case, "way": kind, "value": round(value, 2), "setting": -setting})
    longer = {"zh": "TTFT 放宽到 3 s，99 % 的间隔 20 ms", "en": "TTFT of 3 s, 99 % of gaps 20 ms"}
    case_axis = axis("load", "负载（提示/回答）", "load (prompt/answer)")
    out.append(result("longer", longer, "1/s", [case_axis, both[1]], waits))
    title = {"zh": "8 块 GPU 中预填充的块数", "en": "GPUs that prefill, of 8"}
    axes = [
        axis("load", "负载（提示/回答，命中）", "load (prompt/answer, hits)"),
        axis("by", "来自", "by"),
    ]
    return [*out, result("share", title, "1", axes, points)]


def main() -> None:
    """Do what the option says."""
    option = sys.argv[1] if len(sys.argv) > 1 else ""
    if option in ("--write", "--check"):
        keep(record(__file__, TITLE, NOTES, curves()), option == "--write")
    else:
        {"": print_formula, "--links": print_links, "--one": print_one, "--service": print_service}[
            option
        ]()


if __name__ == "__main__":
    main()
