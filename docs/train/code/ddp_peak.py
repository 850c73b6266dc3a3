"""What stands in memory at the peak of a data-parallel step, and what the step's kernels cost.

Run:  torchrun --standalone --nproc-per-node=2 docs/train/code/ddp_peak.py [--tiny]

The model, the modes and the batch of data_parallel.py. For each mode: the peak of forward pass,
backward pass and update, step by step from the first; what was allocated at the highest peak, by
size; the time of forward and backward, modes in turn; and the time its kernels take, by kind.
One JSON object a line.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import sys
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "chip/code"))
import torch
import torch.distributed as dist
from data_parallel import build
from gpt import batch_of
from memory_model import Shape
from timing import CUDA, DEVICE, barrier, emit, ranks, seconds, slowest, synchronize, versions
from torch.profiler import ProfilerActivity, profile

STEPS = 5
MEMORY = ["by_hand", "ddp_10000", "ddp_25", "ddp_1"]
TIMED = ["no_sync_zeroed", "no_sync_freed", "ddp_25", "ddp_10000"]


class Step:
    """One mode's model and optimiser, its batch and the parts of a step."""

    def __init__(self, mode: str, shape: Shape, b: int, n: int) -> None:
        self.mode = mode
        quiet = mode.startswith("no_sync")
        self.model, self.optimizer = build("no_sync" if quiet else mode, shape, n)
        self.quiet = self.model.no_sync if quiet else contextlib.nullcontext
        self.tokens, self.targets = batch_of(shape, b, DEVICE)
        self.loss = torch.zeros(())

    def forward(self) -> None:
        """Forward pass, in bf16 by autocast."""
        with self.quiet(), torch.autocast(DEVICE, torch.bfloat16):
            self.loss = self.model(self.tokens, self.targets)

    def backward(self) -> None:
        """Backward pass with the mode's communication."""
        with self.quiet():
            self.loss.backward()
        if self.mode == "by_hand":
            for p in self.model.parameters():
                dist.all_reduce(p.grad, op=dist.ReduceOp.AVG if CUDA else dist.ReduceOp.SUM)

    def update(self) -> None:
        """Optimiser step."""
        self.optimizer.step()
        self.clear()

    def clear(self) -> None:
        """Zero the gradients or give them back, by the mode."""
        self.optimizer.zero_grad(set_to_none=self.mode != "no_sync_zeroed")

    def whole(self) -> None:
        """One step, nothing waited for between its parts."""
        self.forward()
        self.backward()
        self.update()

    def both_ways(self) -> None:
        """Forward and backward."""
        self.forward()
        self.backward()
        self.clear()


def allocated() -> int:
    """Bytes of live tensors on this GPU."""
    return torch.cuda.memory_allocated() if CUDA else 0


def phases(step: Step, parts: list[str], b: int) -> None:
    """Run the first steps; print the peak of each part, waiting for the GPU before and after it."""
    for i in range(STEPS):
        for part in parts:
            synchronize()
            before = allocated()
            if CUDA:
                torch.cuda.reset_peak_memory_stats()
            getattr(step, part)()
            synchronize()
            peak = torch.cuda.max_memory_allocated() if CUDA else 0
            emit("phase", mode=step.mode, b=b, step=i, part=part, before=before, peak=peak)


def highest(trace: list[dict[str, Any]]) -> tuple[int, Counter[tuple[int, str]]]:
    """Replay an allocator's trace; return its highest sum and the live blocks there, counted."""
    live: dict[int, tuple[int, str]] = {}
    total, peak, at = 0, 0, 0
    for again in (False, True):  # first find the peak, then stop there
        live.clear()
        total = 0
        for i, event in enumerate(trace):
            if event["action"] == "alloc":
                frames = event.get("frames") or []
                name = frames[0]["name"] if frames else "autograd"
                live[event["addr"]] = (event["size"], name)
                total += event["size"]
            elif event["action"] == "free_completed" and event["addr"] in live:
                total -= live.pop(event["addr"])[0]
            if not again and total > peak:
                peak, at = total, i
            if again and i == at:
                return peak, Counter(live.values())
    return peak, Counter()


def at_the_peak(mode: str, shape: Shape, b: int, n: int) -> None:
    """Print the blocks that make up a mode's peak, by size and by the call that asked for them."""
    torch.cuda.memory._record_memory_history(context="alloc", stacks="python", max_entries=2**20)
    step = Step(mode, shape, b, n)
    for _ in range(STEPS):
        step.whole()
    synchronize()
    trace = torch.cuda.memory._snapshot()["device_traces"][torch.cuda.current_device()]
    torch.cuda.memory._record_memory_history(enabled=None)
    peak, blocks = highest(trace)
    emit("peak", mode=mode, bytes=peak, events=len(trace))
    largest = sorted(blocks.items(), key=lambda item: -item[0][0] * item[1])
    for (size, name), count in largest[:24]:
        emit("block", mode=mode, size=size, asked_by=name, count=count, bytes=size * count)


def kind_of(kernel: str) -> str:
    """Name the kind of a kernel."""
    low = kernel.lower()
    if "nccl" in low:
        return "communication"
    if "flash" in low or "fmha" in low:  # before cutlass, whose types stand in their names
        return "attention"
    if any(word in low for word in ("gemm", "nvjet", "cutlass", "xmma")):
        return "matmul"
    return "other"


def kernels(step: Step) -> None:
    """Print the time of a step's kernels, by kind; kernels that overlap count each in full."""
    step.both_ways()
    barrier()
    count = 3
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        for _ in range(count):
            step.both_ways()
        synchronize()
    sums: Counter[str] = Counter()
    for event in seen.events():
        if event.device_type == torch.autograd.DeviceType.CUDA:
            sums[kind_of(event.name)] += event.time_range.elapsed_us()
    for kind, total in sorted(sums.items()):
        emit("kernels", mode=step.mode, kind=kind, seconds=total * 1e-6 / count)


def fresh() -> None:
    """Give back what the last mode left."""
    gc.collect()
    if CUDA:
        torch.cuda.empty_cache()


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tiny", action="store_true", help="small sizes, to try the program")
    tiny = parser.parse_args().tiny
    _, n = ranks()
    torch.manual_seed(0)
    versions()
    shape, b = (Shape(2, 64, 2, 512, 32), 1) if tiny else (Shape(), 4)
    for mode in MEMORY:
        for size in sorted({1, b}):
            for parts in (["forward", "backward", "update"], ["whole"]):
                fresh()
                phases(Step(mode, shape, size, n), parts, size)
        fresh()
        if CUDA:
            at_the_peak(mode, shape, b, n)
    for mode in TIMED:
        fresh()
        step = Step(mode, shape, b, n)
        for _ in range(3):
            step.both_ways()
        found = []
        for _ in range(2 if tiny else 20):
            barrier()
            found.append(seconds(step.both_ways))
        emit("passes", "s", slowest(found), mode=mode)
        if CUDA:
            kernels(step)
        del step
    synchronize()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
