"""Packet sequence numbers: 24 bits, compared modulo 2^24.

Linux rxe_hdr.h keeps PSN and QPN in 24 bits of the BTH; `psn_compare` in rxe shifts both
numbers so that the sign of the difference decides.
"""

from __future__ import annotations

MASK = 0xFFFFFF
HALF = 1 << 23


def plus(psn: int, packets: int) -> int:
    """Return the number `packets` later."""
    return (psn + packets) & MASK


def minus(left: int, right: int) -> int:
    """Return left - right as a signed number: negative means that left is older."""
    return ((left - right + HALF) & MASK) - HALF


def packets(length: int, mtu: int) -> int:
    """Return how many packets a message takes: at least one (rxe_req.c, update_wqe_psn)."""
    return max(1, -(-length // mtu))
