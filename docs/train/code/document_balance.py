"""Causal work per rank when a sequence is packed from documents that do not see each other.

Run:  python docs/train/code/document_balance.py

Plain order and zigzag over the whole pack, and zigzag of each document by itself. NumPy only;
lengths are drawn from an exponential, in multiples of 16 so that each document splits.
"""

from __future__ import annotations

import numpy as np
from ring_attention import contiguous, zigzag

TOKENS, RANKS, PACKS = 131072, 8, 200


def lengths(random: np.random.Generator, mean: float) -> np.ndarray:
    """Documents that fill a pack; the last is cut."""
    found: list[int] = []
    left = TOKENS
    while left:
        found.append(min(left, 16 * (1 + int(random.exponential(mean) // 16))))
        left -= found[-1]
    return np.array(found)


def work(places: list[np.ndarray], sizes: np.ndarray) -> np.ndarray:
    """Pairs per rank: a token sees its document from the start up to itself."""
    start = np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.array([(at - start[at] + 1).sum() for at in places])


def each(sizes: np.ndarray, ranks: int) -> list[np.ndarray]:
    """Places of the ranks where every document is cut in zigzag."""
    starts = np.cumsum(sizes) - sizes
    cut = [[s + p for p in zigzag(n, ranks)] for s, n in zip(starts, sizes, strict=True)]
    return [np.concatenate([places[rank] for places in cut]) for rank in range(ranks)]


def most(places: list[np.ndarray], sizes: np.ndarray) -> float:
    pairs = work(places, sizes)
    return float(pairs.max() / pairs.mean())


def main() -> None:
    random = np.random.default_rng(3)
    whole = {"plain order": contiguous(TOKENS, RANKS), "zigzag": zigzag(TOKENS, RANKS)}
    print(f"{TOKENS} tokens on {RANKS} ranks, most loaded over mean, {PACKS} packs")
    print("mean length   plain order         zigzag   each in zigzag   (median, 95th percentile)")
    for mean in (1_000, 10_000, 50_000):
        packs = [lengths(random, mean) for _ in range(PACKS)]
        found = [[most(places, sizes) for sizes in packs] for places in whole.values()]
        found.append([most(each(sizes, RANKS), sizes) for sizes in packs])
        cells = [np.percentile(one, (50, 95)) for one in found]
        print(f"{mean:11d}" + "".join(f"{a:10.2f} {b:5.2f}" for a, b in cells))


if __name__ == "__main__":
    main()
