"""torch.compile on whole models: steps of training and decoding, start-up, breaks, lengths.

    python3 docs/compiler/code/compile_models.py           the parts that come first, 9 minutes
    python3 docs/compiler/code/compile_models.py --more    the other parts, 9 minutes
    python3 docs/compiler/code/compile_models.py --part train-1b-blocks      one part
    … --tiny                                               small sizes, to try it on a CPU
    … --seconds 300                                        another time for all parts together
    … --logs FOLDER                                        keep what the parts print as messages

Dense decoders with random weights in the shapes of Llama 3.2 1B and Llama 3.1 8B, BF16 throughout,
also gradients and AdamW's state. Every part is a process of its own with an empty folder for the
caches (TORCHINDUCTOR_CACHE_DIR): it builds the model, times eager mode, compiles, times that. Then,
for some parts, a second process starts with the folder as the first left it, and a third with an
empty one into which it loads the artifacts that the first saved. One JSON object a line.
"""

from __future__ import annotations

import argparse
import gc
import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "chip/code"))
import torch
from timing import CUDA, DEVICE, emit, synchronize, versions
from torch import Tensor, nn
from torch.nn import functional

HALF = torch.bfloat16
LOG = logging.getLogger("model")
MODES = ("default", "reduce-overhead", "max-autotune-no-cudagraphs")
TRAIN_WARM, TRAIN_TIMED = 4, 12


@dataclass(frozen=True)
class Size:
    """Layers, width, heads, heads of K and V, width of the MLP, vocabulary, one matrix for both."""

    layers: int
    h: int
    heads: int
    kv: int
    f: int
    vocabulary: int = 128256
    tied: bool = False


SIZES = {"1b": Size(16, 2048, 32, 8, 8192, tied=True), "8b": Size(32, 4096, 32, 8, 14336)}
TINY = {"1b": Size(3, 64, 4, 2, 128, 500, True), "8b": Size(10, 64, 4, 2, 96, 500)}
BATCH = {"1b": (4, 2048), "8b": (1, 4096)}  # sequences and tokens of a training step
CONTEXT = 2048  # tokens in the cache, all attended to, in a decode step


# --8<-- [start:model]
class Norm(nn.Module):
    """RMS norm: in parts, as model code on the hub writes it, or by the library's function."""

    library = False

    def __init__(self, h: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(h))

    def forward(self, x: Tensor) -> Tensor:
        if self.library:
            return functional.rms_norm(x, self.weight.shape, self.weight, 1e-5)
        y = x.float()
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5)
        return self.weight * y.to(x.dtype)


