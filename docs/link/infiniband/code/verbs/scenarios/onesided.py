"""WRITE, READ and atomics."""

from __future__ import annotations

from ..lab import Lab, receive, send
from ..packet import Op
from ..wire import Process
from ..work import Flag, Opcode


def write() -> Lab:
    """Two packets, and the peer's application sees nothing."""
    lab = Lab()
    pair = lab.pair()
    ra, rb = lab.region(lab.a, 0, 4096), lab.region(lab.b, 0, 4096)
    pair.a.post_send(send(1, ra, 2000, Opcode.RDMA_WRITE, remote_address=0, rkey=rb.rkey))
    lab.run()
    return lab


def write_imm() -> Lab:
    """The same with immediate data: one receive is taken to notify."""
    lab = Lab()
    pair = lab.pair()
    ra, rb = lab.region(lab.a, 0, 4096), lab.region(lab.b, 0, 4096)
    more = {"remote_address": 0, "rkey": rb.rkey, "immediate": 42}

    def run() -> Process:
        pair.b.post_recv(receive(1, rb, 0))
        yield lab.env.timeout(0.5)
        pair.a.post_send(send(1, ra, 2000, Opcode.RDMA_WRITE_WITH_IMM, **more))

    lab.env.process(run())
    lab.run()
    return lab


def read() -> Lab:
    """One request, three responses; the next request's PSN comes after theirs."""
    lab = Lab()
    pair = lab.pair()
    ra, rb = lab.region(lab.a, 0, 8192), lab.region(lab.b, 0, 8192)
    remote = {"remote_address": 0, "rkey": rb.rkey}
    pair.a.post_send(
        send(1, ra, 3000, Opcode.RDMA_READ, **remote),
        send(2, ra, 64, Opcode.RDMA_WRITE, offset=4096, **{**remote, "remote_address": 4096}),
    )
    lab.run()
    return lab


def read_limit() -> Lab:
    """max_rd_atomic is 1: the second READ waits, and the WRITE behind it too."""
    lab = Lab()
    pair = lab.pair()
    ra, rb = lab.region(lab.a, 0, 8192), lab.region(lab.b, 0, 8192)
    remote = {"remote_address": 0, "rkey": rb.rkey}
    pair.a.post_send(
        send(1, ra, 64, Opcode.RDMA_READ, **remote),
        send(2, ra, 64, Opcode.RDMA_READ, offset=1024, **remote),
        send(3, ra, 64, Opcode.RDMA_WRITE, offset=4096, **{**remote, "remote_address": 4096}),
    )
    lab.run()
    return lab


def atomic() -> Lab:
    """The answer is lost: the request comes again and is not executed again."""
    lab = Lab()
    pair = lab.pair(timeout=1)
    ra, rb = lab.region(lab.a, 0, 64), lab.region(lab.b, 0, 64)
    lab.b.memory.write(0, (41).to_bytes(8, "little"))
    lab.wire.lose(lambda p: p.op is Op.ATOMIC_ACK)
    more = {"remote_address": 0, "rkey": rb.rkey, "compare_add": 1}
    pair.a.post_send(send(1, ra, 8, Opcode.ATOMIC_FETCH_AND_ADD, **more))
    lab.run()
    value = int.from_bytes(lab.a.memory.read(0, 8), "little")
    label = (f"取得旧值 {value}", f"old value {value}")
    lab.a.show("memory", (lab.a.app, None), label, "app", **_OLD)
    lab.recorder.events[-1]["t"] = lab.recorder.events[-2]["t"]
    return lab


_OLD = {
    "zh": "应用拿到的是第一次执行时的旧值；计数只加了一次。",
    "en": "The application has the value from before the one execution; the counter grew once.",
}


def _fence(flags: Flag) -> Lab:
    lab = Lab()
    pair = lab.pair()
    ra, rb = lab.region(lab.a, 0, 4096), lab.region(lab.b, 0, 8192)
    lab.a.memory.write(0, b"old!")
    lab.b.memory.write(0, b"new!")
    more = {"remote_address": 0, "rkey": rb.rkey}

    def run() -> Process:
        pair.b.post_recv(receive(1, rb, 64, 4096))
        yield lab.env.timeout(0.5)
        pair.a.post_send(
            send(1, ra, 4, Opcode.RDMA_READ, **more),
            send(2, ra, 4, flags=Flag.SIGNALED | flags),
        )
        yield lab.env.timeout(8)
        got = lab.b.memory.read(4096, 4).decode()
        label = (f"B 收到 {got}", f"B received {got}")
        lab.b.show("memory", (lab.b.app, None), label, "app", **_GOT[bool(flags)])

    lab.env.process(run())
    lab.run()
    return lab


_GOT = {
    False: {
        "zh": "SEND 在 READ 的数据到达之前就取走了缓冲区：送出的是旧内容。",
        "en": "The SEND took the buffer before the READ's data had come: old content went out.",
    },
    True: {
        "zh": "FENCE 让 SEND 等到前面的 READ 完成：送出的是新内容。",
        "en": "FENCE made the SEND wait for the READ before it: new content went out.",
    },
}


def fence() -> Lab:
    """READ into a buffer, then SEND it, with FENCE."""
    return _fence(Flag.FENCE)


def fence_without() -> Lab:
    """The same without FENCE."""
    return _fence(Flag.NONE)


SCENARIOS = {
    "write": (write, "WRITE：对端应用不知情", "WRITE: the remote application is not told"),
    "write-imm": (write_imm, "带立即数的 WRITE：一个 RECV 来通知", "WRITE with immediate"),
    "read": (read, "READ：一个请求，三个应答", "READ: one request, three responses"),
    "read-limit": (read_limit, "READ 在途上限为 1", "One READ in flight at most"),
    "atomic": (atomic, "原子加，应答丢失", "Fetch-and-add with a lost answer"),
    "fence": (fence, "READ 之后 SEND，有 FENCE", "READ, then SEND, with FENCE"),
    "fence-without": (fence_without, "READ 之后 SEND，没有 FENCE", "READ, then SEND, no FENCE"),
}
