"""Tensor parallelism in plain Python: split, compare with the unsplit layer, count the bytes.

Run:  python docs/train/code/tensor_split.py [--cost | --questions]

A feed-forward block and an attention layer are split over `t` simulated ranks. The ring all-reduce
is played chunk by chunk, so that the bytes are counted, not assumed. Values count 2 bytes (bf16),
though Python computes them in double precision.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Matrix = list[list[float]]
VALUE = 2  # bytes of a bf16 value


# --8<-- [start:ring]
@dataclass
class Ring:
    """Ranks in a ring. Counts calls, and the bytes that each rank sends."""

    ranks: int
    calls: int = 0
    sent: int = 0

    def _go_round(self, parts: list[list[list[float]]], start: int, is_sum: bool) -> None:
        """n - 1 steps; in each, every rank passes one chunk on, to be added or to be kept."""
        n = self.ranks
        for step in range(n - 1):
            moved = [(r, (r + start - step) % n) for r in range(n)]
            chunks = [parts[r][c] for r, c in moved]
            for (r, c), chunk in zip(moved, chunks, strict=True):
                mine = parts[(r + 1) % n][c]
                total = [a + b for a, b in zip(mine, chunk, strict=True)] if is_sum else chunk
                parts[(r + 1) % n][c] = total
            self.sent += VALUE * len(chunks[0])

    def all_reduce(self, held: Sequence[Matrix]) -> Matrix:
        """Sum of what the ranks hold: reduce-scatter once round the ring, all-gather once more."""
        n, width = self.ranks, len(held[0][0])
        flat = [[v for row in matrix for v in row] for matrix in held]
        size = len(flat[0]) // n
        assert size * n == len(flat[0]), "the chunks of this small ring are of one size"
        parts = [[f[c * size : (c + 1) * size] for c in range(n)] for f in flat]
        self._go_round(parts, 0, is_sum=True)
        self._go_round(parts, 1, is_sum=False)
        self.calls += 1
        assert all(p == parts[0] for p in parts), "all ranks end with the same sum"
        total = [v for chunk in parts[0] for v in chunk]
        return [total[k : k + width] for k in range(0, len(total), width)]


# --8<-- [end:ring]


def mul(x: Matrix, w: Matrix) -> Matrix:
    """The matrix product."""
    turned = list(zip(*w, strict=True))
    return [[sum(a * b for a, b in zip(row, c, strict=True)) for c in turned] for row in x]


def turn(x: Matrix) -> Matrix:
    """The transpose."""
    return [list(c) for c in zip(*x, strict=True)]


def add(parts: Sequence[Matrix]) -> Matrix:
    """The sum of matrices, entry by entry."""
    return [[sum(v) for v in zip(*rows, strict=True)] for rows in zip(*parts, strict=True)]


def each(f: Callable[[float], float], x: Matrix) -> Matrix:
    """`f` of every entry."""
    return [[f(v) for v in row] for row in x]


def times(x: Matrix, y: Matrix) -> Matrix:
    """The product, entry by entry."""
    return [[a * b for a, b in zip(r, s, strict=True)] for r, s in zip(x, y, strict=True)]


def gelu(v: float) -> float:
    """GELU, exactly."""
    return 0.5 * v * (1 + math.erf(v / math.sqrt(2)))


def slope(v: float) -> float:
    """Derivative of GELU."""
    return gelu(v) / v + v * math.exp(-v * v / 2) / math.sqrt(2 * math.pi) if v else 0.5


def columns(w: Matrix, rank: int, n: int) -> Matrix:
    """The columns of rank `rank` of `n`."""
    k = len(w[0]) // n
    return [row[rank * k : (rank + 1) * k] for row in w]


def rows(w: Matrix, rank: int, n: int) -> Matrix:
    """The rows of rank `rank` of `n`."""
    k = len(w) // n
    return w[rank * k : (rank + 1) * k]


def off(x: Matrix, y: Matrix) -> float:
    """The largest difference of two matrices."""
    pairs = (zip(r, s, strict=True) for r, s in zip(x, y, strict=True))
    return max(abs(a - b) for pair in pairs for a, b in pair)


def near(x: Matrix, y: Matrix) -> str:
    """Say that two matrices agree but for rounding, which differs between versions of Python."""
    return "< 1e-12" if off(x, y) < 1e-12 else f"{off(x, y):7.1e}"


@dataclass
class Block:
    """What a pass through a feed-forward block leaves: output and three gradients."""

    y: Matrix
    dx: Matrix
    da: Matrix
    db: Matrix


# --8<-- [start:mlp]
def whole(x: Matrix, a: Matrix, b: Matrix, dy: Matrix) -> Block:
    """y = gelu(x a) b and its gradients, on one rank."""
    u = mul(x, a)
    z = each(gelu, u)
    dz = mul(dy, turn(b))
    du = times(dz, each(slope, u))
    return Block(mul(z, b), mul(du, turn(a)), mul(turn(x), du), mul(turn(z), dy))


def split(x: Matrix, a: Matrix, b: Matrix, dy: Matrix, ring: Ring) -> tuple[Block, list[Block]]:
    """The same on `ring.ranks` ranks: `a` by columns, `b` by rows. Two all-reduces in all."""
    n = ring.ranks
    # Each rank needs its own slices, the whole x and the whole dy; and nobody else's gelu.
    local = [whole(x, columns(a, r, n), rows(b, r, n), dy) for r in range(n)]
    y = ring.all_reduce([one.y for one in local])  # forward: partial sums of y
    dx = ring.all_reduce([one.dx for one in local])  # backward: partial sums of dx
    return Block(y, dx, [], []), local  # weight gradients stay where the weights are


# --8<-- [end:mlp]


def soft(row: Sequence[float]) -> list[float]:
    """Softmax."""
    top = max(row)
    e = [math.exp(v - top) for v in row]
    return [v / sum(e) for v in e]


def attention(x: Matrix, heads: Sequence[tuple[Matrix, Matrix, Matrix, Matrix]]) -> Matrix:
    """Causal attention by some heads (q, k, v by columns, their rows of the output matrix)."""
    parts = []
    for q, k, v, out in heads:
        scores = mul(mul(x, q), turn(mul(x, k)))
        seen = [
            soft([s / math.sqrt(len(q[0])) for s in row[: i + 1]]) for i, row in enumerate(scores)
        ]
        weights = [row + [0.0] * (len(x) - len(row)) for row in seen]
        parts.append(mul(mul(weights, mul(x, v)), out))
    return add(parts)


def compare() -> None:
    """Split a small layer in every way that the note speaks of."""
    random.seed(1)
    s, h = 8, 16

    def some(m: int, n: int) -> Matrix:
        return [[random.gauss(0, 1) for _ in range(n)] for _ in range(m)]

    x, a, b, dy = some(s, h), some(h, 4 * h), some(4 * h, h), some(s, h)
    want = whole(x, a, b, dy)
    print(f"feed-forward block, {s} tokens, h = {h}: columns, then rows")
    print(" t  y - y'   dx - dx'  dA, dB are slices  calls  sent/rank  4(t-1)/t 2sbh")
    for t in (2, 4, 8):
        ring = Ring(t)
        got, local = split(x, a, b, dy, ring)
        same = all(
            off(one.da, columns(want.da, r, t)) < 1e-9 and off(one.db, rows(want.db, r, t)) < 1e-9
            for r, one in enumerate(local)
        )
        model = 4 * (t - 1) / t * VALUE * s * h
        print(
            f"{t:>2}  {near(got.y, want.y)}  {near(got.dx, want.dx)}"
            f"  {'yes' if same else 'NO':>17}  {ring.calls:>5}  {ring.sent:>7} B  {model:11.0f} B"
        )
    print("\nthe other order, first matrix by rows: gelu must wait for the sum")
    partial = [mul(columns(x, r, 2), rows(a, r, 2)) for r in range(2)]
    early = mul(add([each(gelu, u) for u in partial]), b)
    late = mul(each(gelu, add(partial)), b)
    print(
        f"  gelu on partial sums: off by {off(early, want.y):.1f}; after a sum of s x 4h values:"
        f" {near(late, want.y)}"
    )
    heads = [(some(h, 4), some(h, 4), some(h, 4), some(4, h)) for _ in range(4)]
    ring = Ring(2)
    got_y = ring.all_reduce([attention(x, heads[:2]), attention(x, heads[2:])])
    print("\nattention, 4 heads on 2 ranks, output matrix by rows")
    print(f"  difference {near(got_y, attention(x, heads))}, all-reduces forward: {ring.calls}")


# --8<-- [start:cost]
def layer_flops(s: int, b: int, h: int) -> float:
    """Forward and backward of a GPT layer, causal attention counted half: 72 sbh^2 (1 + s/12h)."""
    return 72 * s * b * h * h * (1 + s / (12 * h))


def layer_bytes(s: int, b: int, h: int, t: int) -> float:
    """What a rank sends, one way, for the four all-reduces of a layer."""
    return 4 * 2 * (t - 1) / t * VALUE * s * b * h


def times_of(s: int, b: int, h: int, t: int, rate: float, link: float) -> tuple[float, float]:
    """Seconds of compute and of exposed communication, a layer and micro-batch."""
    return layer_flops(s, b, h) / t / rate, layer_bytes(s, b, h, t) / link


# --8<-- [end:cost]

RATE = 672e12  # bf16, H200, sustained at n = 8192: docs/chip/measured/gemm.json
LINK, NET = 450e9, 50e9  # NVLink 4 and a 400 Gb/s port, one way


def cost() -> None:
    """Compute against communication as t grows."""
    s, b, h = 8192, 1, 8192
    print(
        f"one layer, forward + backward, s = {s}, b = {b}, h = {h}, {RATE / 1e12:.0f} TFLOPS a GPU"
    )
    print(" t  compute ms  sent GB  NVLink ms  share  speed-up  | 400 Gb/s ms  share  speed-up")
    base = times_of(s, b, h, 1, RATE, LINK)[0]
    for t in (1, 2, 4, 8, 16):
        work, fast = times_of(s, b, h, t, RATE, LINK)
        slow = times_of(s, b, h, t, RATE, NET)[1]
        print(
            f"{t:>2}  {work * 1e3:10.2f}  {layer_bytes(s, b, h, t) / 1e9:7.3f}  {fast * 1e3:9.2f}"
            f"  {fast / (work + fast):5.1%}  {base / (work + fast):8.2f}"
            f"  | {slow * 1e3:11.2f}  {slow / (work + slow):5.1%}  {base / (work + slow):8.2f}"
        )


def questions() -> None:
    """The answers of the note's questions."""
    s, b, h = 4096, 1, 8192
    print(
        f"Q1 message 2sbh = {VALUE * s * b * h / 1e6:.1f} MB; a rank sends"
        f" {layer_bytes(s, b, h, 8) / 1e6:.1f} MB a layer,"
        f" {80 * layer_bytes(s, b, h, 8) / 1e9:.2f} GB for 80 layers"
    )
    for link, name in ((LINK, "NVLink"), (NET, "400 Gb/s")):
        ratio = 2 * (8 - 1) * RATE / (9 * h * link)
        print(f"Q2 h = {h}, t = 8, {name}: communication / compute = {ratio:.2f}")
    for t in (4, 8, 16):
        print(
            f"Q3 64 query and 8 KV heads on {t:>2} ranks: {64 // t} query heads, {8 / t:g} KV heads"
        )
    sbh = s * b * h
    plain, sequence = (10 + 24 / 8) * sbh / 1e6, (10 / 8 + 24 / 8) * sbh / 1e6
    print(
        f"Q4 a layer keeps {plain:.0f} MB with t = 8, {sequence:.0f} MB with sequence parallelism"
    )
    v, t = 128256, 8
    print(
        f"Q5 loss: 3 x 4 bytes x sb = {3 * 4 * s * b / 1e3:.0f} kB to reduce, instead of"
        f" {2 * s * b * v / 1e9:.2f} GB of bf16 logits to gather; vocabulary padded to"
        f" {-(-v // (128 * t)) * 128 * t}"
    )


def main() -> None:
    """Read the arguments and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cost", action="store_true", help="compute against communication")
    parser.add_argument("--questions", action="store_true", help="answers of the note's questions")
    given = parser.parse_args()
    (cost if given.cost else questions if given.questions else compare)()


if __name__ == "__main__":
    main()
