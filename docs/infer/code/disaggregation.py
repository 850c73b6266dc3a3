"""Prefill and decode on the same GPUs or on two pools: how many requests meet a limit (SimPy).

Llama 3.1 8B, one GPU an engine; the time of a step is that of step_time.py. `together` engines run
vLLM's rule: decoding sequences first, chunks of prompts fill the budget. `split` engines prefill
whole prompts or decode, and the cache of a prompt travels over the network card of its prefill GPU.
An engine takes a request when its cache has room for prompt and answer; nothing is pre-empted.

disaggregation_sizing.py runs it.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import cache
from heapq import heappop, heappush
from typing import Any

import simpy
from step_time import fit, pairs_of

KV = 131072
"""Bytes of cache per token: 2 x 32 layers x 8 heads x 128 values x 2 bytes."""
POOL = 420_000
"""Tokens of cache: 0.92 of 80 GB less 16.1 GB of weights and 2.5 GB for activations."""
PREFILL_BUDGET = 8192
TTFT = 1.0
SHARE = 0.9
GPUS = 8
LINK = 50e9
"""Bytes/s out of one prefill GPU: a card of 400 Gb/s."""
BUDGETS = (256, 384, 512, 1024, 2048)


@dataclass(frozen=True)
class Load:
    """Mean tokens of prompts and answers, and the share of a prompt found in a prefix cache."""

    prompt: int
    output: int
    hit: float = 0.0


@dataclass(eq=False)
class Request:
    """A request, and when its first and last tokens were out."""

    arrival: float
    prompt: int
    output: int
    todo: int  # tokens of the prompt still to compute
    first: float = 0.0
    last: float = 0.0

    def meets(self, ttft: float, tpot: float) -> bool:
        """Whether it kept both limits; TPOT is the mean gap after the first token."""
        gap = (self.last - self.first) / (self.output - 1)
        return bool(self.last) and self.first - self.arrival <= ttft and gap <= tpot


def trace(load: Load, rate: float, seconds: float, seed: int = 1) -> list[Request]:
    """Poisson arrivals; lengths log-normal with sigma 0.5 and the means of the load."""
    draw, now, out = random.Random(seed), 0.0, []
    while (now := now + draw.expovariate(rate)) < seconds:
        long = [draw.lognormvariate(-0.125, 0.5) for _ in range(2)]
        prompt = min(32768, max(16, round(load.prompt * long[0])))
        output = max(2, round(load.output * long[1]))
        out.append(Request(now, prompt, output, prompt - int(prompt * load.hit)))
    return out


class Engine:
    """A GPU that runs one step after the other: `budget` tokens, decoding sequences first."""

    def __init__(
        self,
        env: simpy.Environment,
        budget: int,
        gaps: list[tuple[float, int]],
        after: Callable[[Request], None] | None = None,
    ) -> None:
        self.env, self.budget, self.after, self.gaps, self.steps = env, budget, after, gaps, fit()
        self.waiting: deque[Request] = deque()
        self.ends: list[tuple[int, int, Request]] = []  # by the step at which they end
        self.arriving = 0  # sequences whose cache is on its way here
        self.used = self.read = self.step = self.queued = 0
        self.wake = env.event()
        env.process(self.run())

    @property
    def decoding(self) -> int:
        """Sequences that get one token each in the next step."""
        return len(self.ends)

    def submit(self, request: Request) -> None:
        """Queue a request."""
        self.waiting.append(request)
        self.queued += request.todo
        if not self.wake.triggered:
            self.wake.succeed()

    def run(self) -> Generator[Any, Any, None]:
        """Make a step of what is there, and wait as long as it takes."""
        started: deque[Request] = deque()
        while True:
            if not self.ends and not self.waiting and not started:
                self.wake = self.env.event()
                yield self.wake
            room, chunk, pairs = self.budget - self.decoding, 0, 0.0
            ready: list[Request] = []
            while room > 0 or (self.waiting and not self.waiting[0].todo):
                if not started:
                    if not self.waiting or not self.admit(self.waiting[0]):
                        break
                    started.append(self.waiting.popleft())
                request = started[0]
                part = max(0, min(room, request.todo))
                pairs += pairs_of(part, request.prompt - request.todo)
                request.todo, room, chunk = request.todo - part, room - part, chunk + part
                self.queued -= part
                if request.todo:
                    break
                ready.append(started.popleft())
            decoded = self.decoding
            if not decoded and not chunk and not ready:
                yield self.env.timeout(1e-3)  # full of prompts that are still being fetched
                continue
            if decoded or chunk:
                seconds = self.steps.time(decoded, self.read, chunk, pairs)
                yield self.env.timeout(seconds)
                self.gaps.append((seconds, decoded))
            self.tokens(ready)

    def admit(self, request: Request) -> bool:
        """Reserve cache for a request: the prompt here, the answer too where it is decoded."""
        need = request.prompt + (0 if self.after else request.output)
        if self.used + need > POOL:
            return False
        self.used += need
        return True

    def tokens(self, ready: list[Request]) -> None:
        """After a step: one token per sequence; prompts that are done decode, here or there."""
        self.step += 1
        self.read += self.decoding
        while self.ends and self.ends[0][0] <= self.step:
            request = heappop(self.ends)[2]
            request.last = self.env.now
            self.read -= request.prompt + request.output
            self.used -= request.prompt + request.output
        for request in ready:
            if self.after:
                self.after(request)
                continue
            if request.first:  # came from another GPU: it has waited for the step to end
                self.gaps.append((self.env.now - request.first + self.steps.fixed, 1))
            else:
                request.first = self.env.now
            self.read += request.prompt + 1
            heappush(self.ends, (self.step + request.output - 1, id(request), request))


def together(pool: list[Engine]) -> Callable[[Request], None]:
    """Return how a request enters a pool of engines that do both."""
    return lambda one: min(pool, key=lambda e: 4 * len(e.waiting) + e.decoding).submit(one)


# --8<-- [start:split]
def split(
    env: simpy.Environment, prefill: int, decode: int, rate: float, gaps: list[tuple[float, int]]
) -> Callable[[Request], None]:
    """Return how a request enters two pools; `rate` is bytes/s out of one prefill GPU."""
    decoders = [Engine(env, 0, gaps) for _ in range(decode)]

    def maker(engine_of: list[Engine], link: simpy.Resource) -> Callable[[Request], None]:
        def move(request: Request) -> Generator[Any, Any, None]:
            there = min(decoders, key=lambda e: e.decoding + len(e.waiting) + e.arriving)
            there.arriving += 1
            with link.request() as turn:
                yield turn
                yield env.timeout(request.prompt * KV / rate)
            engine_of[0].used -= request.prompt  # kept until it has been fetched
            there.arriving -= 1
            request.first = env.now
            there.submit(request)

        def start(request: Request) -> None:
            env.process(move(request))

        return start

    pool = []
    for _ in range(prefill):
        own: list[Engine] = []
        own.append(Engine(env, PREFILL_BUDGET, gaps, maker(own, simpy.Resource(env))))
        pool.append(own[0])
    return lambda one: min(pool, key=lambda e: e.queued).submit(one)


# --8<-- [end:split]
Way = tuple[str, int]
"""("together", budget) or ("split", GPUs that prefill)."""


@dataclass(frozen=True)
class Outcome:
    """What a run gave: requests after the warm-up and every gap between tokens, with its count."""

    requests: list[Request]
    gaps: list[tuple[float, int]]

    def share(self, tpot: float, ttft: float = TTFT) -> float:
        """Share of requests that meet the limits of TTFT and of their own mean gap."""
        return sum(one.meets(ttft, tpot) for one in self.requests) / len(self.requests)

    def tail(self) -> float:
        """The gap that 99 of 100 gaps do not exceed."""
        left = 0.01 * sum(count for _, count in self.gaps)
        for gap, count in sorted(self.gaps, reverse=True):
            left -= count
            if left < 0:
                return gap
        return 0.0

    def good(self, limit: float, tail: bool, ttft: float = TTFT) -> bool:
        """Whether nine of ten requests are served well; with `tail`, 99 of 100 gaps too."""
        return self.share(limit, ttft) >= SHARE and (not tail or self.tail() <= limit)


@cache
def run(load: Load, way: Way, per_gpu: float, link: float = LINK, seconds: float = 40) -> Outcome:
    """Serve a trace on eight GPUs; its first quarter warms up, arrivals end before the run does."""
    env, (kind, number), gaps = simpy.Environment(), way, list[tuple[float, int]]()
    if kind == "together":
        pool = [Engine(env, number, gaps) for _ in range(GPUS)]
        enter = together(pool)
    else:
        enter = split(env, number, GPUS - number, link, gaps)
    requests = trace(load, per_gpu * GPUS, seconds)

    def arrive() -> Generator[Any, Any, None]:
        for request in requests:
            yield env.timeout(request.arrival - env.now)
            enter(request)

    env.process(arrive())
    env.run(until=seconds * 1.5)
    return Outcome([one for one in requests if one.arrival > seconds / 4], gaps)
