"""Chips that a model needs, and how fast they can decode it, by capacity and bandwidth alone.

Prints one row per machine: how often it reads its own fast memory whole in a second, how many
chips hold the weights, the two bounds of the rate of one sequence, and the batch at which
arithmetic takes as long as reading. Capacities and bandwidths are what the makers publish;
the note names each source. No latency, no network: every rate is an upper bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

PARAMETERS = 70.55e9  # Llama 3.1 70B
KV = 2 * 80 * 8 * 128 * 2  # bytes per token: K and V, layers, KV heads, width, 16 bits
LAYERS = 80


@dataclass(frozen=True)
class Memory:
    """The fast memory of one chip: bytes, bytes a second, and dense 16-bit FLOP/s if published."""

    name: str
    capacity: float
    bandwidth: float
    flops: float | None


MACHINES = [
    Memory("H100 SXM, HBM3", 85.02e9, 3.352e12, 989.4e12),
    Memory("SambaNova SN40L, HBM", 64e9, 1.6e12, 638e12),
    Memory("Graphcore Mk2 IPU", 1472 * 624 * 1024, 47.5e12, 250e12),
    Memory("Groq TSP, first", 220 * 2**20, 80e12, 188e12),
    Memory("Cerebras WSE-3", 44e9, 21e15, None),
    Memory("UPMEM, one DPU", 64 * 2**20, 2 * 350e6, None),  # 2 bytes a cycle, computed
]


# --8<-- [start:bounds]
def chips(memory: Memory, bits: int, kv_tokens: int = 0) -> int:
    """Return how many chips hold the weights and the keys and values of that many tokens."""
    return math.ceil((PARAMETERS * bits / 8 + kv_tokens * KV) / memory.capacity)


def in_turn(memory: Memory, bits: int) -> float:
    """Return tokens a second if layers lie on different chips: only one reads at a time."""
    return memory.bandwidth / (PARAMETERS * bits / 8)


def together(memory: Memory, bits: int, count: int) -> float:
    """Return tokens a second if every matrix lies on all chips: all read at the same time."""
    return count * in_turn(memory, bits)


def batch(memory: Memory, bits: int) -> float | None:
    """Return the sequences from which arithmetic, 2 FLOP per weight, outlasts the reading."""
    return memory.flops and memory.flops / memory.bandwidth * bits / 8 / 2


# --8<-- [end:bounds]


def per_layer(rate: float) -> float:
    """Return the microseconds that a layer takes at that many tokens a second."""
    return 1e6 / rate / LAYERS


def main() -> None:
    print("Llama 3.1 70B, one sequence; tokens a second are upper bounds")
    print(f"{'':21} reads itself       16 bits: chips  in turn   together    batch   8 bits")
    for one in MACHINES:
        count = chips(one, 16)
        enough = batch(one, 16)
        print(
            f"{one.name:21} {one.bandwidth / one.capacity:9,.0f} /s {count:15}"
            f" {in_turn(one, 16):11,.0f} {together(one, 16, count):10,.0f}"
            f" {'' if enough is None else f'{enough:.1f}':>8} {chips(one, 8):8}"
        )
    print("chips with the keys and values of 32 sequences of 8,192 tokens besides:")
    print("  " + ", ".join(f"{one.name} {chips(one, 16, 32 * 8192)}" for one in MACHINES[2:5]))
    print("microseconds for each of 80 layers:")
    for name, rate in [
        ("two H100, bound", together(MACHINES[0], 16, 2)),
        ("four WSE-3 in turn, bound", in_turn(MACHINES[4], 16)),
        ("Cerebras' claim of August 2024", 450),
    ]:
        print(f"  {name:31} {rate:9,.0f} tokens/s {per_layer(rate):8.2f}")


if __name__ == "__main__":
    main()
