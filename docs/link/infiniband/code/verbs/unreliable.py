"""UC and UD: no acknowledgements, so a completion says only that the message has left.

UC drops the rest of a message in which a packet is missing (Linux rxe_resp.c, check_psn); a UD
message is one packet, its receive buffer begins with 40 bytes for the GRH (ibv_post_recv(3)),
and a wrong Q_Key or a missing receive drops it in silence. So does a receive that is too short
(rxe: only without a shared receive queue, with one it completes the receive in error). A receive
whose own lkey is wrong is a fault of this side: LOC_PROT_ERR and ERR, though the sender knows
nothing (class A for all services in rxe_resp.c, which names it LOC_QP_OP_ERR; qib_ud.c, commit
9902aa4728fe, fails the queue pair too).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from . import psn
from .memory import Access
from .packet import Op, Packet
from .states import Service, State
from .wire import BYTES_PER_US, DOORBELL_US, Process
from .work import LOCAL, WRITES, Completion, Flag, Opcode, RecvWR, Status

if TYPE_CHECKING:
    from .qp import QueuePair, Wqe

GRH = 40


class UnreliableRequester:
    """Sends and forgets."""

    def __init__(self, qp: QueuePair) -> None:
        self.qp = qp
        self.queue: deque[Wqe] = deque()
        self.step = 0
        self.next_psn = 0
        self.wake = qp.host.env.event()

    def start(self) -> None:
        self.next_psn = self.qp.attributes.sq_psn
        self.qp.host.env.process(self._run())

    def stop(self) -> None:
        self.queue.clear()
        self.step = 0

    def kick(self) -> None:
        if not self.wake.triggered:
            self.wake.succeed()

    def response(self, packet: Packet) -> None:
        """Nothing is ever answered."""

    def post(self, wqe: Wqe) -> None:
        self.queue.append(wqe)
        if self.qp.state in (State.ERR, State.SQE):
            self.flush()
        else:
            self.kick()

    def flush(self) -> None:
        left = list(self.queue)
        self.stop()
        for wqe in left:
            wqe.status = Status.WR_FLUSH_ERR
            self.qp.complete_send(wqe)

    def _run(self) -> Process:
        if self.queue:
            yield self.qp.host.env.timeout(DOORBELL_US)
        while self.qp.requester is self:
            if self.queue and self.qp.state is State.RTS:
                yield from self.qp.host.wire.send(self.qp.host.port, self._next)
            else:
                self.wake = self.qp.host.env.event()
                yield self.wake
                yield self.qp.host.env.timeout(DOORBELL_US)

    def _fail(self, wqe: Wqe, status: Status) -> None:
        """A bad send request stops the send queue (SQE); receiving goes on."""
        wqe.status = status
        self.queue.popleft()
        self.qp.complete_send(wqe)
        self.qp.state = State.SQE
        self.qp.host.show("state", (self.qp.host.nic, None), "RTS → SQE", "to-sqe")
        self.flush()

    def _local(self, wqe: Wqe) -> None:
        qp, wr = self.qp, wqe.wr
        if wr.opcode is Opcode.BIND_MW and wr.window and wr.bind:
            good = qp.host.memory.bind(wr.window, qp.qpn, qp.pd, wr.bind)
            bad = Status.MW_BIND_ERR
        else:
            good, bad = qp.host.memory.invalidate(wr.invalidate or 0), Status.LOC_QP_OP_ERR
        if good:
            self.queue.popleft()
            qp.complete_send(wqe)
        else:
            self._fail(wqe, bad)

    def _next(self) -> Packet | None:
        if not self.queue or self.qp.state is not State.RTS:
            return None
        qp, wqe, a = self.qp, self.queue[0], self.qp.attributes
        wr = wqe.wr
        if wr.opcode in LOCAL:
            self._local(wqe)
            return None
        if not qp.local_check(wqe, Access.LOCAL_READ):
            self._fail(wqe, Status.LOC_PROT_ERR)
            return None
        datagram = qp.service is Service.UD
        if datagram and wr.length > a.path_mtu:
            # C10-93.1.1, quoted in rxe_req.c: no packet and no error either.
            self.queue.popleft()
            qp.complete_send(wqe)
            return None
        numbers = wqe.numbers(a.path_mtu)
        step, last = self.step, self.step == numbers - 1
        packet = Packet(
            Op.WRITE if wr.opcode in WRITES else Op.SEND,
            qp.host.name,
            wr.host if datagram else a.av,
            qp.qpn,
            wr.qpn if datagram else a.dest_qpn,
            self.next_psn,
            first=step == 0,
            last=last,
            payload=qp.payload(wqe, step * a.path_mtu, a.path_mtu),
            immediate=wr.immediate if last else None,
            invalidate=wr.invalidate if last else None,
            address=wr.remote_address,
            rkey=wr.rkey,
            length=wr.length,
            qkey=wr.qkey,
            solicited=last and bool(wr.flags & Flag.SOLICITED),
        )
        self.next_psn = psn.plus(self.next_psn, 1)
        self.step = 0 if last else self.step + 1
        if last:
            self.queue.popleft()
            qp.host.env.process(self._left(wqe, packet))
        return packet

    def _left(self, wqe: Wqe, packet: Packet) -> Process:
        """Complete once the last packet is on the wire."""
        yield self.qp.host.env.timeout(packet.size / BYTES_PER_US)
        self.qp.complete_send(wqe)


class UnreliableResponder:
    """Takes what arrives and drops what does not fit."""

    def __init__(self, qp: QueuePair) -> None:
        self.qp = qp
        self.expected = 0
        self.dropping = False
        self.receive: RecvWR | None = None
        self.filled = 0
        self.target = 0

    def start(self) -> None:
        self.expected = self.qp.attributes.rq_psn

    def flush(self) -> None:
        if self.receive is not None:
            wr, self.receive = self.receive, None
            self.qp.complete_recv(Completion(wr.wr_id, Status.WR_FLUSH_ERR, self.qp.qpn))

    def _drop(self, packet: Packet, rule: str) -> None:
        self.dropping = not packet.last
        self.qp.host.show("drop", (self.qp.host.nic, None), packet.label, rule)

    def request(self, packet: Packet) -> None:
        qp = self.qp
        if qp.state not in (State.RTR, State.RTS, State.SQD, State.SQE):
            self._drop(packet, "not-ready")
        elif qp.service is Service.UD:
            self._datagram(packet)
        else:
            self._connected(packet)

    def _faulty(self, wr: RecvWR) -> bool:
        """Whether the receive may not be written: then it completes in error, and the QP fails."""
        if self.qp.writable(wr):
            return False
        self.receive = None
        self.qp.complete_recv(Completion(wr.wr_id, Status.LOC_PROT_ERR, self.qp.qpn))
        self.qp.fail()
        return True

    def _datagram(self, packet: Packet) -> None:
        qp = self.qp
        if packet.qkey != qp.attributes.qkey:
            self._drop(packet, "bad-qkey")
            return
        if not qp.receives.waiting:
            self._drop(packet, "silent-no-receive")
            return
        if GRH + len(packet.payload) > qp.receives.waiting[0].length:
            self._drop(packet, "silent-short")
            return
        wr = qp.receives.take()
        assert wr is not None
        if self._faulty(wr):
            return
        qp.scatter(wr.sges, 0, bytes(GRH))
        qp.scatter(wr.sges, GRH, packet.payload)
        self._complete(wr, packet, GRH + len(packet.payload), packet.source_qpn)

    def _connected(self, packet: Packet) -> None:
        qp = self.qp
        if packet.psn != self.expected and not packet.first:
            self.dropping = True
        self.expected = psn.plus(packet.psn, 1)
        if packet.first:
            self.dropping, self.filled = False, 0
        if self.dropping:
            self._drop(packet, "uc-gap")
            self.dropping = True
            return
        wants = packet.first if packet.op is Op.SEND else packet.immediate is not None
        if wants and self.receive is None:
            self.receive = qp.receives.take()  # a broken message leaves its receive for reuse
        if wants and self.receive is None:
            self._drop(packet, "silent-no-receive")
            return
        if packet.op is Op.WRITE:
            if not self._write(packet):
                return
        elif self.receive is not None:
            if self.filled + len(packet.payload) > self.receive.length:
                self._drop(packet, "silent-short")
                return
            if self._faulty(self.receive):
                return
            qp.scatter(self.receive.sges, self.filled, packet.payload)
            self.filled += len(packet.payload)
        if packet.last and self.receive is not None and (wants or packet.op is Op.SEND):
            wr, self.receive = self.receive, None
            length = packet.length if packet.op is Op.WRITE else self.filled
            if packet.invalidate is not None:
                qp.host.memory.invalidate(packet.invalidate)
            self._complete(wr, packet, length, None)

    def _write(self, packet: Packet) -> bool:
        qp, right = self.qp, Access.REMOTE_WRITE
        span = (packet.address, packet.length)
        if packet.first:
            self.target = packet.address
            allowed = qp.attributes.access_flags & right and qp.host.memory.remote(
                qp.pd, qp.qpn, packet.rkey, span, right
            )
            if packet.length and not allowed:
                self._drop(packet, "silent-rkey")
                return False
        qp.host.memory.write(self.target, packet.payload)
        self.target += len(packet.payload)
        label = (f"写入 {len(packet.payload)} B", f"{len(packet.payload)} B written")
        qp.host.show("memory", (qp.host.nic, None), label, "placed")
        return True

    def _complete(self, wr: RecvWR, packet: Packet, length: int, source: int | None) -> None:
        write = packet.op is Op.WRITE
        self.qp.complete_recv(
            Completion(
                wr.wr_id,
                Status.SUCCESS,
                self.qp.qpn,
                "RECV_RDMA_WITH_IMM" if write else "RECV",
                length,
                immediate=packet.immediate,
                invalidated=packet.invalidate,
                source_qpn=source,
                solicited=packet.solicited,
            )
        )
