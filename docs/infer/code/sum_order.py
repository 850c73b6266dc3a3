"""Why the batch changes a greedy answer: one sum in several orders, then a small model.

    python3 docs/infer/code/sum_order.py

NumPy only, seconds, no GPU. A decode kernel with few sequences cuts each cache into parts so that
all SMs have work (flash-decoding), reads the parts side by side and merges them; with many
sequences it does not. Here the rule is: more parts for a smaller batch. Nothing else depends on
the batch, every order is fixed, and there are no atomics.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Single = NDArray[np.float32]
WIDTH, SYMBOLS, LAYERS, CACHE = 128, 1024, 2, 192
STEPS, PROMPTS = 32, 40
BATCHES = (1, 2, 8, 64)
BINS = (0, 1, 2, 4, 8)  # of the margin, in steps of BF16 at the best logit


def bf16(x: Single) -> Single:
    """Round float32 to BF16 (8 significant bits), ties to even; kept in float32."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


def added(terms: Single, axis: int = -1) -> Single:
    """Sum in float32, one after the other."""
    return np.cumsum(terms, axis, np.float32).take(-1, axis)


def product(x: Single, w: Single) -> Single:
    """Rows times a matrix, accumulated in float32 in order (@ would leave the order to BLAS)."""
    total = np.zeros((len(x), w.shape[1]), np.float32)
    for k in range(len(w)):
        total += x[:, k, None] * w[k]
    return bf16(total)


# --8<-- [start:split]
def parts_for(batch: int) -> int:
    """The kernel's choice: few sequences, more parts, so that all SMs have work."""
    return 8 if batch < 4 else 2 if batch < 32 else 1


def attention(q: Single, keys: Single, values: Single, parts: int) -> Single:
    """One new token per prompt: each part of the cache by itself, then merged in order."""
    scores = added(q[:, None, :] * keys) / np.float32(WIDTH**0.5)
    tops, sums, reads = [], [], []
    for part in np.array_split(np.arange(keys.shape[1]), parts):
        top = scores[:, part].max(1)
        weights = np.exp((scores[:, part] - top[:, None]).astype(np.float64)).astype(np.float32)
        tops.append(top)
        sums.append(added(weights))
        reads.append(added(bf16(weights)[:, :, None] * values[:, part], 1))  # BF16 for the MMA
    best = np.max(tops, 0)
    scales = [np.exp((top - best).astype(np.float64)).astype(np.float32) for top in tops]
    total = added(np.stack([s * z for s, z in zip(scales, sums, strict=True)]), 0)
    read = added(np.stack([s[:, None] * r for s, r in zip(scales, reads, strict=True)]), 0)
    return bf16(read / total[:, None])


# --8<-- [end:split]


def normed(x: Single) -> Single:
    """Each row over its root mean square."""
    return bf16(x / np.sqrt(added(x * x) / np.float32(WIDTH))[:, None])


@dataclass
class Answers:
    """Greedy tokens (prompts x steps), margins in BF16 steps, and the first step's values."""

    tokens: NDArray[np.int64]
    margins: NDArray[np.float64]
    read: Single
    logits: Single


class Model:
    """Attention layers over a cache, a norm, logits; random weights, a random cache per prompt."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)

        def normal(*shape: int) -> Single:
            return bf16(random.standard_normal(shape).astype(np.float32))

        scale = np.float32(2**-3.5)  # 1 / sqrt(WIDTH)
        self.embedding = normal(SYMBOLS, WIDTH)
        self.layers = [[bf16(normal(WIDTH, WIDTH) * scale) for _ in "qkvo"] for _ in range(LAYERS)]
        self.caches = [[normal(PROMPTS, CACHE, WIDTH) for _ in "kv"] for _ in range(LAYERS)]
        self.last = bf16(normal(WIDTH, SYMBOLS) * scale)

    def answers(self, batch: int) -> Answers:
        """All prompts, each computed as one of a batch of this size."""
        token = np.arange(PROMPTS)
        caches = [list(pair) for pair in self.caches]
        tokens, margins, reads, scores = [], [], [], []
        for _ in range(STEPS):
            x = self.embedding[token]
            for (wq, wk, wv, wo), cache in zip(self.layers, caches, strict=True):
                h = normed(x)
                for i, w in enumerate((wk, wv)):
                    cache[i] = np.concatenate([cache[i], product(h, w)[:, None]], 1)
                read = attention(product(h, wq), cache[0], cache[1], parts_for(batch))
                reads.append(read)
                x = bf16(x + np.float32(4) * product(read, wo))
            logits = product(normed(x), self.last)
            scores.append(logits)
            best = np.partition(logits, -2)[:, -2:].astype(np.float64)
            step = 2.0 ** (np.frexp(best[:, 1])[1] - 8)
            token = logits.argmax(1)  # of equal logits the first
            tokens.append(token)
            margins.append((best[:, 1] - best[:, 0]) / step)
        return Answers(np.stack(tokens, 1), np.stack(margins, 1), reads[0], scores[0])


def orders() -> None:
    """The same 4,096 numbers, added in float32 in other orders."""
    terms = np.random.default_rng(3).standard_normal(4096).astype(np.float32)
    exact = float(terms.astype(np.float64).sum())
    print(f"4,096 numbers, sum in float64 {exact:.7f}")
    print("parts   in float32      error")
    for parts in (1, 2, 4, 8, 16, 64):
        total = float(added(added(terms.reshape(parts, -1))))
        print(f"{parts:5d}  {total:11.7f}  {total - exact:9.1e}")


def main() -> None:
    orders()
    model = Model(1)
    made = {batch: model.answers(batch) for batch in BATCHES}
    alone = made[1]
    print(f"\n{PROMPTS} prompts, {STEPS} greedy tokens each, against batch 1; first step's values:")
    print("batch  parts  attention differs  logits differ  answers differ  first at token (median)")
    for batch, one in made.items():
        read = 100 * (one.read != alone.read).mean()
        logits = 100 * (one.logits != alone.logits).mean()
        apart = (one.tokens != alone.tokens).any(1)
        where = (one.tokens != alone.tokens).argmax(1)[apart] + 1
        at = f"{statistics.median(where.tolist()):g}" if apart.any() else "-"
        print(
            f"{batch:5d}  {parts_for(batch):5d}  {read:15.1f} %  {logits:11.1f} %"
            f"  {apart.sum():14d}  {at:>14}"
        )
    again = np.array_equal(model.answers(64).tokens, made[64].tokens)
    print(f"batch 64 once more: {'the same tokens' if again else 'other tokens'}")

    print("\nmargin of the best two logits, in BF16 steps; batch 64 against 1")
    print("up to   tokens   of them another")
    moved = made[64].tokens != alone.tokens
    seen = np.cumsum(moved, 1) - moved == 0  # up to and with the first difference
    low = -1.0
    for high in (*BINS, np.inf):
        inside = seen & (alone.margins > low) & (alone.margins <= high)
        name = "more" if high == np.inf else f"{high}"
        print(f"{name:>5}  {inside.sum():7d}  {(inside & moved).sum():16d}")
        low = high


if __name__ == "__main__":
    main()
