"""Data-parallel and ZeRO steps on all GPUs of a machine: time and memory, against the model.

Run:  torchrun --standalone --nproc-per-node=2 docs/train/code/data_parallel.py [--tiny]

The model has fp32 weights, gradients and Adam moments (16 bytes a parameter) and computes in bf16
(autocast for DDP, FSDP2's own policy). First the collectives that the modes use are timed; then
each mode's step. Times are the slowest rank's. One JSON object a line.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "chip/code"))
import torch
import torch.distributed as dist
from collective_model import fit, interpolate, overlapped, packed, share
from gpt import GPT, batch_of
from memory_model import Shape, state_bytes, step_flop
from timing import CUDA, DEVICE, barrier, emit, ranks, seconds, slowest, synchronize, versions
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

Points = list[tuple[float, float]]
AVERAGE = dist.ReduceOp.AVG if CUDA else dist.ReduceOp.SUM  # gloo has no average
MODES = [
    "no_sync",
    "by_hand",
    "ddp_1",
    "ddp_25",
    "ddp_100",
    "ddp_10000",
    "zero1",
    "zero2",
    "zero3",
]


def timed(call: Callable[[], object], count: int, warm_up: int, repeats: int = 1) -> list[float]:
    """Seconds of each call, the slowest rank's."""
    for _ in range(warm_up):
        call()
    found = []
    for _ in range(count):
        barrier()
        found.append(seconds(call, repeats))
    return slowest(found)


