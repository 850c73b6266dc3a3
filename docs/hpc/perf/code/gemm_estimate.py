"""Says how long a matrix product takes before it runs, and how wrong that was: our own records.

python docs/hpc/perf/code/gemm_estimate.py            errors over all points of four cards
python docs/hpc/perf/code/gemm_estimate.py 64 8192 8192    one product, M N K in bf16, on H100

Three estimates. "sheet": operations over the peak of the data sheet, or least bytes over its
bandwidth, whichever takes longer. "rates": the same with the rate of one large product and the
bandwidth measured on that card, and the gap between kernels. "tiles": besides, whole tiles that
fill the SMs wave by wave.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).resolve().parents[3]
SMS = 132
GAP = 0.93e-6  # seconds from one kernel of a CUDA graph to the next: hpc/cuda/measured/launch_h100
# Tiles, and the share of the rate they reach: 0.85 as our kernels of both sizes do, in
# hpc/cuda/measured/gemm_wgmma_h100; 0.6 is a guess.
TILES = {(128, 256): 1.0, (128, 128): 0.85, (64, 128): 0.6}
BYTES = {"fp64": (8, 8), "fp32": (4, 4), "tf32": (4, 4), "int8": (1, 4), "fp8": (1, 2)}
PEAKS = {"fp64": "fp64_tensor", "fp32": "fp32", "fp8_accurate": "fp8_dense"}
CARDS = {"H100": ("_h100", "_h100_b"), "H200": ("", "_h200_b")}
SHEET_BANDWIDTH = {"H100": 3.35e12, "H200": 4.8e12}  # bytes a second, SXM


@dataclass(frozen=True)
class Card:
    """What one card is said to do, and what two measurements of it showed; per second."""

    name: str
    peaks: dict[str, float]
    bandwidth: float
    sustained: dict[str, float]
    measured_bandwidth: float


# --8<-- [start:estimate]
def least_bytes(m: int, n: int, k: int, kind: str) -> float:
    """Each operand read once, the result written once."""
    operand, result = BYTES.get(kind.removesuffix("_accurate"), (2, 2))
    return operand * (m * k + k * n) + result * m * n


def sheet(card: Card, m: int, n: int, k: int, kind: str) -> float:
    """Seconds by the data sheet: the roofline."""
    return max(
        2 * m * n * k / card.peaks[kind],
        least_bytes(m, n, k, kind) / card.bandwidth,
    )


def rates(card: Card, m: int, n: int, k: int, kind: str) -> float:
    """Seconds with measured rates, and the gap between kernels."""
    memory = least_bytes(m, n, k, kind) / card.measured_bandwidth
    return GAP + max(2 * m * n * k / card.sustained[kind], memory)


def tiles(card: Card, m: int, n: int, k: int, kind: str) -> float:
    """Seconds with measured rates, whole tiles in whole waves, and the gap between kernels."""

    def waves(rows: int, columns: int, share: float) -> float:
        count = math.ceil(m / rows) * math.ceil(n / columns)
        per_sm = card.sustained[kind] * share / SMS
        return math.ceil(count / SMS) * 2 * rows * columns * k / per_sm

    compute = min(waves(*tile, share) for tile, share in TILES.items())
    return GAP + max(compute, least_bytes(m, n, k, kind) / card.measured_bandwidth)


# --8<-- [end:estimate]


ESTIMATES = {"sheet": sheet, "rates": rates, "tiles": tiles}


def record(name: str) -> dict:
    return json.loads((DOCS / f"chip/measured/{name}.json").read_text("utf-8"))


def series(data: dict, result: str) -> list[dict]:
    return next(one["points"] for one in data["results"] if one["id"] == result)


def card(kind: str, suffix: str) -> Card:
    """Read the specification and the two measurements that the second estimate needs."""
    data = record(f"gemm{suffix}")
    said = {one["id"]: one["value"] * 1e12 for one in data["specification"]}
    steady = {
        one["type"]: one["value"] * 1e12
        for one in series(data, "sustained")
        if one["fill"] == "normal"
    }
    return Card(
        name=kind,
        peaks={one: said[PEAKS.get(one, f"{one}_dense")] for one in steady},
        bandwidth=SHEET_BANDWIDTH[kind],
        sustained=steady,
        measured_bandwidth=series(record(f"hbm_bandwidth{suffix}"), "read")[-1]["value"] * 1e9,
    )


def points(suffix: str) -> Iterator[tuple[str, str, int, int, int, float]]:
    """Yield group, type, m, n, k and measured seconds."""
    data = record(f"gemm{suffix}")
    for group, wide in (("square", 0), ("rows", 8192), ("unaligned", 0), ("waves", 4096)):
        for one in series(data, group):
            m = one["m"]
            n = wide or m
            yield group, one.get("type", "bf16"), m, n, n, 2 * m * n * n / one["value"] / 1e12


def group_of(group: str, kind: str, m: int) -> str:
    """Name the row of the table in which a point is counted."""
    if group == "rows":
        return "rows, m to 128" if m <= 128 else "rows, m from 192"
    if group == "unaligned":
        return "odd sides" if m % 8 else "multiples of 8"
    if group == "square":
        side = "512" if m == 512 else "1024" if m == 1024 else "from 2048"
        return f"square {side}, {'tensor cores' if kind != 'fp32' else 'fp32'}"
    return "waves, m 1024 to 4096"


def compare() -> Iterator[str]:
    """Yield the table: error of each estimate, the middle one and the widest, group by group."""
    errors: dict[str, list[list[float]]] = defaultdict(list)
    for name, suffixes in CARDS.items():
        for suffix in suffixes:
            machine = card(name, suffix)
            for group, kind, m, n, k, real in points(suffix):
                found = [one(machine, m, n, k, kind) / real - 1 for one in ESTIMATES.values()]
                errors[group_of(group, kind, m)].append(found)
    yield f"{'time, predicted / measured - 1':<32}points" + "".join(
        f"{name:>9}{'widest':>8}" for name in ESTIMATES
    )
    for group, found in sorted(errors.items()):
        cells = "".join(
            f"{statistics.median(one):>+9.0%}{max(one, key=abs):>+8.0%}"
            for one in zip(*found, strict=True)
        )
        yield f"{group:<32}{len(found):>6}{cells}"


def cpu() -> Iterator[str]:
    """Yield what the peak of one core says of our own kernel."""
    data = json.loads((DOCS / "hpc/simd/measured/gemm_kernel.json").read_text("utf-8"))
    peak = max(one["value"] for one in series(data, "peak"))
    yield f"one core, peak {peak:.0f} GFLOP/s: predicted / measured time"
    for one in series(data, "gemm"):
        if one["way"] == "AVX-512 14x32, packed":
            yield f"  side {one['size']:<6}{one['value'] / peak - 1:>+7.0%}"


def traffic(m: int, n: int, k: int, element: int = 2) -> dict[str, float]:
    """Return bytes of one product: least, what 128 x 256 tiles load, what a cache must let pass."""
    cache = 50e6 / element  # elements in the L2 of H100
    count = math.ceil(m / 128) * math.ceil(n / 256)
    return {
        "each matrix once": least_bytes(m, n, k, "bf16"),
        "bound, 50 MB of cache": element * max(0.0, 2 * m * n * k / math.sqrt(cache) - 2 * cache),
        "into tiles of 128 x 256": element * count * k * (min(m, 128) + min(n, 256)),
    }


def main(arguments: list[str]) -> None:
    if arguments:
        m, n, k = (int(one) for one in arguments)
        machine = card("H100", "_h100")
        for name, estimate in ESTIMATES.items():
            seconds = estimate(machine, m, n, k, "bf16")
            rate = 2 * m * n * k / seconds / 1e12
            print(f"{name:<26}{seconds * 1e6:>9.1f} us{rate:>9.1f} TFLOP/s")
        for name, volume in traffic(m, n, k).items():
            print(f"{name:<26}{volume / 1e9:>9.2f} GB")
        return
    print(*compare(), *cpu(), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
