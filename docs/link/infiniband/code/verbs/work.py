"""Work requests, completions, completion queues and receive queues.

ibv_post_send(3), ibv_post_recv(3), ibv_poll_cq(3), ibv_req_notify_cq(3) of rdma-core v64.0;
numbers of the statuses from libibverbs/verbs.h at that tag.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, IntEnum, IntFlag

from .memory import Bind, ProtectionDomain, Window
from .states import Service, VerbsError


class Status(IntEnum):
    """ibv_wc_status, those that the simulator can give."""

    SUCCESS = 0
    LOC_LEN_ERR = 1
    LOC_QP_OP_ERR = 2
    LOC_PROT_ERR = 4
    WR_FLUSH_ERR = 5
    MW_BIND_ERR = 6
    REM_INV_REQ_ERR = 9
    REM_ACCESS_ERR = 10
    REM_OP_ERR = 11
    RETRY_EXC_ERR = 12
    RNR_RETRY_EXC_ERR = 13


class Opcode(Enum):
    """ibv_wr_opcode."""

    SEND = "SEND"
    SEND_WITH_IMM = "SEND_WITH_IMM"
    SEND_WITH_INV = "SEND_WITH_INV"
    RDMA_WRITE = "RDMA_WRITE"
    RDMA_WRITE_WITH_IMM = "RDMA_WRITE_WITH_IMM"
    RDMA_READ = "RDMA_READ"
    ATOMIC_CMP_AND_SWP = "ATOMIC_CMP_AND_SWP"
    ATOMIC_FETCH_AND_ADD = "ATOMIC_FETCH_AND_ADD"
    LOCAL_INV = "LOCAL_INV"
    BIND_MW = "BIND_MW"


_O = Opcode
ATOMICS = {_O.ATOMIC_CMP_AND_SWP, _O.ATOMIC_FETCH_AND_ADD}
READING = {_O.RDMA_READ, *ATOMICS}
LOCAL = {_O.LOCAL_INV, _O.BIND_MW}
SENDS = {_O.SEND, _O.SEND_WITH_IMM, _O.SEND_WITH_INV}
WRITES = {_O.RDMA_WRITE, _O.RDMA_WRITE_WITH_IMM}
WC_OPCODES = {  # where ibv_wc_opcode has another name (rxe_comp.c, wr_to_wc_opcode)
    _O.SEND_WITH_IMM: "SEND",
    _O.SEND_WITH_INV: "SEND",
    _O.RDMA_WRITE_WITH_IMM: "RDMA_WRITE",
    _O.ATOMIC_CMP_AND_SWP: "COMP_SWAP",
    _O.ATOMIC_FETCH_AND_ADD: "FETCH_ADD",
}
ALLOWED = {  # the table of ibv_post_send(3)
    Service.RC: set(Opcode),
    Service.UC: SENDS | WRITES | LOCAL,
    Service.UD: {_O.SEND, _O.SEND_WITH_IMM},
}


class Flag(IntFlag):
    """ibv_send_flags."""

    NONE = 0
    FENCE = 1
    SIGNALED = 2
    SOLICITED = 4
    INLINE = 8


@dataclass(frozen=True)
class Sge:
    """One entry of a scatter/gather list."""

    address: int
    length: int
    lkey: int = 0


@dataclass(frozen=True)
class SendWR:
    """ibv_send_wr; `host`, `qpn`, `qkey` are the address of a UD message."""

    wr_id: int
    opcode: Opcode
    sges: tuple[Sge, ...] = ()
    flags: Flag = Flag.SIGNALED
    immediate: int | None = None
    invalidate: int | None = None
    remote_address: int = 0
    rkey: int = 0
    compare_add: int = 0
    swap: int = 0
    window: Window | None = None
    bind: Bind | None = None
    host: str = ""
    qpn: int = 0
    qkey: int = 0

    @property
    def length(self) -> int:
        return sum(sge.length for sge in self.sges)


@dataclass(frozen=True)
class RecvWR:
    """ibv_recv_wr."""

    wr_id: int
    sges: tuple[Sge, ...] = ()

    @property
    def length(self) -> int:
        return sum(sge.length for sge in self.sges)


@dataclass
class Completion:
    """ibv_wc. In error only wr_id, status and qpn are valid, as ibv_poll_cq(3) says."""

    wr_id: int
    status: Status
    qpn: int
    opcode: str = ""
    byte_len: int = 0
    immediate: int | None = None
    invalidated: int | None = None
    source_qpn: int | None = None
    solicited: bool = False
    release: Callable[[], None] = field(default=lambda: None, repr=False)


class CompletionQueue:
    """A queue of completions that dies when it overruns."""

    def __init__(self, capacity: int = 64) -> None:
        self.capacity = capacity
        self.entries: deque[Completion] = deque()
        self.dead = False
        self.notifications = 0
        self._armed: str | None = None

    def request_notify(self, solicited_only: bool = False) -> None:
        """ibv_req_notify_cq: one event, then it must be asked for again."""
        self._armed = "solicited" if solicited_only else "any"

    def push(self, completion: Completion) -> bool:
        """Add one; False is an overrun (IBV_EVENT_CQ_ERR)."""
        if self.dead or len(self.entries) >= self.capacity:
            self.dead = True
            return False
        self.entries.append(completion)
        urgent = completion.solicited or completion.status is not Status.SUCCESS
        if self._armed == "any" or (self._armed == "solicited" and urgent):
            self._armed = None
            self.notifications += 1
        return True

    def poll(self, most: int = 64) -> list[Completion]:
        """ibv_poll_cq: remove completions; only now are their slots free again."""
        if self.dead:
            raise VerbsError("EIO", "the completion queue overran")
        taken = [self.entries.popleft() for _ in range(min(most, len(self.entries)))]
        for completion in taken:
            completion.release()
        return taken


class ReceiveQueue:
    """Receives of one queue pair, or of many (an SRQ, when `shared`, with a domain of its own)."""

    def __init__(
        self, capacity: int = 16, shared: bool = False, pd: ProtectionDomain | None = None
    ) -> None:
        self.capacity = capacity
        self.shared, self.pd = shared, pd
        self.waiting: deque[RecvWR] = deque()
        self.used = 0
        self.limit = 0
        self.limit_events = 0

    def post(self, request: RecvWR) -> None:
        if self.used >= self.capacity:
            raise VerbsError("ENOMEM", "the receive queue is full")
        self.used += 1
        self.waiting.append(request)

    def take(self) -> RecvWR | None:
        """Give the oldest receive; below the limit an SRQ says so once (rxe get_srq_wqe)."""
        if not self.waiting:
            return None
        request = self.waiting.popleft()
        if self.limit and len(self.waiting) < self.limit:
            self.limit = 0
            self.limit_events += 1
        return request

    def release(self) -> None:
        self.used -= 1
