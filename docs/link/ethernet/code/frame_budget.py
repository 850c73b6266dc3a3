"""How much time a program has for each frame, and how many requests the same data is for RDMA.

Units: Gb/s = 10^9 bit/s on the wire, Mpps = 10^6 frames a second, ns, cycles of one core.
Computed, not measured.

A frame of n bytes (headers and FCS included) takes n + 20 on the wire: 8 bytes of preamble and
12 of gap. A DPDK program touches every frame; an RDMA program posts one work request and polls
one completion for a message, however many frames it becomes.

With --headers: what share of the wire is payload, below the transport's own header.

Usage
    python docs/link/ethernet/code/frame_budget.py              # the table of the DPDK note
    python docs/link/ethernet/code/frame_budget.py --headers    # that of the scale-up note
"""

from __future__ import annotations

import argparse

CLOCK = 3.0
"""GHz of the core."""
EXTRA = 20
PAYLOAD = 4096
"""Bytes of payload of a RoCE packet at the largest MTU."""


HEADERS = {
    "Ethernet, IPv4, UDP": 14 + 20 + 8 + 4,
    "Ethernet, ESUN header": 14 + 4 + 4,
    "RoCEv2, with BTH and ICRC": 14 + 20 + 8 + 12 + 4 + 4,
}
"""Bytes of a frame that are no payload, FCS included."""


# --8<-- [start:formula]
def frames(rate: float, size: int) -> float:
    """Mpps of frames of `size` bytes at `rate` Gb/s."""
    return rate * 1000 / ((size + EXTRA) * 8)


def cycles(rate: float, size: int, cores: int = 1) -> float:
    """Cycles that each of `cores` has for a frame."""
    return CLOCK * 1000 / frames(rate, size) * cores


# --8<-- [end:formula]


def requests(message: int) -> tuple[int, int]:
    """Return frames and work requests of one message."""
    return -(-message // PAYLOAD), 1


def share(payload: int, headers: int) -> float:
    """Return which part of the wire time is payload."""
    return payload / (payload + headers + EXTRA)


def show_headers() -> None:
    """Print the shares by header and payload."""
    sizes = (64, 128, 256, 1024, 4096)
    print("computed; payload as a share of the wire")
    print(f"{'headers':<26}{'B':>3}" + "".join(f"{size:>7} B" for size in sizes))
    for name, headers in HEADERS.items():
        cells = "".join(f"{share(size, headers):>9.1%}" for size in sizes)
        print(f"{name:<26}{headers:>3}{cells}")


def main() -> None:
    """Print the tables of the notes."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--headers", action="store_true")
    if parser.parse_args().headers:
        show_headers()
        return
    print(f"computed; one core of {CLOCK:g} GHz")
    print(f"{'Gb/s':>5}{'frame B':>9}{'Mpps':>8}{'ns':>8}{'cycles':>8}")
    for rate in (10, 100, 400):
        for size in (64, 1518, 4158):
            mpps = frames(rate, size)
            print(f"{rate:>5}{size:>9}{mpps:>8.2f}{1000 / mpps:>8.1f}{cycles(rate, size):>8.0f}")
    print(f"{'message':>9}{'frames':>8}{'requests':>10}")
    for name, message in (("64 B", 64), ("4 KiB", 4096), ("1 MiB", 1 << 20), ("16 MiB", 1 << 24)):
        count, posted = requests(message)
        print(f"{name:>9}{count:>8}{posted:>10}")


if __name__ == "__main__":
    main()
