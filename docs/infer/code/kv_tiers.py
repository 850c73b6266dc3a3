"""Load a cached prefix from a slower tier, or compute it again: which is faster.

Run:  python docs/infer/code/kv_tiers.py [--capacity]

Arithmetic only. Computing takes the products and causal attention at half of the dense BF16 peak
of H100; loading takes bytes over the bandwidth that one GPU gets from a tier. Change TIERS.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

RATE = 0.5 * 989.4e12  # FLOP/s that prefill attains on one GPU (assumed)
TIERS = {"host": 50e9, "RDMA pool": 45e9, "NVMe": 3.5e9, "100 Gb/s": 1.5e9}  # bytes/s per GPU
PLACES = {"one GPU, 40 GB": 40e9, "host, 1 TB": 1e12, "NVMe, 15 TB": 15e12}


@dataclass(frozen=True)
class Model:
    """What prefill computes and what a token leaves behind, on so many GPUs."""

    name: str
    gpus: int
    together: int  # prefixes that the GPUs compute side by side
    parts: int  # GPUs over which the cache of one prefix is split; the others hold copies
    active: float  # parameters that a token uses
    layers: int
    width: int  # heads x (key + value) / 2
    token: int  # bytes of cache, all layers, BF16

    def compute(self, tokens: int) -> float:
        flop = 2 * self.active * tokens + 2 * self.layers * self.width * tokens**2
        return self.together * flop / (RATE * self.gpus)

    def share(self, tokens: int) -> float:
        """Return the bytes of one prefix that a GPU loads."""
        return self.token * tokens / self.parts

    # --8<-- [start:even]
    def even(self, tokens: int) -> float:
        """Return the bandwidth per GPU from which loading is faster than computing."""
        return self.share(tokens) / self.compute(tokens)

    # --8<-- [end:even]


MODELS = (
    Model("Llama 3.1 8B", 1, 1, 1, 8.03e9, 32, 4096, 131072),
    Model("Llama 3.1 70B", 8, 1, 8, 70.55e9, 80, 8192, 327680),
    Model("Llama 3.1 405B", 16, 1, 16, 405.9e9, 126, 16384, 516096),
    Model("DeepSeek-V3 DP", 16, 16, 1, 37e9, 61, 20480, 70272),
    Model("DeepSeek-V3 TP", 16, 1, 1, 37e9, 61, 20480, 70272),
)


def times() -> None:
    print("seconds for a prefix; GB/s per GPU from which loading wins")
    print(f"{'':16s} GPUs  tokens  compute  {'  '.join(f'{name:>9s}' for name in TIERS)}  even at")
    for model in MODELS:
        for tokens in (4096, 32768, 131072):
            loads = "  ".join(f"{model.share(tokens) / r:9.3f}" for r in TIERS.values())
            name = model.name if tokens == 4096 else ""
            end = f"{loads} {model.even(tokens) / 1e9:8.2f}"
            print(f"{name:16s} {model.gpus:4d} {tokens:7d} {model.compute(tokens):8.2f}  {end}")


def capacity() -> None:
    print(f"million tokens   {'  '.join(f'{name:>14s}' for name in PLACES)}")
    for model in MODELS[:4]:
        cells = "  ".join(f"{size / model.token / 1e6:14.2f}" for size in PLACES.values())
        print(f"{model.name.removesuffix(' DP'):16s} {cells}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--capacity", action="store_true")
    if parser.parse_args().capacity:
        capacity()
    else:
        times()


if __name__ == "__main__":
    main()
