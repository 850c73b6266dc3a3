"""Choose algorithm and protocol of an all-reduce by hand from the table that NCCL prints.

    python docs/ccl/nccl/code/choose.py LOG BYTES...

LOG is what rank 0 wrote with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,TUNING. Each cell of its table
is latency in us and algorithm bandwidth in GB/s; as in ncclTopoGetAlgoTime of NCCL 2.30.7

    time = latency + bytes / (1000 * bandwidth)

with two corrections: trees have a lower bandwidth at middle sizes, and a ring with Simple over
several nodes 1.4 times the latency (from compute capability 8.0). The table has one decimal, NCCL
reckons with more. NVLSTree on Blackwell, which also has the first correction, is not treated.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

PROTOCOLS = ("LL", "LL128", "Simple")
# Tree, all-reduce: powers of two from 64 B
TREE = {
    "LL": (1, 1, 1, 1, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    "LL128": (1, 1, 1, 1, 1, 0.9, 0.8, 0.8, 0.8, 0.7) + (0.6,) * 6 + (0.8,) + (0.9,) * 4,
    "Simple": (0.9,) * 7
    + (0.8, 0.7, 0.6, 0.6, 0.5, 0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9),
}
Cell = tuple[str, str, float, float]


def table(log: str, collective: str = "AllReduce") -> list[Cell]:
    """Return algorithm, protocol, latency and bandwidth of the cells that are allowed."""
    cells: list[Cell] = []
    algorithms: list[str] = []
    for line in log.splitlines():
        columns = [part.strip() for part in line.split("|")]
        if re.search(r"\bAlgorithm\s*$", columns[0]):
            algorithms = [name for name in columns[1:] if name]
        elif re.search(rf"\b{collective}\s*$", columns[0]):
            pairs = [re.fullmatch(r"([\d.]+)/\s*([\d.]+)", text) for text in columns[1:]]
            for number, pair in enumerate(pairs[: 3 * len(algorithms)]):
                if pair is not None and float(pair[2]) > 0:
                    algorithm, protocol = algorithms[number // 3], PROTOCOLS[number % 3]
                    cells.append((algorithm, protocol, float(pair[1]), float(pair[2])))
    return cells


def shape(log: str) -> tuple[int, int, int]:
    """Return ranks, nodes and channels."""
    ranks = re.search(r"nRanks (\d+) nNodes (\d+)", log)
    channels = re.search(r"(\d+) coll channels", log)
    if ranks is None or channels is None:
        raise SystemExit("no 'nRanks' or 'coll channels' in the log: NCCL_DEBUG_SUBSYS=INIT,TUNING")
    return int(ranks[1]), int(ranks[2]), int(channels[1])


def microseconds(cell: Cell, size: int, ranks: int, nodes: int, channels: int) -> float:
    """Return the time by NCCL's model."""
    algorithm, protocol, latency, bandwidth = cell
    power = (size >> 6).bit_length() - 1
    if algorithm == "Tree" and power >= 0:
        bandwidth *= TREE[protocol][power] if power < len(TREE[protocol]) else 1
    if (algorithm, protocol) == ("Ring", "Simple") and nodes > 1:
        latency *= 1.4 if size // (channels * ranks) >= 64 else 1
    return latency + size / (1000 * bandwidth)


def main() -> None:
    """Print the times and the choice for each size, and what the log says was chosen."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("log", type=Path)
    parser.add_argument("sizes", type=int, nargs="+", metavar="BYTES")
    given = parser.parse_args()
    log = given.log.read_text(encoding="utf-8")
    cells, form = table(log), shape(log)
    names = [f"{algorithm}/{protocol}" for algorithm, protocol, _, _ in cells]
    print(f"{'bytes':>9}" + "".join(f"{name:>13}" for name in names) + "  model         log")
    for size in given.sizes:
        times = [microseconds(cell, size, *form) for cell in cells]
        best = names[times.index(min(times))]
        said = re.search(rf"AllReduce: {size} Bytes -> Algo (\w+) proto (\w+)", log)
        logged = f"{said[1]}/{said[2]}" if said else "-"
        print(f"{size:>9}" + "".join(f"{time:13.1f}" for time in times) + f"  {best:<12}  {logged}")


if __name__ == "__main__":
    main()
