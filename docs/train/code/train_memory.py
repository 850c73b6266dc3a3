"""Memory of a training step by its parts, and its time, against what the formulas promise.

Run:  python3 docs/train/code/train_memory.py [--tiny]

One JSON object a line. `allocated` is what tensors hold, `reserved` what PyTorch's allocator took
from the driver, `used` what the whole process took (context and libraries too). Bytes are exact
counts of one run each, not statistics; step times are medians.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "chip/code"))
import torch
from gpt import GPT, Layer, MasterAdam, batch_of
from memory_model import (
    Shape,
    activation_bytes,
    flash_activation_bytes,
    state_bytes,
    step_flop,
)
from timing import CUDA, DEVICE, Watch, emit, seconds, synchronize, versions


def allocated() -> int:
    """Bytes that tensors hold."""
    return torch.cuda.memory_allocated() if CUDA else 0


def used() -> int:
    """Bytes that this machine's processes took from the device."""
    if not CUDA:
        return 0
    free, total = torch.cuda.mem_get_info()
    return total - free


def holes() -> tuple[int, int]:
    """Of the reserved bytes: free ones in segments that are partly in use, and in empty ones."""
    partly = empty = 0
    for segment in torch.cuda.memory_snapshot() if CUDA else []:
        free = segment["total_size"] - segment["active_size"]
        if segment["active_size"]:
            partly += free
        else:
            empty += free
    return partly, empty


def clean() -> None:
    """Give everything back."""
    gc.collect()
    if CUDA:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


class Marks:
    """Bytes at named places of one configuration."""

    def __init__(self, **labels: Any) -> None:
        self.labels, self.last = labels, allocated()

    def __call__(self, place: str) -> None:
        synchronize()
        now, (partly, empty) = allocated(), holes()
        emit(
            "mark",
            **self.labels,
            place=place,
            allocated=now,
            change=now - self.last,
            peak=torch.cuda.max_memory_allocated() if CUDA else 0,
            reserved=torch.cuda.memory_reserved() if CUDA else 0,
            holes_in_segments=partly,
            empty_segments=empty,
            used=used(),
        )
        self.last = now


# --8<-- [start:isolated]
def isolated(shape: Shape, batch: int, attention: str, dropout: float, recompute: str) -> int:
    """Bytes that one layer keeps between forward and backward: four layers less two, halved."""

    def kept(count: int) -> int:
        with torch.device(DEVICE):
            layers = [Layer(shape, attention, dropout, recompute) for _ in range(count)]
        for layer in layers:
            layer.to(torch.bfloat16)
        x = torch.randn(batch, shape.sequence, shape.hidden, device=DEVICE, dtype=torch.bfloat16)
        before, y = allocated(), x.requires_grad_()
        for layer in layers:
            y = layer(y)
        after = allocated()
        y.sum().backward()
        return after - before

    return (kept(4) - kept(2)) // 2


# --8<-- [end:isolated]


def saved(shape: Shape, batch: int, attention: str, dropout: float) -> list[dict[str, Any]]:
    """The tensors that autograd keeps for one layer: each storage once, parameters left out."""
    with torch.device(DEVICE):
        layer = Layer(shape, attention, dropout, "none").to(torch.bfloat16)
    weights = {p.untyped_storage().data_ptr() for p in layer.parameters()}
    found: dict[int, dict[str, Any]] = {}

    def keep(t: torch.Tensor) -> torch.Tensor:
        key, size = t.untyped_storage().data_ptr(), t.untyped_storage().nbytes()
        if key not in weights and key not in found and size > 1024:
            kind = str(t.dtype).removeprefix("torch.")
            found[key] = {"shape": list(t.shape), "type": kind, "bytes": size}
        return t

    x = torch.randn(batch, shape.sequence, shape.hidden, device=DEVICE, dtype=torch.bfloat16)
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda t: t):
        y = layer(x.requires_grad_())
    del y
    return list(found.values())


