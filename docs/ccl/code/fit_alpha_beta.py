"""Fit t = alpha + S / bandwidth to measured all-reduces, for each algorithm and protocol.

    python docs/ccl/code/fit_alpha_beta.py [--link]

The times are those of docs/link/topo/measured/allreduce.json: four H200, algorithm and protocol
forced, 4 KiB to 1 GiB; with --link those of two H100, replayed from a CUDA graph, 4 KiB to 64 MiB.
Least squares of the relative error, so that small messages count as much as large ones. The last
lines set NCCL's own choice against the least of the fits.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

DOCS = Path(__file__).resolve().parents[2]
RECORD = DOCS / "link/topo/measured/allreduce.json"
LINK = DOCS / "ccl/nccl/measured/time_protocols_link.json"


class Fit(NamedTuple):
    """A line of time over bytes: seconds, bytes a second, and the largest relative error."""

    alpha: float
    bandwidth: float
    worst: float

    def time(self, size: float) -> float:
        """Return the seconds that the line gives."""
        return self.alpha + size / self.bandwidth


def fit(sizes: list[float], times: list[float]) -> Fit:
    """Return the line with the least squares of relative errors."""
    s, t = np.array(sizes), np.array(times)
    design = np.column_stack([1 / t, s / t])
    (alpha, beta), *_ = np.linalg.lstsq(design, np.ones_like(t), rcond=None)
    worst = float(np.abs((alpha + beta * s) / t - 1).max())
    return Fit(float(alpha), float(1 / beta), worst)


def measured() -> tuple[dict[tuple[str, str], Fit], dict[int, float]]:
    """Return the fits by algorithm and protocol, and the times of NCCL's own choice."""
    results = {one["id"]: one["points"] for one in json.loads(RECORD.read_text("utf-8"))["results"]}
    series: dict[tuple[str, str], tuple[list[float], list[float]]] = {}
    for p in results["all_reduce_forced_busbw"]:
        sizes, times = series.setdefault((p["algorithm"], p["protocol"]), ([], []))
        sizes.append(p["bytes"])
        times.append(p["bytes"] / p["algbw"] / 1e9)
    free = {p["bytes"]: p["value"] * 1e-6 for p in results["all_reduce_time"]}
    return {name: fit(*points) for name, points in series.items()}, free


def replayed() -> tuple[dict[tuple[str, str], Fit], dict[int, float]]:
    """Return the same of two H100, replayed from a graph."""
    results = {one["id"]: one["points"] for one in json.loads(LINK.read_text("utf-8"))["results"]}
    series: dict[tuple[str, str], tuple[list[float], list[float]]] = {}
    for p in results["replayed"]:
        if p["bytes"] >= 4096:
            sizes, times = series.setdefault((p["algorithm"], p["protocol"]), ([], []))
            sizes.append(p["bytes"])
            times.append(p["value"] * 1e-6)
    sizes, times = series.pop(("chosen", "chosen"))
    free = {int(s): t for s, t in zip(sizes, times, strict=True)}
    return {name: fit(*points) for name, points in series.items()}, free


def main() -> None:
    """Print the fits, and how far the least of them is from what NCCL took by itself."""
    fits, free = replayed() if "--link" in sys.argv else measured()
    print("              alpha us  S/t GB/s  half at KiB  worst error")
    for (algorithm, protocol), one in fits.items():
        half = one.alpha * one.bandwidth / 1024
        numbers = f"{one.alpha * 1e6:8.1f}  {one.bandwidth / 1e9:8.1f}  {half:11.0f}"
        print(f"{algorithm:5}{protocol:8} {numbers}  {one.worst:10.0%}")
    print("NCCL's choice     us  least of the fits")
    for size in (16 << 10, 1 << 20, 16 << 20, 64 << 20, 256 << 20, 1 << 30):
        if size not in free:
            continue
        name = min(fits, key=lambda key: fits[key].time(size))
        least = fits[name].time(size) * 1e6
        print(f"{size >> 10:9} KiB {free[size] * 1e6:7.0f}  {least:7.0f}  {' '.join(name)}")


if __name__ == "__main__":
    main()
