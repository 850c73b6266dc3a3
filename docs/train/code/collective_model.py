"""The alpha-beta model of collectives, and what it predicts for parallel steps. Pure arithmetic.

A ring moves 2 (n-1)/n of the bytes for an all-reduce, (n-1)/n for an all-gather or a
reduce-scatter; time = alpha + bytes x that / bandwidth. Fitted, not assumed: alpha is the time of
a small message, the bandwidth (bus bandwidth of nccl-tests) that of large ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


def share(kind: str, n: int) -> float:
    """Part of the bytes that crosses each rank's link, one way."""
    return (2 if kind == "all_reduce" else 1) * (n - 1) / n


# --8<-- [start:fit]
@dataclass(frozen=True)
class AlphaBeta:
    """time = alpha + beta x bytes, in seconds and seconds per byte."""

    alpha: float
    beta: float

    def time(self, size: float) -> float:
        """Seconds for a message of `size` bytes."""
        return self.alpha + self.beta * size


def fit(points: Sequence[tuple[float, float]]) -> AlphaBeta:
    """Least squares on relative error over (bytes, seconds): each size counts the same."""
    w = [1 / t**2 for _, t in points]
    s0, s1 = sum(w), sum(k * x for k, (x, _) in zip(w, points, strict=True))
    s2 = sum(k * x * x for k, (x, _) in zip(w, points, strict=True))
    y0 = sum(k * t for k, (_, t) in zip(w, points, strict=True))
    y1 = sum(k * x * t for k, (x, t) in zip(w, points, strict=True))
    beta = (s0 * y1 - s1 * y0) / (s0 * s2 - s1 * s1)
    return AlphaBeta(max(0.0, (y0 - beta * s1) / s0), beta)


# --8<-- [end:fit]


def interpolate(points: Sequence[tuple[float, float]], size: float) -> float:
    """Seconds for `size` bytes between two measured sizes; beyond them in proportion."""
    p = sorted(points)
    if size <= p[0][0]:
        return p[0][1]
    for (x0, t0), (x1, t1) in pairwise(p):
        if size <= x1:
            return t0 + (t1 - t0) * (size - x0) / (x1 - x0)
    return p[-1][1] * size / p[-1][0]


def packed(sizes: Sequence[float], cap: float, first: float) -> list[float]:
    """Sizes of DDP's buckets: tensors in order, a bucket closed once it holds `cap` bytes or more.

    The first bucket closes at `first` bytes, so that communication starts early.
    """
    out, now, limit = [], 0.0, min(first, cap)
    for size in sizes:
        now += size
        if now >= limit:
            out.append(now)
            now, limit = 0.0, cap
    return out + [now] * (now > 0)


def overlapped(compute: float, communication: float, last: float) -> tuple[float, float]:
    """Bounds for communication hidden behind compute: all but the last message, or none."""
    return max(compute, communication - last) + last, compute + communication


def bubble(stages: int, microbatches: int) -> float:
    """Idle time over busy time of GPipe and of 1F1B: (p - 1) / m."""
    return (stages - 1) / microbatches
