"""What an all-reduce over several nodes can report, and what a measured bus bandwidth means.

    python docs/ccl/nccl/code/expected.py NODES GPUS NICS GBITS [BUSBW]

GPUS and NICS of a node, Gb/s of a NIC, bus bandwidth in GB/s of large messages. A ring sends
2(n-1)/n of the buffer over the NICs of a node, a tree at most twice the buffer (once on two nodes);
an all-to-all sends to each rank of the other nodes its part, by the GPU's own NIC. The share that
is normal is 46 to 48 of 50 GB/s, as NVIDIA says of 400 Gb/s NICs.
"""

from __future__ import annotations

import sys

NORMAL = (0.92, 0.96)


def ceilings(nodes: int, gpus: int, nics: int, rate: float) -> dict[str, float]:
    """Return the bus bandwidth at which the NICs are full; the inside of a node may be slower."""
    ranks, node = nodes * gpus, nics * rate
    factor = 2 * (ranks - 1) / ranks
    return {
        "all-reduce, ring": node,
        "all-reduce, tree": node * (factor if nodes == 2 else factor / 2),
        "all-to-all": node / gpus * (ranks - 1) / (ranks - gpus),
    }


def main() -> None:
    """Print the ceilings, and what a result means."""
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    nodes, gpus, nics = (int(word) for word in sys.argv[1:4])
    rate = float(sys.argv[4]) / 8
    top = ceilings(nodes, gpus, nics, rate)
    print(f"{nodes} x {gpus} GPUs, {nics} x {rate:g} GB/s a node, one way")
    for name, most in top.items():
        low, high = (share * most for share in NORMAL)
        print(f"{name:17} NICs full at {most:6.1f}, normal {low:5.0f} to {high:3.0f}")
    if len(sys.argv) > 5:
        busbw = float(sys.argv[5])
        if busbw > top["all-reduce, ring"]:
            share = busbw / top["all-reduce, tree"]
            print(f"{busbw:g} is more than rings can: a tree, NICs {share:.0%} full")
        else:
            print(f"{busbw:g} as a ring: {busbw / nics:.1f} GB/s on each NIC,")
            good = busbw / (NORMAL[1] * rate)
            print(f"or {good:.1f} of {nics} NICs at {NORMAL[1] * rate:g} GB/s")


if __name__ == "__main__":
    main()
