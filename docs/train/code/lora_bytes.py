"""What fine-tuning keeps in memory: all weights, LoRA, QLoRA; NF4 by hand. Standard library only.

Run:  python docs/train/code/lora_bytes.py [--demo]

GB are 10^9 bytes, of one GPU without sharding. Trained weights: BF16 weight, BF16 gradient, FP32
copy and two FP32 moments, 16 bytes. Frozen ones: 2 bytes, or NF4 with double quantisation.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from dataclasses import dataclass
from statistics import NormalDist, fmean

from memory_budget import activations, llama


# --8<-- [start:count]
@dataclass(frozen=True)
class Shape:
    """A Llama: what a layer's seven matrices and the two tables of the vocabulary need."""

    name: str
    layers: int
    hidden: int
    kv: int  # width of K and of V
    feed: int
    vocabulary: int = 128256

    @property
    def matrices(self) -> dict[str, tuple[int, int]]:
        h, kv, f = self.hidden, self.kv, self.feed
        return {"q": (h, h), "k": (h, kv), "v": (h, kv), "o": (h, h),
                "gate": (h, f), "up": (h, f), "down": (f, h)}  # fmt: skip

    @property
    def linear(self) -> int:
        return self.layers * sum(a * b for a, b in self.matrices.values())

    @property
    def tables(self) -> int:
        return 2 * self.vocabulary * self.hidden

    def adapters(self, rank: int, targets: str = "q k v o gate up down") -> int:
        """Parameters of A and B beside each target: rank times input plus output."""
        return self.layers * sum(rank * sum(self.matrices[name]) for name in targets.split())


def bits(block: int = 64, second: int | None = 256) -> float:
    """Bits a weight in NF4: four, and the scales, which double quantisation stores in eight."""
    return 4 + (32 / block if second is None else 8 / block + 32 / (block * second))


def held(shape: Shape, way: str, rank: int = 16) -> dict[str, float]:
    """Bytes at rest, by part."""
    if way == "full":
        everything = shape.linear + shape.tables
        return {"frozen": 0, "weights": 2 * everything, "gradients": 2 * everything,
                "optimizer": 12 * everything}  # fmt: skip
    each = 2 if way == "lora" else bits() / 8
    added = shape.adapters(rank)
    return {"frozen": shape.linear * each + 2 * shape.tables, "weights": 2 * added,
            "gradients": 2 * added, "optimizer": 12 * added}  # fmt: skip


# --8<-- [end:count]


# --8<-- [start:nf4]
def levels(offset: float = 0.9677083) -> list[float]:
    """The 16 levels of NF4: quantiles of a normal distribution, eight above zero, seven below."""
    quantile = NormalDist().inv_cdf
    above = [quantile(offset + (0.5 - offset) * i / 8) for i in range(8)]
    below = [-quantile(offset + (0.5 - offset) * i / 7) for i in range(7)]
    return sorted(x / above[0] for x in (*below, 0.0, *above))


LEVELS = levels()


def rounded(values: list[float], table: list[float]) -> list[float]:
    """Each block of 64 scaled to its largest magnitude, and each value to the nearest level."""
    out = []
    for i in range(0, len(values), 64):
        block = values[i : i + 64]
        scale = max(map(abs, block))
        out += [scale * min(table, key=lambda t, x=x / scale: abs(t - x)) for x in block]
    return out


# --8<-- [end:nf4]

MODELS = [
    Shape("Llama 3.1 8B", 32, 4096, 1024, 14336),
    Shape("Llama 3.1 70B", 80, 8192, 1024, 28672),
]


def table() -> None:
    """Parts of each way, and what activations add."""
    print("at rest, GB            frozen  weights gradients optimizer     sum   trained")
    for shape in MODELS:
        for way, rank in (("full", 0), ("lora", 16), ("lora", 256), ("qlora", 16)):
            parts = held(shape, way, rank)
            trained = shape.adapters(rank) if rank else shape.linear + shape.tables
            print(f"{shape.name[10:]:3s} {way + (f' r={rank}' if rank else ''):16s}"
                  + "".join(f"{v / 1e9:10.2f}" for v in parts.values())
                  + f"{sum(parts.values()) / 1e9:8.2f} {trained / 1e6:8.1f} M")  # fmt: skip
    for shape in MODELS:
        each = llama(shape.kv / shape.hidden, shape.feed / shape.hidden)
        kept, inputs = (activations(shape.layers, 4096, 1, shape.hidden, x) for x in (each, 2))
        print(f"activations of 4096 tokens, {shape.name[10:]}: {kept / 1e9:.1f} GB, "
              f"{inputs / 1e9:.2f} with whole layers recomputed")  # fmt: skip
    print(f"NF4: {bits(second=None):.3f} bits a weight, {bits():.3f} with double quantisation")


def demo() -> None:
    """Rounding error of normal numbers in NF4 and in even steps; how often each level is used."""
    draw = random.Random(7)
    values = [draw.gauss(0, 1) for _ in range(64 * 400)]
    even = [i / 7 for i in range(-7, 8)]
    for name, grid in (("NF4", LEVELS), ("15 even steps", even)):
        wrong = fmean((a - b) ** 2 for a, b in zip(values, rounded(values, grid), strict=True))
        print(f"{name:14s} mean square error {wrong:.4f} of a variance of 1")
    print("levels: " + " ".join(f"{x:.3f}" for x in LEVELS))
    counts: Counter[float] = Counter()
    for i in range(0, len(values), 64):
        block = values[i : i + 64]
        scale = max(map(abs, block))
        counts.update(round(x / scale, 6) for x in rounded(block, LEVELS))
    shares = (100 * counts[round(x, 6)] / len(values) for x in LEVELS)
    print("used, %: " + " ".join(f"{x:.1f}" for x in shares))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--demo", action="store_true", help="NF4 against even steps")
    demo() if parser.parse_args().demo else table()
