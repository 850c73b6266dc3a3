"""Is a newer GPU worth its price? Ratios of published throughput against those of price and power.

In: throughput per GPU as its maker published it (RUNS; the note names each source), AWS's list
prices from docs/data/facts/cloud-instances.yml, power limits from accelerators.yml.
Out: for each workload and GPU, throughput, price and power relative to the first GPU of the row,
the cost of a million tokens, and the price below which the change pays.

Formulas
    USD/M    price per GPU hour x 10^6 / (3600 x tokens per second and GPU), every hour fully used
    per $    ratio of throughput / ratio of price; above 1 the newer GPU is cheaper per token
    per W    ratio of throughput / ratio of power limits, for sites that run out of power first
    below    the price per GPU hour at which the newer GPU costs as much per token as the old one

Usage (needs PyYAML)
    python docs/chip/code/gpu_choice.py
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

FACTS = Path(__file__).resolve().parents[2] / "data/facts"
OFFERS = {"H100": "p5", "H200": "p5en", "B200": "p6-b200", "B300": "p6-b300"}
CHIPS = {"H100": "h100-sxm", "H200": "h200-sxm", "B200": "b200-sxm", "B300": "b300-sxm"}

# Tokens per second and GPU. Training: NVIDIA's Megatron Bridge tables, containers 25.11 (8B) and
# 26.04.01. Serving: NVIDIA's TensorRT-LLM overview, 1000 tokens in, 1000 out, saturated.
RUNS: dict[str, dict[str, float]] = {
    "train 8B dense, FP8": {"H100": 14451, "B200": 30624},
    "train gpt-oss 120B, BF16": {"H100": 5824, "B200": 13568, "B300": 15232},
    "train Qwen3 235B, FP8": {"H100": 1712, "B200": 3776, "B300": 5936},
    "train Qwen3 30B, FP8": {"H100": 8960, "B200": 27136, "B300": 30720},
    "serve 70B, FP8, then FP4": {"H100": 2209, "H200": 2587, "B200": 6920},
    "serve gpt-oss 120B": {"H100": 4685, "H200": 6868, "B200": 25943},
}


@dataclass(frozen=True)
class Change:
    """One GPU against the first of its row."""

    speed: float
    dollars: float
    watts: float
    cost: float
    limit: float


def read(name: str, rows: dict[str, str], column: str) -> dict[str, float]:
    table = yaml.safe_load((FACTS / f"{name}.yml").read_text(encoding="utf-8"))["rows"]
    return {gpu: float(table[row]["cells"][column]["value"]) for gpu, row in rows.items()}


def prices() -> dict[str, float]:
    """USD per GPU hour: each of these instances has eight GPUs."""
    return {gpu: price / 8 for gpu, price in read("cloud-instances", OFFERS, "price").items()}


# --8<-- [start:pays]
def change(
    old: float, new: float, price: tuple[float, float], power: tuple[float, float]
) -> Change:
    speed = new / old
    return Change(
        speed=speed,
        dollars=speed / (price[1] / price[0]),
        watts=speed / (power[1] / power[0]),
        cost=price[1] * 1e6 / (3600 * new),
        limit=price[0] * speed,
    )


# --8<-- [end:pays]


def main() -> None:
    price, power = prices(), read("accelerators", CHIPS, "tdp")
    print(f"{'':26}{'speed':>7}{'per $':>7}{'per W':>7}{'USD/M':>8}{'pays below':>12}")
    for work, rates in RUNS.items():
        base, old = next(iter(rates.items()))
        print(f"{work}, {base}: {change(old, old, (price[base],) * 2, (1, 1)).cost:.3f} USD/M")
        for gpu, new in list(rates.items())[1:]:
            one = change(old, new, (price[base], price[gpu]), (power[base], power[gpu]))
            print(
                f"  {gpu} at {price[gpu]:5.2f}{'':13}{one.speed:7.2f}{one.dollars:7.2f}"
                f"{one.watts:7.2f}{one.cost:8.3f}{one.limit:12.2f}"
            )


if __name__ == "__main__":
    main()
