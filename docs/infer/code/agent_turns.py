"""Agents on an engine: turns, tools that run in between, and what of the cache is still there.

Llama 3.1 8B on one H100, with step times fitted by step_time.py. A fluid model, not one of steps:
a prompt is computed alone and decoding waits meanwhile; after that all decoding turns share each
step. A turn starts when the cache has room for its prompt and its answer, first come, first
served. Caches of agents whose tool runs, and of tasks that have ended, are idle; room is made by
evicting idle caches, the longest idle first, tails before heads. Two ways to keep more of them:

    pinned   for some seconds after a turn its cache is not evicted
    copied   what is evicted stays in host memory, which has room for all, and is loaded again

Unless it says otherwise, pinning comes with an order: a turn that still has its whole cache is
served before the others.

The tasks are shaped by a published trace (Codex on SWE-bench Pro): some 33 turns, a first prompt
of 12,000 tokens, 2,240 more per turn, and waits of 5.2 s (median) and 81 s (99th percentile). An
agent that has ended a task starts the next at once.

Usage
    python docs/infer/code/agent_turns.py                # one engine by agents at a time
    python docs/infer/code/agent_turns.py --keep         # 16 agents, by what is kept
    python docs/infer/code/agent_turns.py --routes       # four engines behind a router
    python docs/infer/code/agent_turns.py --sandboxes    # sandboxes for some tasks, and on a host
"""

from __future__ import annotations

import argparse
import random
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import ceil, comb, floor, inf, log

from step_time import fit, pairs_of

STEPS = fit()
POOL = 420_000  # tokens of cache, as in serve_sim.py
BYTES, LINK = 131_072, 55e9  # of a token; bytes/s from host memory, as measured over PCIe 5.0 x16
CHUNK = 2048
TURNS, FIRST, ANSWER, RESULT, LONGEST = (17, 49), 12_000, 350, 1890, 120_000
WAIT, TAIL = 5.2, 81.4  # seconds of a tool: median and 99th percentile
SPREAD = log(TAIL / WAIT) / 2.326


@dataclass(eq=False)
class Task:
    """One agent at work."""

    number: int
    draw: random.Random
    begun: float
    turns: int
    context: int = FIRST
    answer: int = 0
    seen: int = 0  # tokens that some engine has computed
    kept: dict[int, int] = field(default_factory=dict)  # tokens in the cache, by engine
    at: int = 0
    left: float = 0.0
    pinned: float = 0.0


class Engine:
    """One engine: its cache, the prompt that it computes, the turns that decode."""

    def __init__(self, number: int, pool: int) -> None:
        self.number, self.pool = number, pool
        self.idle: list[Task] = []
        self.waiting: deque[Task] = deque()
        self.prompts: deque[Task] = deque()
        self.decoding: list[Task] = []
        self.busy = 0  # tokens reserved by the turns that run

    @property
    def load(self) -> int:
        """Turns here."""
        return len(self.waiting) + len(self.prompts) + len(self.decoding)

    # --8<-- [start:room]
    def room(self, task: Task, now: float) -> bool:
        """Make room for a turn by evicting the longest idle caches; False if that is not enough."""
        others = [one for one in self.idle if one is not task]  # the longest idle first
        lacks = self.busy + sum(one.kept[self.number] for one in others)
        lacks += task.context + task.answer - self.pool
        free = [one for one in others if one.pinned <= now]
        if lacks > sum(one.kept[self.number] for one in free):
            return False
        for one in free:
            if lacks <= 0:
                break
            gone = min(lacks, one.kept[self.number])  # its tail
            one.kept[self.number] -= gone
            lacks -= gone
            if not one.turns and not one.kept[self.number]:
                self.idle.remove(one)  # an ended task
        return True

    # --8<-- [end:room]

    def step(self) -> float:
        """Return the seconds of a step in which all decode."""
        return STEPS.time(len(self.decoding), sum(one.context for one in self.decoding))


