"""Bytes of a key-value cache and the least time to read it. Pure arithmetic."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cache:
    """What one layer keeps for each token.

    MHA, GQA, MQA: a key and a value of `width` for each of `kv_heads`. MLA: one latent vector of
    `latent` and one shared rotary key of `rotary`, whatever the number of heads.
    """

    name: str
    layers: int
    heads: int
    kv_heads: int
    width: int = 128
    latent: int = 0
    rotary: int = 0

    @property
    def values_per_token(self) -> int:
        """Numbers a token adds to one layer."""
        return self.latent + self.rotary if self.latent else 2 * self.kv_heads * self.width

    def bytes_per_token(self, bytes_each: int = 2) -> int:
        """Bytes a token adds to all layers."""
        return self.layers * self.values_per_token * bytes_each


SHAPES = [
    Cache("mha", 32, 32, 32),
    Cache("gqa8", 32, 32, 8),
    Cache("mqa", 32, 32, 1),
    Cache("gqa8_80", 80, 64, 8),
    Cache("mla", 61, 128, 0, latent=512, rotary=64),
]
"""Layers, heads and widths as in Llama 2 7B, Llama 3 8B, the same with one head, Llama 3 70B and
DeepSeek-V3."""


# --8<-- [start:pages]
def pages_for(tokens: int, page: int) -> int:
    """Pages that hold `tokens`: the last one may be part empty."""
    return -(-tokens // page)


# --8<-- [end:pages]


def decode_flop(cache: Cache, batch: int, length: int) -> float:
    """FLOP of one decode step's attention in one layer: q k^T and weights times v."""
    if cache.latent:
        return 2.0 * batch * cache.heads * length * (2 * cache.latent + cache.rotary)
    return 4.0 * batch * cache.heads * length * cache.width


def decode_bytes(cache: Cache, batch: int, length: int, bytes_each: int = 2) -> float:
    """Bytes that one decode step must read of one layer's cache."""
    return float(batch * length * cache.values_per_token * bytes_each)