class Block(nn.Module):
    """Attention with grouped heads, then SwiGLU; with a KV cache of its own if it decodes."""

    def __init__(self, z: Size, index: int, batch: int = 0, context: int = 0) -> None:
        super().__init__()
        self.d, self.index, self.plant = z.h // z.heads, index, ""
        self.norm1, self.norm2 = Norm(z.h), Norm(z.h)
        self.q, self.o = (nn.Linear(z.h, z.h, bias=False) for _ in range(2))
        self.k, self.v = (nn.Linear(z.h, z.kv * self.d, bias=False) for _ in range(2))
        self.gate, self.up = (nn.Linear(z.h, z.f, bias=False) for _ in range(2))
        self.down = nn.Linear(z.f, z.h, bias=False)
        for name in ("keys", "values") if context else ():
            cache = torch.randn(batch, z.kv, context, self.d)
            self.register_buffer(name, cache, persistent=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, at: Tensor | None = None) -> Tensor:
        b, s, _ = x.shape
        y = self.norm1(x)
        q, k, v = (m(y).view(b, s, -1, self.d).transpose(1, 2) for m in (self.q, self.k, self.v))
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        if at is not None:  # decode: write this token's k and v at its place, read them all
            k = self.keys.index_copy_(2, at, k)
            v = self.values.index_copy_(2, at, v)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=at is None, enable_gqa=True)
        x = x + self.o(y.transpose(1, 2).reshape(b, s, -1))
        y = self.norm2(x)
        x = x + self.down(functional.silu(self.gate(y)) * self.up(y))
        if self.plant:
            planted(self, x)
        return x


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary positions on b, heads, s, d; halves are the pairs."""
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat((-second, first), -1) * sin


class Head(nn.Module):
    """The last norm, the output matrix and, with targets, the loss in FP32."""

    def __init__(self, z: Size) -> None:
        super().__init__()
        self.norm = Norm(z.h)

    def forward(self, x: Tensor, weight: Tensor, targets: Tensor | None = None) -> Tensor:
        logits = functional.linear(self.norm(x), weight)
        if targets is None:
            return logits
        return functional.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


class Llama(nn.Module):
    """Embedding, blocks, head."""

    def __init__(self, z: Size, s: int, batch: int = 0, context: int = 0) -> None:
        super().__init__()
        self.embed = nn.Embedding(z.vocabulary, z.h)
        self.blocks = nn.ModuleList(Block(z, i, batch, context) for i in range(z.layers))
        self.head = Head(z)
        self.output = self.embed if z.tied else nn.Linear(z.h, z.vocabulary, bias=False)
        d = z.h // z.heads
        rate = 500000.0 ** -(torch.arange(0, d, 2, dtype=torch.float32) / d)
        turn = torch.outer(torch.arange(s, dtype=torch.float32), rate).repeat(1, 2)
        kind = self.embed.weight.dtype
        self.register_buffer("cos", turn.cos().to(kind), persistent=False)
        self.register_buffer("sin", turn.sin().to(kind), persistent=False)
        for weight in self.parameters():
            if weight.dim() > 1:
                nn.init.normal_(weight, std=0.02)

    def forward(
        self, tokens: Tensor, targets: Tensor | None = None, at: Tensor | None = None
    ) -> Tensor:
        x = self.embed(tokens)
        s = tokens.shape[1]
        cos, sin = (self.cos[:s], self.sin[:s]) if at is None else (self.cos[at], self.sin[at])
        for block in self.blocks:
            x = block(x, cos, sin, at)
        return self.head(x, self.output.weight, targets)


# --8<-- [end:model]


# --8<-- [start:planted]
def planted(block: Block, x: Tensor) -> None:
    """What people add to a block, and what it does to the graph is measured."""
    if block.plant == "nan" and torch.isnan(x).any():  # a branch on a tensor's value
        raise FloatingPointError(f"layer {block.index}")
    if block.plant == "log":  # a line of a log that nobody keeps
        LOG.debug("layer %d: %s", block.index, x.shape)
    if block.plant == "index" and block.index < 0:  # an int of the module, read in its forward
        raise ValueError("layers count from 0")


# --8<-- [end:planted]


def build(z: Size, s: int, kind: torch.dtype = HALF, batch: int = 0, context: int = 0) -> Llama:
    """Build a model on the device, the same weights each time."""
    torch.manual_seed(7)
    before = torch.get_default_dtype()
    torch.set_default_dtype(kind)
    try:
        with torch.device(DEVICE):
            return Llama(z, s, batch, context)
    finally:
        torch.set_default_dtype(before)


def compiled(net: Llama, way: str, **options: Any) -> Callable[..., Tensor]:
    """Compile the whole model in a mode, or its blocks in place, or its blocks and its head."""
    if not way.startswith("blocks"):
        return torch.compile(net, mode=way, **options)
    for block in net.blocks:
        block.compile(**options)
    if way == "blocks and head":
        net.head.compile(**options)
    return net


def uncompiled(net: Llama) -> None:
    """Undo compiling in place."""
    for module in net.modules():
        module._compiled_call_impl = None


@contextmanager
def library_norms() -> Iterator[None]:
    """Have norms call the library's function."""
    Norm.library = True
    try:
        yield
    finally:
        Norm.library = False


def timed(step: Callable[[], object], n: int, at_least: float) -> list[float]:
    """Milliseconds per step, n samples of so many steps back to back that each takes a while."""
    for _ in range(3):
        step()
    synchronize()
    start = time.perf_counter()
    step()
    synchronize()
    per = max(1, min(200, round(at_least / max(time.perf_counter() - start, 1e-6))))
    samples = []
    for _ in range(n):
        mark = Mark()
        for _ in range(per):
            step()
        samples.append(mark.elapsed() / per)
    return samples


