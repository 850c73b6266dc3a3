"""How much of a link RDMA READ fills: message size, MTU, outstanding requests and round trip.

Model. A requester keeps at most `window` READs in flight (max_rd_atomic on its side, at most the
peer's max_dest_rd_atomic). A request takes half a round trip; the responder sends the answer in
packets of at most one MTU, one answer after the other; the last byte takes half a round trip
back and frees its place in the window. With a SimPy resource for the link and one for the window
nothing else is assumed: no NIC limit, no loss, no other traffic.

The same holds for WRITE with `window` messages in the send queue: there the acknowledgement
frees the place. By formula: T = min(eC, W S / (RTT + S / eC)), e = MTU / (MTU + headers).

Headers of a middle packet: InfiniBand LRH 8 + BTH 12 + ICRC 4 + VCRC 2 = 26 B; RoCEv2 82 B on
the wire (preamble, Ethernet, IPv4, UDP, BTH, ICRC, FCS, gap). Units: ns, B, Gb/s = 10^9 bit/s.

Usage
    python docs/link/infiniband/code/read_window.py           # tables of the note
    python docs/link/infiniband/code/read_window.py --write   # the record behind the charts
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any

import simpy

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "code"))
from simulated import axis, record, result, run

HEADERS = {"InfiniBand": 26, "RoCEv2": 82}
"""B around the payload of a middle packet."""
AETH = 4
"""B more in first, last and only packets of a READ answer."""


# --8<-- [start:model]
@dataclass(frozen=True)
class Path:
    """A link and what lies between its ends."""

    gbit: float = 400.0
    rtt_ns: float = 4000.0
    mtu: int = 4096
    network: str = "InfiniBand"
    window: int = 16

    def on_wire(self, size: int) -> int:
        """Return the bytes that an answer of `size` occupies."""
        packets = ceil(size / self.mtu)
        return size + packets * HEADERS[self.network] + min(packets, 2) * AETH

    def wire_ns(self, size: int) -> float:
        """Return the time an answer occupies the link."""
        return self.on_wire(size) * 8 / self.gbit


def read(env: simpy.Environment, path: Path, size: int, link: simpy.Resource) -> Any:
    """One READ: request there, answer through the link, last byte back."""
    yield env.timeout(path.rtt_ns / 2)
    with link.request() as turn:
        yield turn
        yield env.timeout(path.wire_ns(size))
    yield env.timeout(path.rtt_ns / 2)


def requester(
    env: simpy.Environment, path: Path, size: int, link: simpy.Resource, done: list[float]
) -> Generator[Any, Any, None]:
    """One place of the window: a READ after the other."""
    while True:
        yield env.process(read(env, path, size, link))
        done.append(env.now)


# --8<-- [end:model]


def simulate(path: Path, size: int, rounds: int = 40) -> float:
    """Return Gb/s of payload in the steady state."""
    env = simpy.Environment()
    link = simpy.Resource(env, 1)
    done: list[float] = []
    for _ in range(path.window):
        env.process(requester(env, path, size, link, done))
    env.run(until=rounds * (path.rtt_ns + path.window * path.wire_ns(size)))
    steady = done[len(done) // 2 :]
    # whole windows: the last place of a window frees the first one's successor
    whole = (len(steady) - 1) // path.window * path.window
    return whole * size * 8 / (steady[whole] - steady[0])


def formula(path: Path, size: int) -> float:
    """Return what the formula says, Gb/s of payload."""
    full = size * 8 / path.wire_ns(size)
    return min(full, path.window * size * 8 / (path.rtt_ns + path.wire_ns(size)))


def window_to_fill(path: Path, size: int) -> int:
    """Return how many READs must be in flight to fill the link."""
    return ceil(1 + path.rtt_ns / path.wire_ns(size))


def report() -> str:
    """Tables: MTU, window to fill the link, rate by size and window."""
    lines = ["payload share of the wire, %, and packets a second at 400 Gb/s"]
    lines.append(f"{'MTU':>6}{'InfiniBand':>12}{'RoCEv2':>8}{'M packets/s':>13}")
    for mtu in (256, 512, 1024, 2048, 4096):
        shares = [100 * mtu / (mtu + HEADERS[name]) for name in HEADERS]
        packets = 400e3 / 8 / (mtu + HEADERS["InfiniBand"])
        lines.append(f"{mtu:>6}{shares[0]:>12.1f}{shares[1]:>8.1f}{packets:>13.1f}")
    lines += ["", "READs in flight that fill 400 Gb/s"]
    trips = (2, 4, 10, 40)
    lines.append(f"{'size':>9}" + "".join(f"{f'{trip} us':>8}" for trip in trips))
    for size in (4096, 16384, 65536, 262144, 1048576):
        row = "".join(f"{window_to_fill(Path(rtt_ns=1000 * trip), size):>8}" for trip in trips)
        lines.append(f"{size:>9}{row}")
    lines += ["", "Gb/s of payload, RTT 4 us, simulated / formula"]
    windows = (1, 4, 16, 64)
    lines.append(f"{'size':>9}" + "".join(f"{f'window {w}':>16}" for w in windows))
    for size in (4096, 16384, 65536, 262144):
        row = ""
        for window in windows:
            path = Path(window=window)
            row += f"{f'{simulate(path, size):.1f} / {formula(path, size):.1f}':>16}"
        lines.append(f"{size:>9}{row}")
    return "\n".join(lines)


def made() -> dict[str, Any]:
    """Return the record: rate by size and window, rate by round trip and window."""
    base = Path()
    sizes = [2**k for k in range(9, 23)]
    by_size = [
        {
            "bytes": size,
            "window": window,
            "value": round(simulate(replace(base, window=window), size), 2),
        }
        for window in (1, 4, 16, 64)
        for size in sizes
    ]
    by_trip = [
        {
            "rtt": trip,
            "window": window,
            "value": round(simulate(replace(base, window=window, rtt_ns=1000 * trip), 65536), 2),
        }
        for window in (1, 4, 16, 64)
        for trip in (1, 2, 4, 8, 16, 32, 64)
    ]
    window = axis("window", "在途 READ", "READs in flight")
    return record(
        __file__,
        {"zh": "在途的 READ 与链路的利用", "en": "READs in flight and the link they fill"},
        {
            "zh": "400 Gb/s，InfiniBand，MTU 4096；按大小的一组往返 4 us。",
            "en": "400 Gb/s, InfiniBand, MTU 4096; by size with a round trip of 4 us.",
        },
        [
            result(
                "by_size",
                {"zh": "净荷速率", "en": "Rate of payload"},
                "Gb/s",
                [axis("bytes", "消息大小", "message size"), window],
                by_size,
            ),
            result(
                "by_trip",
                {"zh": "64 KiB READ 的净荷速率", "en": "Rate of payload, READs of 64 KiB"},
                "Gb/s",
                [axis("rtt", "往返时间（us）", "round trip in us"), window],
                by_trip,
            ),
        ],
    )


if __name__ == "__main__":
    run(__doc__, report, made)
