"""Memory bandwidth of a socket from its channels and transfer rate, and what latency asks for.

python docs/chip/code/ddr.py
"""

from __future__ import annotations

CHANNEL_BYTES = 8  # 64 data bits; DDR5 has two halves of 32 in one channel
LINE = 64
SOCKETS = {  # channels, transfers per second in millions
    "8 x DDR4-3200": (8, 3200),
    "8 x DDR5-4400 (two modules)": (8, 4400),
    "8 x DDR5-4800": (8, 4800),
    "12 x DDR5-4800": (12, 4800),
    "12 x DDR5-6000": (12, 6000),
    "12 x DDR5-6400": (12, 6400),
    "12 x MRDIMM-8800": (12, 8800),
}


def bandwidth(channels: int, megatransfers: int) -> float:
    """Return GB/s: one direction at a time, reads or writes."""
    return channels * megatransfers * CHANNEL_BYTES / 1000


def lines_in_flight(gbs: float, latency_ns: float) -> float:
    """Return the cache lines that must be under way to keep this rate: Little's law."""
    return gbs * latency_ns / LINE


def main() -> None:
    print(f"{'one socket':<29}{'GB/s':>7}{'lines at 100 ns':>17}{'cores of 16 lines':>19}")
    for name, (channels, rate) in SOCKETS.items():
        gbs = bandwidth(channels, rate)
        lines = lines_in_flight(gbs, 100)
        print(f"{name:<29}{gbs:>7.1f}{lines:>17.0f}{lines / 16:>19.0f}")


if __name__ == "__main__":
    main()
