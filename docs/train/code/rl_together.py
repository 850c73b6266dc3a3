"""Generation and training in turn, on two streams of a GPU, in two processes, on two GPUs.

Used by rl_run.py. The generator takes the newest weights, generates and checks a batch, and puts
it into a queue that holds one; the trainer takes it, updates, and publishes its weights in BF16.
"""

from __future__ import annotations

import queue
import sys
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "chip/code"))
import torch
import torch.multiprocessing as mp
from rl_policy import BF16, Batch, Engine, Size, Task, Trainer, rollout
from timing import CUDA, DEVICE, emit, synchronize
from torch import Tensor


def publish(shared: Tensor, trainer: Trainer) -> None:
    """Weights to where the generator takes them, in BF16."""
    shared.copy_(trainer.flat)
    synchronize()


def generate(
    size: Size,
    device: str,
    prompts: int,
    shared: Tensor,
    lock: Any,
    version: Any,
    out: Any,
    stop: Any,
    engine: Engine | None = None,
) -> None:
    """Take the newest weights, generate, check, hand over; until told to stop."""
    engine = engine or Engine(size, prompts * size.group, device=device)
    task = Task(size, device)
    at = 0
    for name, w in engine.w.items():
        if name == "head":
            break
        at += w.numel()
    head = shared[at : at + engine.w["head"].numel()].view_as(engine.w["head"])
    while not stop.is_set():
        with lock:
            engine.load(shared, head)
            if CUDA:
                torch.cuda.current_stream().synchronize()
            made_by = version.value
        batch = rollout(task, engine, prompts)
        batch.version = made_by
        parts = [
            t.cpu()
            for t in (batch.prompts, batch.responses, batch.logp, batch.lengths, batch.rewards)
        ]
        start = time.perf_counter()
        while not stop.is_set():
            try:
                out.put((parts, made_by, batch.steps, start), timeout=0.2)
                break
            except queue.Full:
                continue


class Number:
    """A version that threads share."""

    value = 0


def generate_process(
    size: Size,
    device: str,
    prompts: int,
    shared: Tensor,
    lock: Any,
    version: Any,
    out: Any,
    stop: Any,
) -> None:
    """The generator in its own process."""
    if device.startswith("cuda"):
        torch.cuda.set_device(device)
    torch.manual_seed(4)
    with torch.no_grad():
        generate(size, device, prompts, shared, lock, version, out, stop)


def generate_thread(*arguments: Any) -> None:
    """The generator in a thread, on its own stream."""
    if not CUDA:
        generate(*arguments)
        return
    with torch.no_grad(), torch.cuda.stream(torch.cuda.Stream()):
        generate(*arguments)


def together(size: Size, flat: Tensor, way: str, prompts: int) -> None:
    """Time steps of one way; the rate of learning is 0, so all do the same work."""
    torch.manual_seed(3)
    trainer = Trainer(size, flat, rate=0.0)
    warm, count = (8, 48) if CUDA else (1, 3)
    ends, tokens, lags, waits = [], [], [], []
    labels = {"way": way, "responses": prompts * size.group}
    if way == "in turn":
        engine, task = Engine(size, prompts * size.group), Task(size)
        for _ in range(warm + count):
            engine.load(trainer.flat, trainer.model.head)
            batch = rollout(task, engine, prompts)
            trainer.learn(batch, "tis", size.group)
            synchronize()
            ends.append(time.perf_counter())
            tokens.append(int(batch.lengths.sum()))
            lags.append(0)
            waits.append(0.0)
    else:
        shared = torch.empty_like(trainer.flat, dtype=BF16)
        publish(shared, trainer)
        if way == "two streams":
            out, lock, stop, version = queue.Queue(1), threading.Lock(), threading.Event(), Number()
            engine = Engine(size, prompts * size.group)
            worker: Any = threading.Thread(
                target=generate_thread,
                args=(size, DEVICE, prompts, shared, lock, version, out, stop, engine),
                daemon=True,
            )
        else:
            there = mp.get_context("spawn")
            out, lock, stop, version = (
                there.Queue(1),
                there.Lock(),
                there.Event(),
                there.Value("i", 0),
            )
            device = "cuda:1" if way == "two GPUs" else ("cuda:0" if CUDA else "cpu")
            worker = there.Process(
                target=generate_process,
                args=(size, device, prompts, shared, lock, version, out, stop),
                daemon=True,
            )
        worker.start()
        try:
            for n in range(warm + count):
                start = time.perf_counter()
                parts, made_by, steps, _ = out.get(timeout=90)
                waits.append(time.perf_counter() - start)
                parts = [t.to(DEVICE) for t in parts]
                batch = Batch(*parts, version=made_by, steps=steps)
                trainer.learn(batch, "tis", size.group)
                with lock:
                    shared.copy_(trainer.flat)
                    if CUDA:
                        torch.cuda.current_stream().synchronize()
                    version.value = n + 1
                ends.append(time.perf_counter())
                tokens.append(int(batch.lengths.sum()))
                lags.append(n - made_by)
        finally:
            stop.set()
            worker.join(20)
            if way != "two streams" and worker.is_alive():
                worker.terminate()
    # Groups of eight steps: a queue makes single steps uneven.
    part = 8 if CUDA else 1
    spans, rates = [], []
    for at in range(warm, warm + count, part):
        span = ends[at + part - 1] - ends[at - 1]
        spans.append(1e3 * span / part)
        rates.append(sum(tokens[at : at + part]) / span)
    emit("together_step", "ms", spans, **labels)
    emit("together_rate", "token/s", rates, **labels)
    emit("together_lag", "update", [float(x) for x in lags[warm:]], **labels)
    emit("together_wait", "ms", [1e3 * x for x in waits[warm:]], **labels)
