"""A small network with PFC: the model that pfc.py runs.

Model: 100 Gb/s links, packets of 4 kB, switches that count the bytes of each ingress port and
class. Above XOFF the ingress pauses its neighbour (for that class), below XON it lets it go on;
pause and data take 0.5 us along a cable. An egress port serves its packets in order of arrival.
Senders have no congestion control; senders that are paused wait. A pause holds until it is
lifted: a real one expires, and a switch renews it in time.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Generator
from dataclasses import dataclass

import networkx as nx
import simpy

LINE = 100.0
"""Gb/s."""
PACKET = 4096
CABLE = 0.5
"""us one way."""
XOFF, XON = 100_000, 80_000
"""Bytes of one ingress port and class."""
END, SAMPLE = 2_000.0, 50.0
Process = Generator[simpy.Event, object, None]


@dataclass
class Packet:
    """One packet: what is left of its path, its flow and its class."""

    flow: str
    path: list[str]
    lossless: int = 0  # the class; a second one is what breaks the ring
    at: tuple[str, int] = ("", 0)  # the ingress counter that holds it


class Network:
    """Nodes, their egress queues and ingress counters."""

    def __init__(self, dateline: tuple[str, str] | None = None, watchdog: float = 0) -> None:
        self.env = simpy.Environment()
        self.dateline, self.watchdog = dateline, watchdog
        self.queues: dict[tuple[str, str, int], deque[Packet]] = defaultdict(deque)
        self.held: dict[tuple[str, str, int], int] = defaultdict(int)  # node, from, class
        self.paused: set[tuple[str, str, int]] = set()  # sender, receiver, class
        self.wake: dict[tuple[str, str], simpy.Event] = {}
        self.stuck: dict[tuple[str, str, int], float] = {}
        self.room: dict[str, simpy.Event] = {}
        self.got: dict[str, int] = defaultdict(int)
        self.dropped = self.pauses = 0
        self.sending = True
        self.flows: list[str] = []
        self.ports: set[tuple[str, str]] = set()

    # --8<-- [start:pfc]
    def arrive(self, node: str, came_from: str, packet: Packet) -> None:
        """Count the packet on its ingress; pause the neighbour above XOFF."""
        if not packet.path:
            self.got[packet.flow] += PACKET
            return
        here = (node, came_from, packet.lossless)
        self.held[here] += PACKET
        packet.at = (came_from, packet.lossless)
        if self.held[here] > XOFF:
            self.env.process(self.tell(came_from, node, packet.lossless, pause=True))
        self.enqueue(node, packet)

    def leave(self, node: str, packet: Packet) -> None:
        """Release the ingress; let the neighbour go on below XON."""
        came_from, lossless = packet.at
        if not came_from:
            return
        here = (node, came_from, lossless)
        self.held[here] -= PACKET
        if self.held[here] < XON:
            self.env.process(self.tell(came_from, node, lossless, pause=False))

    def tell(self, sender: str, receiver: str, lossless: int, *, pause: bool) -> Process:
        """A PFC frame: it takes the time of the cable, and works for one class."""
        link = (sender, receiver, lossless)
        yield self.env.timeout(CABLE)
        if pause and link not in self.paused:
            self.paused.add(link)
            self.pauses += 1
        elif not pause and link in self.paused:
            self.paused.discard(link)
            self.ring(sender, receiver)

    # --8<-- [end:pfc]

    def enqueue(self, node: str, packet: Packet) -> None:
        to = packet.path.pop(0)
        if (node, to) == self.dateline:
            packet.lossless = 1
        self.queues[node, to, packet.lossless].append(packet)
        if (node, to) not in self.ports:
            self.ports.add((node, to))
            self.env.process(self.port(node, to))
        self.ring(node, to)

    def ring(self, node: str, to: str) -> None:
        event = self.wake.get((node, to))
        if event and not event.triggered:
            event.succeed()

    def port(self, node: str, to: str) -> Process:
        """One egress port: what is not paused, the higher class first."""
        while True:
            ready = [
                c for c in (1, 0) if self.queues[node, to, c] and (node, to, c) not in self.paused
            ]
            if not ready:
                self.wake[node, to] = self.env.event()
                yield self.wake[node, to]
                continue
            packet = self.queues[node, to, ready[0]].popleft()
            yield self.env.timeout(PACKET * 8e-3 / LINE)
            self.stuck.pop((node, to, ready[0]), None)
            self.leave(node, packet)
            if node in self.room and not self.room[node].triggered:
                self.room[node].succeed()
            self.env.process(self.fly(node, to, packet))

    def fly(self, node: str, to: str, packet: Packet) -> Process:
        yield self.env.timeout(CABLE)
        self.arrive(to, node, packet)

    def host(self, name: str, path: list[str], rate: float = LINE) -> None:
        """Start a sender that always has something to send, at no more than `rate`."""

        def send() -> Process:
            while self.sending:
                if rate < LINE:
                    yield self.env.timeout(PACKET * 8e-3 / rate)
                if len(self.queues[name, path[0], 0]) < 2:
                    self.enqueue(name, Packet(name, list(path)))
                else:
                    self.room[name] = self.env.event()
                    yield self.room[name]

        self.flows.append(name)
        self.env.process(send())

    def storm(self, receiver: str, switch: str, since: float) -> None:
        """The receiver pauses its switch from `since` on, for ever."""

        def run() -> Process:
            yield self.env.timeout(since)
            self.paused.add((switch, receiver, 0))

        self.env.process(run())

    # --8<-- [start:watchdog]
    def guard(self) -> Process:
        """A switch drops what a port was not allowed to send for `watchdog` us."""
        while True:
            yield self.env.timeout(10)
            for link in sorted(self.paused):
                node, _, _ = link
                if node.startswith("h") or not self.queues[link]:
                    continue
                since = self.stuck.setdefault(link, self.env.now)
                if self.env.now - since >= self.watchdog:
                    for packet in self.queues[link]:
                        self.dropped += 1
                        self.leave(node, packet)
                    self.queues[link].clear()

    # --8<-- [end:watchdog]

    # --8<-- [start:cycle]
    def cycle(self) -> list[str]:
        """Return switches that wait for each other in a circle, or nothing."""
        waits = nx.DiGraph()
        for (node, to, lossless), queue in self.queues.items():
            if (node, to, lossless) in self.paused:
                for packet in queue:  # it holds buffer that its sender waits for
                    came_from, held_class = packet.at
                    waits.add_edge((came_from, node, held_class), (node, to, lossless))
        circles = sorted(nx.simple_cycles(waits), key=str)
        return sorted(f"{node}->{to}" for node, to, _ in circles[0]) if circles else []

    # --8<-- [end:cycle]

    def run(self) -> dict[str, list[float]]:
        """Return what each flow delivered: Gb/s by sample."""
        series: dict[str, list[float]] = {flow: [] for flow in self.flows}
        before: dict[str, int] = defaultdict(int)
        if self.watchdog:
            self.env.process(self.guard())
        while self.env.now < END:
            self.env.run(self.env.now + SAMPLE)
            for flow in self.flows:
                series[flow].append((self.got[flow] - before[flow]) * 8e-3 / SAMPLE)
                before[flow] = self.got[flow]
        return series
