"""DCQCN: the marking port and the sender's rate limiter that dcqcn.py runs.

Model: every sender paces packets of 1030 bytes at its own rate; they meet in one queue that
drains at line rate and never drops. The queue marks (ECN) when a packet leaves, as a switch
does. The receiver answers marks with CNPs, which reach the sender after a fixed delay.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Generator
from dataclasses import dataclass, field

import simpy

LINE = 40.0
"""Gb/s of every port."""
PACKET = 1030
"""Bytes."""
DELAY = 4.0
"""us from the switch by the receiver back to the sender."""
Process = Generator[simpy.Event, object, None]


# --8<-- [start:sets]
@dataclass(frozen=True)
class Parameters:
    """One published set; rates in Gb/s, times in us, thresholds in kB."""

    k_min: float
    k_max: float
    p_max: float
    cnp_us: float  # least time between two CNPs of a flow
    alpha_us: float
    cut_us: float  # 0: cut when the CNP comes; else looked at this often
    increase_us: float
    g: float
    fast: int  # steps of fast recovery, F
    r_ai: float
    r_hai: float
    r_min: float
    clamp: bool  # every cut lowers the target as well
    first_alpha: float
    hyper_by_time: bool  # hyper increase needs no byte counter


AUTHORS = Parameters(41.2, 1030, 1.0, 50, 55, 0, 60, 1 / 256, 5, 0.04, 0.2, 0.1, True, 0.5, False)
ALIBABA = Parameters(160, 640, 0.2, 0, 1, 4, 300, 1 / 256, 1, 0.008, 0.08, 1.0, False, 1.0, True)
SETS = {"authors": AUTHORS, "alibaba": ALIBABA}
# --8<-- [end:sets]


@dataclass
class Port:
    """The bottleneck: a queue, its marking, and the marks on their way back."""

    env: simpy.Environment
    p: Parameters
    rng: random.Random
    packets: deque[Sender] = field(default_factory=deque)
    wake: simpy.Event | None = None
    longest: int = 0

    def bytes(self) -> int:
        return len(self.packets) * PACKET

    def put(self, sender: Sender) -> None:
        self.packets.append(sender)
        self.longest = max(self.longest, len(self.packets))
        if self.wake and not self.wake.triggered:
            self.wake.succeed()

    # --8<-- [start:mark]
    def marks(self) -> bool:
        """RED on the queue: none up to Kmin, linear up to Pmax at Kmax, all above."""
        kilobytes = self.bytes() / 1000
        if kilobytes > self.p.k_max:
            return True
        share = (kilobytes - self.p.k_min) / (self.p.k_max - self.p.k_min)
        return self.rng.random() < share * self.p.p_max

    # --8<-- [end:mark]

    def run(self) -> Process:
        while True:
            if not self.packets:
                self.wake = self.env.event()
                yield self.wake
            yield self.env.timeout(PACKET * 8e-3 / LINE)
            marked = self.marks()
            sender = self.packets.popleft()
            if marked and self.env.now >= sender.next_cnp:
                sender.next_cnp = self.env.now + self.p.cnp_us
                self.env.process(self.notify(sender))

    def notify(self, sender: Sender) -> Process:
        yield self.env.timeout(DELAY)
        sender.cnp()


class Sender:
    """The reaction point: one flow and its rate limiter."""

    def __init__(self, port: Port, start: float, stop: float) -> None:
        self.env, self.port, self.p = port.env, port, port.p
        self.start, self.stop = start, stop
        self.rate = self.target = LINE
        self.alpha = self.p.first_alpha
        self.sent = self.stage = self.cuts = 0
        self.next_cnp = 0.0
        self.limited = False
        self.alpha_mark = self.cut_mark = False
        self.timer: simpy.Process | None = None
        self.decay: simpy.Process | None = None

    def run(self) -> Process:
        yield self.env.timeout(self.start)
        while self.env.now < self.stop:
            self.port.put(self)
            self.sent += PACKET
            yield self.env.timeout(PACKET * 8e-3 / self.rate)
        self.rate = 0.0

    # --8<-- [start:reaction]
    def cut(self) -> None:
        """R_T = R_C; R_C = R_C (1 - alpha / 2); recovery starts anew."""
        if self.p.clamp or self.stage:
            self.target = self.rate
        self.rate = max(self.p.r_min, self.rate * (1 - self.alpha / 2))
        self.stage = 0
        self.cuts += 1
        self.timer = self.restart(self.timer, self.recover())

    def recover(self) -> Process:
        """Every period: fast recovery, then additive, then hyper increase."""
        while True:
            yield self.env.timeout(self.p.increase_us)
            if self.p.clamp:  # the authors count before they compare
                self.stage += 1
            if self.stage >= self.p.fast:
                hyper = self.p.hyper_by_time and self.stage > self.p.fast
                self.target = min(LINE, self.target + (self.p.r_hai if hyper else self.p.r_ai))
            self.rate = (self.rate + self.target) / 2
            if not self.p.clamp:
                self.stage += 1

    # --8<-- [end:reaction]

    def cnp(self) -> None:
        if self.env.now >= self.stop:
            return
        if self.p.cut_us:  # Alibaba: two clocks look at flags
            if not self.limited:
                self.limited = True
                self.env.process(self.look_alpha())
                self.env.process(self.look_cut())
            self.alpha_mark = self.cut_mark = True
        else:  # authors: alpha up, cut, and alpha falls again while no CNP comes
            self.alpha += (1 - self.alpha) * self.p.g
            self.cut()
            self.decay = self.restart(self.decay, self.fall())

    def fall(self) -> Process:
        while True:
            yield self.env.timeout(self.p.alpha_us)
            self.alpha *= 1 - self.p.g

    def look_alpha(self) -> Process:
        while True:
            yield self.env.timeout(self.p.alpha_us)
            self.alpha += (self.alpha_mark - self.alpha) * self.p.g
            self.alpha_mark = False

    def look_cut(self) -> Process:
        while True:
            yield self.env.timeout(self.p.cut_us)
            if self.cut_mark:
                self.cut_mark = False
                self.cut()

    def restart(self, old: simpy.Process | None, new: Process) -> simpy.Process:
        if old and old.is_alive:
            old.interrupt()
        return self.env.process(self.until_interrupted(new))

    def until_interrupted(self, steps: Process) -> Process:
        try:
            yield from steps
        except simpy.Interrupt:
            return
