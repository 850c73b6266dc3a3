"""What training takes on a GPU, part by part, from a model's shape. Standard library only.

Run:  python docs/train/code/memory_budget.py [--questions]

GB are 10^9 bytes, GiB 2^30. States by ZeRO (arXiv 1910.02054) and the byte counts that
Megatron-LM documents; activations by Korthikanti et al. (arXiv 2205.05198), attention fused.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass


# --8<-- [start:main]
@dataclass(frozen=True)
class Recipe:
    """Bytes a parameter: weights, gradients, optimiser state (fp32 master and moments)."""

    weights: float
    gradients: float
    optimizer: float

    @property
    def total(self) -> float:
        return self.weights + self.gradients + self.optimizer


RECIPES = {
    "inference, BF16": Recipe(2, 0, 0),
    "inference, FP8 or INT8": Recipe(1, 0, 0),
    "inference, 4 bits": Recipe(0.5, 0, 0),
    "training, BF16 gradients": Recipe(2, 2, 12),
    "training, FP32 gradients": Recipe(2, 4, 12),
    "training, FP16, both": Recipe(2, 2, 16),  # its fp32 gradients go with the optimiser
    "training, all FP32": Recipe(4, 4, 8),
    "training, 8-bit moments": Recipe(2, 2, 6),
}


def states(parameters: float, recipe: Recipe, stage: int, ranks: int) -> float:
    """Bytes on one rank: ZeRO stage 1 shards the optimiser, 2 gradients too, 3 weights too."""
    shards = [ranks if stage >= need else 1 for need in (3, 2, 1)]
    each = (recipe.weights, recipe.gradients, recipe.optimizer)
    return parameters * sum(b / n for b, n in zip(each, shards, strict=True))


GPT, RECOMPUTED = 34.0, 2.0  # units of sbh bytes a layer, attention fused


def llama(groups: float, feed: float) -> float:
    """The same for a layer with SwiGLU and RMSNorm, without dropout, each tensor kept once.

    groups: KV heads a query head; feed: feed-forward size over h. Six inputs and outputs of s x h
    (two norms, QKV, feed-forward, Q, attention's output), K and V, and four tensors of SwiGLU.
    """
    return 6 * 2 + 2 * 2 * groups + 4 * 2 * feed


def activations(layers: int, s: int, b: int, h: int, each: float) -> float:
    """Bytes kept for backward; each: units of sbh bytes a layer."""
    return layers * s * b * h * each


def logits(s: int, b: int, vocabulary: int) -> float:
    """Bytes of the fp32 logits that the loss keeps."""
    return 4 * s * b * vocabulary


# --8<-- [end:main]


def size(n: float) -> str:
    """The same bytes in both units."""
    return f"{n / 1e9:8.2f} GB = {n / 2**30:8.2f} GiB"


def table() -> None:
    """A billion parameters under each recipe, and two models."""
    print("1 B parameters            B/param            weights and states")
    for name, recipe in RECIPES.items():
        print(f"{name:25s} {recipe.total:7.1f}  {size(1e9 * recipe.total)}")
    for name, n, layers, h, vocabulary, layer in [
        ("Llama 2 7B", 6.74e9, 32, 4096, 32000, llama(1, 11008 / 4096)),
        ("Llama 3.1 70B", 70.55e9, 80, 8192, 128256, llama(8 / 64, 28672 / 8192)),
    ]:
        print(f"\n{name}, sequence 4096, micro-batch 1")
        recipe = RECIPES["training, FP32 gradients"]
        print(f"  states, 18 bytes        {size(states(n, recipe, 0, 1))}")
        for ranks in (8, 64):
            for stage in (1, 3):
                each = size(states(n, recipe, stage, ranks))
                print(f"  ZeRO-{stage} over {ranks:2d} GPUs     {each}")
        for units in (layer, GPT, RECOMPUTED):
            kept = size(activations(layers, 4096, 1, h, units))
            print(f"  activations, {units:4.1f} sbh   {kept}")
        print(f"  fp32 logits             {size(logits(4096, 1, vocabulary))}")


def questions() -> None:
    """The answers of the note."""
    mixed, wide = RECIPES["training, BF16 gradients"], RECIPES["training, FP32 gradients"]
    weights = [13e9 * RECIPES[name].total for name in list(RECIPES)[:3]]
    print("Q1 13 B weights:", ", ".join(f"{n / 1e9:g} GB = {n / 2**30:.2f} GiB" for n in weights))
    one = states(7e9, mixed, 0, 1)
    ranks = next(n for n in range(1, 999) if states(7e9, mixed, 3, n) <= 60e9)
    each = states(7e9, mixed, 3, ranks)
    print(f"Q2 7 B x 16 = {one / 1e9:g} GB; ZeRO-3 over {ranks}: {each / 1e9:g} GB each")
    for d in (1, 8, 64):
        print(f"Q3 d = {d:2d}: {6 + 12 / d:7.4f} B/param, 70 B on one rank "
              f"{states(70e9, wide, 1, d) / 1e9:7.1f} GB")  # fmt: skip
    both = logits(2048, 8, 50304)
    print(f"Q4 logits of 8 x 2048 tokens: fp32 {both / 1e9:.2f} GB, 16-bit {both / 2e9:.2f} GB")
    more = 80 * 2**30 - 80e9
    print(f"Q5 80 GiB = {80 * 2**30 / 1e9:.1f} GB, 80 GB = {80e9 / 2**30:.1f} GiB; the difference "
          f"holds {more / 16e9:.2f} B parameters at 16 bytes")  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", action="store_true", help="print the answers instead")
    questions() if parser.parse_args().questions else table()