class Mark:
    """A moment on the device's queue; milliseconds from it on."""

    def __init__(self) -> None:
        if CUDA:
            self.event = torch.cuda.Event(enable_timing=True)
            self.event.record()
        self.start = time.perf_counter()

    def elapsed(self) -> float:
        """Milliseconds until all that is queued by now has run."""
        if not CUDA:
            return (time.perf_counter() - self.start) * 1e3
        end = torch.cuda.Event(enable_timing=True)
        end.record()
        end.synchronize()
        return self.event.elapsed_time(end)


def fresh_peak() -> None:
    """Forget what was used so far."""
    gc.collect()
    synchronize()
    if CUDA:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def emit_peak(**labels: Any) -> None:
    """Print the highest allocated and reserved memory since fresh_peak."""
    if CUDA:
        emit("allocated", "GB", [torch.cuda.max_memory_allocated() / 1e9], **labels)
        emit("reserved", "GB", [torch.cuda.max_memory_reserved() / 1e9], **labels)


def counts() -> dict[str, Any]:
    """Graphs compiled, breaks with the head of each reason, and hits of the caches."""
    from torch._dynamo.utils import counters

    hits = {
        f"{room}.{name}": value
        for room in ("inductor", "aot_autograd")
        for name, value in counters[room].items()
        if "cache" in name
    }
    reasons = [(str(reason).splitlines() or [""])[0] for reason in counters["graph_break"]]
    return {
        "graphs": counters["stats"]["unique_graphs"],
        "breaks": sum(counters["graph_break"].values()),
        "reasons": reasons,
        "hits": hits,
    }


def phases() -> dict[str, float]:
    """Seconds of the compiler's own clocks, the longer ones; they lie inside one another."""
    try:
        from torch._dynamo.utils import compile_times

        names, values = compile_times(repr="csv", aggregate=True)
        found = {name: round(float(value), 3) for name, value in zip(names, values, strict=True)}
        return {name: value for name, value in found.items() if value >= 0.05}
    except Exception as error:  # clocks are an extra: a version may name them otherwise
        return {str(error)[:80]: 0.0}


def forget() -> None:
    """Drop all compiled code of this process."""
    from torch._dynamo.utils import compilation_time_metrics, counters

    torch._dynamo.reset()
    counters.clear()
    compilation_time_metrics.clear()


def difference(got: Tensor, wanted: Tensor) -> float:
    """Relative error in the Euclidean norm."""
    got, wanted = got.double(), wanted.double()
    return float((got - wanted).norm() / wanted.norm())


def starting(step: Callable[[], object], calls: int, **labels: Any) -> None:
    """Run the first calls of compiled code; print the seconds of each."""
    for call in range(1, calls + 1):
        start = time.perf_counter()
        step()
        synchronize()
        emit("start", "s", [time.perf_counter() - start], call=call, **labels)
    emit("compiled", **counts(), phases=phases(), **labels)


