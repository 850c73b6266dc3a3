"""A host: memory, one adapter with one port, and its queue pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import simpy

from .memory import Memory, ProtectionDomain
from .packet import RESPONSES, Op, Packet
from .trace import Recorder
from .wire import Wire

if TYPE_CHECKING:
    from .qp import QueuePair

PACKET_RULES = {
    Op.SEND: "send",
    Op.WRITE: "write",
    Op.READ_REQUEST: "read-request",
    Op.CMP_SWAP: "atomic",
    Op.FETCH_ADD: "atomic",
    Op.ACK: "ack",
    Op.RNR_NAK: "rnr-nak",
    Op.READ_RESPONSE: "read-response",
    Op.ATOMIC_ACK: "atomic-ack",
}


class Host:
    """One side; `name` is a or b, and its lanes are app-NAME and nic-NAME."""

    def __init__(self, env: simpy.Environment, wire: Wire, recorder: Recorder, name: str) -> None:
        self.env = env
        self.wire = wire
        self.recorder = recorder
        self.name = name
        self.memory = Memory()
        self.pd = ProtectionDomain(f"pd-{name}")
        self.port = simpy.Resource(env)
        self.queue_pairs: dict[int, QueuePair] = {}
        wire.hosts[name] = self

    @property
    def app(self) -> str:
        return f"app-{self.name}"

    @property
    def nic(self) -> str:
        return f"nic-{self.name}"

    def show(
        self,
        kind: str,
        lanes: tuple[str, str | None],
        label: str | tuple[str, str],
        rule: str,
        **values: object,
    ) -> None:
        """Record a step at this moment."""
        self.recorder.add(self.env.now, kind, lanes, label, rule, **values)

    def show_packet(self, packet: Packet, lost: bool) -> None:
        """Record a packet as it leaves."""
        rule = PACKET_RULES.get(packet.op, "")
        if packet.op is Op.NAK and packet.nak is not None:
            rule = "nak-" + packet.nak.name.lower().replace("_", "-")
        elif packet.op is Op.WRITE and packet.immediate is not None:
            rule = "write-imm"
        elif packet.op is Op.SEND and self.queue_pairs[packet.source_qpn].service.value != "RC":
            rule = "unreliable"
        shown = self.queue_pairs[packet.source_qpn].tag(packet.label)
        lanes = (self.nic, f"nic-{packet.to}")
        if lost:
            self.show("drop", lanes, shown, "lost")
        else:
            self.show("packet", lanes, shown, rule, psn=packet.psn)

    def arrive(self, packet: Packet) -> None:
        """Hand a packet to its queue pair; an unknown number is dropped in silence."""
        pair = self.queue_pairs.get(packet.dest_qpn)
        if pair is None:
            self.show("drop", (self.nic, None), packet.label, "unknown-qpn")
        elif packet.op in RESPONSES:
            pair.requester.response(packet)
        else:
            pair.responder.request(packet)
