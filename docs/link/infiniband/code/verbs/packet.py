"""What travels: the fields of BTH, RETH, AtomicETH, AETH, DETH, ImmDt and IETH that decide.

Headers are as in Linux include/rdma/ib_pack.h and rxe_hdr.h; one record holds them all, and
`first`/`last` stand for the FIRST, MIDDLE, LAST and ONLY forms of an opcode.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Op(Enum):
    """Packet opcodes, without their position in the message."""

    SEND = "SEND"
    WRITE = "WRITE"
    READ_REQUEST = "READ request"
    CMP_SWAP = "CmpSwap"
    FETCH_ADD = "FetchAdd"
    ACK = "ACK"
    NAK = "NAK"
    RNR_NAK = "RNR NAK"
    READ_RESPONSE = "READ data"
    ATOMIC_ACK = "Atomic ACK"


RESPONSES = {Op.ACK, Op.NAK, Op.RNR_NAK, Op.READ_RESPONSE, Op.ATOMIC_ACK}


class Nak(Enum):
    """AETH NAK codes."""

    SEQUENCE = "sequence"
    INVALID_REQUEST = "invalid"
    REMOTE_ACCESS = "access"
    REMOTE_OPERATION = "operation"


@dataclass(frozen=True)
class Packet:
    """One packet; fields that its opcode does not carry stay at their defaults."""

    op: Op
    source: str  # host
    to: str
    source_qpn: int
    dest_qpn: int
    psn: int
    first: bool = True
    last: bool = True
    payload: bytes = b""
    immediate: int | None = None
    invalidate: int | None = None
    address: int = 0
    rkey: int = 0
    length: int = 0
    compare: int = 0
    operand: int = 0
    qkey: int = 0
    nak: Nak | None = None
    rnr_timer: int = 0
    original: int = 0
    solicited: bool = False

    @property
    def label(self) -> str:
        """The packet as a diagram shows it."""
        name = self.op.value
        if self.op in (Op.SEND, Op.WRITE, Op.READ_RESPONSE) and not (self.first and self.last):
            name += " " + ("first" if self.first else "last" if self.last else "middle")
        if self.immediate is not None:
            name += "+imm"
        if self.invalidate is not None:
            name += "+inv"
        if self.nak is not None:
            name += " " + self.nak.value
        return f"{name} PSN={self.psn}"

    @property
    def size(self) -> int:
        """Bytes on the wire, roughly: payload and 40 bytes of headers."""
        return len(self.payload) + 40