class Fleet:
    """Engines, and agents that keep a number of tasks going."""

    def __init__(
        self,
        agents: int,
        *,
        engines: int = 1,
        pool: int = POOL,
        keep: str = "lru",
        hold: float = 0,
        cached_first: bool | None = None,
    ) -> None:
        self.engines = [Engine(i, pool) for i in range(engines)]
        self.keep, self.hold, self.route = keep, hold, "sticky"
        self.cached_first = hold > 0 if cached_first is None else cached_first
        self.events: list[tuple[float, int, Task | None]] = []
        self.now, self.count, self.tasks = 0.0, 0, 0
        self.ended: list[tuple[float, float]] = []
        self.prompt = self.hit = self.again = 0
        self.spent = {"prefill": 0.0, "decode": 0.0, "tool": 0.0, "wait": 0.0}
        self.agents = agents

    def later(self, seconds: float, task: Task | None) -> None:
        """Note an event; without a task it only lets waiting turns try again."""
        self.count += 1
        heappush(self.events, (self.now + seconds, self.count, task))

    def begin(self) -> None:
        """Start the next task."""
        draw = random.Random(self.tasks)
        self.tasks += 1
        self.later(0, Task(self.tasks, draw, self.now, draw.randint(*TURNS)))

    def ask(self, task: Task) -> None:
        """Send a turn to an engine."""
        if not task.kept or self.route == "least":
            task.at = min(self.engines, key=lambda one: (one.load, len(one.idle))).number
        task.answer = max(8, round(task.draw.expovariate(1 / ANSWER)))
        self.engines[task.at].waiting.append(task)

    # --8<-- [start:turn]
    def admit(self, engine: Engine) -> None:
        """Start turns that fit, in order; count what is found, loaded or computed again."""
        if self.cached_first:
            whole = [one for one in engine.waiting if one.kept.get(engine.number, 0) >= one.seen]
            engine.waiting = deque(sorted(engine.waiting, key=lambda one: one not in whole))
        while engine.waiting and engine.room(engine.waiting[0], self.now):
            task = engine.waiting.popleft()
            found = min(task.kept.get(engine.number, 0), task.context - 1)
            if task in engine.idle:
                engine.idle.remove(task)
            self.prompt, self.hit = self.prompt + task.context, self.hit + found
            lost = max(0, min(task.seen, task.context - 1) - found)
            load = lost if self.keep == "host" else 0
            self.again += lost - load
            new = task.context - found - load
            task.left = seconds(new, found + load) + load * BYTES / LINK
            task.kept[engine.number] = task.context
            engine.busy += task.context + task.answer
            engine.prompts.append(task)

    def answer(self, engine: Engine, task: Task) -> None:
        """End a turn: a tool runs, or the task is done."""
        task.context += task.answer
        engine.busy -= task.context
        task.seen = task.context
        task.kept[engine.number] = task.context if self.keep != "none" else 0
        engine.idle.append(task)
        task.turns = task.turns - 1 if task.context < LONGEST else 0
        if task.turns:
            wait = task.draw.lognormvariate(log(WAIT), SPREAD)
            self.spent["tool"] += wait
            task.pinned = self.now + self.hold
            task.context += round(task.draw.expovariate(1 / RESULT))
            self.later(wait, task)
            if self.hold:
                self.later(self.hold, None)
        else:
            task.pinned = 0.0
            self.ended.append((self.now, self.now - task.begun))
            self.begin()

    # --8<-- [end:turn]

    def run(self, tasks: int) -> Fleet:
        """Run until so many tasks have ended."""
        for _ in range(self.agents):
            self.begin()
        while len(self.ended) < tasks:
            soon = self.events[0][0] - self.now if self.events else inf
            for one in self.engines:
                if one.prompts:
                    soon = min(soon, one.prompts[0].left)
                elif one.decoding:
                    soon = min(soon, one.step() * min(task.left for task in one.decoding))
            self.pass_time(max(soon, 0.0))
            while self.events and self.events[0][0] <= self.now + 1e-9:
                task = heappop(self.events)[2]
                if task:
                    self.ask(task)
            for one in self.engines:
                self.admit(one)
        return self

    def pass_time(self, seconds: float) -> None:
        """Let work go on for a while and end what is done."""
        self.now += seconds
        for one in self.engines:
            self.spent["wait"] += seconds * len(one.waiting)
            if one.prompts:
                self.spent["prefill"] += seconds
                one.prompts[0].left -= seconds
                if one.prompts[0].left <= 1e-9:
                    task = one.prompts.popleft()
                    task.left = float(task.answer)
                    one.decoding.append(task)
            elif one.decoding:
                self.spent["decode"] += seconds
                tokens = seconds / one.step()
                for task in one.decoding:
                    task.left -= tokens
                for task in [task for task in one.decoding if task.left <= 1e-6]:
                    one.decoding.remove(task)
                    self.answer(one, task)

    def row(self) -> str:
        """Return what the operator sees."""
        took = sorted(seconds / 60 for _, seconds in self.ended)
        engines, hours = len(self.engines), self.now / 3600
        busy = {name: spent / self.now / engines for name, spent in self.spent.items()}
        return (
            f"{len(took) / hours / engines:>8.0f}{took[len(took) // 2]:>8.1f}"
            f"{took[int(0.95 * len(took))]:>8.1f}{self.hit / self.prompt:>7.1%}"
            f"{self.again / len(took) / 1e3:>9.0f}{busy['prefill']:>9.0%}{busy['decode']:>8.0%}"
            f"{busy['tool']:>7.1f}{busy['wait']:>7.1f}"
        )


