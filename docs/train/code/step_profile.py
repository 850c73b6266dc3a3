"""A training step taken apart: where each millisecond of a Llama-style model of 1.5 B goes.

    python docs/train/code/step_profile.py                              # one GPU
    torchrun --standalone --nproc-per-node=2 docs/train/code/step_profile.py    # DDP, FSDP2, TP
    … --tiny                                                            # small sizes, to try it

Random weights and tokens. Weights, gradients and AdamW's state are fp32, products bf16. Each way
is timed with events without a profiler, then traced for some steps with torch.profiler. From the
trace of rank 0 come the time of each class in one step (every instant counts once: compute first,
then communication, then "gap"), the communication that computing hides, and a reduced timeline.
One JSON object a line; the trace itself is deleted.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import re
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "chip/code"))
import torch
import torch.distributed as dist
from timing import CUDA, DEVICE, emit, ranks, slowest, synchronize, trials, versions
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    loss_parallel,
    parallelize_module,
)
from torch.nn import functional
from torch.profiler import ProfilerActivity, profile, schedule

HALF = torch.bfloat16


@dataclass(frozen=True)
class Size:
    """Width, layers, heads, heads of K and V, width of the MLP, vocabulary."""

    h: int = 2048
    layers: int = 16
    heads: int = 32
    kv: int = 8
    f: int = 8192
    vocabulary: int = 128256

    def flop(self, tokens: int, s: int) -> float:
        """FLOP of a step: six a weight and token, and causal attention."""
        layer = self.h * self.h * 2 + 2 * self.h * self.h * self.kv // self.heads
        weights = self.layers * (layer + 3 * self.h * self.f) + self.h * self.vocabulary
        return 6.0 * weights * tokens + 6.0 * self.layers * s * self.h * tokens


class Linear(nn.Linear):
    """A product in the type of its input; the weight is cast where it is wider."""

    def forward(self, x: Tensor) -> Tensor:
        return functional.linear(x, self.weight.to(x.dtype))


class Norm(nn.Module):
    """RMSNorm in the type of its input."""

    def __init__(self, h: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(h))

    def forward(self, x: Tensor) -> Tensor:
        return functional.rms_norm(x, self.weight.shape, self.weight.to(x.dtype), 1e-5)


def rotate(x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    """Rotary positions on b, heads, s, d; halves are the pairs."""
    cos, sin = turn
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat((-second, first), -1) * sin


class Layer(nn.Module):
    """Attention with grouped heads, then SwiGLU; no biases."""

    def __init__(self, z: Size) -> None:
        super().__init__()
        self.d = z.h // z.heads
        self.norm1, self.norm2 = Norm(z.h), Norm(z.h)
        self.q, self.o = (Linear(z.h, z.h, bias=False) for _ in range(2))
        self.k, self.v = (Linear(z.h, z.kv * self.d, bias=False) for _ in range(2))
        self.gate, self.up = (Linear(z.h, z.f, bias=False) for _ in range(2))
        self.down = Linear(z.f, z.h, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        b, s, _ = x.shape
        y = self.norm1(x)
        q, k, v = (m(y).view(b, s, -1, self.d).transpose(1, 2) for m in (self.q, self.k, self.v))
        q, k = rotate(q, (cos, sin)), rotate(k, (cos, sin))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.o(y.transpose(1, 2).reshape(b, s, -1))
        y = self.norm2(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    """Embedding, layers, norm, head; returns logits."""

    def __init__(self, z: Size, s: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(z.vocabulary, z.h)
        self.layers = nn.ModuleList(Layer(z) for _ in range(z.layers))
        self.norm, self.head = Norm(z.h), Linear(z.h, z.vocabulary, bias=False)
        d = z.h // z.heads
        turn = torch.outer(torch.arange(s), 500000.0 ** -(torch.arange(0, d, 2) / d)).repeat(1, 2)
        self.register_buffer("cos", turn.cos().to(HALF), persistent=False)
        self.register_buffer("sin", turn.sin().to(HALF), persistent=False)
        for weight in self.parameters():
            if weight.dim() > 1:
                nn.init.normal_(weight, std=0.02)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens).to(HALF)
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        return self.head(self.norm(x))


def loss_of(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy, in fp32."""
    return functional.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


# --8<-- [start:ways]
def split(model: Llama, n: int) -> None:
    """Tensor parallelism: columns, then rows; two all-reduces a layer in each direction."""
    columns, rows = ColwiseParallel, RowwiseParallel
    mesh = init_device_mesh(DEVICE, (n,))
    for layer in model.layers:
        plan = {name: columns() for name in ("q", "k", "v", "gate", "up")}
        parallelize_module(layer, mesh, plan | {"o": rows(), "down": rows()})
    parallelize_module(
        model,
        mesh,
        {
            "embed": rows(input_layouts=Replicate()),
            "head": columns(output_layouts=Shard(-1), use_local_output=False),
        },
    )