def graph_by_hand(step: Callable[[], object]) -> Callable[[], object]:
    """One step captured into a CUDA graph, with no help from the compiler."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


@dataclass(frozen=True)
class Job:
    """One part: what is done, with which model and way, and with which state of the caches."""

    task: str
    size: str = "1b"
    way: str = "default"
    batch: int = 1
    cache: str = "empty"
    save: bool = False

    @property
    def labels(self) -> dict[str, Any]:
        """What each line of this part says first."""
        return {"task": self.task, "size": self.size, "way": self.way, "batch": self.batch}


def decode(job: Job, z: Size, context: int) -> None:
    """One token more for each sequence, the cache full."""
    labels, n = job.labels, 20 if CUDA else 3
    net = build(z, context, batch=job.batch, context=context).requires_grad_(False)
    tokens = torch.randint(z.vocabulary, (job.batch, 1), device=DEVICE)
    at = torch.tensor([context - 1], device=DEVICE)
    plain = labels | {"way": "eager"}

    def stepping(call: Callable[..., Tensor]) -> Callable[[], Tensor]:
        def step() -> Tensor:
            with torch.no_grad():
                return call(tokens, at=at)

        return step

    eager = stepping(net)
    wanted = eager().clone()
    synchronize()
    if job.cache == "empty":
        fresh_peak()
        emit("step", "ms", timed(eager, n, 0.05), **plain)
        emit_peak(**plain)
        with library_norms():
            emit("step", "ms", timed(eager, n, 0.05), **labels | {"way": "eager, rms_norm"})
        if CUDA:
            replay = graph_by_hand(eager)
            emit("step", "ms", timed(replay, n, 0.05), **labels | {"way": "eager, CUDA graph"})
            del replay
    fresh_peak()
    begun = time.perf_counter()
    call = compiled(net, job.way)
    step = stepping(call)
    starting(step, 4, **labels, cache=job.cache)
    emit("ready", "s", [time.perf_counter() - begun], **labels, cache=job.cache)
    if job.cache != "empty":
        return
    emit_peak(**labels, phase="start")
    got = step().clone()
    emit("difference", "1", [difference(got, wanted)], **labels, against="eager")
    emit("same_token", "1", [float((got.argmax(-1) == wanted.argmax(-1)).float().mean())], **labels)
    fresh_peak()
    emit("step", "ms", timed(step, n, 0.05), **labels)
    emit_peak(**labels)
    if CUDA and "reduce" not in job.way:
        replay = graph_by_hand(step)
        both = labels | {"way": f"{job.way}, CUDA graph"}
        emit("step", "ms", timed(replay, n, 0.05), **both)


def train(job: Job, z: Size, batch: tuple[int, int]) -> None:
    """Forward, loss, backward, AdamW: eager, then compiled from the same start."""
    ways = ["eager", job.way] if job.cache == "empty" else [job.way]
    losses: dict[str, list[float]] = {}
    for way in ways:
        losses[way] = training(job, z, batch, way)
        gc.collect()
        if CUDA:
            torch.cuda.empty_cache()
    if len(losses) == 2:
        pairs = list(zip(losses["eager"], losses[job.way], strict=True))
        emit("loss_gap", "1", [max(abs(a - b) for a, b in pairs)], **job.labels)
        emit("losses", **job.labels, eager=losses["eager"], compiled=losses[job.way])


def training(job: Job, z: Size, batch: tuple[int, int], way: str) -> list[float]:
    """Train some steps; print times, memory; return the losses."""
    labels = job.labels | {"way": way, "batch": batch[0] * batch[1]}
    net = build(z, batch[1])
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4, fused=CUDA)
    torch.manual_seed(8)
    data = [torch.randint(z.vocabulary, (batch[0], batch[1] + 1), device=DEVICE) for _ in range(4)]
    lose: list[Tensor] = []
    if job.cache != "empty":  # the libraries' own start is not the compiler's
        little = data[0][:1, :16].contiguous()
        net(little, little).backward()
        net.zero_grad(set_to_none=True)
        synchronize()
    begun = time.perf_counter()
    call = net if way == "eager" else compiled(net, way)

    def step() -> None:
        torch.compiler.cudagraph_mark_step_begin()
        chosen = data[len(lose) % len(data)]
        loss = call(chosen[:, :-1].contiguous(), chosen[:, 1:].contiguous())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        lose.append(loss.detach().clone())

    if way == "eager":
        for _ in range(TRAIN_WARM):
            step()
    else:
        starting(step, TRAIN_WARM, **labels, cache=job.cache)
        emit("ready", "s", [time.perf_counter() - begun], **labels, cache=job.cache)
        emit_peak(**labels, phase="start")
    if job.cache != "empty":
        return []
    fresh_peak()
    samples = []
    for _ in range(TRAIN_TIMED):
        mark = Mark()
        step()
        samples.append(mark.elapsed())
    emit("step", "ms", samples, **labels)
    emit_peak(**labels)
    return [float(loss) for loss in lose]


def lengths(job: Job, z: Size, some: list[int]) -> None:
    """Prompts of changing length through part of the model: which calls compile, how long."""
    z = replace(z, layers=max(2, z.layers // 4))
    net = build(z, 2 * max(some)).requires_grad_(False)
    prompts = {s: torch.randint(z.vocabulary, (1, s), device=DEVICE) for s in {*some, some[0]}}
    n = 20 if CUDA else 3
    labels = {"task": "lengths", "size": job.size}
    steady = some[0]
    with torch.no_grad():
        net(prompts[steady])
        samples = timed(lambda: net(prompts[steady]), n, 0.03)
        emit("step", "ms", samples, **labels, way="eager", length=steady)
        ways: tuple[tuple[str, dict[str, Any], int], ...] = (
            ("dynamic=False", {"dynamic": False}, 3),
            ("automatic", {}, len(some)),
            ("dynamic=True", {"dynamic": True}, len(some)),
        )
        if CUDA:
            both = {"dynamic": True, "mode": "reduce-overhead"}
            ways += (("dynamic=True, reduce-overhead", both, len(some)),)
        for way, options, number in ways:
            forget()
            call = torch.compile(net, **options)
            done = 0
            for place, s in enumerate([*some[:number], steady, steady, steady], 1):
                torch.compiler.cudagraph_mark_step_begin()
                start = time.perf_counter()
                call(prompts[s])
                synchronize()
                took = time.perf_counter() - start
                now = counts()["graphs"]
                said = {"way": way, "place": place, "length": s, "compiled": now > done}
                emit("call", "s", [took], **labels, **said)
                done = now
            emit("compiled", **counts(), **labels, way=way)
            samples = timed(lambda c=call: c(prompts[steady]), n, 0.03)
            emit("step", "ms", samples, **labels, way=way, length=steady)


def breaks(job: Job, z: Size, context: int) -> None:
    """A decode step with something planted in every block."""
    net = build(z, context, batch=1, context=context).requires_grad_(False)
    tokens = torch.randint(z.vocabulary, (1, 1), device=DEVICE)
    at = torch.tensor([context - 1], device=DEVICE)
    n = 20 if CUDA else 3
    plans = (
        ("", "default"),
        ("nan", "default"),
        ("log", "default"),
        ("nan", "reduce-overhead"),
        ("", "blocks"),
        ("index", "blocks"),
    )
    seen: set[str] = set()
    for plant, way in plans:
        forget()
        uncompiled(net)
        for block in net.blocks:
            block.plant = plant
        labels = {"task": "breaks", "size": job.size, "plant": plant or "nothing"}

        def step(call: Callable[..., Tensor] = net) -> Tensor:
            with torch.no_grad():
                return call(tokens, at=at)

        if plant not in seen:
            step()
            emit("step", "ms", timed(step, n, 0.05), **labels, way="eager")
            seen.add(plant)
        if not CUDA and "reduce" in way:
            continue
        call = compiled(net, way)
        starting(lambda c=call: step(c), 4, **labels, way=way)
        emit("step", "ms", timed(lambda c=call: step(c), n, 0.05), **labels, way=way)


def numerics(job: Job, z: Size, s: int) -> None:
    """A prompt's logits: eager and compiled, each against FP32 and against each other."""
    tokens = torch.randint(z.vocabulary, (1, s), device=DEVICE)
    labels = {"task": "prefill", "size": job.size}
    net = build(z, s).requires_grad_(False)
    exact = build(z, s, torch.float32).requires_grad_(False)
    exact.load_state_dict({name: value.float() for name, value in net.state_dict().items()})
    exact.cos, exact.sin = net.cos.float(), net.sin.float()
    with torch.no_grad():
        wanted = exact(tokens)
        del exact
        base = net(tokens)
        emit("difference", "1", [difference(base, wanted)], **labels, way="eager", against="FP32")
        emit(
            "step", "ms", timed(lambda: net(tokens), 20 if CUDA else 3, 0.05), **labels, way="eager"
        )
        with library_norms():
            got = net(tokens)
            norm = {"way": "eager, rms_norm"}
            for name, other in (("FP32", wanted), ("eager", base)):
                emit("difference", "1", [difference(got, other)], **labels, **norm, against=name)
        ways: tuple[tuple[str, dict[str, Any]], ...] = (
            ("default", {}),
            ("default, emulate_precision_casts", {"options": {"emulate_precision_casts": True}}),
        )
        for way, options in ways:
            forget()
            call = torch.compile(net, **options)
            starting(lambda c=call: c(tokens), 1, **labels, way=way)
            got = call(tokens)
            for name, other in (("FP32", wanted), ("eager", base)):
                emit("difference", "1", [difference(got, other)], **labels, way=way, against=name)
            same = float((got.argmax(-1) == base.argmax(-1)).float().mean())
            emit("same_token", "1", [same], **labels, way=way)
            samples = timed(lambda c=call: c(tokens), 20 if CUDA else 3, 0.05)
            emit("step", "ms", samples, **labels, way=way)


