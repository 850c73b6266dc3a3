"""The requester of a reliable connection: order, acknowledgements, timers, retries.

Follows Linux rxe_req.c (commit 001345339f4c) and rxe_comp.c (06a7fcfc9a32), with these
differences, which are the specification's: retry_cnt 7 is seven retries and not endless ones;
FENCE waits for earlier READs and atomics only, not for all earlier requests. In both qib_rc.c
(commit 0c2fe82a9b10), the driver of an adapter, does as is done here.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import simpy

from . import psn, timers
from .build import build
from .memory import Access
from .packet import Nak, Op, Packet
from .states import State
from .wire import DOORBELL_US, Process
from .work import LOCAL, READING, Flag, Opcode, Status

if TYPE_CHECKING:
    from .qp import QueuePair, Wqe

NAK_STATUS = {
    Nak.INVALID_REQUEST: Status.REM_INV_REQ_ERR,
    Nak.REMOTE_ACCESS: Status.REM_ACCESS_ERR,
    Nak.REMOTE_OPERATION: Status.REM_OP_ERR,
}


class RcRequester:
    """Sends the requests of one queue pair and takes the responses to them."""

    def __init__(self, qp: QueuePair) -> None:
        self.qp = qp
        self.env = qp.host.env
        self.queue: deque[Wqe] = deque()  # not yet completed, oldest first
        self.cursor = 0  # the next of them to send
        self.step = 0  # the next packet of that one
        self.next_psn = self.oldest = 0  # to give out; oldest not acknowledged
        self.reading = 0  # READs and atomics in flight
        self.paused = False  # an RNR timer runs
        self.repeating = False  # went back and saw no progress since
        self.alarm = 0  # which ACK timer counts; 0 is none
        self.alarms = 0
        self.wake = self.env.event()

    def start(self) -> None:
        """RTR to RTS."""
        attributes = self.qp.attributes
        self.next_psn = self.oldest = attributes.sq_psn
        self._refill()
        self.env.process(self._run())

    def _refill(self) -> None:
        self.retries = self.qp.attributes.retry_cnt
        self.rnr_retries = self.qp.attributes.rnr_retry

    def stop(self) -> None:
        self.queue.clear()
        self.cursor = self.step = self.alarm = 0

    def kick(self) -> None:
        if not self.wake.triggered:
            self.wake.succeed()

    def post(self, wqe: Wqe) -> None:
        self.queue.append(wqe)
        if self.qp.state is State.ERR:
            self.flush()
        else:
            self.kick()

    def flush(self) -> None:
        """Complete all that is left with WR_FLUSH_ERR, in order."""
        left = list(self.queue)
        self.stop()
        for wqe in left:
            wqe.status = Status.WR_FLUSH_ERR
            self.qp.complete_send(wqe)

    # Sending

    def _run(self) -> Process:
        if self.queue:
            yield self.env.timeout(DOORBELL_US)
        while self.qp.requester is self:
            if self._eligible() is None:
                self.wake = self.env.event()
                yield self.wake
                yield self.env.timeout(DOORBELL_US)
            else:
                yield from self.qp.host.wire.send(self.qp.host.port, self._next)

    def _eligible(self) -> Wqe | None:
        """Return the request that may send now."""
        if self.qp.state not in (State.RTS, State.SQD) or self.paused:
            return None
        if self.cursor >= len(self.queue):
            return None
        wqe = self.queue[self.cursor]
        if wqe.status is not Status.SUCCESS or (
            self.qp.state is State.SQD and wqe.first_psn is None
        ):
            return None
        if wqe.wr.flags & Flag.FENCE and any(
            not earlier.done and earlier.wr.opcode in READING
            for earlier in list(self.queue)[: self.cursor]
        ):
            return None
        full = self.reading >= self.qp.attributes.max_rd_atomic
        if wqe.wr.opcode in READING and not wqe.counted and full:
            return None  # and all later requests wait behind it
        return wqe

    def _next(self) -> Packet | None:
        wqe = self._eligible()
        if wqe is None:
            return None
        if wqe.wr.opcode in LOCAL:
            self._local(wqe)
            return None
        mtu = self.qp.attributes.path_mtu
        if wqe.first_psn is None:
            need = Access.LOCAL_WRITE if wqe.wr.opcode in READING else Access.LOCAL_READ
            if not self.qp.local_check(wqe, need):
                wqe.status = Status.LOC_PROT_ERR
                self._retire()
                return None
            wqe.first_psn = self.next_psn
            wqe.last_psn = psn.plus(self.next_psn, wqe.numbers(mtu) - 1)
            self.next_psn = psn.plus(wqe.last_psn, 1)
        if wqe.wr.opcode in READING and not wqe.counted:
            wqe.counted = True
            self.reading += 1
        packet = build(self.qp, wqe, self.step)
        if packet.last or wqe.wr.opcode in READING:
            self.cursor, self.step = self.cursor + 1, 0
        else:
            self.step += 1
        if not self.alarm:
            self._arm()
        return packet

    def _local(self, wqe: Wqe) -> None:
        """BIND_MW and LOCAL_INV: no packet; they complete in their turn."""
        qp, wr = self.qp, wqe.wr
        if wr.opcode is Opcode.BIND_MW and wr.window and wr.bind:
            good = qp.host.memory.bind(wr.window, qp.qpn, qp.pd, wr.bind)
            wqe.status = Status.SUCCESS if good else Status.MW_BIND_ERR
            label, rule = f"bind rkey={wr.window.rkey:#x}", "bind"
        else:
            good = qp.host.memory.invalidate(wr.invalidate or 0)
            wqe.status = Status.SUCCESS if good else Status.LOC_QP_OP_ERR
            label, rule = f"invalidate {wr.invalidate or 0:#x}", "invalidate"
        if good:
            qp.host.show("memory", (qp.host.nic, None), label, rule)
            wqe.done = True
            self.cursor += 1
        self._retire()

    # Responses

    def response(self, packet: Packet) -> None:
        """Take an ACK, a NAK, or data."""
        if self.qp.state not in (State.RTS, State.SQD):
            return
        if psn.minus(packet.psn, self.oldest) < 0 or psn.minus(packet.psn, self.next_psn) >= 0:
            return  # old, or for something never sent
        if self.paused and packet.op is Op.RNR_NAK:
            return
        upto = packet.psn if packet.op is Op.ACK else psn.plus(packet.psn, -1)
        if not self._acknowledge(upto):
            self._retry("implied-nak")
            return
        self._retire()
        if not self.queue:
            return
        if packet.op in (Op.READ_RESPONSE, Op.ATOMIC_ACK):
            self._data(packet)
        elif packet.op is Op.RNR_NAK:
            self._rnr(packet)
        elif packet.nak is Nak.SEQUENCE:
            self._retry("go-back")
        elif packet.nak is not None:
            self.queue[0].status = NAK_STATUS[packet.nak]
        self._retire()
        self.kick()

    def _acknowledge(self, upto: int) -> bool:
        """Mark what `upto` covers; False when an unanswered READ or atomic is among it."""
        for wqe in self.queue:
            if wqe.done or wqe.first_psn is None:
                continue
            if psn.minus(wqe.first_psn, upto) > 0:
                break
            if wqe.wr.opcode in READING:
                return psn.minus(self.oldest, upto) > 0
            if psn.minus(wqe.last_psn, upto) <= 0:
                wqe.done = True
                self._progress(wqe.last_psn)
            else:
                self._progress(upto)
        return True

    def _progress(self, acknowledged: int) -> None:
        if psn.minus(acknowledged, self.oldest) < 0:
            return
        self.oldest = psn.plus(acknowledged, 1)
        self.repeating = False
        self._refill()
        self.alarm = 0
        if psn.minus(self.next_psn, self.oldest) > 0:
            self._arm()

    def _data(self, packet: Packet) -> None:
        wqe = next((w for w in self.queue if not w.done and w.first_psn is not None), None)
        if wqe is None or wqe.wr.opcode not in READING or wqe.first_psn is None:
            return
        offset = psn.minus(packet.psn, wqe.first_psn) * self.qp.attributes.path_mtu
        data = packet.payload
        if packet.op is Op.ATOMIC_ACK:
            data = packet.original.to_bytes(8, "little")
        self.qp.scatter(wqe.wr.sges, offset, data)
        if packet.psn == wqe.last_psn:
            wqe.done = True
            self.reading -= 1
        self._progress(packet.psn)

    def _retire(self) -> None:
        """Complete from the head on, in the order of posting."""
        while self.queue and (self.queue[0].done or self.queue[0].status):
            wqe = self.queue.popleft()
            self.cursor = max(0, self.cursor - 1)
            self.qp.complete_send(wqe)
            if wqe.status is not Status.SUCCESS:
                self.qp.fail()
                return

    # Trying again

    def _rnr(self, packet: Packet) -> None:
        if self.rnr_retries == 0:
            self.queue[0].status = Status.RNR_RETRY_EXC_ERR
            return
        if self.rnr_retries != timers.NEVER_COUNTED:
            self.rnr_retries -= 1
        self.paused, self.alarm = True, 0
        delay = timers.rnr_delay(packet.rnr_timer)
        label = f"RNR {delay / 1000:g} ms"
        self.qp.host.show("timer", (self.qp.host.nic, None), label, "rnr-wait")
        self.env.process(self._resume(delay))

    def _resume(self, delay: float) -> Process:
        yield self.env.timeout(delay)
        self.paused = False
        if self.queue:
            self._go_back()

    def _retry(self, rule: str) -> None:
        """Send again from the oldest packet that is not acknowledged."""
        if self.repeating and rule != "timeout":
            return
        if self.retries == 0:
            self.queue[0].status = Status.RETRY_EXC_ERR
            self._retire()
            return
        self.retries -= 1
        self.repeating = True
        label = (f"从 PSN={self.oldest} 重传", f"resend from PSN={self.oldest}")
        self.qp.host.show("timer", (self.qp.host.nic, None), label, rule, left=self.retries)
        self._go_back()

    def _go_back(self) -> None:
        for place, wqe in enumerate(self.queue):
            if not wqe.done and wqe.first_psn is not None:
                self.cursor = place
                self.step = max(0, psn.minus(self.oldest, wqe.first_psn))
                break
        self.alarm = 0
        self.kick()

    def _arm(self) -> None:
        delay = timers.ack_timeout(self.qp.attributes.timeout)
        if delay is not None:
            self.alarms += 1
            self.alarm = self.alarms
            self.env.process(self._ring(self.alarm, delay))

    def _ring(self, alarm: int, delay: float) -> Process:
        yield simpy.Timeout(self.env, delay)
        if alarm == self.alarm and self.qp.state in (State.RTS, State.SQD) and self.queue:
            self.alarm = 0
            self._retry("timeout")
