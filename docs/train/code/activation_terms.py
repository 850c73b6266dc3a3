"""One transformer layer's activations, tensor by tensor. Standard library only.

Run:  python docs/train/code/activation_terms.py [--questions]

Symbols as in Korthikanti et al. (arXiv 2205.05198): s sequence, b micro-batch, h hidden size,
a heads, t tensor parallel degree. Sizes are in units of s b h bytes, 16-bit elements.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Literal

Place = Literal["replicated", "split", "scores"]


# --8<-- [start:main]
@dataclass(frozen=True)
class Kept:
    """A tensor that the backward pass needs: bytes in units of sbh, or of as^2 b for scores."""

    name: str
    size: float
    place: Place
    dropout: bool = False


LAYER = [
    Kept("LayerNorm 1: its input", 2, "replicated"),
    Kept("Q, K, V projection: its input", 2, "replicated"),
    Kept("Q K^T: Q and K", 4, "split"),
    Kept("softmax: its output", 2, "scores"),
    Kept("dropout of scores: mask", 1, "scores", dropout=True),
    Kept("scores x V: dropped-out scores", 2, "scores", dropout=True),
    Kept("scores x V: V", 2, "split"),
    Kept("output projection: its input", 2, "split"),
    Kept("dropout: mask", 1, "replicated", dropout=True),
    Kept("LayerNorm 2: its input", 2, "replicated"),
    Kept("up projection h -> 4h: its input", 2, "replicated"),
    Kept("GELU: its input", 8, "split"),
    Kept("down projection 4h -> h: its input", 8, "split"),
    Kept("dropout: mask", 1, "replicated", dropout=True),
]


def layer(
    s: int, h: int, a: int, t: int = 1, sp: bool = False, scores: bool = True, dropout: bool = True
) -> float:
    """Bytes a rank keeps of one layer, in units of s b h.

    sp: sequence parallelism, which divides the replicated tensors too. scores: False under
    selective recomputation or fused attention, which do not keep them.
    """
    total = 0.0
    for one in LAYER:
        if (one.dropout and not dropout) or (one.place == "scores" and not scores):
            continue
        size = one.size * (a * s / h if one.place == "scores" else 1)
        total += size / (1 if one.place == "replicated" and not sp else t)
    return total


# --8<-- [end:main]


def table() -> None:
    """The tensors of a layer, the sums, and the ways to shrink them."""
    for one in LAYER:
        unit = "as/h" if one.place == "scores" else "    "
        print(f"{one.size:3.0f} {unit}  {one.place:10s}  {one.name}")
    for place in ("replicated", "split", "scores"):
        total = sum(one.size for one in LAYER if one.place == place)
        print(f"sum {place:10s} {total:3.0f}")
    print("\nGPT-3: s 2048, h 12288, a 96, t 8       sbh    of the first")
    first = layer(2048, 12288, 96, 8)
    for name, value in [
        ("tensor parallel", first),
        ("and sequence parallel", layer(2048, 12288, 96, 8, sp=True)),
        ("tensor parallel, selective", layer(2048, 12288, 96, 8, scores=False)),
        ("both, selective or fused attention", layer(2048, 12288, 96, 8, sp=True, scores=False)),
        ("full recomputation", 2.0),
        ("full, input sharded by sequence", 2.0 / 8),
    ]:
        print(f"{name:36s} {value:7.2f}    {value / first:6.1%}")


def extra(h: int, s: int, layers: int, vocabulary: int, *, stops: bool) -> float:
    """FLOP of recomputing whole layers, as a share of forward and backward of the model.

    A token costs a layer 24 h^2 in its matrices and, causal and fused, 2 s h in attention. stops:
    the last product, 4h -> h (8 h^2), is not done again, since backward needs only its input.
    """
    once = 24 * h**2 + 2 * s * h
    again = once - (8 * h**2 if stops else 0)
    return layers * again / (3 * (layers * once + 2 * vocabulary * h))


def questions() -> None:
    """The answers of the note."""
    long = layer(8192, 4096, 32)
    print(f"Q1 s 8192, h 4096, a 32: {long:.0f} sbh, or {layer(8192, 4096, 32, scores=False):.0f}")
    bytes_per_unit = 8192 * 1 * 8192
    for name, sp in (("TP", False), ("TP + SP", True)):
        each = bytes_per_unit * layer(8192, 8192, 64, 8, sp=sp, scores=False) / 1e9
        print(f"Q2 {name:7s}: a layer {each:.3f} GB, 80 layers {80 * each:.1f} GB")
    for name, stops in (("all of it", False), ("stopping early", True)):
        share = extra(2048, 2048, 24, 50304, stops=stops)
        print(f"Q3 recomputing layers, {name}: {share:.1%} of forward + backward")
    for h, a in ((4096, 32), (12288, 96)):
        print(f"Q4 h {h}, a {a}: 5as/h = 34 at s = {34 * h / (5 * a):.1f}")
    formula = 2048 * 4 * 2048 * layer(2048, 2048, 16)
    excess = 2048 * 2048 + 16 * 2048 * 4
    print(f"Q5 {formula / 1e6:.2f} + {excess / 1e6:.2f} = {(formula + excess) / 1e6:.2f} MB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", action="store_true", help="print the answers instead")
    questions() if parser.parse_args().questions else table()
