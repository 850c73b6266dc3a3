"""One design from one set of assumptions: what to train on, how long, and what to serve it on.

    python docs/eng/code/design_task.py [--gpus N] [--tp T] [--pp P] [--tokens N] [--users N] …

Llama 3.1 70B on H100 SXM in servers of eight. The formulas are those of the calculators
(training-memory, training-time, checkpoint, kv-cache, fleet), written once more; standard library.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from math import ceil, exp, log, sqrt

GB, DAY, YEAR = 1e9, 86400, 365.25 * 86400
PEAK, FP8, BANDWIDTH, MEMORY, SERVER = 989.4e12, 1978.9e12, 3352 * GB, 85.02 * GB, 8
SEQUENCE, SEQUENCES, CHUNKS = 8192, 128, 5  # a step; interleaved chunks of a pipeline stage


@dataclass(frozen=True)
class Model:
    parameters: float
    layers: int
    hidden: int
    units: float  # activations of a layer, in s·b·h bytes
    embedding: float
    kv_heads: int = 8
    head: int = 128


LLAMA = Model(70.55e9, 80, 8192, 40.5, 128256 * 8192)


# --8<-- [start:train]
def memory(model: Model, tp: int, pp: int, dp: int) -> float:
    """Bytes on the first stage: ZeRO-1, interleaved, sequence parallel, nothing recomputed."""
    states = model.parameters / (tp * pp) * (2 + 4 + 12 / dp)
    layers = model.layers * (1 + (pp - 1) / (pp * CHUNKS))
    return states + layers * model.units * SEQUENCE * model.hidden / tp


def sent(model: Model, tp: int, pp: int, dp: int) -> tuple[float, float]:
    """Bytes that a GPU sends on its port in a step: data parallel, pipeline."""
    each = model.parameters / (tp * pp) * (4 + 2) * (dp - 1) / dp  # FP32 gradients, BF16 weights
    message = SEQUENCE * model.hidden * 2 / tp
    hops = 2 * (pp * CHUNKS - 1) / pp if pp > 1 else 0
    return each, hops * SEQUENCES / dp * message


# --8<-- [end:train]


def goodput(pause: float, mtbf: float, restart: float = 600) -> tuple[float, float]:
    """Young's interval, and the share of time that is useful."""
    interval = sqrt(2 * pause * mtbf)
    return interval, 1 - pause / (interval + pause) - ((interval + pause) / 2 + restart) / mtbf


# --8<-- [start:serve]
@dataclass(frozen=True)
class Replica:
    """GPUs that serve a model in FP8 by tensor parallelism, with the calculator's shares."""

    model: Model
    gpus: int
    prompt: int
    output: int
    compute: float = 0.5
    memory: float = 0.75
    fixed: float = 0.003

    @property
    def cache(self) -> float:
        """Bytes of a whole request, in 16 bits."""
        token = 2 * 2 * self.model.layers * self.model.kv_heads * self.model.head
        return token * (self.prompt + self.output)

    @property
    def prefill(self) -> float:
        flop = 2 * self.model.parameters * self.prompt + 2 * self.model.layers * (
            self.model.hidden * self.prompt**2
        )
        return flop / (self.gpus * FP8 * self.compute)

    def step(self, batch: float) -> float:
        """Seconds of a decode step."""
        tokens = max(1, batch)
        share = (self.prompt + self.output / 2) / (self.prompt + self.output)
        read = self.model.parameters - self.model.embedding + tokens * self.cache * share
        flop = 2 * self.model.parameters * tokens / (self.gpus * FP8 * self.compute)
        return max(flop, read / (self.gpus * BANDWIDTH * self.memory)) + self.fixed

    def limit(self, tpot: float, ttft: float) -> tuple[float, float]:
        """The batch that keeps memory, TPOT (mean) and TTFT (p99), and its requests a second."""
        room = MEMORY * 0.9 * self.gpus - self.model.parameters
        batch = 0
        while (batch + 1) * self.cache <= room and self.mean(batch + 1) <= tpot:
            batch += 1
        rate = batch / (self.output * self.mean(batch))
        low, high = 0.0, 1.0  # shares of time for prefill at which the queue keeps TTFT
        for _ in range(60):
            load = (low + high) / 2
            low, high = (load, high) if self.first(load, batch) <= ttft else (low, load)
        if rate * self.prefill <= low:
            return batch, rate
        return self.at(low / self.prefill)[0], low / self.prefill

    def first(self, load: float, batch: float) -> float:
        """TTFT (p99): own prefill, a step, and the queue for prefill (M/M/1)."""
        wait = self.prefill / (1 - load) * log(100 * load) if load > 0.01 else 0
        return self.prefill + self.step(batch) + wait

    def mean(self, batch: float) -> float:
        return self.step(batch) + batch / self.output * self.prefill

    def at(self, rate: float) -> tuple[float, float, float]:
        """Sequences at once, mean time per token and TTFT (p99) at some rate."""
        load, batch = rate * self.prefill, 0.0
        for _ in range(200):
            batch = rate * self.output * self.step(batch) / (1 - load)
        return batch, self.step(batch) / (1 - load), self.first(load, batch)


