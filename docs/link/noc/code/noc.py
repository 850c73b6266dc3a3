"""A small flit-level network on chip: wormholes, virtual channels, credits; time by SimPy.

A channel is one direction of a link. Each of its virtual channels (VC) has a buffer at the
receiving router, and the sender holds one credit per free slot. In a cycle every buffer whose first
flit is a head may take a free output VC; every input and every output port passes at most one flit,
only against a credit. Who comes first is drawn by lot. A flit is in the next buffer `hop` cycles
later, a credit is back after `back` cycles. A packet holds a VC from its head to its tail: that is
wormhole switching.

Not a program by itself: deadlock.py and noc_traffic.py run it.
"""

from __future__ import annotations

import random
import sys
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path

import networkx as nx  # type: ignore[import-untyped]
import simpy

sys.path.insert(0, str(Path(__file__).parent))
from noc_routing import Packet, Routing, Shape

EJECT = -1


@dataclass
class Network:
    """Routers, buffers and credits; `step` is one cycle, driven by SimPy's clock."""

    shape: Shape
    routing: Routing
    vcs: int = 2
    depth: int = 4
    dateline: bool = False  # the upper half of the VCs is for packets past a wrap-around link
    hop: int = 2
    back: int = 1
    seed: int = 1
    env: simpy.Environment = field(default_factory=simpy.Environment)
    delivered: list[tuple[Packet, float]] = field(default_factory=list)
    ejected: int = 0
    moved: int = 0  # flits in the last cycle

    def __post_init__(self) -> None:
        """Number the buffers: first the VCs of every channel, then one injection queue per node."""
        self.random = random.Random(self.seed)
        self.channels = list(dict.fromkeys(self.shape.links()))
        number = {channel: i for i, channel in enumerate(self.channels)}
        of_channels = len(self.channels) * self.vcs
        total = of_channels + self.shape.nodes
        self.inject = of_channels
        self.first_vc = {channel: i * self.vcs for channel, i in number.items()}
        self.node = [self.channels[b // self.vcs][1] for b in range(of_channels)]
        self.node += list(range(self.shape.nodes))
        self.port = [b // self.vcs for b in range(of_channels)]
        self.port += [len(self.channels) + n for n in range(self.shape.nodes)]
        self.buffer: list[deque[tuple[Packet, int]]] = [deque() for _ in range(total)]
        self.out: list[int | None] = [None] * total
        self.owner: list[int | None] = [None] * total
        self.credits = [self.depth] * total
        self.active: set[int] = set()
        self.env.process(self._clock())

    def _clock(self) -> Generator[simpy.Event, None, None]:
        while True:
            self.step()
            yield self.env.timeout(1)

    def send(self, packet: Packet) -> None:
        """Put a packet into the injection queue of its source."""
        queue = self.inject + packet.src
        self.buffer[queue].extend((packet, i) for i in range(packet.length))
        self.active.add(queue)

    def source(self, node: int, load: float, length: int, target: Callable[[int], int]) -> None:
        """Let a node send packets at random times, `load` flits a cycle on average."""

        def life() -> Generator[simpy.Event, None, None]:
            while True:
                yield self.env.timeout(self.random.expovariate(load / length))
                if (to := target(node)) != node:
                    self.send(Packet(node, to, length, self.env.now))

        self.env.process(life())

    def choices(self, b: int) -> list[int]:
        """Return the downstream VCs that the packet at the head of a buffer may take."""
        packet, node = self.buffer[b][0][0], self.node[b]
        out: list[int] = []
        for there, after in self.routing(self.shape, packet, node):
            first = self.first_vc[node, there]
            half = self.vcs // 2
            low, high = (after * half, half + after * half) if self.dateline else (0, self.vcs)
            out += range(first + low, first + high)
        return out

    # --8<-- [start:step]
    def step(self) -> None:
        """Let one flit at most pass each input port and each output port."""
        order = sorted(self.active)
        self.random.shuffle(order)
        used: set[int] = set()  # ports in use: inputs as they are numbered, outputs as ~number
        sent, freed = [], []
        for b in order:
            if self.port[b] in used:
                continue
            packet, index = self.buffer[b][0]
            to = self.out[b]
            if to is None:  # a head: take a free VC, the one with most credits
                if packet.dst == self.node[b]:
                    to = EJECT
                else:
                    free = [v for v in self.choices(b) if self.owner[v] is None]
                    if not free:
                        continue
                    to = max(free, key=self.credits.__getitem__)
                    self.owner[to] = b
                self.out[b] = to
            exit_port = ~(len(self.channels) + self.node[b] if to == EJECT else self.port[to])
            if exit_port in used or (to != EJECT and self.credits[to] == 0):
                continue
            used |= {self.port[b], exit_port}
            self.buffer[b].popleft()
            last = index == packet.length - 1
            if to == EJECT:
                self.ejected += 1
                if last:
                    self.delivered.append((packet, self.env.now))
            else:
                self.credits[to] -= 1
                sent.append((to, (packet, index)))
            if b < self.inject:
                freed.append(b)
            if last:  # the tail lets go of what the head took
                self.out[b] = None
                if to != EJECT:
                    self.owner[to] = None
            if not self.buffer[b]:
                self.active.discard(b)
        self.moved = len(sent) + len(freed)
        if sent:
            self.env.timeout(self.hop).callbacks.append(lambda _: self._arrive(sent))
        if freed:
            self.env.timeout(self.back).callbacks.append(lambda _: self._return(freed))

    # --8<-- [end:step]

    def _arrive(self, flits: list[tuple[int, tuple[Packet, int]]]) -> None:
        for to, flit in flits:
            self.buffer[to].append(flit)
            self.active.add(to)

    def _return(self, freed: list[int]) -> None:
        for b in freed:
            self.credits[b] += 1

    # --8<-- [start:deadlock]
    def deadlock(self) -> list[int]:
        """Return a cycle of buffers that wait for each other for ever, or an empty list.

        A buffer waits for the VCs that could take its first flit. It is safe when one of them may
        empty: what is left when all that is safe was taken away, is dead.
        """
        waits: dict[int, list[int]] = {}
        for b in self.active:
            to = self.out[b]
            if to is None and self.buffer[b][0][0].dst != self.node[b]:
                wanted = self.choices(b)
                if all(self.owner[v] is not None for v in wanted):
                    waits[b] = wanted
            elif to is not None and to != EJECT and self.credits[to] == 0:
                waits[b] = [to]
        while safe := [b for b, wanted in waits.items() if any(v not in waits for v in wanted)]:
            for b in safe:
                del waits[b]
        if not waits:
            return []
        graph = nx.DiGraph((b, v) for b, wanted in waits.items() for v in wanted)
        return [edge[0] for edge in nx.find_cycle(graph)]

    # --8<-- [end:deadlock]

    def name(self, b: int) -> str:
        """Return how people call a buffer."""
        if b >= self.inject:
            return f"source {b - self.inject}"
        a, z = self.channels[b // self.vcs]
        return f"{a}->{z} vc{b % self.vcs}"
