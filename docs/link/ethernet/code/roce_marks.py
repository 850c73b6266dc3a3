"""What one DSCP becomes on its way: traffic class byte, priority of the adapter, queue of a switch.

Units: bytes unless said. Computed, not measured.

The traffic class byte of verbs and of NCCL holds the DSCP in its upper six bits and ECN in the
lower two. The maps of the switches are their vendors' defaults, as the note cites them; a switch
whose map was changed needs its own line here. With --paths: which UDP source ports the queue
pairs of one connection get, and how many of the equal paths they use.

Usage
    python docs/link/ethernet/code/roce_marks.py            # the table of the note
    python docs/link/ethernet/code/roce_marks.py --mtu      # what 4096 bytes of payload need
    python docs/link/ethernet/code/roce_marks.py --paths    # queue pairs and paths
"""

from __future__ import annotations

import argparse
import random
import zlib

ECT0 = 0b10
"""ECN bits of a sender that understands marks (RFC 3168)."""
SONIC = {3: 3, 4: 4, 5: 2, 8: 0, 46: 5, 48: 6}
"""DSCP to traffic class in SONiC's template; every DSCP that is not listed is 1."""
LOSSLESS = {"adapter, Cumulus": {3}, "SONiC": {3, 4}}
MTUS = (256, 512, 1024, 2048, 4096)
HEADERS = {"IPv6 or GRH": 40, "UDP": 8, "BTH": 12, "XRC": 4, "AtomicETH": 28, "ICRC": 4}
"""What the kernel subtracts from the MTU of an interface before it chooses that of RDMA."""
VXLAN = 14 + 20 + 8 + 8
"""Inner Ethernet header, outer IPv4, UDP, VXLAN."""


# --8<-- [start:marks]
def traffic_class(dscp: int, ecn: int = ECT0) -> int:
    """Return the byte for NCCL_IB_TC, --tclass and ah_attr.grh.traffic_class."""
    return dscp << 2 | ecn


def priority(dscp: int) -> int:
    """Return the adapter's priority by its default map, which is Cumulus' too."""
    return dscp >> 3


def sonic(dscp: int) -> int:
    """Return the traffic class of a switch with SONiC's template."""
    return SONIC.get(dscp, 1)


# --8<-- [end:marks]


def rdma_mtu(interface: int) -> int:
    """Return the RDMA MTU that the kernel derives from an interface's."""
    left = interface - sum(HEADERS.values())
    return max((size for size in MTUS if size <= left), default=0)


def source_port(local: int, remote: int) -> int:
    """Return the UDP source port of two queue pairs whose flow label is 0."""
    product = local * remote
    product ^= product >> 20
    product ^= product >> 40
    label = product & 0xFFFFF
    return 0xC000 | (label & 0x3FFF) ^ (label >> 14)


def used(pairs: int, paths: int, rng: random.Random) -> int:
    """Return how many of `paths` the queue pairs of one connection use."""
    local, remote = rng.randrange(256, 1 << 16), rng.randrange(256, 1 << 16)
    ports = (source_port(local + n, remote + n) for n in range(pairs))
    seed = rng.randbytes(4)  # addresses and the seed of the switch
    return len({zlib.crc32(seed + port.to_bytes(2, "big")) % paths for port in ports})


def show_marks() -> None:
    """Print one line per DSCP that the note speaks of."""
    print("computed; priority and class by default maps, * is lossless")
    print(f"{'DSCP':>4}{'TC byte':>9}{'adapter, Cumulus':>18}{'SONiC':>7}")
    for dscp in (0, 3, 4, 24, 26, 46, 48):
        nic, switch = priority(dscp), sonic(dscp)
        cells = [
            f"{value}{'*' if value in LOSSLESS[where] else ' '}"
            for value, where in ((nic, "adapter, Cumulus"), (switch, "SONiC"))
        ]
        print(f"{dscp:>4}{traffic_class(dscp):>9}{cells[0]:>18}{cells[1]:>7}".rstrip())


def show_mtu() -> None:
    """Print what interfaces give, and what the largest payload needs below an overlay."""
    print("computed; bytes")
    print(f"{'interface':>9}{'RDMA':>6}")
    for interface in (1500, 4200, 9000):
        print(f"{interface:>9}{rdma_mtu(interface):>6}")
    need = MTUS[-1] + sum(HEADERS.values())
    print(f"interface for {MTUS[-1]}: {need}; underlay with VXLAN: {need + VXLAN}")


def show_paths() -> None:
    """Print the mean number of paths that the queue pairs of a connection use."""
    rng = random.Random(1)
    draws = 4000
    print("computed; mean paths used of 8, one connection")
    print(f"{'QPs':>3}{'paths':>7}")
    for pairs in (1, 2, 4, 8, 16):
        print(f"{pairs:>3}{sum(used(pairs, 8, rng) for _ in range(draws)) / draws:>7.1f}")


def main() -> None:
    """Print one of the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mtu", action="store_true")
    parser.add_argument("--paths", action="store_true")
    asked = parser.parse_args()
    if asked.mtu:
        show_mtu()
    elif asked.paths:
        show_paths()
    else:
        show_marks()


if __name__ == "__main__":
    main()
