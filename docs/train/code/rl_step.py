"""RL steps with long-tailed responses: five ways to order generation and training.

Run:  python docs/train/code/rl_step.py        (standard library only, some seconds)

A replica of four GPUs decodes up to SLOTS responses at once; a decoding step costs the
bytes it reads. Responses come in groups (GRPO); only whole groups are trained on. Times in
seconds. Prefill of prompts, rewards, and tools cost nothing here.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

PARAMS, KV_TOKEN = 32.76e9, 2 * 64 * 8 * 128 * 2  # Qwen3 32B, BF16
PEAK, HBM = 989.4e12, 3.352e12  # H100 SXM, dense BF16; bytes a second
GPUS, TP, SLOTS = 64, 4, 64
GROUPS, SIZE = 128, 16  # a batch: prompts, responses to each
MEDIAN, SPREAD, LONGEST = 4000, 0.9, 32768  # log-normal lengths, cut off
READ, MFU, PREFILL, LAUNCH = 0.7, 0.4, 0.5, 0.003  # assumed: shares of HBM and PEAK; a step
SWITCH = 8.0  # assumed: weights to the engine, either placement
WARM, STEPS = 2, 8  # steps not counted, steps counted


@dataclass
class Response:
    group: int
    length: int
    done: int = 0
    oldest: int = -1  # version of the weights that wrote its first token


@dataclass
class Replica:
    clock: float = 0.0
    busy: float = 0.0
    steps: int = 0
    tokens: int = 0
    peak: int = 0  # most tokens of context at once
    running: list[Response] = field(default_factory=list)

    def step(self) -> float:
        """Return the seconds of one decoding step for what is running now."""
        context = sum(one.done for one in self.running)
        self.peak = max(self.peak, context)
        read = (2 * PARAMS + context * KV_TOKEN) / (TP * HBM * READ)
        compute = 2 * PARAMS * len(self.running) / (TP * PEAK * PREFILL)
        return max(read, compute) + LAUNCH

    def advance(self, until: float) -> list[Response]:
        """Decode to the next finished response or to `until`; return what finished."""
        if not self.running or self.clock >= until:
            self.clock = max(self.clock, until)
            return []
        # the context grows meanwhile: at most 256 tokens at one price
        step, least = self.step(), min(one.length - one.done for one in self.running)
        count = int(min(least, 256, max(1.0, (until - self.clock) / step)))
        self.clock += count * step
        self.busy += count * step
        self.steps += count
        self.tokens += count * len(self.running)
        for one in self.running:
            one.done += count
        ended = [one for one in self.running if one.done >= one.length]
        self.running = [one for one in self.running if one.done < one.length]
        return ended


@dataclass
class Rollout:
    """Replicas that share one queue; `left` counts the unfinished responses of each group."""

    replicas: list[Replica]
    chance: random.Random
    version: int = 0
    next_group: int = 0
    queue: deque[Response] = field(default_factory=deque)
    left: dict[int, int] = field(default_factory=dict)
    members: dict[int, list[Response]] = field(default_factory=dict)
    ready: list[int] = field(default_factory=list)

    def submit(self, groups: int) -> None:
        for _ in range(groups):
            fresh = [
                Response(
                    self.next_group,
                    min(LONGEST, max(1, int(MEDIAN * self.chance.lognormvariate(0, SPREAD)))),
                )
                for _ in range(SIZE)
            ]
            self.members[self.next_group] = fresh
            self.left[self.next_group] = SIZE
            self.queue.extend(fresh)
            self.next_group += 1

    def fill(self, now: float = 0.0) -> None:
        """Give waiting responses to the emptiest replica; an idle one starts at `now`."""
        while self.queue:
            replica = min(self.replicas, key=lambda one: len(one.running))
            if len(replica.running) >= SLOTS:
                return
            response = self.queue.popleft()
            if response.oldest < 0:
                response.oldest = self.version
            if not replica.running:
                replica.clock = max(replica.clock, now)
            replica.running.append(response)

    def run(self, until: float, enough: int | None = None) -> float:
        """Decode until the time, until `enough` groups are ready, or until nothing is left."""
        if enough is not None and len(self.ready) >= enough:
            return 0.0
        self.fill()
        while alive := [one for one in self.replicas if one.running and one.clock < until]:
            replica = min(alive, key=lambda one: one.clock)
            for response in replica.advance(until):
                self.left[response.group] -= 1
                if not self.left[response.group]:
                    self.ready.append(response.group)
            if enough is not None and len(self.ready) >= enough:
                return replica.clock
            self.fill(replica.clock)
        return max(one.clock for one in self.replicas)

    def wait(self, until: float) -> None:
        for replica in self.replicas:
            replica.clock = max(replica.clock, until)

    def again(self) -> None:
        """New weights: the KV cache of what is running is computed anew."""
        for replica in self.replicas:
            context = sum(one.done for one in replica.running)
            cost = 2 * PARAMS * context / (TP * PEAK * PREFILL)
            replica.clock += cost
            replica.busy += cost


@dataclass
class Result:
    name: str
    seconds: float = 0.0
    busy: float = 0.0  # GPU-seconds
    trained: int = 0
    thrown: int = 0
    responses: int = 0
    batch: float = 0.0  # mean responses in a decoding step of a replica
    peak: int = 0
    age: Counter[int] = field(default_factory=Counter)

    def take(self, rollout: Rollout, groups: list[int], version: int) -> int:
        """Train on groups: return their tokens, count the age of each response's first token."""
        tokens = 0
        for group in groups:
            for one in rollout.members.pop(group):
                tokens += one.length
                self.age[version - one.oldest] += 1
                self.responses += 1
        self.trained += tokens
        return tokens

    def begin(self, rollout: Rollout, now: float) -> None:
        """Forget what was counted while the pipeline filled."""
        self.seconds, self.busy, self.trained, self.thrown, self.responses = -now, 0.0, 0, 0, 0
        self.age.clear()
        for replica in rollout.replicas:
            replica.busy, replica.steps, replica.tokens, replica.peak = 0.0, 0, 0, 0

    def close(self, rollout: Rollout, now: float) -> Result:
        self.seconds += now
        self.busy += TP * sum(one.busy for one in rollout.replicas)
        self.peak = max(one.peak for one in rollout.replicas)
        self.batch = sum(one.tokens for one in rollout.replicas) / sum(
            one.steps for one in rollout.replicas
        )
        return self

    @property
    def idle(self) -> float:
        return 1 - self.busy / (GPUS * self.seconds)


