"""A training step of a GPT of 1.3 billion parameters in seven ways: time, memory, rate.

Run:  python3 docs/train/code/precision_steps.py [--tiny]

The same batch, attention (SDPA's memory-efficient backend, which takes fp32 too) and optimiser
for all. One JSON object a line.
"""

from __future__ import annotations

import argparse
import gc
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "chip/code"))
import torch
from gpt import GPT, MasterAdam, batch_of
from memory_model import Shape, step_flop
from timing import CUDA, DEVICE, Watch, emit, seconds, synchronize, versions

BF16, FP16 = torch.bfloat16, torch.float16
# Name; type of the weights; type of autocast; TF32 for products that stay in fp32.
WAYS = (
    ("fp32", torch.float32, None, False),
    ("tf32", torch.float32, None, True),
    ("fp16_autocast", torch.float32, FP16, False),
    ("bf16_autocast", torch.float32, BF16, False),
    ("bf16_autocast_tf32", torch.float32, BF16, True),
    ("bf16_master", BF16, None, False),
    ("bf16_pure", BF16, None, False),
)


def allocated() -> int:
    """Bytes that tensors hold."""
    return torch.cuda.memory_allocated() if CUDA else 0


def measure(
    way: str,
    weights: torch.dtype,
    cast: torch.dtype | None,
    tf32: bool,
    shape: Shape,
    b: int,
    count: int,
    watch: Watch,
) -> None:
    """Two steps for memory, then timed steps."""
    gc.collect()
    if CUDA:
        torch.cuda.empty_cache()
    torch.backends.cuda.matmul.allow_tf32 = tf32
    start = allocated()
    with torch.device(DEVICE):
        model = GPT(shape, "efficient" if CUDA else "math").to(weights)
    if way == "bf16_master":
        optimizer: Any = MasterAdam(model)
    else:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    scaler = torch.amp.GradScaler(DEVICE, enabled=cast == FP16)
    batch = batch_of(shape, b, DEVICE)

    def step() -> None:
        with torch.autocast(DEVICE, cast or BF16, enabled=cast is not None):
            loss = model(*batch)
        scaler.scale(loss).backward()
        if way == "bf16_master":
            optimizer.step()
            return
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()

    step()
    if CUDA:
        torch.cuda.reset_peak_memory_stats()
    before = allocated() - start
    with torch.autocast(DEVICE, cast or BF16, enabled=cast is not None):
        loss = model(*batch)
    synchronize()
    forward = allocated() - start
    scaler.scale(loss).backward()
    del loss
    synchronize()
    states = allocated() - start
    optimizer.step()
    if way != "bf16_master":
        optimizer.zero_grad()
    peak = (torch.cuda.max_memory_allocated() - start) if CUDA else 0
    with watch.during():
        times = [seconds(step) for _ in range(count)]
    emit(
        "step",
        "s",
        times[1:],
        way=way,
        b=b,
        parameters=shape.parameters,
        flop=step_flop(shape, b),
        between_steps=before,
        forward_adds=forward - before,
        states=states,
        peak=peak,
        **watch.summary(0.3),
    )


def main() -> None:
    """Measure every way."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tiny", action="store_true", help="small sizes, to try the program")
    tiny = parser.parse_args().tiny
    torch.manual_seed(0)
    versions()
    shape = Shape(2, 64, 2, 512, 32) if tiny else Shape()
    watch = Watch()
    for way, weights, cast, tf32 in WAYS:
        measure(way, weights, cast, tf32, shape, 4, 3 if tiny else 7, watch)


if __name__ == "__main__":
    main()
