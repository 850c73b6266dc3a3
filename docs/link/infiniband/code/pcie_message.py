"""What one small message costs on PCIe: transactions, bytes, and the latency they explain.

Model of the sender. A CPU hands a work queue element (WQE) to the NIC in one of two ways: it
rings an 8 B doorbell and the NIC reads the WQE by DMA, or it copies the WQE itself through a
write-combined window (BlueFlame). Payload that is not inline is a second DMA read, which cannot
start before the WQE is there. Each direction of the PCIe link is a SimPy resource that carries
one packet at a time; a DMA read besides takes READ_NS from request to first data.

Sizes (mlx5): WQE = 32 B + payload + 4 B inline, or 32 B + 16 B pointer, in units of 64 B;
BlueFlame only for a single WQE of at most 256 B. Packet headers 26 and 22 B, completions of at
most 128 B: Kalia et al., ATC 2016, PCIe 3.0 x16. READ_NS: pcie-bench, Dell T630, 64 B, host
memory not in the cache. FIXED_NS is fitted to ONE published number (32 B, 0.82 us); the other
sizes are then predicted. Units: ns, B, B/ns = GB/s.

Usage
    python docs/link/infiniband/code/pcie_message.py           # tables of the note
    python docs/link/infiniband/code/pcie_message.py --write   # the record behind the chart
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any

import simpy

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "code"))
from simulated import axis, record, result, run

RAW = 8 * 16 * 128 / 130 / 8  # B/ns of PCIe 3.0 x16, one direction
REQUEST, COMPLETION, PER_COMPLETION = 26, 22, 128
READ_NS = 480.0
FIXED_NS = 812.0
WIRE = 12.5 * 4096 / (4096 + 30)
"""B/ns of payload at 100 Gb/s, InfiniBand, MTU 4096."""
BLUEFLAME_MAX, LINE, PIECE = 256, 64, 256
PUBLISHED = {32: 0.82, 1024: 1.58, 4096: 2.26, 32768: 4.57}
"""us: median over five MTUs of ib_send_lat, RC, inline below 188 B; ConnectX-4, 100 Gb/s, T630."""


# --8<-- [start:ways]
@dataclass(frozen=True)
class Way:
    """How messages are handed over."""

    name: str
    inline: bool = False
    blueflame: bool = False
    chain: int = 1
    """Messages of one ibv_post_send: one doorbell for all of them."""
    signal_every: int = 1
    """A completion (CQE) for each so many messages."""
    header: int = 36
    """B before inline payload: 36 WRITE, 20 SEND on RC, 68 SEND on UD."""

    def wqe(self, payload: int) -> int:
        """Return the bytes of a WQE, in whole units of 64 B."""
        used = self.header + payload if self.inline else self.header - 4 + 16
        return ceil(used / LINE) * LINE

    def copies(self, payload: int) -> bool:
        """Tell whether the CPU copies the WQE itself."""
        return self.blueflame and self.chain == 1 and self.wqe(payload) <= BLUEFLAME_MAX


# --8<-- [end:ways]


@dataclass
class Bus:
    """The PCIe link between host and NIC, and what crossed it."""

    env: simpy.Environment
    read_ns: float = READ_NS
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    sent: dict[str, int] = field(default_factory=lambda: {"down": 0, "up": 0})

    def __post_init__(self) -> None:
        self.links = {name: simpy.Resource(self.env, 1) for name in self.sent}

    def carry(self, direction: str, size: int) -> Generator[Any, Any, None]:
        """Occupy one direction for the time `size` bytes take."""
        with self.links[direction].request() as turn:
            yield turn
            yield self.env.timeout(size / RAW)
        self.sent[direction] += size

    def mmio(self, size: int) -> Generator[Any, Any, None]:
        """CPU to NIC, in packets of at most one cache line."""
        for start in range(0, size, LINE):
            self.counts["MMIO writes"] += 1
            yield from self.carry("down", min(LINE, size - start) + REQUEST)

    def ask(self) -> Generator[Any, Any, None]:
        """Request of a DMA read and the time until its first data."""
        self.counts["DMA reads"] += 1
        yield from self.carry("up", REQUEST)
        yield self.env.timeout(self.read_ns)

    def completion(self, size: int) -> Generator[Any, Any, None]:
        """Data of a DMA read."""
        yield from self.carry("down", size + ceil(size / PER_COMPLETION) * COMPLETION)

    def write(self, size: int) -> Generator[Any, Any, None]:
        """NIC to host memory."""
        self.counts["DMA writes"] += 1
        yield from self.carry("up", size + REQUEST)


KINDS = ("MMIO writes", "DMA reads", "DMA writes")


# --8<-- [start:message]
def message(bus: Bus, way: Way, payload: int, number: int, wire: simpy.Resource) -> Any:
    """One message from the moment its WQE is in the NIC until its last byte has left."""
    if not way.inline and payload:
        yield from bus.ask()
    for start in range(0, payload, PIECE):
        piece = min(PIECE, payload - start)
        if not way.inline:
            yield from bus.completion(piece)
        bus.env.process(leave(bus.env, wire, piece))
    with wire.request() as turn:
        yield turn
    if number % way.signal_every == 0:
        yield from bus.write(64)


def post(bus: Bus, way: Way, payload: int, first: int, wire: simpy.Resource) -> Any:
    """One call of ibv_post_send: the WQEs reach the NIC, then each message goes its way."""
    if way.copies(payload):
        yield from bus.mmio(way.wqe(payload))
    else:
        yield from bus.mmio(8)
        yield from bus.ask()
        yield from bus.completion(way.chain * way.wqe(payload))
    each = [
        bus.env.process(message(bus, way, payload, first + i + 1, wire)) for i in range(way.chain)
    ]
    yield bus.env.all_of(each)


# --8<-- [end:message]


def leave(env: simpy.Environment, wire: simpy.Resource, size: int) -> Any:
    """Put a piece of payload on the wire."""
    with wire.request() as turn:
        yield turn
        yield env.timeout(size / WIRE)


def simulate(
    way: Way, payload: int, messages: int = 1, read_ns: float = READ_NS
) -> tuple[float, Bus]:
    """Return when the last of `messages`, all posted at once, had left; and the bus."""
    env = simpy.Environment()
    bus = Bus(env, read_ns)
    wire = simpy.Resource(env, 1)
    for first in range(0, messages, way.chain):
        env.process(post(bus, way, payload, first, wire))
    env.run()
    return env.now, bus


def latency_us(way: Way, payload: int, read_ns: float = READ_NS) -> float:
    """Return the one-way latency of a message alone, its own CQE not counted."""
    alone = Way(way.name, way.inline, way.blueflame, 1, 2, way.header)
    return (FIXED_NS + simulate(alone, payload, 1, read_ns)[0]) / 1000


def bytes_per_message(way: Way, payload: int) -> tuple[float, float]:
    """Return the bytes (down, up) a message costs, by formula; the test compares."""
    wqe = way.wqe(payload)
    if way.copies(payload):
        down, up = wqe / LINE * (LINE + REQUEST), 0.0
    else:
        batch = way.chain * wqe
        data = batch + ceil(batch / PER_COMPLETION) * COMPLETION
        down, up = (8 + REQUEST + data) / way.chain, REQUEST / way.chain
    if not way.inline:
        pieces = [min(PIECE, payload - start) for start in range(0, payload, PIECE)]
        down += sum(p + ceil(p / PER_COMPLETION) * COMPLETION for p in pieces)
        up += REQUEST
    return down, up + (64 + REQUEST) / way.signal_every


WAYS = (
    Way("doorbell"),
    Way("doorbell, inline", inline=True),
    Way("BlueFlame", blueflame=True),
    Way("BlueFlame, inline", inline=True, blueflame=True),
    Way("+ signal every 64th", inline=True, blueflame=True, signal_every=64),
    Way("chain of 16, inline", inline=True, chain=16),
    Way("+ signal every 64th", inline=True, chain=16, signal_every=64),
)


def report() -> str:
    """Tables: transactions and latency by way, prediction against what was published."""
    lines = ["RDMA WRITE of 32 B, sender's PCIe, for each message (1024 messages)"]
    head = f"{'':<20}{'MMIO':>7}{'reads':>7}{'writes':>7}"
    lines.append(f"{head}{'B down':>8}{'B up':>7}{'M/s':>6}{'us':>6}")
    for way in WAYS:
        bus = simulate(way, 32, 1024)[1]
        row = "".join(f"{bus.counts[kind] / 1024:>7.3g}" for kind in KINDS)
        down, up = bus.sent["down"] / 1024, bus.sent["up"] / 1024
        sent = f"{down:>8.1f}{up:>7.1f}{1000 * RAW / max(down, up):>6.1f}"
        alone = f"{latency_us(way, 32):>6.2f}" if way.chain == 1 else f"{'-':>6}"
        lines.append(f"{way.name:<20}{row}{sent}{alone}")
    lines += ["", "SEND on RC, us: predicted / published (32 B is the fitted point)"]
    for size, seen in PUBLISHED.items():
        way = Way("", inline=size < 188, blueflame=True, header=20)
        lines.append(f"{size:>6} B  {latency_us(way, size):5.2f} / {seen:.2f}")
    lines += ["", "WRITE of 32 B, us, if a DMA read takes 300 / 480 / 900 ns"]
    for way in WAYS[:4]:
        row = "".join(f"{latency_us(way, 32, ns):>7.2f}" for ns in (300, 480, 900))
        lines.append(f"{way.name:<20}{row}")
    return "\n".join(lines)


def made() -> dict[str, Any]:
    """Return the record: latency by payload and way."""
    points = [
        {"bytes": size, "way": way.name, "value": round(latency_us(way, size), 3)}
        for way in WAYS[:4]
        for size in (8, 16, 32, 64, 128, 220, 221, 256, 512, 1024, 2048, 4096)
        if not way.inline or size <= 512
    ]
    return record(
        __file__,
        {"zh": "一次小消息的 PCIe 事务与延迟", "en": "PCIe transactions and latency of a message"},
        {
            "zh": "前面没有排队的 RDMA WRITE 的单程延迟。",
            "en": "One-way latency of an RDMA WRITE that nothing waits in front of.",
        },
        [
            result(
                "latency",
                {"zh": "单程延迟", "en": "One-way latency"},
                "us",
                [axis("bytes", "净荷", "payload"), axis("way", "交法", "way")],
                points,
            )
        ],
    )


if __name__ == "__main__":
    run(__doc__, report, made)
