"""Context parallelism in one process: three ways compared with plain attention, work and bytes.

Run:  python docs/train/code/ring_attention.py

NumPy only. Ranks are list entries; nothing is sent, the bytes are counted from shapes.
"""

from __future__ import annotations

import numpy as np

HIDDEN, KV, LAYERS, KV_HEADS = 8192, 1024, 80, 8  # Llama 3.1 70B; KV is the width of K
LAYER_BYTES = 40.5  # activations kept by a layer, in units of s x h
PEAK, EFFICIENCY = 989.4e12, 0.5  # H100 dense bf16; the share that attention reaches is assumed
NVLINK, PORT = 450e9, 50e9  # bytes/s, one direction


def contiguous(tokens: int, ranks: int) -> list[np.ndarray]:
    return np.split(np.arange(tokens), ranks)


# --8<-- [start:zigzag]
def zigzag(tokens: int, ranks: int) -> list[np.ndarray]:
    """Rank i holds pieces i and 2c-1-i of 2c: one cheap, one dear."""
    pieces = np.split(np.arange(tokens), 2 * ranks)
    return [np.concatenate([pieces[i], pieces[-1 - i]]) for i in range(ranks)]


# --8<-- [end:zigzag]


def pairs(queries: np.ndarray, keys: np.ndarray) -> int:
    """Pairs that a causal mask leaves."""
    return int((queries[:, None] >= keys[None, :]).sum())


def rounds(places: list[np.ndarray]) -> np.ndarray:
    """Pairs of each rank in each round of the ring."""
    c = len(places)
    return np.array([[pairs(places[i], places[(i - r) % c]) for r in range(c)] for i in range(c)])


def scores(q: np.ndarray, k: np.ndarray, at: np.ndarray, of: np.ndarray) -> np.ndarray:
    """Masked scores, heads first."""
    s = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(q.shape[-1])
    return np.where(at[:, None] >= of[None, :], s, -np.inf)


def attention(q, k, v, at, of) -> np.ndarray:
    s = scores(q, k, at, of)
    p = np.exp(s - s.max(-1, keepdims=True))
    return np.einsum("hqk,khd->qhd", p / p.sum(-1, keepdims=True), v)


# --8<-- [start:ring]
def ring(q, k, v, places) -> np.ndarray:
    """Each rank sees one block of K and V a round and keeps maximum, sum and output."""
    out, c = np.empty_like(q), len(places)
    for rank, at in enumerate(places):
        top = np.full((q.shape[1], len(at), 1), -np.inf)
        total, value = np.zeros_like(top), np.zeros((q.shape[1], len(at), q.shape[2]))
        for step in range(c):
            of = places[(rank - step) % c]
            s = scores(q[at], k[of], at, of)
            new = np.maximum(top, s.max(-1, keepdims=True))
            p, old = np.exp(s - new), np.exp(top - new)
            total = total * old + p.sum(-1, keepdims=True)
            value = value * old + np.einsum("hqk,khd->hqd", p, v[of])
            top = new
        out[at] = (value / total).transpose(1, 0, 2)
    return out


# --8<-- [end:ring]


def gathered(q, k, v, places) -> np.ndarray:
    """All of K and V first, then the rank's own queries."""
    out, every = np.empty_like(q), np.arange(len(q))
    for at in places:
        out[at] = attention(q[at], k, v, at, every)
    return out


def ulysses(q, k, v, ranks: int) -> np.ndarray:
    """Every rank has the whole sequence of a share of the heads."""
    every = np.arange(len(q))
    parts = [np.split(x, ranks, axis=1) for x in (q, k, v)]
    return np.concatenate(
        [attention(*qkv, every, every) for qkv in zip(*parts, strict=True)], axis=1
    )


def ring_bytes(tokens: int, ranks: int, tp: int, kv: int = KV) -> float:
    """K and V sent by a GPU, a layer, forward; the all-gather sends the same."""
    return (ranks - 1) / ranks * 2 * 2 * tokens * kv / tp


def ulysses_bytes(tokens: int, ranks: int, tp: int, hidden: int = HIDDEN, kv: int = KV) -> float:
    """Q, K, V to the heads and the output back, forward."""
    return (ranks - 1) / ranks * 2 * tokens / ranks * (2 * hidden + 2 * kv) / tp


def hidden_from(bandwidth: float, kv: int = KV) -> float:
    """Tokens per rank from which a round computes as long as it sends."""
    return 2 * kv / HIDDEN * PEAK * EFFICIENCY / bandwidth


def main() -> None:
    random = np.random.default_rng(1)
    q, k, v = random.standard_normal((3, 64, 8, 16))
    every = np.arange(64)
    plain = attention(q, k, v, every, every)
    for name, got in (("ring, zigzag", ring(q, k, v, zigzag(64, 4))),
                      ("all-gather, zigzag", gathered(q, k, v, zigzag(64, 4))),
                      ("Ulysses", ulysses(q, k, v, 4))):  # fmt: skip
        print(f"{name:19s} differs from plain attention by less than 1e-12: "
              f"{bool(np.abs(got - plain).max() < 1e-12)}")  # fmt: skip

    print("causal work, most loaded rank over mean; ring time over ideal")
    for c in (2, 4, 8, 16):
        for name, places in (("contiguous", contiguous(1024, c)), ("zigzag", zigzag(1024, c))):
            work = rounds(places)
            print(f"  c={c:2d} {name:10s} {work.sum(1).max() / work.sum(1).mean():5.2f} "
                  f"{work.max(0).sum() / work.sum(1).mean():5.2f}")  # fmt: skip

    tokens, tp = 131072, 8
    print("70B, 131072 tokens, TP 8: per GPU, bytes sent a layer, forward / forward and backward")
    for c in (2, 4, 8, 16):
        r, u = ring_bytes(tokens, c, tp) / 1e6, ulysses_bytes(tokens, c, tp) / 1e6
        kept = LAYER_BYTES * tokens * HIDDEN * LAYERS / (tp * c) / 1e9
        print(f"  c={c:2d}  ring or all-gather {r:5.1f} / {3 * r:5.1f} MB   "
              f"Ulysses {u:6.1f} / {2 * u:6.1f} MB   activations {kept:5.1f} GB")  # fmt: skip

    print("tokens per rank from which a ring's round hides its transfer")
    for name, bandwidth in (("NVLink 450 GB/s", NVLINK), ("port 50 GB/s", PORT)):
        print(f"  {name:15s}  GQA 8: {hidden_from(bandwidth):6.0f}   "
              f"MHA: {hidden_from(bandwidth, HIDDEN):6.0f}")  # fmt: skip


if __name__ == "__main__":
    main()