def spread(model: Llama, n: int) -> None:
    """FSDP2: a group of weights for each layer, gathered in bf16, gradients summed in fp32."""
    policy = MixedPrecisionPolicy(param_dtype=HALF, reduce_dtype=torch.float32)
    mesh = init_device_mesh(DEVICE, (n,))
    fully_shard(model.embed, mesh=mesh, mp_policy=policy)
    for layer in model.layers:
        fully_shard(layer, mesh=mesh, mp_policy=policy)
    fully_shard([model.norm, model.head], mesh=mesh, mp_policy=policy, reshard_after_forward=False)
    fully_shard(model, mesh=mesh, mp_policy=policy)


def build(way: str, compiled: bool, z: Size, s: int, n: int) -> tuple[nn.Module, Any]:
    """Return the model, spread as `way` says, and the function of the loss."""
    torch.manual_seed(0)
    with torch.device(DEVICE):
        model = Llama(z, s)
    loss: Callable[[Tensor, Tensor], Tensor] = loss_of
    if way == "tp":
        split(model, n)
    if compiled:
        for layer in model.layers:
            layer.compile()  # one graph, used by all layers
        loss = torch.compile(loss_of) if way != "tp" else loss_of
    if way == "fsdp2":
        spread(model, n)
    if way == "ddp":
        ids = [torch.cuda.current_device()] if CUDA else None
        whole = nn.parallel.DistributedDataParallel(
            model, device_ids=ids, gradient_as_bucket_view=True
        )
        return whole, loss
    return model, loss


# --8<-- [end:ways]


def optimizer_of(model: nn.Module) -> torch.optim.Optimizer:
    """AdamW, fused; tensors that are spread in one group, others in another."""
    every = list(model.parameters())
    groups = [[p for p in every if isinstance(p, DTensor) is kind] for kind in (True, False)]
    return torch.optim.AdamW([{"params": g} for g in groups if g], lr=1e-5, fused=True)


# --8<-- [start:classes]
CLASSES = (
    ("communication", r"nccl"),
    ("attention", r"flash|fmha|sdpa|attention"),
    ("optimizer", r"adam"),
    ("loss", r"softmax|nll_loss|cross_entropy"),
    ("gemm", r"gemm|nvjet|cutlass|xmma|splitk|cublas"),
    (
        "cast and copy",
        r"^(?!triton).*(copy|memcpy|memset|catarray|chunk_cat|fillfunctor)|"
        r"^triton_poi_fused__to_copy_(t_|view_|transpose_|unsafe_view_)*\d+$",
    ),
    (
        "elementwise and norm",
        r"elementwise|norm|gammabeta|computegrad|reduce|triton|index|embedding|scatter|sort|arange",
    ),
)
"""By the kernel's name, first match wins."""


def class_of(name: str) -> str:
    """Return the class of a kernel."""
    low = name.lower()
    return next((kind for kind, words in CLASSES if re.search(words, low)), "other")


# --8<-- [end:classes]
ORDER = ("gemm", "attention", "loss", "optimizer", "elementwise and norm", "cast and copy", "other")
Span = tuple[float, float, str, str]  # start and end in µs, class, name


def spans_of(trace: dict[str, Any]) -> list[Span]:
    """Return what ran on the GPU, by its start."""
    cats = ("kernel", "gpu_memcpy", "gpu_memset")
    found = [e for e in trace["traceEvents"] if e.get("cat") in cats and "dur" in e]
    every = [(e["ts"], e["ts"] + e["dur"], class_of(e["name"]), e["name"]) for e in found]
    return sorted(every)


def ends_of_steps(spans: list[Span]) -> list[float]:
    """Return the end of the optimizer's last kernel of each step."""
    ends, last = [], 0.0
    for start, end, kind, _ in spans:
        if kind == "optimizer":
            last = max(last, end)
        elif last and kind == "loss" and start > last:
            ends.append(last)
            last = 0.0
    return [*ends, last] if last else ends


# --8<-- [start:sweep]
def sweep(spans: list[Span], begin: float, end: float) -> Iterator[tuple[float, float, str, bool]]:
    """Yield pieces of time: start, end, what counts there, and whether NCCL runs as well."""
    edges: list[tuple[float, int, str]] = []
    for start, stop, kind, _ in spans:
        if stop > begin and start < end:
            edges += [(max(start, begin), 1, kind), (min(stop, end), -1, kind)]
    active: dict[str, int] = defaultdict(int)
    now = begin
    for at, change, kind in [*sorted(edges), (end, 0, "other")]:
        if at > now:
            talks = active["communication"] > 0
            busy = next((k for k in ORDER if active[k]), "communication" if talks else "gap")
            yield now, at, busy, talks
            now = at
        active[kind] += change