def layers(tiny: bool) -> None:
    """Activations of a layer alone."""
    base = Shape(hidden=2048, heads=16, sequence=2048)
    cases = [
        (base, 1),
        (base, 4),
        (replace(base, sequence=1024), 4),
        (replace(base, sequence=4096), 2),
        (replace(base, hidden=4096, heads=32), 2),
        (replace(base, hidden=4096, heads=32, sequence=8192), 1),
    ]
    if tiny:
        cases = [(Shape(hidden=64, heads=2, sequence=32), 2)]
    for shape, b in cases:
        size = {"s": shape.sequence, "b": b, "h": shape.hidden, "a": shape.heads}
        for attention, dropout, recompute in [
            ("written_out", 0.1, "none"),
            ("written_out", 0.1, "selective"),
            ("written_out", 0.1, "full"),
            ("written_out", 0.0, "none"),
            ("math", 0.0, "none"),
            ("flash", 0.1, "none"),
            ("flash", 0.0, "none"),
            ("efficient", 0.0, "none"),
            ("cudnn", 0.0, "none"),
            ("flash", 0.0, "selective"),
            ("flash", 0.0, "full"),
        ]:
            clean()
            how = {"attention": attention, "dropout": dropout, "recompute": recompute}
            try:
                value = isolated(shape, b, attention, dropout, recompute)
            except (RuntimeError, torch.OutOfMemoryError) as error:
                emit("refused", of="layer", **size, **how, why=str(error).splitlines()[0][:200])
                continue
            formula = activation_bytes(shape, b, recompute)
            fused = flash_activation_bytes(shape, b, dropout > 0)
            emit("layer", **size, **how, bytes=value, formula=formula, fused_formula=fused)
    shape, b = cases[0]
    for attention, dropout in [("written_out", 0.1), ("math", 0.0), ("flash", 0.0)]:
        clean()
        for n, tensor in enumerate(saved(shape, b, attention, dropout)):
            emit("saved", attention=attention, dropout=dropout, n=n, **tensor)


