"""What of a PCIe link's rate is left for data: packet headers, maximum payload, read requests.

    python docs/link/pcie/code/tlp.py [--generation 5] [--lanes 16]

Counts the bytes of every transaction layer packet (TLP) of one transfer, in both directions of the
link. Data link packets (acknowledgements, credits) and skip ordered sets are left out: they cost a
few percent more, and how many are sent is the devices' choice. Generations 1 and 2 frame a packet
by other symbols of the same four bytes; from 6 packets travel in flits, see FLIT.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

# --8<-- [start:bytes]
FRAME = 4  # start of the packet, its length and its sequence number
HEADER = 16  # four words: a write or a read of a 64-bit address; 12 for a 32-bit address
COMPLETION = 12  # a completion is routed by the requester's number, not by an address
LCRC = 4
# --8<-- [end:bytes]
RATES = {1: 2.5, 2: 5.0, 3: 8.0, 4: 16.0, 5: 32.0, 6: 64.0, 7: 128.0}  # GT/s of a lane
CODES = {1: 8 / 10, 2: 8 / 10, 3: 128 / 130, 4: 128 / 130, 5: 128 / 130, 6: 1.0, 7: 1.0}
FLIT = 236 / 256  # 6.0 on: bytes for packets in a flit; the rest is DLP, CRC and FEC


@dataclass(frozen=True)
class Bytes:
    """Bytes on the wire for one transfer, and how many of them are data."""

    towards: int
    back: int
    data: int

    @property
    def efficiency(self) -> float:
        """Data per byte of the direction that carries it."""
        return self.data / max(self.towards, self.back)


# --8<-- [start:split]
def pieces(address: int, size: int, most: int) -> list[int]:
    """Split a transfer at every multiple of `most`: no packet crosses one."""
    found = []
    while size > 0:
        piece = min(size, most - address % most)
        found.append(piece)
        address, size = address + piece, size - piece
    return found


def write(size: int, payload: int, address: int = 0, header: int = HEADER) -> Bytes:
    """Memory writes (MWr): data goes along with each request, nothing comes back."""
    packets = pieces(address, size, payload)
    return Bytes(size + len(packets) * (FRAME + header + LCRC), 0, size)


def read(size: int, payload: int, request: int, address: int = 0) -> Bytes:
    """Memory reads (MRd): requests of at most `request` bytes, completions (CplD) with the data."""
    asked = pieces(address, size, request)
    towards = len(asked) * (FRAME + HEADER + LCRC)
    answers = 0
    for piece in asked:
        answers += len(pieces(address, piece, payload))
        address += piece
    return Bytes(towards, size + answers * (FRAME + COMPLETION + LCRC), size)


# --8<-- [end:split]


def line_rate(generation: int, lanes: int) -> float:
    """Return GB/s of one direction after the line code."""
    return RATES[generation] * CODES[generation] * lanes / 8


def left(generation: int, lanes: int, moved: Bytes) -> float:
    """Return GB/s of data, one direction, when the link carries nothing but such transfers."""
    share = FLIT if generation >= 6 else 1.0
    return line_rate(generation, lanes) * share * moved.efficiency


def main() -> int:
    """Print a table of efficiency by the size of a piece, and by maximum payload."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--generation", type=int, default=5, choices=RATES)
    parser.add_argument("--lanes", type=int, default=16)
    options = parser.parse_args()
    rate = line_rate(options.generation, options.lanes)
    print(f"PCIe {options.generation}.0 x{options.lanes}: {rate:.2f} GB/s one way before packets")
    print("maximum payload 256 B, read requests up to 512 B")
    print("  piece   write              read               requests take of the other way")
    for size in (4, 16, 32, 64, 128, 256, 512, 4096):
        there, back = write(size, 256), read(size, 256, 512)
        written = left(options.generation, options.lanes, there)
        fetched = left(options.generation, options.lanes, back)
        other = back.towards / max(back.back, back.towards)
        print(
            f"{size:5d} B  {there.efficiency:6.1%} {written:6.2f} GB/s"
            f"  {back.efficiency:6.1%} {fetched:6.2f} GB/s  {other:6.1%}"
        )
    print("4 KiB by maximum payload: write, read (completions of that size)")
    for payload in (64, 128, 256, 512, 1024, 4096):
        there, back = write(4096, payload), read(4096, payload, 4096)
        print(f"{payload:5d} B  {there.efficiency:6.1%}  {back.efficiency:6.1%}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
