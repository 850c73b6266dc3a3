"""What a GPU hour buys, what a million tokens cost, and when owning beats renting.

In: list prices and instances from docs/data/facts/cloud-instances.yml, peaks from accelerators.yml,
and the ranges below (low, middle, high), which are assumptions to be replaced by your own quotes.
Out: price per peak, per memory and per bandwidth of each offer; cost per million tokens; the cost
of an hour of one's own GPU; break-even; and for both costs, which input moves the answer most.

Formulas
    tokens      price per GPU hour x 10^6 / (3600 x tokens per second and GPU x share of hours used)
    own         (payment + upkeep) / 8760 + kW x PUE x price per kWh, per GPU and calendar hour
    payment     of a loan over the life, less the residual value at its end
    break-even  the share of hours at which rent by the hour costs what owning costs
    spot        price / share of the time that is not lost to interruptions

Usage (needs PyYAML)
    python docs/chip/code/cloud_cost.py
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import yaml

FACTS = Path(__file__).resolve().parents[2] / "data/facts"
HOURS = 8760  # of a year
CHIPS = {  # which row of accelerators.yml an offer rents
    "p4d": "a100-sxm-40",
    "p4de": "a100-sxm-80",
    "p5": "h100-sxm",
    "p5en": "h200-sxm",
    "p6-b200": "b200-sxm",
    "p6-b300": "b300-sxm",
}

Range = tuple[float, float, float]

SERVING: dict[str, Range] = {
    "price per GPU hour": (2.0, 6.88, 12.29),
    "tokens/s and GPU": (2209.0, 653.0, 333.0),
    "share of hours used": (0.9, 0.5, 0.25),
    "beside the GPU": (0.02, 0.10, 0.30),
}
OWNING: dict[str, Range] = {
    "capital per GPU": (25_000, 40_000, 60_000),
    "life, years": (6, 5, 3),
    "residual value": (0.2, 0.1, 0.0),
    "interest": (0.04, 0.08, 0.12),
    "upkeep of capital": (0.03, 0.08, 0.15),
    "kW at the wall": (1.0, 1.3, 1.4),
    "PUE": (1.1, 1.3, 1.54),
    "price per kWh": (0.05, 0.10, 0.20),
    "share of hours used": (0.9, 0.5, 0.25),
}


def middle(ranges: dict[str, Range]) -> dict[str, float]:
    return {name: values[1] for name, values in ranges.items()}


# --8<-- [start:cost]
def tokens(given: dict[str, float]) -> float:
    """Cost of a million output tokens; storage, egress and failed starts as a share on top."""
    hour = given["price per GPU hour"] * (1 + given["beside the GPU"])
    return hour * 1e6 / (3600 * given["tokens/s and GPU"] * given["share of hours used"])


def own_hour(given: dict[str, float]) -> tuple[float, float]:
    """Of a calendar hour of one's own GPU: what is paid anyway, and what running it costs."""
    rate, years, capital = given["interest"], given["life, years"], given["capital per GPU"]
    left = given["residual value"] / (1 + rate) ** years
    payment = capital * (1 - left) * rate / (1 - (1 + rate) ** -years)
    fixed = (payment + capital * given["upkeep of capital"]) / HOURS
    return fixed, given["kW at the wall"] * given["PUE"] * given["price per kWh"]


def owning(given: dict[str, float]) -> float:
    """Cost of an hour in which the GPU is used; a GPU that waits is taken to draw nothing."""
    fixed, running = own_hour(given)
    return fixed / given["share of hours used"] + running


def break_even(given: dict[str, float], rent: float) -> float:
    """The share of hours from which owning is cheaper than `rent` per hour used."""
    fixed, running = own_hour(given)
    return fixed / (rent - running) if rent > running else float("inf")


# --8<-- [end:cost]


def spot(price: float, hours_between: float, checkpoint: float, restart: float) -> float:
    """Price of an hour of progress; half a checkpoint interval and a restart are lost each time."""
    kept = 1 - (checkpoint / 2 + restart) / hours_between
    return price / kept if kept > 0 else float("inf")


def swing(ranges: dict[str, Range], cost: Callable[[dict[str, float]], float]) -> list[str]:
    """Each input alone from low to high, the others in the middle; the widest first."""
    rows = []
    for name, (low, _, high) in ranges.items():
        ends = sorted(cost(middle(ranges) | {name: value}) for value in (low, high))
        rows.append((ends[1] / ends[0], name, ends))
    return [
        f"  {name:20} {ends[0]:8.2f} to {ends[1]:7.2f}   x{ratio:.1f}"
        for ratio, name, ends in sorted(rows, reverse=True)
    ]


def cells(family: str) -> dict[str, dict[str, float]]:
    rows = yaml.safe_load((FACTS / f"{family}.yml").read_text("utf-8"))["rows"]
    return {
        key: {name: cell["value"] for name, cell in row["cells"].items()}
        for key, row in rows.items()
    }


def offers() -> list[tuple[str, float, float, float, float]]:
    """Of each offer with a price: per GPU hour, and of it per peak PFLOPS, per 100 GB, per TB/s."""
    instances, chips = cells("cloud-instances"), cells("accelerators")
    found = []
    for name, chip in CHIPS.items():
        offer, part = instances[name], chips[chip]
        hour = offer["price"] / offer["gpu_count"]
        found.append(
            (
                name,
                hour,
                hour / part["fp16"] * 1000,
                hour / part.get("mem_driver", part["mem_gb"]) * 100,
                hour / part["mem_bw"] * 1000,
            )
        )
    return found


def main() -> None:
    print("USD per GPU hour, and of it per peak PFLOPS (BF16, dense), per 100 GB, per TB/s")
    for name, hour, peak, memory, bandwidth in offers():
        print(f"  {name:8} {hour:6.2f} {peak:7.2f} {memory:7.2f} {bandwidth:7.2f}")
    serving, own = middle(SERVING), middle(OWNING)
    print(f"a million output tokens: {tokens(serving):.2f}; each input alone, low to high")
    print("\n".join(swing(SERVING, tokens)))
    fixed, running = own_hour(own)
    print(f"own GPU: {fixed:.2f} an hour of the calendar and {running:.2f} an hour that it runs")
    print(f"an hour used: {owning(own):.2f}; each input alone, low to high")
    print("\n".join(swing(OWNING, owning)))
    print("break-even: owning is cheaper above this share of hours used")
    for rent in (2.0, 4.0, 6.88, 12.29):
        share = break_even(own, rent)
        print(f"  rent {rent:5.2f}: {f'{share:.0%}' if share <= 1 else 'never'}")
    print("spot at 40 % of 6.88, checkpoint every 0.5 h, restart 0.25 h")
    for between in (48.0, 8.0, 2.0, 1.0):
        progress = spot(0.4 * 6.88, between, 0.5, 0.25)
        print(f"  {between:4.0f} h between interruptions: {progress:.2f}")


if __name__ == "__main__":
    main()
