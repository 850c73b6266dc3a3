"""Compressed collectives: the error after a ring's hops and after two shots, and when it pays.

    python docs/ccl/code/compression.py            # the tables
    python docs/ccl/code/compression.py --write    # the record of the charts

INT8 and INT4: symmetric, one scale per block of 128. FP8 is E4M3, three bits of mantissa; as NCCL
adds it, without scales, each sum rounded to E4M3 and clipped at 448. Values are drawn at random,
with a fixed seed: only the roundings are real.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "code"))
from simulated import axis, record, result, run

Array = np.ndarray[Any, np.dtype[np.float64]]
Rounding = Callable[[Array], Array]
BLOCK = 128
RANKS = (2, 4, 8, 16, 32, 64)


def integer(bits: int) -> Rounding:
    """Return the rounding to integers of so many bits, with a scale per block."""
    top = 2 ** (bits - 1) - 1

    def rounded(values: Array) -> Array:
        blocks = values.reshape(-1, BLOCK)
        scale = np.abs(blocks).max(axis=1, keepdims=True) / top
        scale[scale == 0] = 1
        return (np.round(blocks / scale) * scale).reshape(values.shape)

    return rounded


def e4m3(values: Array) -> Array:
    """Return values rounded to FP8 E4M3 to nearest even, clipped at 448."""
    _, exponent = np.frexp(values)
    step = np.ldexp(1.0, np.maximum(exponent - 1, -6) - 3)
    return np.clip(np.round(values / step) * step, -448, 448)


def scaled_e4m3(values: Array) -> Array:
    """Return values rounded to E4M3 with a scale per block."""
    blocks = values.reshape(-1, BLOCK)
    scale = np.abs(blocks).max(axis=1, keepdims=True) / 448
    scale[scale == 0] = 1
    return (e4m3(blocks / scale) * scale).reshape(values.shape)


ROUNDINGS: dict[str, Rounding] = {
    "INT8": integer(8),
    "INT4": integer(4),
    "FP8": scaled_e4m3,
    "FP8, no scale": e4m3,
}


def ring(values: Array, rounding: Rounding) -> Array:
    """Return the sum that a ring delivers: the partial sum is rounded before every hop."""
    n = len(values)
    chunks = values.reshape(n, n, -1)
    out = np.empty_like(chunks[0])
    for c in range(n):
        partial = chunks[c, c]
        for hop in range(1, n):
            partial = chunks[(c + hop) % n, c] + rounding(partial)
        out[c] = rounding(partial)  # the way back: rounded once, then passed on as it is
    return out.reshape(-1)


def two_shot(values: Array, rounding: Rounding) -> Array:
    """Return the sum by all-to-all of rounded values, adding in full, and all-gather of the sum."""
    summed: Array = np.sum([rounding(one) for one in values], axis=0)
    return rounding(summed)


def relative_error(found: Array, values: Array) -> float:
    """Return the error's root mean square over the sum's."""
    exact = values.sum(axis=0)
    return float(np.sqrt(np.mean((found - exact) ** 2) / np.mean(exact**2)))


def drawn(ranks: int, same: float = 0.0) -> Array:
    """Return a buffer per rank; `same` of the variance is common to all ranks."""
    random = np.random.default_rng(7)
    common = random.standard_normal(ranks * BLOCK * 32)
    own = random.standard_normal((ranks, ranks * BLOCK * 32))
    return np.sqrt(same) * common + np.sqrt(1 - same) * own


def errors(same: float = 0.0) -> list[dict[str, Any]]:
    """Return the relative errors of both ways for every rounding and number of ranks."""
    found = []
    for ranks in RANKS:
        values = drawn(ranks, same)
        for name, rounding in ROUNDINGS.items():
            for way, summed in (("ring", ring), ("two-shot", two_shot)):
                error = relative_error(summed(values, rounding), values)
                series = f"{name}, {way}"
                found.append({"ranks": ranks, "series": series, "value": float(f"{error:.4g}")})
    return found


# Error feedback: eight workers with data of their own, least squares, whole gradients; the step
# size falls as 1 / (1 + step / 100)

WORKERS, SIZE, STEPS, RATE, FALL = 8, 256, 600, 0.1, 100


def sign(g: Array) -> Array:
    """Return one bit per value and one scale, the mean magnitude."""
    return np.asarray(np.sign(g) * np.abs(g).mean())


def top(g: Array) -> Array:
    """Return the largest sixteenth of the values, the others zero."""
    kept = np.zeros_like(g)
    largest = np.argsort(-np.abs(g), kind="stable")[: max(1, g.size // 16)]
    kept[largest] = g[largest]
    return kept


def train(compress: Rounding, feedback: bool) -> list[float]:
    """Return the distance to the optimum after each step, over the optimum's length."""
    random = np.random.default_rng(3)
    data = random.standard_normal((WORKERS, 2 * SIZE, SIZE))
    truth = random.standard_normal(SIZE)
    shift = random.standard_normal((WORKERS, SIZE))  # workers differ: each has its own optimum
    shift -= shift.mean(axis=0)
    target = np.einsum("wij,wj->wi", data, truth + shift)
    normal = np.einsum("wij,wik->wjk", data, data) / (2 * SIZE)
    right = np.einsum("wij,wi->wj", data, target) / (2 * SIZE)
    best = np.linalg.solve(normal.mean(axis=0), right.mean(axis=0))
    x, error = np.zeros(SIZE), np.zeros((WORKERS, SIZE))
    distance = []
    for at in range(STEPS):
        updates = RATE / (1 + at / FALL) * (np.einsum("wij,j->wi", normal, x) - right)
        wanted = updates + error if feedback else updates
        sent = np.array([compress(one) for one in wanted])
        error = wanted - sent
        x = x - sent.mean(axis=0)
        distance.append(float(np.linalg.norm(x - best) / np.linalg.norm(best)))
    return distance