# --8<-- [end:serve]


def train(model: Model, given: argparse.Namespace) -> None:
    dp = given.gpus // (given.tp * given.pp)
    flop = 6 * model.parameters
    step = flop * SEQUENCE * SEQUENCES / (given.gpus * PEAK * given.mfu)
    run = step * given.tokens / (SEQUENCE * SEQUENCES)
    port = given.port * GB / 8
    data, pipe = sent(model, given.tp, given.pp, dp)
    size = 14 * model.parameters
    mtbf = given.years * YEAR / given.gpus
    interval, useful = goodput(size / (given.storage * GB) / 100, mtbf)
    held = memory(model, given.tp, given.pp, dp)
    uneven = f" (DP {dp} does not divide {SEQUENCES} sequences)" if SEQUENCES % dp else ""
    print(f"train 70B on {given.gpus} H100, {given.tokens / 1e9:.0f}B tokens{uneven}")
    print(f"  states evenly     {18 * model.parameters / given.gpus / GB:8.1f} GB per GPU")
    print(
        f"  TP{given.tp} PP{given.pp} DP{dp:<8}"
        f"{held / GB:10.1f} GB of {MEMORY / GB * 0.9:.1f}"
        f"{': does not fit' if held > 0.9 * MEMORY else ''}"
    )
    print(f"  step, run         {step:8.2f} s, {run / DAY:.1f} days")
    print(
        f"  sent on its port  {(data + pipe) / GB:8.1f} GB: {(data + pipe) / port:.2f} s, "
        f"{(data + pipe) / port / step:.1%} of a step"
    )
    print(f"  checkpoint        {size / GB:8.1f} GB: {size / given.storage / GB:.0f} s to write")
    print(f"  save every        {interval / 60:8.1f} min: goodput {useful:.1%}")
    print(f"  a failure in      {mtbf / DAY:8.1f} days: {1 - exp(-run / mtbf):.0%} in this run")


def serve(model: Model, given: argparse.Namespace) -> None:
    rate = given.users * given.active / given.pause
    replica = Replica(model, given.replica, given.prompt, given.output)
    batch, most = replica.limit(given.tpot, given.ttft)
    if not most:
        print("serve: no replica of this size keeps the SLO")
        return
    needed = ceil(rate / (0.8 * most) - 1e-9)
    servers = ceil(needed * given.replica / SERVER) + 1
    left = (servers - 1) * (SERVER // given.replica)
    _, tpot, ttft = replica.at(rate / needed)
    _, slow, late = replica.at(rate / left)
    print(f"serve {given.users} users, replicas of {given.replica}")
    print(f"  requests          {rate:8.2f} per second, {replica.cache / 1e6:.0f} MB of cache each")
    print(f"  a replica         {most:8.2f} per second at most, {batch:.0f} at once")
    print(f"  for the load      {needed * given.replica:8} GPUs: {told(tpot, ttft)}")
    share = rate / (left * most)
    print(f"  servers           {servers:8}: with one down {share:.0%} of the limit,")
    print(f"                              {told(slow, late)}")


def told(tpot: float, ttft: float) -> str:
    """Both times in words."""
    return f"TPOT {tpot * 1e3:.1f} ms, TTFT {ttft * 1e3:.0f} ms (p99)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, kind, value in (
        *(("gpus", int, 64), ("tp", int, 8), ("pp", int, 2), ("replica", int, 4)),
        *(("tokens", float, 100e9), ("mfu", float, 0.4), ("years", float, 5.8)),
        *(("port", float, 400), ("storage", float, 10), ("tpot", float, 0.05), ("ttft", float, 2)),
        *(("users", int, 10_000), ("active", float, 0.1), ("pause", float, 60)),
        *(("prompt", int, 2000), ("output", int, 400)),
    ):
        parser.add_argument(f"--{name}", type=kind, default=value)
    given = parser.parse_args()
    if given.gpus % (given.tp * given.pp) or SERVER % given.replica:
        parser.error("--gpus must be a multiple of TP x PP, and a server a multiple of --replica")
    train(LLAMA, given)
    serve(LLAMA, given)


if __name__ == "__main__":
    main()
