"""The time that NCCL's own model gives an all-reduce, by algorithm and protocol.

    python docs/ccl/code/nccl_model.py                         # four H200, as in our dump
    python docs/ccl/code/nccl_model.py --ranks 8 --nvls        # eight, with NVLS
    python docs/ccl/code/nccl_model.py --ranks 64 --nodes 8 --channels 16 --bw 22.5
    python docs/ccl/code/nccl_model.py --write                 # the record of the chart

After ncclTopoTuneModel and ncclTopoGetAlgoTime in src/graph/tuning.cc of NCCL v2.30.7-1: Hopper,
x86 with Intel CPUs, tree balanced, no NVLSTree and no CollNet, no tuner plugin, one call. What the
search found (channels and GB/s of a channel) is an input. A model for choosing; nothing here is
measured.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "code"))
from simulated import arguments, axis, keep, record, result

PROTOCOLS = ("LL", "LL128", "Simple")
# Microseconds of LL, LL128, Simple: the base, then a step on each kind of link.
BASE = {"Tree": (6.8, 14.0, 8.4), "Ring": (6.6, 14.0, 8.4)}
NVLINK = {"Tree": (0.6, 1.25, 4.0), "Ring": (0.6, 1.9, 3.4)}
PCI = {"Tree": (1.0, 1.9, 4.0), "Ring": (1.0, 2.5, 5.7)}  # all that is not one NVLink hop
NETWORK = {"Tree": (5.0, 8.5, 14.0), "Ring": (2.7, 4.0, 14.0)}
NVLS_STEP = 25.0
# GB/s on one, two, and more nodes. The first is of Hopper; LL across nodes goes by the CPU.
LL_MOST = (141.0, 39.0, 20.4)
RING_LL128_MOST = (36.7, 36.7, 36.7)  # these three are per channel
TREE_LL128_MOST = (36.7, 36.7, 29.0)
TREE_MOST = (38.7, 41.4, 36.0)
NVLS_EFFICIENCY = 0.85
NET_OVERHEAD = 1.0  # microseconds to post; three times as much with Simple
TREE_FACTOR = {  # by powers of two from 64 B
    "LL": "1 1 1 1 .9 .8 .7 .7 .7 .7 .6 .5 .4 .4 .5 .6 .7 .8 .9 1 1 1 1",
    "LL128": "1 1 1 1 1 .9 .8 .8 .8 .7 .6 .6 .6 .6 .6 .6 .8 .9 .9 .9 .9 1 1",
    "Simple": ".9 .9 .9 .9 .9 .9 .9 .8 .7 .6 .6 .5 .5 .5 .5 .6 .7 .8 .7 .7 .8 .9 .9",
}


class Machine(NamedTuple):
    """What the model is told: ranks, nodes, and what the search found for rings and trees."""

    ranks: int = 4
    nodes: int = 1
    channels: int = 12
    bw: float = 30.0
    tree_bw: float | None = None  # where it differs from that of rings
    nvlink: bool = True
    nvls: tuple[int, float, float] | None = None  # channels, GB/s inside, GB/s "between"


class Line(NamedTuple):
    """Latency in microseconds and bandwidth in GB/s of the buffer."""

    latency: float
    bandwidth: float


def line(machine: Machine, algorithm: str, protocol: str) -> Line:
    """Return the two numbers that NCCL prints for a ring or a tree, as latency/bandwidth."""
    n, nodes = machine.ranks, machine.nodes
    p, where = PROTOCOLS.index(protocol), min(nodes, 3) - 1
    each = machine.tree_bw if algorithm == "Tree" and machine.tree_bw else machine.bw
    bus = machine.channels * each
    step, hop = (NVLINK if machine.nvlink else PCI)[algorithm][p], NETWORK[algorithm][p]
    if n == nodes:
        hop = NETWORK["Tree"][p]  # one GPU per node: latencies are fully exposed
    if algorithm == "Ring":
        if protocol == "LL":
            bus = min(LL_MOST[where], bus * 0.5)
        elif protocol == "LL128":
            bus = min(bus * 0.92, machine.channels * RING_LL128_MOST[where])
        steps, across = 2 * (n - 1), 2 * (nodes - 1)
        if nodes > 1:
            step = max(step, NET_OVERHEAD * (3 if protocol == "Simple" else 1))
        latency = BASE["Ring"][p] + (steps - across) * step + across * hop
        return Line(latency, bus * n / steps)
    bus = min(bus * 0.92, machine.channels * TREE_MOST[where])
    if protocol == "LL":
        bus = min(bus / 3.8, LL_MOST[where])
    elif protocol == "LL128":
        share = 7 / 9 if nodes == 1 else 120 / 128
        bus = min(bus * share, machine.channels * TREE_LL128_MOST[where])
    latency = BASE["Tree"][p] + 2 * ((n // nodes - 1) * step + int(math.log2(nodes)) * hop)
    return Line(latency, bus / 2)


def nvls(machine: Machine) -> Line:
    """Return the line of NVLS within one node; its latency has no base."""
    assert machine.nvls is not None and machine.nodes == 1
    channels, inside, between = machine.nvls
    each = min(inside * NVLS_EFFICIENCY * (channels - 1) / channels * 2, between)
    return Line(NVLS_STEP, channels * each * machine.ranks / (2 * (machine.ranks - 1)))


def lines(machine: Machine) -> dict[tuple[str, str], Line]:
    """Return every line that competes."""
    found = {(a, p): line(machine, a, p) for a in ("Tree", "Ring") for p in PROTOCOLS}
    return found | ({("NVLS", "Simple"): nvls(machine)} if machine.nvls else {})


def time(machine: Machine, name: tuple[str, str], size: int) -> float:
    """Return the microseconds of one all-reduce of so many bytes."""
    algorithm, protocol = name
    latency, bandwidth = lines(machine)[name]
    octave = (size >> 6).bit_length() - 1
    if algorithm == "Tree" and 0 <= octave < 23:
        bandwidth *= float(TREE_FACTOR[protocol].split()[octave])
    execution_channels = min(64, 2 * machine.channels)
    if (
        name == ("Ring", "Simple")
        and machine.nodes > 1
        and size // (execution_channels * machine.ranks) >= 64
    ):
        latency *= 1.4
    return latency + size / (1000 * bandwidth)


def choice(machine: Machine, size: int) -> tuple[str, str]:
    """Return the least; the first of equals, as NCCL does."""
    return min(lines(machine), key=lambda name: time(machine, name, size))


def switches(machine: Machine) -> Iterator[tuple[int, tuple[str, str]]]:
    """Yield each size, in steps of 1 KiB, from which another line is the least."""
    size, last = 1024, None
    while size <= 1 << 30:
        now = choice(machine, size)
        if now != last:
            low, high = (size * 15 // 16 if last else size), size
            while high - low > 1024:
                middle = (low + high) // 2
                low, high = (low, middle) if choice(machine, middle) == now else (middle, high)
            yield high, now
            last = now
        size = size * 17 // 16


def report(machine: Machine) -> str:
    """Return latency/bandwidth of each line, the times of some sizes, and where it switches."""
    out = ["line           latency us   S/t GB/s"]
    for (a, p), one in lines(machine).items():
        out.append(f"{a:5}{p:8}{one.latency:12.1f}{one.bandwidth:11.1f}")
    out.append("least          from KiB   predicted us")
    for size, name in switches(machine):
        out.append(f"{' '.join(name):13}{size / 1024:10.0f}{time(machine, name, size):15.1f}")
    return "\n".join(out)


def made() -> dict[str, Any]:
    """Return the record: each line of four H200 by size, and what is least."""
    machine, points = Machine(), []
    for size in (1 << k for k in range(10, 31)):
        for name in lines(machine):
            value = round(time(machine, name, size), 2)
            points.append(
                {"bytes": size, "algorithm": name[0], "protocol": name[1], "value": value}
            )
    axes: list[dict[str, Any]] = [
        axis("bytes", "缓冲区大小", "size of the buffer", "B"),
        axis("algorithm", "算法", "algorithm"),
        axis("protocol", "协议", "protocol"),
    ]
    title = {"zh": "NCCL 模型预测的全归约时间", "en": "All-reduce time by NCCL's model"}
    notes = {
        "zh": "4 块 Hopper，12 条通道各 30 GB/s，无 NVLS；由 tuning.cc 的公式算出，不是实测。",
        "en": "Four Hopper GPUs, 12 channels of 30 GB/s, no NVLS; by tuning.cc, not measured.",
    }
    return record(__file__, title, notes, [result("time", title, "us", axes, points)])


def main() -> None:
    """Print the report, or keep the record."""
    parser = arguments(__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--nodes", type=int, default=1)
    parser.add_argument("--channels", type=int, default=12, help="of the search, before doubling")
    parser.add_argument("--bw", type=float, default=30.0, help="GB/s of a channel")
    parser.add_argument("--nvls", action="store_true", help="8 channels of 40 GB/s, one node")
    said = parser.parse_args()
    if said.write or said.check:
        keep(made(), said.write)
        return
    switch = (8, 40.0, 60.0) if said.nvls else None
    print(report(Machine(said.ranks, said.nodes, said.channels, said.bw, nvls=switch)))


if __name__ == "__main__":
    main()
