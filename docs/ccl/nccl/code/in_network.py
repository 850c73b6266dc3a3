"""What reduction in the network saves: bytes of a NIC, and latency by NCCL's own model.

    python docs/ccl/nccl/code/in_network.py [GPUS]

All-reduce, 8 GPUs a node (or GPUS, from 2 on) with a NIC each. Bytes are those that the busiest
NIC sends, as a multiple of its share of the buffer (buffer / GPUS). Latencies are those of
ncclTopoTuneModel (src/graph/tuning.cc, NCCL v2.30.7-1) in microseconds: NVLink inside, x86 with an
Intel CPU, path latency 0. A model for choosing; nothing here is measured.
"""

from __future__ import annotations

import math
import sys

NODES = (2, 4, 8, 16, 64, 256)


def sent(nodes: int, gpus: int) -> dict[str, float]:
    """Return what the busiest NIC sends, in shares of the buffer."""
    ranks = nodes * gpus
    return {
        "ring": 2 * (ranks - 1) / ranks,
        "tree": 1.0 if nodes == 2 else 2.0,
        "SHARP": 1.0,
    }


def latencies(nodes: int, gpus: int) -> dict[str, float]:
    """Return the model's latency of the fastest protocol of each algorithm."""
    inside, hops = gpus - 1, math.floor(math.log2(nodes))
    steps, between = 2 * (nodes * gpus - 1), 2 * (nodes - 1)
    return {
        "Ring LL": 6.6 + (steps - between) * 1.0 + between * 2.7,
        "Tree LL": 6.8 + 2 * (inside * 0.6 + hops * 5.0),
        "NVLSTree": 25.0 + 2 * hops * 20.9,
        "NVLS": 25.0 + 18.0,
        "CollNetDirect": 2 * (min(1, inside) * 3.7 + inside * 0.4) + 31.0,
        "CollNetChain": 2 * inside * 2.8 + 30.0,
    }


def main() -> None:
    """Print both tables."""
    gpus = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    print(f"{'nodes':13}" + "".join(f"{nodes:8}" for nodes in NODES))
    for name in sent(2, gpus):
        print(f"{name:13}" + "".join(f"{sent(nodes, gpus)[name]:8.3f}" for nodes in NODES))
    print("latency, us")
    for name in latencies(2, gpus):
        print(f"{name:13}" + "".join(f"{latencies(nodes, gpus)[name]:8.1f}" for nodes in NODES))


if __name__ == "__main__":
    main()
