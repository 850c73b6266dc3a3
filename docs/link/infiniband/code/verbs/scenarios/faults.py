"""Losses, dead peers, wrong keys and short buffers."""

from __future__ import annotations

from ..lab import Lab, receive, send
from ..memory import Access
from ..packet import Op
from ..wire import Process
from ..work import Flag, Opcode, RecvWR, SendWR, Sge


def lost_packet() -> Lab:
    """Three SENDs, the second is lost."""
    lab = Lab()
    pair = lab.pair()
    ra, rb = lab.region(lab.a, 0, 4096), lab.region(lab.b, 0, 4096)
    lab.wire.lose(lambda p: p.op is Op.SEND and p.psn == 101)

    def run() -> Process:
        pair.b.post_recv(*(receive(n, rb, 1024, 1024 * (n - 1)) for n in (1, 2, 3)))
        yield lab.env.timeout(0.5)
        pair.a.post_send(*(send(n, ra, 1024) for n in (1, 2, 3)))

    lab.env.process(run())
    lab.run()
    return lab


def lost_ack() -> Lab:
    """The only ACK is lost; a timer brings it back."""
    lab = Lab()
    pair = lab.pair(timeout=1)
    ra, rb = lab.region(lab.a, 0, 4096), lab.region(lab.b, 0, 4096)
    lab.wire.lose(lambda p: p.op is Op.ACK)

    def run() -> Process:
        pair.b.post_recv(receive(1, rb, 1024))
        yield lab.env.timeout(0.5)
        pair.a.post_send(send(1, ra, 512))

    lab.env.process(run())
    lab.run()
    return lab


def retry_exceeded() -> Lab:
    """Nothing arrives any more."""
    lab = Lab()
    pair = lab.pair(timeout=1, retry_cnt=2)
    ra = lab.region(lab.a, 0, 4096)
    del lab.wire.hosts["b"]
    pair.a.post_send(send(1, ra, 512), send(2, ra, 512))
    lab.run()
    return lab


def short_recv() -> Lab:
    """512 bytes into a receive of 256."""
    lab = Lab()
    pair = lab.pair()
    ra, rb = lab.region(lab.a, 0, 4096), lab.region(lab.b, 0, 4096)

    def run() -> Process:
        pair.b.post_recv(receive(1, rb, 256))
        yield lab.env.timeout(0.5)
        pair.a.post_send(send(1, ra, 512))

    lab.env.process(run())
    lab.run()
    return lab


def bad_lkey() -> Lab:
    """A key that belongs to no region: no packet leaves."""
    lab = Lab()
    pair = lab.pair()
    pair.a.post_send(SendWR(1, Opcode.SEND, (Sge(0, 64, 0xBAD),)))
    lab.run()
    return lab


def bad_rkey() -> Lab:
    """A WRITE into a region that allows remote reading only."""
    lab = Lab()
    pair = lab.pair()
    ra = lab.region(lab.a, 0, 4096)
    rb = lab.region(lab.b, 0, 4096, Access.LOCAL_WRITE | Access.REMOTE_READ)
    pair.a.post_send(send(1, ra, 64, Opcode.RDMA_WRITE, remote_address=0, rkey=rb.rkey))
    lab.run()
    return lab


def flush_on_error() -> Lab:
    """The first of three requests fails; what was posted on either side is flushed."""
    lab = Lab()
    pair = lab.pair()
    ra, rb = lab.region(lab.a, 0, 4096), lab.region(lab.b, 0, 4096)

    def run() -> Process:
        pair.a.post_recv(RecvWR(11, (Sge(2048, 64, ra.lkey),)))
        pair.b.post_recv(receive(21, rb, 1024))
        yield lab.env.timeout(0.5)
        pair.a.post_send(
            send(1, ra, 64, Opcode.RDMA_WRITE, remote_address=0, rkey=0xBAD),
            send(2, ra, 64, flags=Flag.NONE),
            send(3, ra, 64),
        )

    lab.env.process(run())
    lab.run()
    return lab


SCENARIOS = {
    "lost-packet": (lost_packet, "丢一包：NAK 与 Go-Back-N", "A lost packet: NAK, go-back-N"),
    "lost-ack": (lost_ack, "丢了 ACK：重复的包不重做", "A lost ACK: duplicates are not redone"),
    "retry-exceeded": (retry_exceeded, "对端没了：重试用尽", "A dead peer: retries used up"),
    "short-recv": (short_recv, "RECV 缓冲区太短", "A receive buffer too short"),
    "bad-lkey": (bad_lkey, "lkey 不对：包都没发", "A wrong lkey: no packet leaves"),
    "bad-rkey": (bad_rkey, "rkey 无权写", "An rkey without the right to write"),
    "flush-on-error": (flush_on_error, "一个出错，其余冲刷", "One fails, the rest are flushed"),
}
