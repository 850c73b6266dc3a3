"""States and memory: what happens before and beside the data."""

from __future__ import annotations

from ..lab import EVERYTHING, PSN_A, PSN_B, Lab, receive, send
from ..memory import Access, Bind
from ..qp import QueuePair
from ..states import State, VerbsError
from ..wire import Process
from ..work import Flag, Opcode, SendWR, Sge


def state_transitions() -> Lab:
    """RESET to RTS on both sides, with two mistakes on the way."""
    lab = Lab()
    a, b = QueuePair(lab.a, 0x11), QueuePair(lab.b, 0x21)
    ra, rb = lab.region(lab.a, 0, 4096), lab.region(lab.b, 0, 4096)
    init = {"pkey_index": 0, "port": 1, "access_flags": int(EVERYTHING)}
    ready = {"timeout": 14, "retry_cnt": 7, "rnr_retry": 7, "max_rd_atomic": 1}

    def peer(mine: QueuePair, other: QueuePair, psn: int) -> dict[str, object]:
        return {
            "av": other.host.name,
            "path_mtu": 1024,
            "dest_qpn": other.qpn,
            "rq_psn": psn,
            "max_dest_rd_atomic": 1,
            "min_rnr_timer": 12,
        }

    def run() -> Process:
        for qp in (a, b):
            qp.modify(State.INIT, **init)
            yield lab.env.timeout(1)
        b.post_recv(receive(1, rb, 4096))
        yield lab.env.timeout(1)
        try:
            a.post_send(send(1, ra, 64))
        except VerbsError:
            lanes = (lab.a.app, lab.a.nic)
            lab.a.show("error", lanes, "post_send: EINVAL", "app", **_EARLY)
        yield lab.env.timeout(1)
        wrong = peer(a, b, PSN_B)
        del wrong["rq_psn"]
        try:
            a.modify(State.RTR, **wrong)
        except VerbsError:
            yield lab.env.timeout(1)
        a.modify(State.RTR, **peer(a, b, PSN_B))
        yield lab.env.timeout(1)
        b.modify(State.RTR, **peer(b, a, PSN_A))
        yield lab.env.timeout(1)
        a.modify(State.RTS, sq_psn=PSN_A, **ready)
        yield lab.env.timeout(1)
        a.post_send(send(1, ra, 64))
        yield lab.env.timeout(4)
        b.modify(State.RTS, sq_psn=PSN_B, **ready)

    lab.env.process(run())
    lab.run()
    return lab


_EARLY = {
    "zh": "INIT 和 RTR 里不能投递发送，要到 RTS。",
    "en": "No sends in INIT or RTR: the requester is ready only in RTS.",
}


def memory_window() -> Lab:
    """Bind a type 2 window, let the peer write through it, invalidate it."""
    lab = Lab()
    pair = lab.pair()
    rb = lab.region(lab.b, 0, 4096, EVERYTHING | Access.MW_BIND)
    ra = lab.region(lab.a, 0, 4096)
    window = lab.b.memory.allocate_window(lab.b.pd, 2)
    bind = Bind(rb, 1024, 512, Access.REMOTE_WRITE, key=0x02)

    def write(wr_id: int, rkey: int) -> SendWR:
        return send(wr_id, ra, 256, Opcode.RDMA_WRITE, remote_address=1024, rkey=rkey)

    def run() -> Process:
        pair.b.post_send(SendWR(1, Opcode.BIND_MW, window=window, bind=bind))
        yield lab.env.timeout(2)
        rkey = window.rkey
        lab.b.memory.write(0, rkey.to_bytes(4, "little"))
        pair.a.post_recv(receive(1, ra, 4096, 0))
        pair.b.post_send(SendWR(2, Opcode.SEND, (Sge(0, 4, rb.lkey),)))
        yield lab.env.timeout(4)
        pair.a.post_send(write(3, rkey))
        yield lab.env.timeout(4)
        pair.b.post_send(SendWR(4, Opcode.LOCAL_INV, invalidate=rkey))
        yield lab.env.timeout(2)
        pair.a.post_send(write(5, rkey))

    lab.env.process(run())
    lab.run()
    return lab


def cq_order() -> Lab:
    """Two queue pairs, one completion queue: order inside a queue pair, none between them."""
    lab = Lab()
    one = lab.pair(qpn=0x11, a_options={"name": "QP1"}, b_options={"name": "QP1"})
    shared = {"name": "QP2", "send_cq": one.a.send_cq}
    two = lab.pair(qpn=0x12, a_options=shared, b_options={"name": "QP2"})
    ra, rb = lab.region(lab.a, 0, 16384), lab.region(lab.b, 0, 16384)
    remote = {"remote_address": 0, "rkey": rb.rkey}
    one.a.post_send(
        send(1, ra, 4096, Opcode.RDMA_READ, **remote),
        send(2, ra, 64, Opcode.RDMA_WRITE, offset=8192, **{**remote, "remote_address": 8192}),
    )
    two.a.post_send(send(3, ra, 64, Opcode.RDMA_WRITE, offset=8192, **remote))
    lab.run()
    return lab


def unsignaled() -> Lab:
    """One completion for four requests, and a send queue that is full until it is polled."""
    lab = Lab()
    pair = lab.pair(a_options={"max_send": 4})
    ra, rb = lab.region(lab.a, 0, 4096), lab.region(lab.b, 0, 4096)
    remote = {"remote_address": 0, "rkey": rb.rkey}

    def write(wr_id: int, flags: Flag = Flag.NONE) -> SendWR:
        return send(wr_id, ra, 64, Opcode.RDMA_WRITE, flags=flags, **remote)

    def run() -> Process:
        pair.a.post_send(write(1), write(2), write(3), write(4, Flag.SIGNALED))
        yield lab.env.timeout(4)
        lanes = (lab.a.app, lab.a.nic)
        try:
            pair.a.post_send(write(5))
        except VerbsError:
            lab.a.show("error", lanes, "post_send: ENOMEM", "app", **_FULL)
        yield lab.env.timeout(0.5)
        polled = pair.a.send_cq.poll()
        label = (f"轮询到 {len(polled)} 个 CQE", f"poll: {len(polled)} CQE")
        lab.a.show("state", (lab.a.app, None), label, "app", **_FREE)
        yield lab.env.timeout(0.5)
        pair.a.post_send(write(5, Flag.SIGNALED))

    lab.env.process(run())
    lab.run()
    return lab


_FULL = {
    "zh": "四个请求都做完了，位置却还占着：要等应用轮询到 CQE。",
    "en": "All four are done, yet their places are taken until the application polls the CQE.",
}
_FREE = {
    "zh": "一个带信号的成功 CQE 说明它之前的请求都完成了，四个位置一起空出。",
    "en": "One signaled success says that all before it are done too: four places are free.",
}
SCENARIOS = {
    "state-transitions": (state_transitions, "QP 从 RESET 到 RTS", "A QP from RESET to RTS"),
    "memory-window-bind-invalidate": (
        memory_window,
        "内存窗口：绑定、使用、作废",
        "A memory window: bind, use, invalidate",
    ),
    "cq-order": (cq_order, "两个 QP 共用一个 CQ", "Two QPs, one CQ"),
    "unsignaled": (unsignaled, "四个请求，一个 CQE", "Four requests, one CQE"),
}
