"""Which parallel layout for a model and a cluster: enumerate, drop, estimate, rank. Stdlib only.

Run:  python docs/train/code/planner.py [--published] [--model 8b|70b|405b] [--gpus N]
          [--sequences N] [--sequence N] [--top N] [--room SHARE] [--rails N]

Dense decoder, mixed precision of 18 bytes a parameter, 1F1B or interleaved pipeline. The formulas
are those of the notes on memory, activations, tensor, pipeline, context and data parallelism.
Not modelled: experts, stragglers, launch overhead, data loading, shapes of single products.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil

from memory_budget import GPT, RECIPES, llama, states


@dataclass(frozen=True)
class Model:
    """A dense decoder; feed and kv_heads tell a Llama layer (gated) from a GPT layer."""

    name: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    feed: int
    vocabulary: int
    sequence: int
    gated: bool = True

    @property
    def layer(self) -> float:
        """Parameters of a layer, norms and biases left out."""
        attention = 2 * self.hidden**2 * (1 + self.kv_heads / self.heads)
        return attention + (3 if self.gated else 2) * self.hidden * self.feed

    @property
    def table(self) -> float:
        return self.vocabulary * self.hidden

    @property
    def parameters(self) -> float:
        return self.layers * self.layer + (2 if self.gated else 1) * self.table

    @property
    def kept(self) -> float:
        """Activations of a layer in units of sbh bytes, attention fused."""
        if not self.gated:
            return GPT
        return llama(self.kv_heads / self.heads, self.feed / self.hidden)


@dataclass(frozen=True)
class Cluster:
    """GPUs of one kind; bandwidths one way, in bytes/s, as reached by large messages."""

    gpus: int
    peak: float
    rate: float  # share of the peak that large matrix products reach
    memory: float
    hbm: float
    nvlink: float
    port: float
    node: int = 8
    rails: int = 8  # ports of a node that one ring over several nodes loads


@dataclass(frozen=True)
class Plan:
    """One layout. recompute: none, core (attention's scores) or full. stage: ZeRO."""

    tp: int = 1
    pp: int = 1
    cp: int = 1
    dp: int = 1
    micro: int = 1
    chunks: int = 1
    recompute: str = "none"
    stage: int = 1
    sp: bool = True

    def __str__(self) -> str:
        return (f"TP{self.tp} PP{self.pp} CP{self.cp} DP{self.dp} b{self.micro} v{self.chunks} "
                f"ZeRO-{self.stage} {self.recompute}")  # fmt: skip


@dataclass(frozen=True)
class Estimate:
    """Bytes on the fullest GPU, seconds of a step and where they go."""

    memory: float
    step: float
    parts: dict[str, float]


def ring(ranks: int, size: float) -> float:
    """Bytes that a rank sends in a reduce-scatter or an all-gather of size bytes."""
    return (ranks - 1) / ranks * size


def link(c: Cluster, ranks: int, stride: int) -> float:
    """Bytes/s of a ring of ranks that lie stride GPUs apart: inside a node, or over its ports."""
    inside = max(1, min(ranks, c.node // stride))
    return c.nvlink if ranks <= inside else min(c.nvlink, min(inside, c.rails) * c.port)


def stage_layers(m: Model, pp: int) -> tuple[int, int]:
    """Layers of a middle stage and of an outer one, which may have one fewer (Llama 3)."""
    most = ceil(m.layers / pp)
    return most, most - (1 if most * pp - m.layers == 2 else 0)


# --8<-- [start:memory]
def memory(m: Model, c: Cluster, p: Plan, batch: int) -> float:
    """Bytes on the fullest of the stages that can be it: the first, the second, the last."""
    most, outer = stage_layers(m, p.pp)
    count = batch // (p.dp * p.micro)
    sbh = m.sequence * p.micro * m.hidden / (p.tp * p.cp)
    full = p.recompute == "full"
    each = (2 if full else m.kept) * sbh
    work = m.kept * sbh if full else 0
    logits = 12 * m.sequence * p.micro * m.vocabulary / (p.tp * p.cp)

    def stage(layers: int, tables: int, flight: float, head: float) -> float:
        own = (layers * m.layer + tables * m.table) / p.tp
        held = states(own, RECIPES["training, FP32 gradients"], p.stage, p.dp * p.cp)
        if p.stage == 3:  # the layer at work and the one prefetched are whole
            held += 2 * 2 * m.layer / p.tp
        return held + flight * layers * each + work + head

    if p.pp == 1:
        return stage(most, 2, 1, logits)
    # Micro-batches in flight: p, p - 1 in 1F1B; interleaved p + (p - 1) / v, p + (p - 3) / v.
    flight = [p.pp + (p.pp - 1 - 2 * i) / p.chunks if p.chunks > 1 else p.pp - i for i in (0, 1)]
    first = stage(outer, 1, min(count, flight[0]), 0)
    second = stage(most, 0, min(count, flight[1]), 0) if p.pp > 2 else 0.0
    return max(first, second, stage(outer, 1, 1, logits))


# --8<-- [end:memory]


# --8<-- [start:time]
def estimate(m: Model, c: Cluster, p: Plan, batch: int) -> Estimate:
    """Seconds of a step of batch sequences, part by part."""
    most, outer = stage_layers(m, p.pp)
    count = batch // (p.dp * p.micro)  # micro-batches
    tokens = m.sequence * p.micro / p.cp  # of one micro-batch on one rank
    speed = c.peak * c.rate * p.tp

    square = 4 * m.sequence * m.hidden * tokens  # FLOP of attention's core, forward
    core = square / 2 / (c.peak * 0.5 * p.tp) if m.gated else square / speed  # flash, or products
    forward = 2 * m.layer * tokens / speed + core
    again = {"none": 0.0, "core": core, "full": forward}[p.recompute]
    sbh = tokens * m.hidden
    whole = 0 if p.sp else 10 / 34  # the share that tensor parallelism alone does not divide
    elementwise = 4 * m.kept * sbh * (whole + (1 - whole) / p.tp) / c.hbm
    layer = 3 * forward + again + elementwise
    head = 6 * m.table * tokens / speed
    busy = max(most * layer, outer * layer + head)

    passes = 6 if p.recompute == "full" else 4
    tensor = most * passes * 2 * ring(p.tp, 2 * sbh) / link(c, p.tp, 1)
    keys = 3 * ring(p.cp, 4 * m.sequence * m.hidden * m.kv_heads / m.heads / p.tp) * p.micro
    context = most * max(0.0, keys / link(c, p.cp, p.tp) - 3 * core)
    border = 0.0  # interleaved schedules overlap it
    if p.pp > 1 and p.chunks == 1:
        border = 2 * (2 * sbh / p.tp) / link(c, p.pp, p.tp * p.cp)
    one = busy + tensor + context + border

    own = (most * m.layer + m.table * (2 if p.pp == 1 else 1)) / p.tp
    ranks, stride = p.dp * p.cp, p.tp if p.cp > 1 else p.tp * p.pp
    width = link(c, ranks, stride)
    if p.stage == 3:  # weights twice, gradients once, in every micro-batch, prefetched
        data = count * max(0.0, ring(ranks, 8 * own) / width - one)
    else:  # once a step, behind the last backward pass
        data = max(0.0, ring(ranks, 6 * own) / width - 2 / 3 * one)

    parts = {
        "compute": count * busy,
        "tensor": count * tensor,
        "context": count * context,
        "border": count * border,
        "bubble": (p.pp - 1) / p.chunks * one,
        "data": data,
    }
    return Estimate(memory(m, c, p, batch), sum(parts.values()), parts)


# --8<-- [end:time]


# --8<-- [start:search]
def layouts(m: Model, c: Cluster, batch: int) -> Iterator[Plan]:
    """Every layout that divides: TP inside a node and by KV heads, PP by layers, all by the batch.

    A rule of ours: context parallelism leaves at least 8192 tokens on a rank.
    """
    powers = [2**i for i in range(12)]
    for tp, pp, cp in itertools.product(powers, powers, powers):
        if tp > c.node or m.kv_heads % tp or c.gpus % (tp * pp * cp):
            continue
        if (m.layers % pp and (m.layers + 2) % pp) or (cp > 1 and m.sequence < 8192 * cp):
            continue
        dp = c.gpus // (tp * pp * cp)
        for micro, chunks, recompute, stage in itertools.product(
            (1, 2, 4), (1, 2, 4, 5), ("none", "full"), (1, 3)
        ):
            count, rest = divmod(batch, dp * micro)
            if rest or count < pp or (stage == 3 and (pp > 1 or dp * cp == 1)):
                continue
            if chunks > 1 and (pp == 1 or count % pp or stage_layers(m, pp)[0] % chunks):
                continue
            yield Plan(tp, pp, cp, dp, micro, chunks, recompute, stage)


def search(m: Model, c: Cluster, batch: int, room: float = 0.9) -> tuple[int, list[Plan]]:
    """How many layouts divide, and those that fit into room of the memory, fastest first."""
    every = list(layouts(m, c, batch))
    fits = [p for p in every if memory(m, c, p, batch) <= room * c.memory]
    return len(every), sorted(fits, key=lambda p: estimate(m, c, p, batch).step)


# --8<-- [end:search]

SHAPES = {
    "8b": Model("Llama 3.1 8B", 32, 4096, 32, 8, 14336, 128256, 8192),
    "70b": Model("Llama 3.1 70B", 80, 8192, 64, 8, 28672, 128256, 8192),
    "405b": Model("Llama 3.1 405B", 126, 16384, 128, 8, 53248, 128256, 8192),
}
# Links at 0.77 of nominal: 345 of 450 GB/s is what two H200 reached in a large all-reduce of ours.
H100 = Cluster(64, 989.4e12, 0.68, 85.02e9, 3.352e12, 0.77 * 450e9, 0.77 * 50e9)
A100 = Cluster(64, 312e12, 0.68, 85.1e9, 2.039e12, 0.77 * 300e9, 0.77 * 25e9)


def gpt(name: str, layers: int, hidden: int, heads: int) -> Model:
    """A model of the Megatron papers: sequence 2048, vocabulary 51,200."""
    return Model(name, layers, hidden, heads, heads, 4 * hidden, 51200, 2048, gated=False)


B22, B175 = gpt("GPT 22B", 48, 6144, 64), gpt("GPT 175B", 96, 12288, 96)
B530, B1008 = gpt("GPT 530B", 105, 20480, 128), gpt("GPT 1T", 128, 25600, 160)
OLD = Plan(tp=8, recompute="full", sp=False, stage=0)
NEW = Plan(tp=8, recompute="core", stage=0)
# The paper shards optimiser and gradients; its outer chunks hold no layer: so a layer a chunk.
LLAMA = Plan(tp=8, pp=16, chunks=8, stage=2)
LONG = replace(SHAPES["405b"], sequence=131072)

# Table, model, plan, sequences in a step, and what was published: seconds, or TFLOP/s per GPU.
PUBLISHED: list[tuple[str, Model, Plan, int, float]] = [
    ("2205.05198 t5, s", B22, replace(NEW, micro=4), 4, 1.10),
    ("2205.05198 t5, s", B22, replace(OLD, micro=4), 4, 1.42),
    ("2205.05198 t5, s", B175, replace(NEW, pp=8, chunks=3), 64, 13.75),
    ("2205.05198 t5, s", B175, replace(OLD, pp=8, chunks=3), 64, 18.13),
    ("2205.05198 t5, s", B530, replace(NEW, pp=35, chunks=3), 280, 37.83),
    ("2205.05198 t5, s", B530, replace(OLD, pp=35, chunks=3), 280, 49.05),
    ("2205.05198 t5, s", B1008, replace(NEW, pp=64), 512, 71.49),
    ("2205.05198 t5, s", B1008, replace(OLD, pp=64), 512, 94.42),
    ("2104.04473 t2, TFLOP/s", B175, replace(OLD, pp=12, dp=4), 1536, 153),
    ("2104.04473 t2, TFLOP/s", B175, replace(OLD, pp=12, dp=16), 1536, 141),
    ("2104.04473 t2, TFLOP/s", B530, replace(OLD, pp=35, dp=2), 2240, 171),
    ("2104.04473 t2, TFLOP/s", B530, replace(OLD, pp=35, dp=8), 2240, 159),
    ("2104.04473 t2, TFLOP/s", B175, replace(OLD, tp=1, dp=384, micro=4, stage=3), 1536, 144),
    ("2104.04473 t2, TFLOP/s", B175, replace(OLD, tp=1, dp=768, micro=2, stage=3), 1536, 88),
    ("2104.04473 t2, TFLOP/s", B175, replace(OLD, tp=1, dp=1536, stage=3), 1536, 44),
    ("2407.21783 t4, TFLOP/s", SHAPES["405b"], replace(LLAMA, dp=64), 2048, 430),
    ("2407.21783 t4, TFLOP/s", SHAPES["405b"], replace(LLAMA, dp=128), 2048, 400),
    ("2407.21783 t4, TFLOP/s", LONG, replace(LLAMA, cp=16, dp=8), 128, 380),
]


def counted(m: Model, batch: int) -> float:
    """FLOP of a step as the source counts: Megatron's equation 3, or 6N and causal attention."""
    tokens, s, h = batch * m.sequence, m.sequence, m.hidden
    if m.gated:
        return tokens * (6 * m.parameters + 6 * m.layers * s * h)
    ratio = 1 + s / 6 / h + m.vocabulary / 16 / m.layers / h
    return 96 * tokens * m.layers * h**2 * ratio


def compare(rails: int = 8) -> Iterator[tuple[str, Model, Plan, float, float]]:
    """Source, model, plan, published and estimated figure."""
    for source, m, p, batch, figure in PUBLISHED:
        gpus = p.tp * p.pp * p.cp * p.dp
        c = replace(H100 if m.gated else A100, gpus=gpus, rails=rails)
        step = estimate(m, c, p, batch).step
        yield (
            source,
            m,
            p,
            figure,
            (step if source.endswith(" s") else counted(m, batch) / step / gpus / 1e12),
        )


def row(m: Model, c: Cluster, p: Plan, batch: int) -> str:
    e = estimate(m, c, p, batch)
    mfu = 6 * m.parameters * batch * m.sequence / (e.step * c.gpus * c.peak)
    rest = " ".join(f"{100 * v / e.step:6.1f}" for k, v in e.parts.items() if k != "compute")
    return f"{p!s:34s}{e.memory / 1e9:6.1f} {e.step:7.2f} {100 * mfu:5.1f} {rest}"


def published() -> None:
    """Print the comparison; ZeRO-3 a second time with one port for a ring."""
    print(f"{'source':23s} {'model':14s} {'layout':36s}published  estimate")
    for rails in (8, 1):
        if rails == 1:
            print("ZeRO-3 again, one port of a node in a ring")
        for source, m, p, figure, own in compare(rails):
            if rails == 8 or p.stage == 3:
                print(f"{source:23s} {m.name:14s} {p!s:36s} {figure:8g} {own:8.3g} "
                      f"{own / figure - 1:+5.0%}")  # fmt: skip
    whole = replace(LLAMA, dp=64)
    for p in (replace(whole, chunks=1), whole):
        fullest = memory(SHAPES["405b"], H100, p, 2048)
        print(f"405B, {p}: {fullest / 1e9:.0f} GB in the fullest stage")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--published", action="store_true", help="compare with papers")
    parser.add_argument("--model", choices=list(SHAPES), default="70b")
    parser.add_argument("--gpus", type=int, default=64)
    parser.add_argument("--sequences", type=int, default=128, help="sequences in a step")
    parser.add_argument("--sequence", type=int, default=8192, help="tokens of one")
    parser.add_argument("--top", type=int, default=6)
    parser.add_argument("--room", type=float, default=0.9, help="share of the memory to fill")
    parser.add_argument("--rails", type=int, default=8, help="ports of a node a ring loads")
    given = parser.parse_args()
    if given.published:
        published()
        return
    m = replace(SHAPES[given.model], sequence=given.sequence)
    c = replace(H100, gpus=given.gpus, rails=given.rails)
    count, fits = search(m, c, given.sequences, given.room)
    print(f"{m.name}, {c.gpus} H100, {given.sequences} x {m.sequence}: "
          f"{count} layouts divide, {len(fits)} fit")  # fmt: skip
    print(f"{'layout':34s}{'GB':>6s} {'s':>7s} {'MFU':>5s}   % of the step: "
          "tensor context border bubble data")  # fmt: skip
    for p in fits[: given.top]:
        print(row(m, c, p, given.sequences))
    if (given.model, given.gpus, given.sequences, given.sequence) == ("70b", 64, 128, 8192):
        print("layouts A and B of the running example")
        print(row(m, c, Plan(tp=8, pp=4, dp=2), 128))
        print(row(m, c, Plan(dp=64, micro=2, recompute="full", stage=3), 128))


if __name__ == "__main__":
    main()