def training(tokens: int, gpus: int) -> float:
    """Return the time of an update: 6 N a token, and 2 N each for old and reference policy."""
    return 10 * PARAMS * tokens / (gpus * PEAK * MFU)


def start(gpus: int, seed: int) -> Rollout:
    return Rollout([Replica() for _ in range(gpus // TP)], random.Random(seed))


# --8<-- [start:colocated]
def colocated(name: str, extra: float = 0.0, keep: bool = False, seed: int = 1) -> Result:
    """All GPUs generate, then all train. `extra` groups are started; the rest dropped or kept."""
    result, rollout, now = Result(name), start(GPUS, seed), 0.0
    for version in range(WARM + STEPS):
        if version == WARM:
            result.begin(rollout, now)
        rollout.version = version
        waiting = len(rollout.left) - len(rollout.ready) if keep else 0
        rollout.submit(int(GROUPS * (1 + extra)) - waiting - len(rollout.ready))
        now = max(now, rollout.run(float("inf"), GROUPS))
        batch, rollout.ready = rollout.ready[:GROUPS], rollout.ready[GROUPS:]
        for group in batch:
            del rollout.left[group]
        tokens = result.take(rollout, batch, version)
        if not keep:
            result.thrown += sum(one.done for group in rollout.members.values() for one in group)
            rollout.members, rollout.left, rollout.ready = {}, {}, []
            rollout.queue.clear()
            for replica in rollout.replicas:
                replica.running = []
        update = training(tokens, GPUS)
        result.busy += update * GPUS
        now += update + SWITCH
        rollout.wait(now)
        rollout.again()
    return result.close(rollout, now)


# --8<-- [end:colocated]


def one_step_off(generating: int, seed: int = 1) -> Result:
    """Batch k+1 is generated with the weights of the step in which batch k is trained on."""
    name = f"one step off, {generating} + {GPUS - generating}"
    result, rollout, now = Result(name), start(generating, seed), 0.0
    batch: list[int] = []
    for version in range(WARM + STEPS):
        if version == WARM:
            result.begin(rollout, now)
        rollout.version = version
        rollout.submit(GROUPS)
        update = 0.0
        if batch:
            update = training(result.take(rollout, batch, version), GPUS - generating)
        result.busy += update * (GPUS - generating)
        end = rollout.run(float("inf"))
        batch, rollout.ready = rollout.ready, []
        now = max(end, now + update) + SWITCH
        rollout.wait(now)
    return result.close(rollout, now)


# --8<-- [start:asynchronous]
def asynchronous(generating: int, bound: int, seed: int = 1) -> Result:
    """Generation never waits for a batch; how far it may run ahead is bounded by a count."""
    name = f"async, bound {bound}, {generating} + {GPUS - generating}"
    result, rollout, now = Result(name), start(generating, seed), 0.0
    for version in range(WARM + STEPS):
        if version == WARM:
            result.begin(rollout, now)
        rollout.version = version
        rollout.submit((bound + version + 1) * GROUPS - rollout.next_group)
        now = max(now, rollout.run(float("inf"), GROUPS))
        batch, rollout.ready = rollout.ready[:GROUPS], rollout.ready[GROUPS:]
        update = training(result.take(rollout, batch, version), GPUS - generating)
        result.busy += update * (GPUS - generating)
        now += update
        rollout.run(now)  # generation goes on meanwhile, then is interrupted
        now += SWITCH
        rollout.wait(now)
        rollout.again()
    return result.close(rollout, now)


# --8<-- [end:asynchronous]


def best(way: Callable[[int], Result]) -> Result:
    """Return the split of the GPUs that trains on most tokens a second."""
    return max((way(count) for count in (32, 40, 48)), key=lambda one: one.trained / one.seconds)


def everything() -> list[Result]:
    return [
        colocated("synchronous"),
        colocated("25% over, rest dropped", 0.25),
        colocated("25% over, rest kept", 0.25, keep=True),
        best(one_step_off),
        *(best(partial(asynchronous, bound=bound)) for bound in (1, 2, 4)),
    ]


def main() -> None:
    print(f"{STEPS} steps of {GROUPS} x {SIZE} responses, 32B, {GPUS} H100")
    head = f"{'':26}{'s/step':>7}{'tok/s':>7}{'idle':>5}{'batch':>6}{'length':>7}{'drop':>5}"
    print(head + "  age 0   1   2   3  4+")
    results = everything()
    for one in results:
        shares = [one.age[age] / one.responses for age in range(4)]
        ages = "".join(f"{share:4.0%}" for share in [*shares, max(0.0, 1 - sum(shares))])
        print(
            f"{one.name:26}{one.seconds / STEPS:7.0f}{one.trained / one.seconds:7.0f}"
            f"{one.idle:5.0%}{one.batch:6.1f}{one.trained / one.responses:7.0f}"
            f"{one.thrown / (one.thrown + one.trained):5.0%}   {ages}"
        )
    first, batch = results[0], results[0].trained // STEPS
    whole, update = first.seconds / STEPS, training(batch, GPUS)
    print(
        f"synchronous step: generation {whole - update - SWITCH:.0f} s"
        f" ({1 - (update + SWITCH) / whole:.0%}), training {update:.0f} s, switch {SWITCH:.0f} s"
    )
    print(f"largest context of a replica there: {first.peak / 1e3:.0f} thousand tokens")


if __name__ == "__main__":
    main()