# --8<-- [end:sweep]


Piece = tuple[float, float, str, bool]


def bins(pieces: list[Piece], count: int = 120) -> Iterator[tuple[str, str, float, float]]:
    """Yield lane, class, start and end: what fills most of each of `count` parts of a step."""
    begin, end = pieces[0][0], pieces[-1][1]
    width = (end - begin) / count
    most: list[dict[str, float]] = [defaultdict(float) for _ in range(count)]
    talk = [0.0] * count
    for start, stop, kind, talks in pieces:
        for b in range(int((start - begin) / width), min(int((stop - begin) / width) + 1, count)):
            shared = min(stop, begin + (b + 1) * width) - max(start, begin + b * width)
            if shared > 0:
                most[b][kind] += shared
                talk[b] += shared * talks
    lanes = {
        "compute": [max(m, key=lambda k, m=m: m[k]) for m in most],
        "nccl": ["communication" if x > width / 2 else "" for x in talk],
    }
    for lane, names in lanes.items():
        at = 0
        for name, run in groupby(names):
            until = at + len(list(run))
            if name:
                yield lane, name, at * width, until * width
            at = until


def window(spans: list[Span], begin: float, end: float, back: bool) -> list[Span]:
    """Return kernels between two attention kernels in the middle of a pass: one layer's worth."""
    inside = [s for s in spans if s[0] >= begin and s[1] <= end]
    cores = [
        s for s in inside if s[2] == "attention" and ("bwd" in s[3] or "bprop" in s[3]) == back
    ]
    cores = [s for s in cores if s[1] - s[0] > 0.3 * max(c[1] - c[0] for c in cores)]
    if len(cores) < 4:
        return []
    one, two = cores[len(cores) // 2 - 1][1], cores[len(cores) // 2][1]
    near = [s for s in spans if s[1] > one and s[0] < two]
    return [(start - one, stop - one, kind, name) for start, stop, kind, name in near][:100]


def analyse(trace: dict[str, Any], labels: dict[str, Any]) -> None:
    """Print what the median step of a trace is made of."""
    spans = spans_of(trace)
    ends = ends_of_steps(spans)
    if len(ends) < 3:
        emit("no_steps", found=len(ends), kernels=len(spans), **labels)
        return
    steps = sorted(pairwise(ends), key=lambda ab: ab[1] - ab[0])
    begin, end = steps[len(steps) // 2]
    pieces: list[Piece] = list(sweep(spans, begin, end))
    sums: dict[str, float] = defaultdict(float)
    hidden = 0.0
    for start, stop, kind, talks in pieces:
        sums[kind] += stop - start
        hidden += (stop - start) * (talks and kind != "communication")
    inside = [s for s in spans if s[0] >= begin and s[1] <= end]
    for kind in (*ORDER, "communication", "gap"):
        emit("class", "ms", [sums[kind] / 1e3], kind=kind, **labels)
    emit("hidden", "ms", [hidden / 1e3], **labels)
    emit("profiled_step", "ms", [(b - a) / 1e3 for a, b in steps], **labels)
    emit("kernels", "1", [float(len(inside))], **labels)
    losses = [s for s in inside if s[2] == "loss"]
    updates = [s for s in inside if s[2] == "optimizer"]
    marks = {"loss": losses[0][0], "backward": losses[-1][1], "optimizer": updates[0][0]}
    for mark, at in marks.items():
        emit("mark", "us", [at - begin], mark=mark, **labels)
    for lane, kind, start, stop in bins(pieces):
        emit(
            "timeline",
            "us",
            [round(stop, 1)],
            start=round(start, 1),
            lane=lane,
            kind=kind,
            **labels,
        )
    for part in ("forward", "backward"):
        for start, stop, kind, _ in window(spans, begin, end, back=part == "backward"):
            lane = "nccl" if kind == "communication" else "compute"
            emit(
                "layer",
                "us",
                [round(stop, 1)],
                start=round(start, 1),
                lane=lane,
                kind=kind,
                part=part,
                **labels,
            )
    names: dict[tuple[str, str], list[float]] = defaultdict(list)
    for start, stop, kind, name in inside:
        names[kind, name[:110]].append(stop - start)
    top = sorted(names.items(), key=lambda kv: -sum(kv[1]))[:22]
    emit("top", names=[[k, n, len(v), round(sum(v) / 1e3, 3)] for (k, n), v in top], **labels)
    gaps = sorted(((b - a) for a, b, kind, _ in pieces if kind == "gap"), reverse=True)
    emit("gaps", count=len(gaps), longest_us=[round(g, 1) for g in gaps[:8]], **labels)


def cleared() -> None:
    """Give back what the last model used."""
    gc.collect()
    torch._dynamo.reset()
    if CUDA:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def measure(way: str, compiled: bool, b: int, s: int, z: Size, n: int) -> None:
    """Time and trace one way."""
    cleared()
    mode = "compiled" if compiled else "eager"
    labels: dict[str, Any] = {"way": way, "mode": mode, "b": b, "s": s, "ranks": n}
    model, loss_function = build(way, compiled, z, s, n)
    optimizer = optimizer_of(model)
    torch.manual_seed(1 + (dist.get_rank() if way in ("ddp", "fsdp2") else 0))
    tokens = torch.randint(z.vocabulary, (b, s), device=DEVICE)
    targets = torch.randint(z.vocabulary, (b, s), device=DEVICE)

    def step() -> Tensor:
        with loss_parallel() if way == "tp" else contextlib.nullcontext():
            loss = loss_function(model(tokens), targets)
            loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.detach()

    began = time.perf_counter()
    first = step()
    first = first.full_tensor() if isinstance(first, DTensor) else first
    value = float(first)
    emit("first", "s", [time.perf_counter() - began], loss=round(value, 5), **labels)
    plain = trials(step, 6, at_least=0.001)
    plain = slowest(plain) if dist.is_initialized() else plain
    emit("step", "ms", [t * 1e3 for t in plain], **labels)
    issue = []
    for _ in range(4):
        synchronize()
        began = time.perf_counter()
        step()
        issue.append(time.perf_counter() - began)
    emit("issue", "ms", [t * 1e3 for t in issue], **labels)
    copies = n if way in ("ddp", "fsdp2") else 1
    rate = z.flop(b * s, s) * copies / n / sorted(plain)[len(plain) // 2] / 1e12
    emit(
        "rate",
        "TFLOP/s",
        [rate],
        tokens_per_second=round(b * s * copies / sorted(plain)[3]),
        **labels,
    )
    if CUDA:
        emit("memory", "GB", [torch.cuda.max_memory_allocated() / 1e9], **labels)
    traced(step, labels)


# --8<-- [start:traced]
def traced(step: Callable[[], object], labels: dict[str, Any]) -> None:
    """Trace four steps after one that is dropped; all ranks do, rank 0 looks."""
    kinds = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if CUDA else [])]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        with profile(
            activities=kinds,
            schedule=schedule(wait=0, warmup=1, active=4, repeat=1),
            on_trace_ready=lambda p: p.export_chrome_trace(str(path)),
        ) as recorded:
            for _ in range(5):
                step()
                recorded.step()
        if not dist.is_initialized() or dist.get_rank() == 0:
            emit("trace", bytes=path.stat().st_size, **labels)
            analyse(json.loads(path.read_text()), labels)


# --8<-- [end:traced]


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tiny", action="store_true", help="small sizes, to try the program")
    parser.add_argument("--only", choices=("eager", "compiled"), help="one half of the ways")
    parser.add_argument("--limit", type=float, default=170, help="start no way after so many s")
    asked = parser.parse_args()
    tiny = asked.tiny
    torch.set_float32_matmul_precision("high")
    n = ranks()[1] if "RANK" in os.environ else 1
    z = Size(64, 5, 4, 2, 128, 512) if tiny else Size()
    b, s = (2, 32) if tiny else (2, 4096)
    with torch.device("meta"):
        count = sum(p.numel() for p in Llama(z, s).parameters())
    versions(parameters=count)
    began = time.perf_counter()
    if n == 1:
        jobs = [("one", c, *size) for size in ((b, s), (1, s // 8)) for c in (False, True)]
    else:
        jobs = [(way, c, b, s) for c in (False, True) for way in ("ddp", "fsdp2", "tp")]
    jobs = [job for job in jobs if asked.only is None or job[1] == (asked.only == "compiled")]
    for way, compiled, rows, length in jobs:
        late = time.perf_counter() - began
        late = slowest([late])[0] if dist.is_initialized() else late
        if late > asked.limit:
            emit("skipped", way=way, compiled=compiled, after=late)
            continue
        try:
            measure(way, compiled, rows, length, z, n)
        except Exception as error:  # another way may still work
            text = f"{type(error).__name__}: {error}"[:600]
            emit("failed", way=way, compiled=compiled, error=text)
            print(text, file=sys.stderr, flush=True)
    if dist.is_initialized():
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
