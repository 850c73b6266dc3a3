"""Data parallelism without a GPU: a ring all-reduce of gradients, every byte counted.

Run:  python docs/train/code/ring_gradients.py

Ranks are lists in one process; "sending" copies a chunk and adds up its bytes. The model is
linear with integer data, so that sums are exact and equality can be asked for with ==.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

FP32 = 4


# --8<-- [start:ring]
@dataclass
class Ring:
    """N ranks in a circle; each sends only to its right-hand neighbour."""

    n: int
    sent: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.sent = [0] * self.n

    def pass_on(self, data: list[list[list[float]]], step: int, shift: int, add: bool) -> None:
        """Every rank sends one chunk to the right; the receiver adds it or takes it over."""
        moved = []
        for rank in range(self.n):
            chunk = (rank + shift - step) % self.n
            moved.append(((rank + 1) % self.n, chunk, list(data[rank][chunk])))
            self.sent[rank] += FP32 * len(data[rank][chunk])
        for to, chunk, values in moved:
            own = data[to][chunk]
            data[to][chunk] = [a + b for a, b in zip(own, values, strict=True)] if add else values

    def reduce_scatter(self, data: list[list[list[float]]]) -> None:
        """N - 1 steps; then rank r holds the sum of chunk r + 1 (mod N)."""
        for step in range(self.n - 1):
            self.pass_on(data, step, shift=0, add=True)

    def all_gather(self, data: list[list[list[float]]]) -> None:
        """N - 1 steps; then every rank holds every finished chunk."""
        for step in range(self.n - 1):
            self.pass_on(data, step, shift=1, add=False)

    def all_reduce(self, vectors: list[list[float]]) -> list[list[float]]:
        """The sum of all vectors, on every rank: reduce-scatter, then all-gather."""
        data = [chunks(vector, self.n) for vector in vectors]
        self.reduce_scatter(data)
        self.all_gather(data)
        return [[x for chunk in rank for x in chunk] for rank in data]


# --8<-- [end:ring]


def chunks(vector: list[float], n: int) -> list[list[float]]:
    """Cut a vector whose length is a multiple of n into n equal pieces."""
    size = len(vector) // n
    return [vector[i * size : (i + 1) * size] for i in range(n)]


Sample = tuple[list[float], float]


def gradient(weights: list[float], samples: list[Sample]) -> list[float]:
    """Gradient of the SUM of (w . x - y)^2 / 2 over the samples."""
    out = [0.0] * len(weights)
    for x, y in samples:
        miss = sum(w * v for w, v in zip(weights, x, strict=True)) - y
        out = [g + miss * v for g, v in zip(out, x, strict=True)]
    return out


def samples_of(rng: random.Random, count: int, width: int) -> list[Sample]:
    """Small integers, so that floating-point sums are exact in any order."""
    return [
        ([float(rng.randint(-3, 3)) for _ in range(width)], float(rng.randint(-9, 9)))
        for _ in range(count)
    ]


def volume(width: int) -> None:
    """Bytes a rank sends against 2 (N - 1) / N x bytes of the gradient."""
    print(f"ring all-reduce of {width} fp32 gradients ({width * FP32} bytes)")
    print(f"{'ranks':>5} {'steps':>5} {'sent by a rank':>14} {'formula':>8}  same as one process")
    for n in (2, 4, 8, 16):
        rng = random.Random(n)
        weights = [float(rng.randint(-2, 2)) for _ in range(width)]
        parts = [samples_of(rng, 3, width) for _ in range(n)]
        ring = Ring(n)
        sums = ring.all_reduce([gradient(weights, part) for part in parts])
        whole = gradient(weights, [one for part in parts for one in part])
        same = all(one == whole for one in sums)
        formula = 2 * (n - 1) / n * width * FP32
        print(f"{n:>5} {2 * (n - 1):>5} {ring.sent[0]:>14} {formula:>8.0f}  {same}")


def accumulation(width: int, n: int, micro: int) -> None:
    """The same samples in several micro-batches, exchanged each time or once at the end."""
    rng = random.Random(1)
    weights = [float(rng.randint(-2, 2)) for _ in range(width)]
    parts = [[samples_of(rng, 2, width) for _ in range(micro)] for _ in range(n)]
    every, once = Ring(n), Ring(n)
    added = [[0.0] * width for _ in range(n)]
    for step in range(micro):
        sums = every.all_reduce([gradient(weights, parts[r][step]) for r in range(n)])
        added = [
            [a + b for a, b in zip(x, y, strict=True)] for x, y in zip(added, sums, strict=True)
        ]
    local = [gradient(weights, [s for batch in part for s in batch]) for part in parts]
    last = once.all_reduce(local)
    print(f"\n{micro} micro-batches on {n} ranks, bytes sent by a rank")
    print(f"exchange after each: {every.sent[0]}   no_sync, then once: {once.sent[0]}")
    print(f"same gradient: {added == last}")


def unequal() -> None:
    """Averaging the ranks' means is not the mean when ranks hold different numbers of tokens."""
    losses = [[2.0] * 100, [6.0] * 300]
    means = [sum(x) / len(x) for x in losses]
    right = sum(map(sum, losses)) / sum(map(len, losses))
    print("\ntwo ranks, 100 tokens of loss 2 and 300 tokens of loss 6")
    print(f"mean of means (what an averaging all-reduce gives): {sum(means) / 2}")
    print(f"mean over all tokens: {right}")


if __name__ == "__main__":
    volume(width=240)
    accumulation(width=240, n=4, micro=8)
    unequal()