HEAD = (
    f"{'tasks/h':>8}{'min p50':>8}{'p95':>8}{'hits':>7}{'k again':>9}{'prefill':>9}{'decode':>8}"
    f"{'tools':>7}{'queue':>7}"
)
TASKS = 300


def by_agents() -> Iterator[str]:
    """Return the capacity of one engine by agents at a time."""
    yield f"{'agents, LRU':<22}{HEAD}"
    for agents in (1, 4, 8, 10, 12, 16, 24):
        yield f"{agents:<22}{Fleet(agents).run(TASKS).row()}"


def seconds(new: int, before: int) -> float:
    """Return the seconds of a prompt of which so many tokens are new."""
    work = STEPS.token * new + STEPS.pair * pairs_of(new, before)
    return work + STEPS.start * ceil(new / CHUNK)


def by_keep() -> Iterator[str]:
    """Return what a miss costs, and the capacity with 16 agents by what is kept."""
    length, new = 46_000, ANSWER + RESULT
    yield f"a turn at {length} tokens, {new} of them new: {seconds(new, length - new):.2f} s"
    yield f"all of them computed again: {seconds(length, 0):.2f} s"
    yield f"the {length - new} others loaded from the host: {(length - new) * BYTES / LINK:.2f} s"
    yield f"{'16 agents':<22}{HEAD}"
    for name, fleet in {
        "nothing kept": Fleet(16, keep="none"),
        "LRU": Fleet(16),
        "LRU, cached first": Fleet(16, cached_first=True),
        "pinned for 5 s": Fleet(16, hold=5),
        "pinned for 20 s": Fleet(16, hold=20),
        "pinned for 60 s": Fleet(16, hold=60),
        "pinned for 20 s, FCFS": Fleet(16, hold=20, cached_first=False),
        "copied to host memory": Fleet(16, keep="host"),
        "LRU, twice the room": Fleet(16, pool=2 * POOL),
        "20 s, twice the room": Fleet(16, pool=2 * POOL, hold=20),
    }.items():
        yield f"{name:<22}{fleet.run(TASKS).row()}"


def by_route() -> Iterator[str]:
    """Return four engines with eight agents each, by route."""
    yield f"{'4 engines, 32 agents':<22}{HEAD}"
    for name, route in {"same engine": "sticky", "fewest turns": "least"}.items():
        fleet = Fleet(32, engines=4)
        fleet.route = route
        yield f"{name:<22}{fleet.run(TASKS).row()}"


# --8<-- [start:sandboxes]
def fitting(memory: float, base: float, burst: float, share: float, risk: float = 1e-3) -> int:
    """Return how many sandboxes fit if each bursts for a share of its time, on its own."""
    count = 0
    while True:
        bursts = floor((memory - base * (count + 1)) / burst)
        if bursts < 0:
            return count
        fine = sum(
            comb(count + 1, i) * share**i * (1 - share) ** (count + 1 - i)
            for i in range(min(bursts, count + 1) + 1)
        )
        if 1 - fine > risk:
            return count
        count += 1


# --8<-- [end:sandboxes]


def by_host(rate: float = 600, start: float = 60) -> Iterator[str]:
    """Return sandboxes for some tasks an hour, and hosts of 24 cores and 128 GB."""
    for minutes in (8, 15, 30):
        alive = rate / 3600 * (60 * minutes + start)
        yield f"{rate:.0f} tasks/h of {minutes} min, {start:.0f} s to start: {alive:.0f} sandboxes"
    yield "sandboxes on a host with 24 cores and 128 GB, 0.2 GB each and bursts of 2 GB"
    yield f"  memory, every burst at once      {int(128 / 2.2):>5}"
    for share in (0.02, 0.10, 0.25):
        some = fitting(128, 0.2, 2.0, share)
        yield f"  memory, bursting {share:>4.0%} of the time {some:>5}"
    yield f"  cores, 0.13 each, 70% in use     {int(0.7 * 24 / 0.13):>5}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    tables = {"keep": by_keep, "routes": by_route, "sandboxes": by_host}
    for name in tables:
        parser.add_argument(f"--{name}", action="store_true")
    asked = [name for name, given in vars(parser.parse_args()).items() if given]
    for name in asked:
        print("\n".join(tables[name]()))
    if not asked:
        print("\n".join(by_agents()))


if __name__ == "__main__":
    main()
