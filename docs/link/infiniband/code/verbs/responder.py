"""The responder of a reliable connection: what a request must pass, and what it answers.

The order of the checks is that of Linux rxe_resp.c (commit 034e285f8b99): PSN, order of
opcodes, the queue pair's rights, a receive, length, rkey, then execution. Two answers follow
the specification instead of rxe: a receive that is too short gives LOC_LEN_ERR here (rxe:
REM_INV_REQ_ERR on both sides), a receive with a bad lkey LOC_PROT_ERR (rxe: LOC_QP_OP_ERR);
so does pib_rc.c of nminoru/pib (commit f2f508c685b2). That file quotes C10-87: a WRITE with
immediate that fails takes no receive, and says that Mellanox adapters may complete one in error
(LOC_ACCESS_ERR, 8). After an RNR NAK what follows is dropped unanswered, as in qib_rc.c (commit
0c2fe82a9b10, r_nak_state); rxe sends a sequence NAK too. More READs than max_dest_rd_atomic are an
invalid request, as in qib and pib; rxe lets them pass. A SEND that would invalidate a wrong rkey
is refused by a NAK here; rxe acknowledges it and fails on its own side only (class J). Each
message is acknowledged by itself, though one ACK may stand for many.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import simpy

from . import psn
from .memory import Access
from .packet import Nak, Op, Packet
from .states import State
from .wire import Process
from .work import Completion, RecvWR, Status

if TYPE_CHECKING:
    from .qp import QueuePair

READ_US = 0.5  # fetching the data of a READ from memory; chosen
RIGHTS = {
    Op.WRITE: Access.REMOTE_WRITE,
    Op.READ_REQUEST: Access.REMOTE_READ,
    Op.CMP_SWAP: Access.REMOTE_ATOMIC,
    Op.FETCH_ADD: Access.REMOTE_ATOMIC,
}


def _same(packet: Packet) -> Packet:
    return packet


@dataclass
class Resource:
    """What is kept of a READ or atomic, so that a duplicate can be answered."""

    first: int
    last: int
    original: int | None = None  # an atomic's result


class RcResponder:
    """Executes the requests that arrive, in the order of their PSNs."""

    def __init__(self, qp: QueuePair) -> None:
        self.qp = qp
        self.expected = 0
        self.nak_sent = False
        self.message: Op | None = None  # a message that has begun and not ended
        self.receive: RecvWR | None = None
        self.filled = 0
        self.target = (0, 0, 0)  # address, rkey, length of a WRITE
        self.resources: deque[Resource] = deque(maxlen=1)
        self.busy = 0  # READs and atomics not yet answered
        self.replies: simpy.Store = simpy.Store(qp.host.env)

    def start(self) -> None:
        """INIT to RTR."""
        attributes = self.qp.attributes
        self.expected = attributes.rq_psn
        self.resources = deque(maxlen=max(1, attributes.max_dest_rd_atomic))
        self.qp.host.env.process(self._answer())

    def flush(self) -> None:
        """A receive that a message had taken is flushed with the others."""
        if self.receive is not None:
            wr, self.receive = self.receive, None
            self.qp.complete_recv(Completion(wr.wr_id, Status.WR_FLUSH_ERR, self.qp.qpn))

    def request(self, packet: Packet) -> None:
        """Check and execute one packet."""
        if self.qp.state not in (State.RTR, State.RTS, State.SQD, State.SQE):
            self.qp.host.show("drop", (self.qp.host.nic, None), packet.label, "not-ready")
            return
        gap = psn.minus(packet.psn, self.expected)
        if gap < 0:
            self._duplicate(packet)
        elif gap > 0:
            self.qp.host.show("drop", (self.qp.host.nic, None), packet.label, "gap")
            if not self.nak_sent:
                self.nak_sent = True
                self._reply(Op.NAK, self.expected, nak=Nak.SEQUENCE)
        else:
            self.nak_sent = False
            self._expected(packet)

    def _expected(self, packet: Packet) -> None:
        refused = self._refusal(packet)
        if refused is not None:
            self._refuse(packet, *refused)
        elif self._needs_receive(packet) and not self.qp.receives.waiting:
            self.nak_sent = True  # silence until this packet comes again
            timer = self.qp.attributes.min_rnr_timer
            self.qp.host.show("drop", (self.qp.host.nic, None), packet.label, "no-receive")
            self._reply(Op.RNR_NAK, packet.psn, rnr_timer=timer)
        elif not self._reachable(packet):
            self._refuse(packet, Nak.REMOTE_ACCESS, "IBV_EVENT_QP_ACCESS_ERR")
        elif packet.op is Op.READ_REQUEST:
            self._read(packet)
        elif packet.op in (Op.CMP_SWAP, Op.FETCH_ADD):
            self._atomic(packet)
        else:
            if self._needs_receive(packet):
                self.receive, self.filled = self.qp.receives.take(), 0
            self._place(packet)

    @staticmethod
    def _needs_receive(packet: Packet) -> bool:
        """SENDs take a receive with their first packet, a WRITE with immediate with its last."""
        if packet.op is Op.SEND:
            return packet.first
        return packet.op is Op.WRITE and packet.immediate is not None

    def _refusal(self, packet: Packet) -> tuple[Nak, str] | None:
        """Return why the request cannot be executed."""
        invalid = (Nak.INVALID_REQUEST, "IBV_EVENT_QP_REQ_ERR")
        if (self.message is None) != packet.first or self.message not in (None, packet.op):
            return invalid
        right = RIGHTS.get(packet.op, Access.LOCAL_READ)
        if self.qp.attributes.access_flags & right != right:
            return invalid
        if packet.op not in (Op.SEND, Op.WRITE):
            if self.busy >= self.qp.attributes.max_dest_rd_atomic:
                return invalid
            if packet.op is not Op.READ_REQUEST and packet.address % 8:
                return invalid
        return None

    def _reachable(self, packet: Packet) -> bool:
        """rkey, domain, range and right of a first packet; zero bytes need none."""
        if packet.op is Op.SEND or not packet.first or packet.length == 0:
            return True
        span, right = (packet.address, packet.length), RIGHTS[packet.op]
        return self.qp.host.memory.remote(self.qp.pd, self.qp.qpn, packet.rkey, span, right)

    def _refuse(self, packet: Packet, nak: Nak, event: str, status: Status | None = None) -> None:
        """Answer with a NAK that ends the connection."""
        self._reply(Op.NAK, packet.psn, nak=nak)
        if status is not None and self.receive is not None:
            wr, self.receive = self.receive, None
            self.qp.complete_recv(Completion(wr.wr_id, status, self.qp.qpn))
            event = ""
        self.qp.fail(event)

    def _place(self, packet: Packet) -> None:
        """Put the payload of a SEND or a WRITE into memory."""
        qp = self.qp
        if packet.op is Op.SEND:
            wr = self.receive
            assert wr is not None
            if self.filled + len(packet.payload) > wr.length:
                self._refuse(packet, Nak.INVALID_REQUEST, "", Status.LOC_LEN_ERR)
                return
            if not qp.writable(wr):
                self._refuse(packet, Nak.REMOTE_OPERATION, "", Status.LOC_PROT_ERR)
                return
            qp.scatter(wr.sges, self.filled, packet.payload)
            self.filled += len(packet.payload)
        else:
            if packet.first:
                self.target = (packet.address, 0, packet.length)
            address, done, length = self.target
            qp.host.memory.write(address + done, packet.payload)
            self.target = (address, done + len(packet.payload), length)
            label = (f"写入 {len(packet.payload)} B", f"{len(packet.payload)} B written")
            qp.host.show("memory", (qp.host.nic, None), label, "placed")
        self.message = None if packet.last else packet.op
        self.expected = psn.plus(packet.psn, 1)
        if packet.last:
            self._finish(packet)

    def _finish(self, packet: Packet) -> None:
        if packet.invalidate is not None and not self.qp.host.memory.invalidate(packet.invalidate):
            self._refuse(packet, Nak.REMOTE_OPERATION, "", Status.REM_INV_REQ_ERR)
            return
        self._reply(Op.ACK, packet.psn)
        if self.receive is not None:
            wr, self.receive = self.receive, None
            write = packet.op is Op.WRITE
            self.qp.complete_recv(
                Completion(
                    wr.wr_id,
                    Status.SUCCESS,
                    self.qp.qpn,
                    "RECV_RDMA_WITH_IMM" if write else "RECV",
                    packet.length if write else self.filled,
                    immediate=packet.immediate,
                    invalidated=packet.invalidate,
                    solicited=packet.solicited,
                )
            )

    # READs and atomics

    def _read(self, packet: Packet) -> None:
        numbers = psn.packets(packet.length, self.qp.attributes.path_mtu)
        last = psn.plus(packet.psn, numbers - 1)
        self.resources.append(Resource(packet.psn, last))
        self.expected = psn.plus(last, 1)
        self.busy += 1
        self.replies.put((packet, True))

    def _atomic(self, packet: Packet) -> None:
        memory = self.qp.host.memory
        original = int.from_bytes(memory.read(packet.address, 8), "little")
        if packet.op is Op.FETCH_ADD:
            value = (original + packet.operand) % (1 << 64)
        else:
            value = packet.operand if original == packet.compare else original
        memory.write(packet.address, value.to_bytes(8, "little"))
        label = f"{original} → {value}"
        self.qp.host.show("memory", (self.qp.host.nic, None), label, "atomic-done")
        self.resources.append(Resource(packet.psn, packet.psn, original))
        self.expected = psn.plus(packet.psn, 1)
        self._reply(Op.ATOMIC_ACK, packet.psn, original=original)

    def _duplicate(self, packet: Packet) -> None:
        """Acknowledge again, read again, or repeat a result; never execute twice."""
        label = (f"重复：{packet.label}", f"again: {packet.label}")
        self.qp.host.show("drop", (self.qp.host.nic, None), label, "duplicate")
        if packet.op in (Op.SEND, Op.WRITE):
            self._reply(Op.ACK, psn.plus(self.expected, -1))
            return
        for kept in self.resources:
            if psn.minus(packet.psn, kept.first) >= 0 and psn.minus(packet.psn, kept.last) <= 0:
                if kept.original is None:
                    self.replies.put((packet, False))
                else:
                    self._reply(Op.ATOMIC_ACK, packet.psn, original=kept.original)

    # Answering, in order

    def _reply(
        self,
        op: Op,
        number: int,
        *,
        nak: Nak | None = None,
        rnr_timer: int = 0,
        original: int = 0,
    ) -> None:
        a = self.qp.attributes
        who = (self.qp.host.name, a.av, self.qp.qpn, a.dest_qpn, number)
        self.replies.put(Packet(op, *who, nak=nak, rnr_timer=rnr_timer, original=original))

    def _answer(self) -> Process:
        host = self.qp.host
        while True:
            reply = yield self.replies.get()
            if self.qp.responder is not self:
                return
            if isinstance(reply, Packet):
                yield from host.wire.send(host.port, partial(_same, reply))
            elif self.qp.state is not State.ERR:
                yield from self._send_data(*reply)

    def _send_data(self, request: Packet, new: bool) -> Process:
        host, mtu = self.qp.host, self.qp.attributes.path_mtu
        yield host.env.timeout(READ_US)
        numbers = psn.packets(request.length, mtu)
        for step in range(numbers):

            def make(step: int = step) -> Packet:
                start = request.address + step * mtu
                length = min(mtu, request.length - step * mtu)
                a = self.qp.attributes
                return Packet(
                    Op.READ_RESPONSE,
                    host.name,
                    a.av,
                    self.qp.qpn,
                    a.dest_qpn,
                    psn.plus(request.psn, step),
                    first=step == 0,
                    last=step == numbers - 1,
                    payload=host.memory.read(start, length),
                )

            yield from host.wire.send(host.port, make)
        if new:
            self.busy -= 1
