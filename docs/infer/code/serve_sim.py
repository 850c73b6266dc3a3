"""An LLM engine as a simulation of events: arrivals, a scheduler, steps that take time (SimPy).

One GPU with Llama 3.1 8B; a step's time is that of step_time.py, pages and prefix cache are those
of prefix_cache.py. A request is a prompt and the number of tokens it will ask for; the scheduler
does not know the latter. Three policies:

    static         a batch starts when the one before has ended (no continuous batching)
    prefill-first  new prompts, whole, in steps of their own, before decoding goes on
    chunked        one token budget a step: decoding first, chunks of prompts take what is left

A step schedules for each request min(tokens it still lacks, what is left of the budget). When no
page is left, the last of the running (by priority: the least urgent) gives its pages back, waits
in front of all others and is computed anew.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from heapq import heappop, heappush
from math import ceil
from typing import Any

import simpy
from prefix_cache import PrefixPool, give_back
from serve_requests import PAGE, Request
from step_time import Steps, fit, pairs_of

POOL_TOKENS = 420_000
"""0.92 of 80 GB less 16.1 GB of weights and 2.5 GB for activations, at 131,072 B per token."""


@dataclass(frozen=True)
class Engine:
    """What an operator sets."""

    policy: str = "chunked"
    budget: int = 2048  # tokens a step
    max_seqs: int = 256
    pool_tokens: int = POOL_TOKENS
    by_priority: bool = False
    prefix_cache: bool = True
    whole_prompt: bool = True  # admit only if pages for the whole prompt are free


class Server:
    """One engine: its queues, its pages and the process that runs its steps."""

    def __init__(self, env: simpy.Environment, engine: Engine, steps: Steps | None = None) -> None:
        self.env, self.engine, self.steps = env, engine, steps or fit()
        self.pool = PrefixPool(engine.pool_tokens // PAGE, PAGE)
        self.waiting: list[tuple[float, float, int, Request]] = []
        self.running: list[Request] = []
        self.done: list[Request] = []
        self.arrived = env.event()
        self.front = 0
        self.preemptions = self.recomputed = self.step_count = self.busy_tokens = 0
        self.busy = 0.0
        self.process = env.process(self.run())

    @property
    def load(self) -> int:
        """Requests here, waiting and running."""
        return len(self.waiting) + len(self.running)

    @property
    def backlog(self) -> int:
        """Tokens of prompts that are still to be computed."""
        first = sum(one[-1].tokens for one in self.waiting)
        return first + sum(one.tokens - one.computed for one in self.running if not one.times)

    def submit(self, request: Request, again: bool = False) -> None:
        """Queue a request; one that was pre-empted goes before those of its priority."""
        if request.prompt + request.output > self.engine.pool_tokens:
            raise ValueError(f"request {request.number} does not fit the cache at all")
        rank = request.priority if self.engine.by_priority else 0
        self.front -= 1
        order = self.front if again and not self.engine.by_priority else request.arrival
        heappush(self.waiting, (rank, order, request.number, request))
        if not self.arrived.triggered:
            self.arrived.succeed()

    def run(self) -> Generator[Any, Any, None]:
        """Schedule, spend the step's time, hand out tokens; sleep while there is nothing."""
        while True:
            if not self.load:
                self.arrived = self.env.event()
                yield self.arrived
            plan = self.schedule()
            seconds = self.cost(plan)
            yield self.env.timeout(seconds)
            self.busy += seconds
            self.step_count += 1
            self.finish(plan)

    # --8<-- [start:schedule]
    def schedule(self) -> dict[int, tuple[Request, int]]:
        """Return how many tokens of which request the next step computes."""
        plan: dict[int, tuple[Request, int]] = {}
        policy, budget = self.engine.policy, self.engine.budget
        admit = policy != "static" or not self.running
        if policy == "static":
            budget = self.engine.pool_tokens  # all prompts of the batch in one step
        if policy == "prefill-first":
            budget = self.admit(plan, budget)
            if plan:
                return plan
            admit = False
        for request in list(self.running):
            if not budget:
                break
            if not request.table:
                continue  # gave its pages back in this very step
            count = min(request.tokens - request.computed, budget)
            while request.table and not self.grow(request, request.computed + count):
                victim = self.victim()
                _, freed = plan.pop(victim.number, (victim, 0))
                budget += freed
                self.preempt(victim)
                admit = False  # a step that pre-empts admits nobody
            if request.table:
                plan[request.number] = (request, count)
                budget -= count
        if admit:
            self.admit(plan, budget)
        return plan

    def admit(self, plan: dict[int, tuple[Request, int]], budget: int) -> int:
        """Start waiting requests while tokens, places and pages last."""
        while self.waiting and budget > 0 and len(self.running) < self.engine.max_seqs:
            request = self.waiting[0][-1]
            pages = self.cached(request)
            hit = len(pages)
            count = min(request.tokens - hit * PAGE, budget)
            whole = request.tokens if self.engine.whole_prompt else hit * PAGE + count
            if ceil(whole / PAGE) - hit > self.pool.room - self.pool.unused(pages):
                break
            if self.engine.policy != "chunked" and count < request.tokens - hit * PAGE and plan:
                break  # whole prompts, unless one alone is longer than the budget
            heappop(self.waiting)
            request.table = pages
            self.pool.share(pages)
            request.computed = hit * PAGE
            self.recomputed += max(0, request.lost - request.computed)
            request.hit = request.hit if request.lost else request.computed
            self.grow(request, request.computed + count)
            self.running.append(request)
            request.lost = 0
            request.started = self.env.now if request.started is None else request.started
            plan[request.number] = (request, count)
            budget -= count
        return budget

    # --8<-- [end:schedule]

    def cached(self, request: Request) -> list[int]:
        """Pages of the request that are known; its last token must be computed in any case."""
        if not self.engine.prefix_cache:
            return []
        return self.pool.match(map(request.key, range((request.tokens - 1) // PAGE)))

    def grow(self, request: Request, tokens: int) -> bool:
        """Take the pages that so many tokens need; False, and none taken, if too few are left."""
        need = -(-tokens // PAGE) - len(request.table)
        if not need:
            return True
        if need > self.pool.room:
            return False
        request.table += [self.pool.take() for _ in range(need)]
        return True

    def victim(self) -> Request:
        """The last of the running, or the least urgent one."""
        if self.engine.by_priority:
            return max(self.running, key=lambda one: (one.priority, one.arrival))
        return self.running[-1]

    # --8<-- [start:preempt]
    def preempt(self, request: Request) -> None:
        """Take all pages of a request away; its tokens stay and are to be computed anew."""
        self.running.remove(request)
        give_back(self.pool, request.table)
        request.lost = max(request.lost, request.computed)
        request.table, request.computed = [], 0
        self.preemptions += 1
        self.submit(request, again=True)

    # --8<-- [end:preempt]

    def cost(self, plan: dict[int, tuple[Request, int]]) -> float:
        """Return the seconds of a step: what it reads and what it computes."""
        decoding = read = chunk = 0
        pairs = 0.0
        for request, count in plan.values():
            if count == 1 and request.times:
                decoding += 1
                read += request.computed + 1
            else:
                chunk += count
                pairs += pairs_of(count, request.computed)
        self.busy_tokens += decoding + chunk
        return self.steps.time(decoding, read, chunk, pairs)

    def finish(self, plan: dict[int, tuple[Request, int]]) -> None:
        """After a step: full pages can be found; whoever has caught up has a new token."""
        for request, count in plan.values():
            before, request.computed = request.computed // PAGE, request.computed + count
            full = request.computed // PAGE
            if self.engine.prefix_cache:
                for page in range(before, full):
                    self.pool.keep(request.table[page], request.key(page))
            if request.computed < request.tokens:
                continue
            request.times.append(self.env.now)
            if len(request.times) == request.output:
                give_back(self.pool, request.table)
                self.running.remove(request)
                self.done.append(request)


def arrive(env: simpy.Environment, requests: list[Request], server: Server) -> Any:
    """Open loop: requests come when they come, whatever the server does."""
    for request in requests:
        yield env.timeout(request.arrival - env.now)
        server.submit(request)


def serve(requests: list[Request], engine: Engine, steps: Steps | None = None) -> Server:
    """Serve all requests of a trace and return the server."""
    env = simpy.Environment()
    server = Server(env, engine, steps)
    env.process(arrive(env, requests, server))
    while len(server.done) < len(requests):
        env.step()
    return server
