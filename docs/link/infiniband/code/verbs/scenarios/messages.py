"""SENDs that arrive, on RC, UC and UD."""

from __future__ import annotations

from typing import Any

from ..lab import Lab, receive, send
from ..packet import Op
from ..states import Service
from ..wire import Process


def send_recv() -> Lab:
    """One message of three packets into a posted receive."""
    lab = Lab()
    pair = lab.pair()
    ra, rb = lab.region(lab.a, 0, 4096), lab.region(lab.b, 0, 4096)

    def run() -> Process:
        pair.b.post_recv(receive(1, rb, 4096))
        yield lab.env.timeout(0.5)
        pair.a.post_send(send(7, ra, 2500))

    lab.env.process(run())
    lab.run()
    return lab


def rnr() -> Lab:
    """The receive comes 300 us late."""
    lab = Lab()
    pair = lab.pair()
    ra, rb = lab.region(lab.a, 0, 4096), lab.region(lab.b, 0, 4096)

    def run() -> Process:
        pair.a.post_send(send(1, ra, 512), send(2, ra, 512))
        yield lab.env.timeout(300)
        pair.b.post_recv(receive(1, rb, 1024), receive(2, rb, 1024, 1024))

    lab.env.process(run())
    lab.run()
    return lab


def rnr_exceeded() -> Lab:
    """The receive never comes, and rnr_retry is 1."""
    lab = Lab()
    pair = lab.pair(rnr_retry=1)
    pair.a.post_send(send(1, lab.region(lab.a, 0, 4096), 512))
    lab.run()
    return lab


def ud_send() -> Lab:
    """Two datagrams, one receive."""
    lab = Lab()
    pair = lab.pair(Service.UD)
    ra, rb = lab.region(lab.a, 0, 4096), lab.region(lab.b, 0, 4096)
    address: dict[str, Any] = {"host": "b", "qpn": pair.b.qpn, "qkey": 0x1234}

    def run() -> Process:
        pair.b.post_recv(receive(1, rb, 40 + 256))
        yield lab.env.timeout(0.5)
        pair.a.post_send(send(1, ra, 256, **address), send(2, ra, 256, **address))

    lab.env.process(run())
    lab.run()
    return lab


def uc_loss() -> Lab:
    """The middle packet of three is lost; the next message arrives."""
    lab = Lab()
    pair = lab.pair(Service.UC)
    ra, rb = lab.region(lab.a, 0, 4096), lab.region(lab.b, 0, 4096)
    lab.wire.lose(lambda p: p.op is Op.SEND and p.psn == 101)

    def run() -> Process:
        pair.b.post_recv(receive(1, rb, 4096))
        yield lab.env.timeout(0.5)
        pair.a.post_send(send(1, ra, 3000), send(2, ra, 64))

    lab.env.process(run())
    lab.run()
    return lab


SCENARIOS = {
    "send-recv": (send_recv, "SEND 与 RECV：一条三个包的消息", "SEND and RECV: three packets"),
    "rnr": (rnr, "RECV 投递晚了：RNR", "The RECV comes late: RNR"),
    "rnr-exceeded": (rnr_exceeded, "RECV 一直没有：RNR 重试用尽", "No RECV: RNR retries used up"),
    "ud-send": (ud_send, "UD：两条消息，一个 RECV", "UD: two messages, one RECV"),
    "uc-loss": (uc_loss, "UC：丢一包，丢一条消息", "UC: a packet lost is a message lost"),
}
