"""The link between two hosts: serialisation, delay, and packets that get lost.

Times are chosen for legibility, not measured: 100 Gb/s, 1 us from adapter to adapter.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import simpy

from .packet import Packet

if TYPE_CHECKING:
    from .host import Host

Process = Generator[simpy.Event, Any, None]
BYTES_PER_US = 12_500.0
DELAY_US = 1.0
DOORBELL_US = 0.2  # from the call, or what was waited for, to the first packet


@dataclass
class Loss:
    """Lose the next `times` packets for which `matches` is true."""

    matches: Callable[[Packet], bool]
    times: int = 1


class Wire:
    """Joins hosts; each sends one packet at a time and packets of one host keep their order."""

    def __init__(self, env: simpy.Environment) -> None:
        self.env = env
        self.hosts: dict[str, Host] = {}
        self.losses: list[Loss] = []

    def lose(self, matches: Callable[[Packet], bool], times: int = 1) -> None:
        """Plan a loss."""
        self.losses.append(Loss(matches, times))

    def _lost(self, packet: Packet) -> bool:
        for loss in self.losses:
            if loss.times and loss.matches(packet):
                loss.times -= 1
                return True
        return False

    def send(self, port: simpy.Resource, make: Callable[[], Packet | None]) -> Process:
        """Wait for the port, build the packet then, and put it on the way."""
        with port.request() as turn:
            yield turn
            packet = make()
            if packet is None:
                return
            host = self.hosts[packet.source]
            lost = packet.to not in self.hosts or self._lost(packet)
            host.show_packet(packet, lost)
            yield self.env.timeout(packet.size / BYTES_PER_US)
        if not lost:
            self.env.process(self._carry(packet))

    def _carry(self, packet: Packet) -> Process:
        yield self.env.timeout(DELAY_US)
        self.hosts[packet.to].arrive(packet)