def attention_choice(z: Size) -> None:
    """Print which back end of SDPA the shapes of training and of decoding get; 1 is flash."""
    for task, rows, causal in (("train", 1024, True), ("decode", 1, False)):
        try:
            q = torch.zeros(1, z.heads, rows, z.h // z.heads, dtype=HALF, device=DEVICE)
            k = torch.zeros(1, z.kv, 1024, z.h // z.heads, dtype=HALF, device=DEVICE)
            choice = torch._fused_sdp_choice(q, k, k, None, 0.0, causal, enable_gqa=True)
            emit("attention", task=task, width=z.h // z.heads, choice=int(choice))
        except Exception as error:  # an extra
            emit("attention", task=task, error=str(error)[:200])


def run_part(job: Job, tiny: bool, artifacts: Path | None) -> None:
    """Do one part in this process."""
    if CUDA:  # one back end for all ways
        torch.backends.cuda.enable_cudnn_sdp(False)
    z = (TINY if tiny else SIZES)[job.size]
    context = 64 if tiny else CONTEXT
    if job.cache == "artifacts" and artifacts is not None:
        start = time.perf_counter()
        torch.compiler.load_cache_artifacts(artifacts.read_bytes())
        emit("load", "s", [time.perf_counter() - start], **job.labels)
    if job.task == "decode":
        decode(job, z, context)
    elif job.task == "train":
        train(job, z, (2, 32) if tiny else BATCH[job.size])
    elif job.task == "lengths":
        lengths(job, z, [40, 48, 56, 72] if tiny else [1024, 1152, 1280, 1536])
    elif job.task == "breaks":
        breaks(job, z, context)
    elif job.task == "numerics":
        numerics(job, z, 32 if tiny else 2048)
    else:
        opening(TINY if tiny else SIZES)
    if job.save and job.cache == "empty" and artifacts is not None:
        save(job, artifacts)


def save(job: Job, artifacts: Path) -> None:
    """Keep what the caches hold in one file."""
    try:
        start = time.perf_counter()
        saved = torch.compiler.save_cache_artifacts()
        took = time.perf_counter() - start
    except Exception as error:  # an extra
        emit("artifacts_failed", **job.labels, error=str(error)[:200])
        return
    if saved is not None:
        artifacts.write_bytes(saved[0])
        emit("save", "s", [took], **job.labels)
        emit("artifacts", "MB", [len(saved[0]) / 1e6], **job.labels)


def opening(sizes: dict[str, Size]) -> None:
    """Print versions and shapes; compile a line, so that the compiler's files have been read."""
    versions(python=sys.version.split()[0], triton=triton_version())
    x = torch.ones(1024, device=DEVICE)
    start = time.perf_counter()
    torch.compile(lambda t: t * 2 + 1)(x)
    synchronize()
    emit("start", "s", [time.perf_counter() - start], task="a line", call=1, cache="empty")
    for name, z in sizes.items():
        with torch.device("meta"):
            number = sum(weight.numel() for weight in Llama(z, 8).parameters())
        emit("parameters", "1", [number], size=name)
        attention_choice(z)


def triton_version() -> str:
    """Say which Triton is there."""
    try:
        import triton
    except ImportError:
        return "none"
    return str(triton.__version__)


AUTOTUNE = MODES[2]
# Name, job, states of the caches in which it starts, seconds it may take in each state.
FIRST: list[tuple[str, Job, tuple[str, ...], int]] = [
    ("versions", Job("versions"), ("empty",), 60),
    ("decode-1b-default", Job("decode"), ("empty",), 90),
    ("decode-1b-reduce", Job("decode", way="reduce-overhead"), ("empty",), 90),
    ("decode-8b-blocks", Job("decode", "8b", "blocks"), ("empty", "filled"), 90),
    ("decode-8b-default", Job("decode", "8b", save=True), ("empty", "filled"), 120),
    ("train-1b-default", Job("train"), ("empty", "filled"), 120),
    ("train-1b-blocks", Job("train", way="blocks"), ("empty", "filled"), 90),
    ("train-8b-blocks", Job("train", "8b", "blocks"), ("empty",), 120),
    ("lengths", Job("lengths"), ("empty",), 120),
    ("breaks", Job("breaks"), ("empty",), 120),
    ("train-8b-default", Job("train", "8b"), ("empty",), 200),
]
MORE: list[tuple[str, Job, tuple[str, ...], int]] = [
    ("versions", Job("versions"), ("empty",), 60),
    ("train-1b-blocks-head", Job("train", way="blocks and head"), ("empty",), 90),
    ("decode-8b-reduce", Job("decode", "8b", "reduce-overhead"), ("empty",), 120),
    ("decode-1b-autotune", Job("decode", way=AUTOTUNE), ("empty", "filled"), 150),
    ("train-1b-autotune", Job("train", way=AUTOTUNE), ("empty",), 180),
    ("decode-8b-64", Job("decode", "8b", "blocks", 64), ("empty",), 90),
    ("train-1b-reduce", Job("train", way="reduce-overhead"), ("empty",), 120),
    ("decode-1b-artifacts", Job("decode", save=True), ("empty", "artifacts"), 90),
    ("numerics", Job("numerics"), ("empty",), 100),
    ("train-8b-default", Job("train", "8b"), ("empty",), 200),
    ("train-8b-blocks-head", Job("train", "8b", "blocks and head"), ("empty",), 120),
    ("decode-8b-autotune", Job("decode", "8b", AUTOTUNE), ("empty",), 150),
]
NOTED = {"breaks", "lengths"}  # with the compiler's messages


def start_part(
    name: str, state: str, limit: float, folder: Path, tiny: bool, logs: Path | None
) -> int | None:
    """Run one part in a process of its own; return its exit status, None after the limit."""
    caches = folder / ("second" if state == "artifacts" else "caches")
    given = os.environ | {"TORCHINDUCTOR_CACHE_DIR": str(caches), "PYTHONUNBUFFERED": "1"}
    given.pop("TRITON_CACHE_DIR", None)
    if name in NOTED:
        given["TORCH_LOGS"] = "graph_breaks,recompiles,perf_hints,cudagraphs"
    command = [sys.executable, __file__, "--part", name, "--state", state]
    command += ["--artifacts", str(folder / "artifacts"), *(["--tiny"] if tiny else [])]
    where = (logs or folder) / f"{name}-{state}.err"
    with where.open("wb") as messages:
        child = subprocess.Popen(command, env=given, stderr=messages, start_new_session=True)
        try:
            status: int | None = child.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            status = None
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    if status != 0:
        sys.stderr.write(where.read_text("utf-8", "replace")[-3000:])
    return status


def sizes(folder: Path) -> tuple[float, int]:
    """MB and number of the files in a folder."""
    files = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return sum(files) / 1e6, len(files)


def run_all(parts: list[tuple[str, Job, tuple[str, ...], int]], options: Any) -> int:
    """Run the parts in their order while there is time; return 1 if one failed."""
    began, failed = time.monotonic(), 0
    for name, job, states, limit in parts:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
            folder = Path(place)
            for state in states:
                left = options.seconds - (time.monotonic() - began)
                if left < 20:
                    emit("part", part=name, state=state, status="no time")
                    continue
                start = time.monotonic()
                status = start_part(
                    name, state, min(limit, left), folder, options.tiny, options.logs
                )
                took = round(time.monotonic() - start, 1)
                said = "past its limit" if status is None else status
                emit("part", part=name, state=state, status=said, seconds=took)
                failed |= status != 0
                if state == "empty" and job.task in ("decode", "train"):
                    size, number = sizes(folder / "caches")
                    emit("cache_size", "MB", [size], **job.labels, files=number)
                if status != 0:
                    break
    return int(failed)


def main() -> int:
    """Run parts, or one part."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--more", action="store_true")
    parser.add_argument("--seconds", type=float, default=525)
    parser.add_argument("--logs", type=Path)
    parser.add_argument("--part")
    parser.add_argument("--state", default="empty")
    parser.add_argument("--artifacts", type=Path)
    options = parser.parse_args()
    if not options.part:
        if options.logs:
            options.logs.mkdir(parents=True, exist_ok=True)
        return run_all(MORE if options.more else FIRST, options)
    jobs = {name: job for name, job, _, _ in FIRST + MORE}
    run_part(replace(jobs[options.part], cache=options.state), options.tiny, options.artifacts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