# --8<-- [start:collectives]
def collectives(kind: str, dtype: torch.dtype, n: int, sizes: list[int]) -> Points:
    """Median time of a collective for each size in bytes; prints bus bandwidths too."""
    points = []
    for size in sizes:
        count = size // dtype.itemsize // n * n
        whole = torch.randn(count, device=DEVICE).to(dtype)
        part = whole[: count // n].clone()
        call = {
            "all_reduce": lambda w=whole: dist.all_reduce(w, op=AVERAGE),
            "all_gather": lambda w=whole, p=part: dist.all_gather_into_tensor(w, p),
            "reduce_scatter": lambda w=whole, p=part: dist.reduce_scatter_tensor(p, w),
        }[kind]
        repeats = max(1, min(50, 2**28 // size)) if CUDA else 1
        found = timed(call, 10 if CUDA else 2, 3, repeats)
        median = sorted(found)[len(found) // 2]
        points.append((float(size), median))
        name = str(dtype).removeprefix("torch.")
        bus = [size / t * share(kind, n) / 1e9 for t in found]
        emit("collective", "GB/s", bus, kind=kind, type=name, bytes=size, seconds=median)
    line = fit(points)
    emit("fit", kind=kind, type=str(dtype).removeprefix("torch."), alpha=line.alpha, beta=line.beta)
    return points


# --8<-- [end:collectives]


def right_sum(n: int, rank: int) -> None:
    """Stop if an all-reduce gives a wrong sum."""
    x = torch.arange(1000, device=DEVICE, dtype=torch.float32) * (rank + 1)
    dist.all_reduce(x)
    want = torch.arange(1000, device=DEVICE, dtype=torch.float32) * (n * (n + 1) / 2)
    if not torch.equal(x, want):
        raise SystemExit("all-reduce gave a wrong sum")


# --8<-- [start:modes]
def build(mode: str, shape: Shape, n: int) -> tuple[Any, torch.optim.Optimizer]:
    """Model and optimiser of a mode; zero2 keeps the gathered weights until the backward pass."""
    with torch.device(DEVICE):
        model = GPT(shape, "flash")
    if mode in ("zero2", "zero3"):
        policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
        for layer in model.layers:
            fully_shard(layer, mp_policy=policy, reshard_after_forward=mode == "zero3")
        fully_shard(model, mp_policy=policy, reshard_after_forward=False)
        return model, torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    if mode == "by_hand":
        return model, torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    size = float(mode.partition("_")[2]) if mode.startswith("ddp_") else 25.0
    place = [torch.cuda.current_device()] if CUDA else None
    ddp = DistributedDataParallel(
        model, device_ids=place, bucket_cap_mb=size, gradient_as_bucket_view=True
    )
    if mode == "zero1":
        return ddp, ZeroRedundancyOptimizer(
            ddp.parameters(), torch.optim.AdamW, lr=1e-4, fused=True
        )
    return ddp, torch.optim.AdamW(ddp.parameters(), lr=1e-4, fused=True)


def backward(mode: str, model: Any, tokens: torch.Tensor, targets: torch.Tensor) -> None:
    """Forward and backward of a mode, with its communication."""
    quiet = model.no_sync() if mode == "no_sync" else contextlib.nullcontext()
    own = mode in ("zero2", "zero3")
    with quiet, torch.autocast(DEVICE, torch.bfloat16, enabled=not own):
        loss = model(tokens, targets)
    with quiet if mode != "no_sync" else contextlib.nullcontext():
        loss.backward()
    if mode == "by_hand":  # all communication after all computation
        for p in model.parameters():
            dist.all_reduce(p.grad, op=AVERAGE)


# --8<-- [end:modes]


def messages(mode: str, shape: Shape, n: int) -> dict[str, list[float]]:
    """Bytes of each collective in a step, by kind and type; the model's view of the mode."""
    layer, whole = shape.layer_parameters, shape.parameters
    rest = whole - shape.layers * layer
    units = [float(layer)] * shape.layers + [float(rest)]
    bf16, fp32 = [2 * u for u in units], [4 * u for u in units]
    if mode == "no_sync":
        return {}
    h = shape.hidden
    tensors = [shape.vocabulary * h, shape.sequence * h]
    norms, biases = [h, h, h, h], [3 * h, h, 4 * h, h]
    matrices = [3 * h * h, h * h, 4 * h * h, 4 * h * h]
    tensors += (norms + biases + matrices) * shape.layers
    tensors += [h, h]
    if mode == "by_hand":
        return {"all_reduce float32": [4.0 * x for x in tensors]}
    if mode == "zero2":
        return {"all_gather bfloat16": bf16, "reduce_scatter float32": fp32}
    if mode == "zero3":
        return {"all_gather bfloat16": bf16 + bf16[:-1], "reduce_scatter float32": fp32}
    size = float(mode.partition("_")[2]) if mode.startswith("ddp_") else 25.0
    # The tied embedding is ready last, whatever its place among the parameters.
    ready = [4.0 * x for x in reversed(tensors)]
    return {"all_reduce float32": packed(ready, size * 2**20, 2**20)}


def one(mode: str, shape: Shape, b: int, n: int, swept: dict[str, Points], count: int) -> float:
    """Measure a mode at batch b; return the median time of forward and backward."""
    gc.collect()
    if CUDA:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    model, optimizer = build(mode, shape, n)
    tokens, targets = batch_of(shape, b, DEVICE)

    def step() -> None:
        backward(mode, model, tokens, targets)
        optimizer.step()
        optimizer.zero_grad(set_to_none=mode not in ("no_sync",))

    def both_ways() -> None:
        backward(mode, model, tokens, targets)
        optimizer.zero_grad(set_to_none=mode not in ("no_sync",))

    whole = timed(step, count, 3)
    peak = torch.cuda.max_memory_allocated() if CUDA else 0
    rest = torch.cuda.memory_allocated() if CUDA else 0
    backward(mode, model, tokens, targets)
    synchronize()
    # Weights, gradients and optimiser state exist together only here.
    states = torch.cuda.memory_allocated() if CUDA else 0
    optimizer.zero_grad(set_to_none=mode not in ("no_sync",))
    passes = timed(both_ways, count, 1)
    median = sorted(passes)[len(passes) // 2]
    zero = {"zero1": 1, "zero2": 2, "zero3": 3}.get(mode, 0)
    sizes = messages(mode, shape, n)
    predicted = {
        kind: sum(interpolate(swept[kind], size) for size in every) for kind, every in sizes.items()
    }
    last = max((interpolate(swept[k], every[-1]) for k, every in sizes.items()), default=0.0)
    extra: dict[str, Any] = {"mode": mode, "b": b, "ranks": n}
    emit("step", "s", whole, **extra, flop=step_flop(shape, b))
    emit(
        "passes",
        "s",
        passes,
        **extra,
        communication=sum(predicted.values()),
        last_message=last,
        messages={kind: len(every) for kind, every in sizes.items()},
        bytes={kind: sum(every) for kind, every in sizes.items()},
    )
    formula = state_bytes(shape.parameters, 160, zero, n)
    emit("memory", **extra, states=states, at_rest=rest, peak=peak, formula=formula)
    return median


def gradients_agree(n: int, rank: int) -> None:
    """Every mode must leave the gradients that one process with all the data would have."""
    shape = Shape(2, 128, 2, 512, 64)
    every = []
    for r in range(n):
        torch.manual_seed(100 + r)
        every.append(batch_of(shape, 2, DEVICE))
    torch.manual_seed(7)
    with torch.device(DEVICE):
        model = GPT(shape, "flash")
    for tokens, targets in every:
        with torch.autocast(DEVICE, torch.bfloat16):
            (model(tokens, targets) / n).backward()
    want = {k: p.grad.clone() for k, p in model.named_parameters() if p.grad is not None}
    for mode in ("by_hand", "ddp_25", "zero2", "zero3"):
        torch.manual_seed(7)
        other, _ = build(mode, shape, n)
        backward(mode, other, *every[rank])
        worst = 0.0
        for name, p in other.named_parameters():
            got = p.grad.full_tensor() if hasattr(p.grad, "full_tensor") else p.grad
            if mode == "by_hand" and not CUDA:
                got = got / n
            key = name.removeprefix("module.")
            worst = max(worst, float((got - want[key]).norm() / want[key].norm()))
        emit("error", "1", slowest([worst]), mode=mode)


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tiny", action="store_true", help="small sizes, to try the program")
    tiny = parser.parse_args().tiny
    rank, n = ranks()
    torch.manual_seed(0)
    versions()
    right_sum(n, rank)
    powers = (12, 16, 20) if tiny else (12, 14, 16, 18, *range(20, 31), 32)
    sizes = [2**k for k in powers]
    swept = {
        f"{kind} {name}": collectives(kind, getattr(torch, name), n, sizes)
        for kind, name in [
            ("all_reduce", "float32"),
            ("all_reduce", "bfloat16"),
            ("all_gather", "bfloat16"),
            ("reduce_scatter", "float32"),
        ]
    }
    gradients_agree(n, rank)
    shape = Shape(2, 64, 2, 512, 32) if tiny else Shape()
    began = time.perf_counter()
    for b in (1,) if tiny else (1, 4):
        compute = 0.0
        for mode in MODES:
            late = slowest([time.perf_counter() - began])[0] > 150
            if late:
                emit("skipped", mode=mode, b=b)
                continue
            found = one(mode, shape, b, n, swept, 2 if tiny else 10)
            compute = found if mode == "no_sync" else compute
            sent = messages(mode, shape, n)
            total = sum(interpolate(swept[k], x) for k, every in sent.items() for x in every)
            last = max((interpolate(swept[k], every[-1]) for k, every in sent.items()), default=0.0)
            hidden, exposed = overlapped(compute, total, last)
            emit("predicted", mode=mode, b=b, hidden=hidden, exposed=exposed, measured=found)
    synchronize()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
