"""The queue pair: states, posting, completing, and what happens when it fails.

Which states allow posting: receives from INIT, sends from RTS (Linux rxe_verbs.c, commit
02827b670851; some libraries do not look); in ERR both are taken and
flushed at once. A failing request completes with its status, the queue pair goes to ERR (a
UC or UD send queue to SQE), and all that is left flushes in order, unsignaled requests too.
RESET throws everything away without a completion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import psn
from .host import Host
from .memory import Access, ProtectionDomain
from .requester import RcRequester
from .responder import RcResponder
from .states import Attributes, Service, State, VerbsError, check
from .unreliable import UnreliableRequester, UnreliableResponder
from .work import (
    ALLOWED,
    SENDS,
    WC_OPCODES,
    WRITES,
    Completion,
    CompletionQueue,
    Flag,
    ReceiveQueue,
    RecvWR,
    SendWR,
    Sge,
    Status,
)


@dataclass(eq=False)
class Wqe:
    """A send request on its way."""

    wr: SendWR
    index: int
    inline: bytes | None
    first_psn: int | None = None
    last_psn: int = 0
    done: bool = False
    counted: bool = False  # one of max_rd_atomic
    status: Status = Status.SUCCESS

    def numbers(self, mtu: int) -> int:
        """Packet numbers that it takes: a READ those of its responses."""
        return psn.packets(self.wr.length, mtu)


class QueuePair:
    """A queue pair of one service on one host."""

    def __init__(
        self,
        host: Host,
        qpn: int,
        service: Service = Service.RC,
        pd: ProtectionDomain | None = None,
        *,
        send_cq: CompletionQueue | None = None,
        recv_cq: CompletionQueue | None = None,
        receives: ReceiveQueue | None = None,
        max_send: int = 16,
        max_inline: int = 64,
        signal_all: bool = False,
        name: str = "",
    ) -> None:
        self.host, self.qpn, self.service = host, qpn, service
        self.pd = pd or host.pd
        self.send_cq = send_cq or CompletionQueue()
        self.recv_cq = recv_cq or self.send_cq
        self.receives = receives or ReceiveQueue()
        self.max_send, self.max_inline = max_send, max_inline
        self.signal_all, self.name = signal_all, name
        self.state = State.RESET
        self.attributes = Attributes()
        self.events: list[str] = []  # asynchronous events
        self.posted = self.freed = 0
        self.requester: RcRequester | UnreliableRequester
        self.responder: RcResponder | UnreliableResponder
        self._restart()
        host.queue_pairs[qpn] = self

    def _restart(self) -> None:
        if self.service is Service.RC:
            self.requester, self.responder = RcRequester(self), RcResponder(self)
        else:
            self.requester = UnreliableRequester(self)
            self.responder = UnreliableResponder(self)

    def tag(self, label: str) -> str:
        """Put the name of the queue pair before a label, where there are several."""
        return f"{self.name} {label}".strip()

    def modify(self, state: State, **given: Any) -> None:
        """ibv_modify_qp."""
        lanes = (self.host.app, self.host.nic)
        label = self.tag(f"{self.state.value} → {state.value}")
        try:
            check(self.service, self.state, state, given)
        except VerbsError as error:
            refused = (f"{label} 被拒", f"{label} refused")
            self.host.show("error", lanes, refused, "refused", reason=str(error))
            raise
        for name, value in given.items():
            if hasattr(self.attributes, name):
                setattr(self.attributes, name, value)
        old, self.state = self.state, state
        names = ", ".join(sorted(given)) or "—"
        self.host.show("state", lanes, label, f"to-{state.value.lower()}", names=names)
        if state is State.RTR and old is State.INIT:
            self.responder.start()
        elif state is State.RTS and old is State.RTR:
            self.requester.start()
        elif state is State.RTS:
            self.requester.kick()
        elif state is State.ERR and old is not State.ERR:
            self._flush()
        elif state is State.RESET:
            self.requester.stop()
            if not self.receives.shared:
                self.receives.waiting.clear()
                self.receives.used = 0
            self.posted = self.freed = 0
            self._restart()

    def post_send(self, *requests: SendWR) -> None:
        """ibv_post_send: stops at the first request that is refused."""
        if self.state in (State.RESET, State.INIT, State.RTR):
            raise VerbsError("EINVAL", f"no sends in {self.state.value}")
        for wr in requests:
            if wr.opcode not in ALLOWED[self.service]:
                raise VerbsError("EINVAL", f"{wr.opcode.value} is not for {self.service.value}")
            inline = None
            if wr.flags & Flag.INLINE:
                if wr.opcode not in SENDS | WRITES or wr.length > self.max_inline:
                    raise VerbsError("EINVAL", "inline is for small SENDs and WRITEs")
                inline = self._gather(wr)
            if self.posted - self.freed >= self.max_send:
                raise VerbsError("ENOMEM", "the send queue is full")
            self.posted += 1
            flags = "" if self.signals(wr) else " unsig"
            flags += " fence" if wr.flags & Flag.FENCE else ""
            label = self.tag(f"{_SHORT.get(wr.opcode.value, wr.opcode.value)} #{wr.wr_id}{flags}")
            lanes = (self.host.app, self.host.nic)
            self.host.show("post", lanes, label, "post", wr=wr.wr_id)
            self.requester.post(Wqe(wr, self.posted, inline))

    def post_recv(self, *requests: RecvWR) -> None:
        """ibv_post_recv (for an SRQ post to `receives` itself)."""
        if self.state is State.RESET:
            raise VerbsError("EINVAL", "no receives in RESET")
        for wr in requests:
            self.receives.post(wr)
            label = self.tag(f"RECV #{wr.wr_id} {wr.length} B")
            self.host.show("post", (self.host.app, self.host.nic), label, "post-recv")
            if self.state is State.ERR:
                self._flush_receives()

    def signals(self, wr: SendWR) -> bool:
        return self.signal_all or bool(wr.flags & Flag.SIGNALED)

    def _gather(self, wr: SendWR) -> bytes:
        return b"".join(self.host.memory.read(s.address, s.length) for s in wr.sges)

    def payload(self, wqe: Wqe, offset: int, length: int) -> bytes:
        """Read the message's bytes now, unless they were copied when it was posted."""
        data = self._gather(wqe.wr) if wqe.inline is None else wqe.inline
        return data[offset : offset + length]

    def local_check(self, wqe: Wqe, need: Access) -> bool:
        """lkey, domain, range and right of every entry; inline data has no lkey."""
        return wqe.inline is not None or self._usable(self.pd, wqe.wr.sges, need)

    def writable(self, wr: RecvWR) -> bool:
        """The same of a receive; the domain is that of the SRQ, if there is one (qib_init_sge)."""
        return self._usable(self.receives.pd or self.pd, wr.sges, Access.LOCAL_WRITE)

    def _usable(self, pd: ProtectionDomain, sges: tuple[Sge, ...], need: Access) -> bool:
        """Entries of no bytes are passed over, as in rxe and qib."""
        local = self.host.memory.local
        return all(local(pd, s.lkey, s.address, s.length, need) for s in sges if s.length)

    def scatter(self, sges: tuple[Any, ...], offset: int, data: bytes) -> None:
        """Write bytes of a message over its scatter list."""
        for sge in sges:
            if offset < sge.length and data:
                part = data[: sge.length - offset]
                self.host.memory.write(sge.address + offset, part)
                data, offset = data[len(part) :], 0
            else:
                offset -= min(offset, sge.length)

    def complete_send(self, wqe: Wqe) -> None:
        """A send request has left the queue: a CQE if it asked for one, or failed."""
        if not self.signals(wqe.wr) and wqe.status is Status.SUCCESS:
            return

        def release() -> None:
            self.freed = max(self.freed, wqe.index)

        self._push(
            self.send_cq,
            Completion(
                wqe.wr.wr_id,
                wqe.status,
                self.qpn,
                WC_OPCODES.get(wqe.wr.opcode, wqe.wr.opcode.value),
                wqe.wr.length,
                release=release,
            ),
        )

    def complete_recv(self, completion: Completion) -> None:
        completion.release = self.receives.release
        self._push(self.recv_cq, completion)

    def _push(self, queue: CompletionQueue, completion: Completion) -> None:
        lanes = (self.host.nic, self.host.app)
        what = completion.status.name
        if completion.status is Status.SUCCESS:
            what = "OK " + _SHORT.get(completion.opcode, completion.opcode)
            if completion.immediate is not None:
                what += f" imm={completion.immediate}"
            elif completion.opcode == "RECV":
                what += f" {completion.byte_len} B"
        label = self.tag(f"CQE #{completion.wr_id} {what}")
        if queue.push(completion):
            self.host.show("cqe", lanes, label, f"status-{int(completion.status)}")
        else:
            self.host.show("error", lanes, "IBV_EVENT_CQ_ERR", "overrun")
            self.events.append("CQ_ERR")
            if self.state is not State.ERR:
                self.state = State.ERR
                self.requester.stop()

    def fail(self, event: str = "") -> None:
        """Go to ERR by itself and flush."""
        if self.state is State.ERR:
            return
        if event:
            self.events.append(event)
            self.host.show("error", (self.host.nic, self.host.app), event, "async")
        label = self.tag(f"{self.state.value} → ERR")
        self.state = State.ERR
        self.host.show("state", (self.host.nic, None), label, "failed")
        self._flush()

    def _flush(self) -> None:
        self.requester.flush()
        self._flush_receives()

    def _flush_receives(self) -> None:
        self.responder.flush()
        if self.receives.shared:
            self.events.append("QP_LAST_WQE_REACHED")
            return
        while self.receives.waiting:
            wr = self.receives.waiting.popleft()
            self.complete_recv(Completion(wr.wr_id, Status.WR_FLUSH_ERR, self.qpn))


_SHORT = {
    "COMP_SWAP": "CMP_SWP",
    "RECV_RDMA_WITH_IMM": "RECV_RDMA",
    "SEND_WITH_IMM": "SEND_IMM",
    "SEND_WITH_INV": "SEND_INV",
    "RDMA_WRITE": "WRITE",
    "RDMA_WRITE_WITH_IMM": "WRITE_IMM",
    "RDMA_READ": "READ",
    "ATOMIC_CMP_AND_SWP": "CMP_SWP",
    "ATOMIC_FETCH_AND_ADD": "FETCH_ADD",
}
