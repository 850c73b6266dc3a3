"""Misses in the caches of a NIC: queue pairs, memory pages, and the message rate that is left.

Model. The NIC keeps queue pair contexts (QPC) and address translations (MTT entries) in two
set-associative caches with LRU replacement; all of them live in host memory, and a miss is one
DMA read over PCIe. Messages go to a queue pair and a page drawn at random, which is the worst
case of a program without locality. PARALLEL messages are handled at a time, so that

    rate = min(TOP, PARALLEL / (BASE_NS + misses per message x READ_NS)).

Cache sizes, PARALLEL and BASE_NS are ASSUMPTIONS: vendors do not publish them. Only the shape
means anything: flat, a knee where entries exceed the cache, then a floor. READ_NS is from
pcie-bench (64 B). Units: ns, B, M/s = 10^6 messages a second.

Usage
    python docs/link/infiniband/code/nic_caches.py           # tables of the note
    python docs/link/infiniband/code/nic_caches.py --write   # the record behind the charts
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "code"))
from simulated import axis, record, result, run

KIB, MIB, GIB = 2**10, 2**20, 2**30
PAGES = {"4 KiB": 4 * KIB, "2 MiB": 2 * MIB, "1 GiB": GIB}


# --8<-- [start:cache]
class Cache:
    """A set-associative cache with LRU replacement; it knows entries, not their contents."""

    def __init__(self, entries: int, ways: int) -> None:
        self.ways = ways
        self.sets: list[OrderedDict[int, None]] = [OrderedDict() for _ in range(entries // ways)]

    def hit(self, entry: int) -> bool:
        """Look an entry up and bring it in; tell whether it was there."""
        chosen = self.sets[entry % len(self.sets)]
        if entry in chosen:
            chosen.move_to_end(entry)
            return True
        chosen[entry] = None
        if len(chosen) > self.ways:
            chosen.popitem(last=False)
        return False


# --8<-- [end:cache]


@dataclass(frozen=True)
class Nic:
    """What is assumed of a NIC."""

    qpc_entries: int = 1024
    mtt_entries: int = 8192
    ways: int = 8
    parallel: int = 64
    base_ns: float = 640.0
    """Time a message is in the NIC without a miss; 64 at a time make 100 M/s."""
    read_ns: float = 480.0
    top: float = 100.0
    """M/s, whatever the caches do."""

    def rate(self, misses: float) -> float:
        """Return M/s at so many misses per message."""
        return min(self.top, 1000 * self.parallel / (self.base_ns + misses * self.read_ns))


def misses(cache: Cache, entries: int, draws: int, seed: int = 1) -> float:
    """Return the share of misses once the cache is warm, entries drawn evenly at random."""
    random = Random(seed)
    for _ in range(draws):
        cache.hit(random.randrange(entries))
    return sum(not cache.hit(random.randrange(entries)) for _ in range(draws)) / draws


def simulate(
    nic: Nic, qps: int, memory: int, page: int, draws: int = 30_000
) -> tuple[float, float, float]:
    """Return QPC misses, MTT misses per message, and M/s."""
    qpc = misses(Cache(nic.qpc_entries, nic.ways), qps, draws)
    mtt = misses(Cache(nic.mtt_entries, nic.ways), ceil(memory / page), draws, seed=2)
    return qpc, mtt, nic.rate(qpc + mtt)


def expected(entries: int, capacity: int) -> float:
    """Return the misses of a large cache under even random access: 1 - capacity / entries."""
    return max(0.0, 1 - capacity / entries)


def size(number: int) -> str:
    """Return bytes as KiB, MiB or GiB."""
    unit, name = next((u, n) for u, n in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")) if number >= u)
    return f"{number // unit} {name}"


def report() -> str:
    """Tables: rate by queue pairs, by memory and page size, and what the assumptions change."""
    nic = Nic()
    lines = ["queue pairs, one page: misses per message, M/s"]
    for qps in (64, 512, 1024, 1536, 2048, 4096, 16384):
        qpc, _, rate = simulate(nic, qps, MIB, 2 * MIB)
        lines.append(f"{qps:>7}{qpc:>8.2f}{rate:>8.1f}")
    lines += ["", "memory touched at random, 64 queue pairs: M/s by page size"]
    lines.append(f"{'':>9}" + "".join(f"{name:>9}" for name in PAGES))
    for memory in (16 * MIB, 64 * MIB, 256 * MIB, GIB, 16 * GIB, 64 * GIB, 256 * GIB):
        row = "".join(f"{simulate(nic, 64, memory, page)[2]:>9.1f}" for page in PAGES.values())
        lines.append(f"{size(memory):>9}{row}")
    lines += ["", "4096 queue pairs: M/s if an assumption is halved / as above / doubled"]
    for name in ("qpc_entries", "parallel", "base_ns", "read_ns"):
        rates = []
        for factor in (0.5, 1, 2):
            value = type(getattr(nic, name))(getattr(nic, name) * factor)
            rates.append(simulate(replace(nic, **{name: value}), 4096, MIB, 2 * MIB)[2])
        lines.append(f"{name:<12}" + " / ".join(f"{rate:.1f}" for rate in rates))
    return "\n".join(lines)


def made() -> dict[str, Any]:
    """Return the record: rate by queue pairs for three cache sizes, by memory and page size."""
    nic = Nic()
    by_qps = [
        {
            "qps": qps,
            "entries": entries,
            "value": round(simulate(replace(nic, qpc_entries=entries), qps, MIB, 2 * MIB)[2], 2),
        }
        for entries in (256, 1024, 4096)
        for qps in [2**k for k in range(4, 16)]
    ]
    by_memory = [
        {
            "bytes": memory,
            "page": name,
            "value": round(simulate(nic, 64, memory, page)[2], 2),
        }
        for name, page in PAGES.items()
        for memory in [2**k for k in range(22, 39)]
    ]
    rate = {"zh": "消息速率", "en": "Message rate"}
    return record(
        __file__,
        {"zh": "NIC 缓存未命中与消息速率", "en": "Cache misses of a NIC and its message rate"},
        {
            "zh": "随机访问，没有局部性；缓存大小、并行数和基础时间都是假设，只看形状。",
            "en": "Random access without locality; cache sizes, parallelism and base time are "
            "assumptions: look at the shape only.",
        },
        [
            result(
                "by_qps",
                rate,
                "M/s",
                [
                    axis("qps", "活跃 QP 数", "active queue pairs"),
                    axis("entries", "QPC 缓存项", "QPC cache entries"),
                ],
                by_qps,
            ),
            result(
                "by_memory",
                rate,
                "M/s",
                [axis("bytes", "随机访问的内存", "memory touched"), axis("page", "页", "page")],
                by_memory,
            ),
        ],
    )


if __name__ == "__main__":
    run(__doc__, report, made)
