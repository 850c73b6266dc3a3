"""Pipeline parallelism on all GPUs of a machine: idle time and memory against the bubble formula.

Run:  torchrun --standalone --nproc-per-node=2 docs/train/code/pipeline.py [--tiny]

PyTorch's own schedules (torch.distributed.pipelining) drive equal stages of transformer layers
with no embedding and no output, so that every stage does the same work. Times are the slowest
rank's. One JSON object a line.
"""

from __future__ import annotations

import argparse
import gc
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "chip/code"))
import torch
import torch.distributed as dist
from collective_model import bubble
from data_parallel import timed
from gpt import Layer
from memory_model import Shape, flash_activation_bytes
from timing import CUDA, DEVICE, emit, ranks, slowest, versions
from torch import Tensor, nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe

KIND = torch.bfloat16 if CUDA else torch.float32
SCHEDULES = {"gpipe": ScheduleGPipe, "1f1b": Schedule1F1B}


def loss(y: Tensor, target: Tensor) -> Tensor:
    """Something cheap with a gradient everywhere."""
    return (y * target).float().mean()


def stage_of(shape: Shape, index: int, n: int) -> nn.Module:
    """Layers of one stage; seeded, so that one process can build them all."""
    layers: list[nn.Module] = []
    for k in range(shape.layers // n):
        torch.manual_seed(1000 + index * 100 + k)
        with torch.device(DEVICE):
            layers.append(Layer(shape, "flash", 0.0, "none"))
    return nn.Sequential(*layers).to(KIND)


def feed(schedule: Any, inputs: Tensor, targets: Tensor, rank: int, n: int) -> None:
    """One step: the first stage gets the inputs, the last the targets."""
    args = [inputs] if rank == 0 else []
    named = {"target": targets} if rank == n - 1 else {}
    schedule.step(*args, **named)


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tiny", action="store_true", help="small sizes, to try the program")
    tiny = parser.parse_args().tiny
    rank, n = ranks()
    versions()
    shape = Shape(2 * n, 64, 2, 512, 32) if tiny else Shape(layers=12 * n, sequence=4096)
    here = torch.device(DEVICE, torch.cuda.current_device()) if CUDA else torch.device(DEVICE)
    module = stage_of(shape, rank, n)
    size = (1, shape.sequence, shape.hidden)

    # One micro-batch through this stage alone: what a step without idle time would cost.
    x = torch.randn(size, device=DEVICE, dtype=KIND).requires_grad_()
    target = torch.randn(size, device=DEVICE, dtype=KIND)

    def alone() -> None:
        loss(module(x), target).backward()
        x.grad = None

    busy = timed(alone, 2 if tiny else 20, 3)
    one = sorted(busy)[len(busy) // 2]
    emit("alone", "s", busy, layers=shape.layers // n, h=shape.hidden, s=shape.sequence)
    for p in module.parameters():
        p.grad = None

    for m in (n, 2 * n) if tiny else (n, 2 * n, 4 * n, 8 * n, 16 * n):
        torch.manual_seed(9)
        inputs = torch.randn(m, *size[1:], device=DEVICE, dtype=KIND)
        targets = torch.randn(m, *size[1:], device=DEVICE, dtype=KIND)
        for name, kind in SCHEDULES.items():
            gc.collect()
            if CUDA:
                torch.cuda.empty_cache()
            stage = PipelineStage(module, rank, n, here)
            schedule: Any = kind(stage, m, loss_fn=loss)

            def step(schedule: Any = schedule, x: Tensor = inputs, y: Tensor = targets) -> None:
                feed(schedule, x, y, rank, n)
                for p in module.parameters():
                    p.grad = None

            step()
            before = torch.cuda.memory_allocated() if CUDA else 0
            if CUDA:
                torch.cuda.reset_peak_memory_stats()
            found = timed(step, 2 if tiny else 10, 1)
            peak = (torch.cuda.max_memory_allocated() if CUDA else 0) - before
            both = [torch.zeros(1, dtype=torch.float64, device=DEVICE) for _ in range(n)]
            dist.all_gather(both, torch.tensor([float(peak)], dtype=torch.float64, device=DEVICE))
            middle = sorted(found)[len(found) // 2]
            emit(
                "step",
                "s",
                found,
                schedule=name,
                microbatches=m,
                ranks=n,
                busy=m * one,
                idle_over_busy=middle / (m * one) - 1,
                formula=bubble(n, m),
                peak=[int(t.item()) for t in both],
                layer_formula=flash_activation_bytes(shape, 1, False),
                layers=shape.layers // n,
            )

    # The pipeline's gradients must be those of all stages in one process.
    m = 2 * n
    torch.manual_seed(9)
    inputs = torch.randn(m, *size[1:], device=DEVICE, dtype=KIND)
    targets = torch.randn(m, *size[1:], device=DEVICE, dtype=KIND)
    dist.broadcast(inputs, 0)
    dist.broadcast(targets, 0)
    module = stage_of(shape, rank, n)
    schedule = Schedule1F1B(PipelineStage(module, rank, n, here), m, loss_fn=loss)
    feed(schedule, inputs, targets, rank, n)
    whole = nn.Sequential(*(stage_of(shape, k, n) for k in range(n)))
    for k in range(m):
        (loss(whole(inputs[k : k + 1]), targets[k : k + 1]) / m).backward()
    want = dict(whole[rank].named_parameters())
    away = [
        float((p.grad.float() - want[k].grad.float()).norm() / want[k].grad.float().norm())
        for k, p in module.named_parameters()
        if p.grad is not None and p.dim() > 1
    ]
    emit("error", "1", slowest([max(away)]), schedule="1f1b")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
