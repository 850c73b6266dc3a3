"""Two hosts and a wire, connected as a program would do it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import simpy

from .host import Host
from .memory import Access, Region
from .qp import QueuePair
from .states import Service, State
from .trace import LANES, Recorder, both
from .wire import Wire
from .work import Flag, Opcode, RecvWR, SendWR, Sge

EVERYTHING = Access.LOCAL_WRITE | Access.REMOTE_WRITE | Access.REMOTE_READ | Access.REMOTE_ATOMIC
PSN_A, PSN_B = 100, 500


class Lab:
    """The setting of every scenario; nothing is recorded until `connect` is done."""

    def __init__(self) -> None:
        self.env = simpy.Environment()
        self.wire = Wire(self.env)
        self.recorder = Recorder()
        self.a = Host(self.env, self.wire, self.recorder, "a")
        self.b = Host(self.env, self.wire, self.recorder, "b")

    def pair(
        self,
        service: Service = Service.RC,
        qpn: int = 0x11,
        a_options: dict[str, Any] | None = None,
        b_options: dict[str, Any] | None = None,
        **changed: int,
    ) -> Pair:
        """Make two queue pairs and connect them; `changed` are other attribute values."""
        left = QueuePair(self.a, qpn, service, **(a_options or {}))
        right = QueuePair(self.b, qpn + 0x10, service, **(b_options or {}))
        connect(left, right, PSN_A, PSN_B, **changed)
        connect(right, left, PSN_B, PSN_A, **changed)
        self.recorder.events.clear()
        return Pair(left, right)

    def region(self, host: Host, address: int, length: int, access: Access = EVERYTHING) -> Region:
        """Register memory in the host's own domain."""
        return host.memory.register(host.pd, address, length, access)

    def run(self, until: float | None = None) -> None:
        """Let time pass: to `until`, or until nothing happens any more."""
        self.env.run(until)

    def trace(self, title: tuple[str, str], name: str) -> dict[str, object]:
        """Return the record that a figure is drawn from."""
        return {
            "title": both(title),
            "lanes": LANES,
            "events": self.recorder.events,
            "program": f"python docs/link/infiniband/code/verbs_trace.py {name} --json",
        }


@dataclass
class Pair:
    """Two connected queue pairs."""

    a: QueuePair
    b: QueuePair


STEPS = {
    Service.RC: (
        "pkey_index port access_flags",
        "av path_mtu dest_qpn rq_psn max_dest_rd_atomic min_rnr_timer",
        "sq_psn timeout retry_cnt rnr_retry max_rd_atomic",
    ),
    Service.UC: ("pkey_index port access_flags", "av path_mtu dest_qpn rq_psn", "sq_psn"),
    Service.UD: ("pkey_index port qkey", "", "sq_psn"),
}


def connect(mine: QueuePair, other: QueuePair, my_psn: int, other_psn: int, **changed: int) -> None:
    """RESET to RTS, with the values of rc_pingpong.c of rdma-core except where `changed`."""
    values: dict[str, int | str] = {
        "pkey_index": 0,
        "port": 1,
        "access_flags": int(EVERYTHING),
        "qkey": 0x1234,
        "av": other.host.name,
        "path_mtu": 1024,
        "dest_qpn": other.qpn,
        "rq_psn": other_psn,
        "max_dest_rd_atomic": 1,
        "min_rnr_timer": 12,
        "sq_psn": my_psn,
        "timeout": 14,
        "retry_cnt": 7,
        "rnr_retry": 7,
        "max_rd_atomic": 1,
        **changed,
    }
    for state, names in zip((State.INIT, State.RTR, State.RTS), STEPS[mine.service], strict=True):
        mine.modify(state, **{name: values[name] for name in names.split()})


def send(
    wr_id: int, region: Region, length: int, opcode: Opcode = Opcode.SEND, **more: Any
) -> SendWR:
    """Make a send request over the beginning of a region (or from `offset` on)."""
    offset = more.pop("offset", 0)
    sges = (Sge(region.address + offset, length, region.lkey),)
    return SendWR(wr_id, opcode, sges, **{"flags": Flag.SIGNALED, **more})


def receive(wr_id: int, region: Region, length: int, offset: int = 0) -> RecvWR:
    """Make a receive request over the beginning of a region."""
    return RecvWR(wr_id, (Sge(region.address + offset, length, region.lkey),))