METHODS: dict[str, tuple[Rounding, bool]] = {
    "full": (lambda g: g, False),
    "1 bit": (sign, False),
    "1 bit, feedback": (sign, True),
    "top 1/16": (top, False),
    "top 1/16, feedback": (top, True),
}

# When it pays: bytes saved on the link against bytes through memory and more kernels

MEMORY, LAUNCH = 2.68e12, 5e-6  # 0.8 of 3.35 TB/s; a kernel


def times(ranks: int, size: float, rate: float, bits: float) -> tuple[float, float]:
    """Return the seconds of an all-reduce in 16 bits and of one in two shots of so many bits.

    The kernels read and write memory: 16 bits in and the small ones out, the small ones in and out
    again reduced, the small ones in and 16 bits out. Scales are 16 bits per block.
    """
    share = (bits + 16 / BLOCK) / 16
    moved = 2 * (ranks - 1) / ranks * size / rate
    through = (size * (2 + 3 * share) + share * size / ranks) / MEMORY
    return moved, moved * share + through + 3 * LAUNCH


def break_even(ranks: int, size: float, bits: float) -> float:
    """Return the rate of the link, bytes per second, at which both take the same time."""
    plain, _ = times(ranks, size, 1, bits)
    share = (bits + 16 / BLOCK) / 16
    _, fixed = times(ranks, size, float("inf"), bits)
    return plain * (1 - share) / fixed


def report() -> str:
    """Return the tables of the note."""
    lines = ["relative error    INT8 ring two-shot   INT4 ring two-shot   FP8 no scale, ring"]
    found = {(one["ranks"], one["series"]): one["value"] for one in errors()}
    for n in RANKS:
        shown = [found[n, f"{k}, {w}"] for k in ("INT8", "INT4") for w in ("ring", "two-shot")]
        last = found[n, "FP8, no scale, ring"]
        lines.append(
            f"{n:8} ranks {shown[0]:12.2%} {shown[1]:8.2%} {shown[2]:11.1%} {shown[3]:8.1%}"
            f" {last:13.1%}"
        )
    lines.append(f"distance to the optimum after      50      200   {STEPS} steps")
    for name, (compress, feedback) in METHODS.items():
        d = train(compress, feedback)
        lines.append(f"{name:26} {d[49]:11.4f} {d[199]:8.4f} {d[-1]:11.4f}")
    lines.append("8 ranks, break-even GB/s    1 MiB   16 MiB   256 MiB")
    for bits in (8, 4):
        rates = [break_even(8, s * 2.0**20, bits) / 1e9 for s in (1, 16, 256)]
        lines.append(f"INT{bits:<20} {rates[0]:12.0f} {rates[1]:8.0f} {rates[2]:9.0f}")
    return "\n".join(lines)


def made() -> dict[str, Any]:
    """Return everything that is drawn."""
    ranks = axis("ranks", "GPU 数", "ranks")
    series = axis("series", "格式与走法", "format and way")
    error = {"zh": "求和的相对误差", "en": "Relative error of the sum"}
    steps = axis("step", "步", "step")
    method = axis("series", "方法", "method")
    shown = [0, *range(9, STEPS, 10)]
    curves = [
        {"step": at + 1, "series": name, "value": float(f"{distance[at]:.4g}")}
        for name, (compress, feedback) in METHODS.items()
        for distance in [train(compress, feedback)]
        for at in shown
    ]
    away = {"zh": "离最优解的距离", "en": "Distance to the optimum"}
    title = {"zh": "压缩的集合通信，模拟", "en": "Compressed collectives, simulated"}
    drawn_ways = ("INT8, ring", "INT8, two-shot", "INT4, ring", "INT4, two-shot")
    shown_errors = [one for one in errors() if one["series"] in drawn_ways]
    kept = [
        result("error", error, "ratio", [ranks, series], shown_errors),
        result("feedback", away, "ratio", [steps, method], curves),
    ]
    return record(__file__, title, None, kept)


if __name__ == "__main__":
    run(__doc__, report, made)
