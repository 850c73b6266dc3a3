"""Making the packets of a reliable request.

A READ asks once for all that is still missing; SENDs and WRITEs are cut at the path MTU, with
immediate data and the rkey to invalidate in the last packet only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import psn
from .packet import Op, Packet
from .work import ATOMICS, WRITES, Flag, Opcode

if TYPE_CHECKING:
    from .qp import QueuePair, Wqe


def build(qp: QueuePair, wqe: Wqe, step: int) -> Packet:
    """Return packet number `step` of a request; its data is read from memory now."""
    wr, a = wqe.wr, qp.attributes
    offset = step * a.path_mtu
    number = psn.plus(wqe.first_psn or 0, step)
    who = (qp.host.name, a.av, qp.qpn, a.dest_qpn, number)
    if wr.opcode is Opcode.RDMA_READ:
        return Packet(
            Op.READ_REQUEST,
            *who,
            address=wr.remote_address + offset,
            rkey=wr.rkey,
            length=wr.length - offset,
        )
    if wr.opcode in ATOMICS:
        swap = wr.opcode is Opcode.ATOMIC_CMP_AND_SWP
        return Packet(
            Op.CMP_SWAP if swap else Op.FETCH_ADD,
            *who,
            address=wr.remote_address,
            rkey=wr.rkey,
            length=8,
            compare=wr.compare_add if swap else 0,
            operand=wr.swap if swap else wr.compare_add,
        )
    last = number == wqe.last_psn
    return Packet(
        Op.WRITE if wr.opcode in WRITES else Op.SEND,
        *who,
        first=step == 0,
        last=last,
        payload=qp.payload(wqe, offset, a.path_mtu),
        immediate=wr.immediate if last else None,
        invalidate=wr.invalidate if last else None,
        address=wr.remote_address,
        rkey=wr.rkey,
        length=wr.length,
        solicited=last and bool(wr.flags & Flag.SOLICITED),
    )
