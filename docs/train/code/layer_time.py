"""Where the time of a transformer layer goes, by class of operator. Standard library only.

Each operator gets its FLOP and the bytes that it reads and writes; its least time is the larger
of FLOP / rate and bytes / bandwidth. Both rates were measured on one H200
(docs/chip/measured): bf16 products sustained, and copies of memory. The layer is that of
docs/train/code/gpt.py: LayerNorm, GELU, 4h, 16 bits, no dropout, every operator a kernel of its
own. FLOP of softmax, LayerNorm and GELU are rough counts (5, 8 and 10 an element).

Usage
    python docs/train/code/layer_time.py              # shares of FLOP and of time
    python docs/train/code/layer_time.py --measured   # against the times that were measured
    python docs/train/code/layer_time.py --width      # how the share falls with the width
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[2]
CLASSES = ("product", "normalisation", "elementwise")


# --8<-- [start:main]
@dataclass(frozen=True)
class Operator:
    """One kernel, or several alike: class, FLOP, bytes read and written."""

    kind: str
    flop: float
    bytes: float

    def seconds(self, rate: float, bandwidth: float) -> float:
        """The least time under both roofs; rate in FLOP/s, bandwidth in B/s."""
        compute = self.flop / rate if self.kind in ("product", "attention") else 0.0
        return max(compute, self.bytes / bandwidth)


@dataclass(frozen=True)
class Layer:
    """Batch b, sequence s, width h, heads a; attention fused or written out."""

    b: int
    s: int
    h: int
    a: int
    fused: bool
    biases: bool = True

    def forward(self) -> Iterator[Operator]:
        """The operators of a forward pass."""
        n, h = self.b * self.s, self.h  # tokens
        for k, m in ((h, 3 * h), (h, h), (h, 4 * h), (4 * h, h)):  # QKV, output, up, down
            yield Operator("product", 2 * n * k * m, 2 * (n * k + k * m + n * m))
        yield from self.core()
        yield Operator("normalisation", 2 * 8 * n * h, 2 * 4 * n * h)  # two LayerNorms, r and w
        yield Operator("elementwise", 10 * 4 * n * h, 16 * n * h)  # GELU
        yield Operator("elementwise", 2 * n * h, 2 * 6 * n * h)  # two residual sums
        yield Operator("elementwise", 0, 4 * n * h)  # heads back to one row

    def core(self) -> Iterator[Operator]:
        """softmax(Q K^T) V; the fused kernel skips the masked half."""
        n, h, scores = self.b * self.s, self.h, self.b * self.a * self.s**2
        if self.fused:
            yield Operator("attention", 2 * self.s * n * h, 8 * n * h)
            return
        for _ in range(2):  # Q and K in, scores out; scores and V in, rows out
            yield Operator("product", 2 * self.s * n * h, 4 * n * h + 2 * scores)
        yield Operator("elementwise", 2 * scores, 2 * 4 * scores)  # scale, mask: each r and w
        yield Operator("normalisation", 5 * scores, 4 * scores)  # softmax

    def backward(self) -> Iterator[Operator]:
        """The operators of a backward pass, fused attention only."""
        n, h = self.b * self.s, self.h
        for one in self.forward():
            if one.kind == "product":
                yield Operator("product", 2 * one.flop, 2 * one.bytes)  # by input and by weight
            elif one.kind == "attention":
                yield Operator("attention", 2.5 * one.flop, 2 * one.bytes)  # 5 products, not 2
        yield Operator("normalisation", 2 * 12 * n * h, 2 * 10 * n * h)
        yield Operator("elementwise", 15 * 4 * n * h, 24 * n * h)  # GELU
        yield Operator("elementwise", 2 * n * h, 12 * n * h)  # sums at the two branches
        if self.biases:
            yield Operator("elementwise", 9 * n * h, 18 * n * h)  # their gradients, four sums
        yield Operator("elementwise", 0, 28 * n * h)  # q, k, v gathered; heads and rows


# --8<-- [end:main]


def points(path: str, result: str) -> list[dict[str, Any]]:
    """Return the points of a measured record under docs/."""
    found = json.loads((DOCS / path).read_text(encoding="utf-8"))
    return {r["id"]: r["points"] for r in found["results"]}[result]  # type: ignore[no-any-return]


def value(path: str, result: str, **labels: object) -> float:
    """Return the value of the one point with these labels."""
    chosen = points(path, result)
    (one,) = (p for p in chosen if all(p[k] == label for k, label in labels.items()))
    return float(one["value"])


def rates() -> tuple[float, float]:
    """Return FLOP/s of products and B/s of copies, as measured on an H200."""
    product = value("chip/measured/gemm.json", "sustained", type="bf16", fill="normal")
    copy = value("chip/measured/hbm_bandwidth.json", "copy", bytes=6 << 30)
    return product * 1e12, copy * 1e9


def shares(operators: list[Operator]) -> tuple[list[float], list[float], float]:
    """Return shares of FLOP and of time by class (attention with products), and seconds."""
    rate, bandwidth = rates()
    kinds = [("product", "attention"), ("normalisation",), ("elementwise",)]
    flop = [sum(o.flop for o in operators if o.kind in k) for k in kinds]
    time = [sum(o.seconds(rate, bandwidth) for o in operators if o.kind in k) for k in kinds]
    return [f / sum(flop) for f in flop], [t / sum(time) for t in time], sum(time)


LAYERS = [
    ("BERT-large's layer, written out", Layer(8, 512, 1024, 16, fused=False)),
    ("the same, fused attention", Layer(8, 512, 1024, 16, fused=True)),
    ("h 2048, s 2048, written out", Layer(4, 2048, 2048, 16, fused=False)),
    ("the same, fused attention", Layer(4, 2048, 2048, 16, fused=True)),
    ("h 8192, s 8192, fused", Layer(1, 8192, 8192, 64, fused=True)),
]


def table() -> list[str]:
    """Return shares of a forward pass by class."""
    lines = [
        f"{'forward, one layer':<31}{'of FLOP, %':>19}{'of least time, %':>19}{'ms':>7}",
        f"{'':<31}" + 2 * f"{'prod.':>7}{'norm.':>6}{'elem.':>6}",
    ]
    for name, layer in LAYERS:
        flop, time, seconds = shares(list(layer.forward()))
        cells = "".join(
            f"{100 * x:>7.1f}{100 * y:>6.1f}{100 * z:>6.1f}" for x, y, z in (flop, time)
        )
        lines.append(f"{name:<31}{cells}{seconds * 1e3:>7.2f}")
    return lines


STEP, HEAD = "train/measured/step_memory.json", "train/measured/recompute_time.json"
SPLIT = "train/measured/tensor_parallel.json"


def measured() -> list[str]:
    """Return modelled against measured times of a layer."""
    lines = [f"{'one layer, ms':<42}{'model':>8}{'measured':>10}{'share':>8}"]

    def add(name: str, operators: list[Operator], found: float) -> None:
        seconds = shares(operators)[2] * 1e3
        lines.append(f"{name:<42}{seconds:>8.2f}{found:>10.2f}{seconds / found:>8.0%}")

    for attention, b in (("flash", 4), ("flash", 8), ("written_out", 4)):
        labels = {"attention": attention, "recompute": "none", "precision": "16", "b": b}
        whole = value(STEP, "pass_time", part="forward", **labels)
        head = value(HEAD, "head", part="forward", b=b)
        layer = Layer(b, 2048, 2048, 16, fused=attention == "flash")
        name = f"forward, h 2048, s 2048, b {b}, {attention.replace('_', ' ')}"
        add(name, list(layer.forward()), (whole - head) / 24)
    for h, s, b in ((2048, 2048, 1), (4096, 2048, 4), (8192, 2048, 1), (8192, 8192, 1)):
        layer = Layer(b, s, h, h // 128, fused=True, biases=False)
        both = [*layer.forward(), *layer.backward()]
        found = value(SPLIT, "layer", h=h, s=s, b=b, way="whole")
        add(f"forward and backward, h {h}, s {s}, b {b}", both, found)
    return lines


def width() -> list[str]:
    """Return the share of time outside products, by width, as measured rates and at twice them."""
    lines = [f"{'forward and backward, s 2048, fused':<38}{'H200':>8}{'rate x 2':>10}"]
    rate, bandwidth = rates()
    for h in (1024, 2048, 4096, 8192, 16384):
        layer = Layer(4, 2048, h, h // 64, fused=True)
        both = [*layer.forward(), *layer.backward()]
        cells = ""
        for factor, room in ((1, 8), (2, 10)):
            time = [o.seconds(factor * rate, bandwidth) for o in both]
            other = [t for o, t in zip(both, time, strict=True) if o.kind in CLASSES[1:]]
            cells += f"{sum(other) / sum(time):>{room}.1%}"
        lines.append(f"h {h:<36}{cells}")
    return lines


def main() -> None:
    """Print the table that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("measured", "width"):
        parser.add_argument(f"--{name}", action="store_true")
    asked = parser.parse_args()
    print("\n".join(measured() if asked.measured else width() if asked.width else table()))


if __name__ == "__main__":
    main()