def step_of(
    shape: Shape,
    b: int,
    attention: str,
    recompute: str,
    precision: str,
    count: int,
    watch: Watch,
    compiled: bool = False,
) -> None:
    """One configuration: marks around the first two steps, then timed steps.

    precision: 16 or 18 bytes a parameter with bf16 weights and fp32 masters, or autocast (fp32
    weights, gradients and moments; bf16 inside the products).
    """
    clean()
    how: dict[str, Any] = {"attention": attention, "recompute": recompute, "precision": precision}
    how |= {"b": b, "compiled": compiled}
    marks = Marks(**how)
    marks("start")
    with torch.device(DEVICE):
        model = GPT(shape, attention, 0.0, recompute)
    if precision != "autocast":
        model.to(torch.bfloat16)
    if compiled:
        for layer in model.layers:
            layer.compile()
    clean()
    marks("weights")
    if precision == "autocast":
        plain = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
        optimizer: Any = plain
    else:
        optimizer = MasterAdam(model, main_gradients=precision == "18")
    marks("masters")
    tokens, targets = batch_of(shape, b, DEVICE)

    def forward() -> torch.Tensor:
        with torch.autocast(DEVICE, torch.bfloat16, enabled=precision == "autocast"):
            return model(tokens, targets)

    def step() -> None:
        forward().backward()
        optimizer.step()
        if precision == "autocast":
            optimizer.zero_grad()

    for turn in ("first", "second"):
        marks(f"{turn}: inputs")
        loss = forward()
        marks(f"{turn}: forward")
        loss.backward()
        del loss
        marks(f"{turn}: backward")
        optimizer.step()
        if precision == "autocast":
            optimizer.zero_grad()
        marks(f"{turn}: step")
    parameters = sum(p.numel() for p in model.parameters())
    assert parameters == shape.parameters, (parameters, shape.parameters)
    emit(
        "state",
        **how,
        parameters=parameters,
        at_rest=allocated(),
        formula=state_bytes(parameters, {"16": 16, "18": 18, "autocast": 160}[precision]),
        layer_formula=activation_bytes(shape, b, recompute),
        fused_formula=flash_activation_bytes(shape, b, False),
    )
    flop = step_flop(shape, b)
    with watch.during():
        times = [seconds(step) for _ in range(count)]
    tail = times[1:]
    emit(
        "step",
        "s",
        tail,
        **how,
        flop=flop,
        flop_full_attention=step_flop(shape, b, causal=False),
        six_n_tokens=6 * parameters * b * shape.sequence,
        peak=torch.cuda.max_memory_allocated() if CUDA else 0,
        **watch.summary(0.3),
    )
    parts: dict[str, list[float]] = {"forward": [], "forward_backward": []}
    for _ in range(max(2, count // 2)):
        with torch.no_grad():
            parts["forward"].append(seconds(forward))
        parts["forward_backward"].append(seconds(lambda: forward().backward()))
        if precision == "autocast":
            optimizer.zero_grad()
        else:
            for p in model.parameters():
                p.grad = None
    for name, values in parts.items():
        emit("part", "s", values, **how, part=name)


def gradients_agree() -> None:
    """The ways to compute attention and to recompute must give the same gradients."""
    shape = Shape(2, 128, 2, 512, 64)
    kind = torch.bfloat16 if CUDA else torch.float32
    reference: dict[str, torch.Tensor] = {}
    tokens, targets = batch_of(shape, 2, DEVICE)
    for attention in ("written_out", "math", "flash"):
        for recompute in ("none", "selective", "full"):
            torch.manual_seed(1)
            first = attention == "written_out" and recompute == "none"
            kept = torch.float64 if first else kind
            model = GPT(shape, attention, 0.0, recompute).to(DEVICE).to(kind).to(kept)
            model(tokens, targets).backward()
            found = {n: p.grad.double() for n, p in model.named_parameters() if p.grad is not None}
            if first:
                reference = found
                continue
            away = max(float((g - reference[n]).norm()) for n, g in found.items())
            size = max(float(g.norm()) for g in reference.values())
            emit("error", "1", [away / size], attention=attention, recompute=recompute)


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tiny", action="store_true", help="small sizes, to try the program")
    tiny = parser.parse_args().tiny
    start, began = used(), time.perf_counter()
    torch.manual_seed(0)
    torch.zeros(1, device=DEVICE)
    emit("context", before_first_tensor=start, after_first_tensor=used())
    a = torch.randn(1024, 1024, device=DEVICE, dtype=torch.bfloat16)
    (a @ a).sum().item()
    reserved = torch.cuda.memory_reserved() if CUDA else 0
    emit("context", after_first_product=used(), reserved=reserved)
    del a
    versions()
    gradients_agree()
    layers(tiny)
    shape = Shape(2, 64, 2, 512, 32) if tiny else Shape()
    emit("shape", **asdict(shape), parameters=shape.parameters)
    watch = Watch()
    flash = "efficient" if tiny and CUDA else "flash"
    for attention, recompute, precision, b in [
        (flash, "none", "16", 1),
        (flash, "none", "16", 4),
        (flash, "none", "16", 8),
        (flash, "none", "16", 16),
        (flash, "none", "18", 8),
        (flash, "none", "autocast", 8),
        (flash, "full", "16", 8),
        (flash, "full", "16", 32),
        ("cudnn", "none", "16", 8),
        ("written_out", "none", "16", 1),
        ("written_out", "none", "16", 4),
        ("written_out", "selective", "16", 4),
        ("written_out", "full", "16", 4),
        ("math", "none", "16", 4),
    ]:
        if tiny and (attention == "cudnn" or b > 8):
            continue
        if time.perf_counter() - began > 200:
            emit("skipped", attention=attention, recompute=recompute, precision=precision, b=b)
            continue
        try:
            step_of(shape, b, attention, recompute, precision, 3 if tiny else 11, watch)
        except torch.OutOfMemoryError as error:
            how = {"attention": attention, "recompute": recompute, "precision": precision, "b": b}
            emit("refused", of="step", **how, why=str(error).splitlines()[0][:200])
    if CUDA:
        step_of(shape, 8, flash, "none", "16", 11, watch, compiled=True)


if __name__ == "__main__":
    main()
