"""The same small GPT trained in ten ways to keep its numbers: loss, lost updates, bytes, time.

Run:  python3 docs/train/code/precision_training.py [--tiny] [--steps 1000] [--seconds 300]

The text is a second-order Markov chain: the next token depends on the two before it and is one
of four with probabilities 1/2, 1/4, 1/8, 1/8. So the lowest loss that any model can reach is
known, and no text is seen twice. All ways start from the same weights and see the same text.
One JSON object a line; a new seed is begun only if it would end within --seconds.
"""

from __future__ import annotations

import argparse
import gc
import math
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "chip/code"))
import torch
from gpt import GPT
from memory_model import Shape
from timing import CUDA, DEVICE, emit, synchronize, versions
from torch import Tensor
from torch.nn import functional

BETA1, BETA2, EPSILON, DECAY, CLIP = 0.9, 0.95, 1e-8, 0.1, 1.0
PEAK, WARM_UP, WINDOW = 6e-4, 100, 25
CHANCES = (0.5, 0.25, 0.125, 0.125)


# --8<-- [start:ways]
@dataclass(frozen=True)
class Way:
    """How numbers are kept. `weights`: what the model computes with and gradients come in."""

    name: str
    weights: torch.dtype = torch.float32
    autocast: torch.dtype | None = None
    tf32: bool = False
    scaled: bool = False  # dynamic loss scaling
    update: str = "nearest"  # or master, kahan, stochastic
    moments: torch.dtype = torch.float32


BF16 = torch.bfloat16
WAYS = (
    Way("fp32"),
    Way("tf32", tf32=True),
    Way("fp16_scaled", autocast=torch.float16, scaled=True),
    Way("fp16_unscaled", autocast=torch.float16),
    Way("bf16_autocast", autocast=BF16),
    Way("bf16_master", BF16, update="master"),
    Way("bf16_fp32_moments", BF16),
    Way("bf16_pure", BF16, moments=BF16),
    Way("bf16_kahan", BF16, update="kahan", moments=BF16),
    Way("bf16_stochastic", BF16, update="stochastic", moments=BF16),
)
# --8<-- [end:ways]


# --8<-- [start:update]
def stochastic_bf16(x: Tensor) -> Tensor:
    """Round fp32 up or down to bf16 with the chance that makes the mean right."""
    noise = torch.randint_like(x, 1 << 16, dtype=torch.int32)
    return ((x.view(torch.int32) + noise) & -65536).view(torch.float32).to(BF16)


class AdamW:
    """AdamW on one flat tensor of weights; computes in fp32 whatever the types it keeps."""

    def __init__(self, weights: Tensor, way: Way) -> None:
        self.weights, self.way = weights, way
        self.m, self.v = (torch.zeros_like(weights, dtype=way.moments) for _ in range(2))
        self.master = weights.float() if way.update == "master" else None
        self.lost = torch.zeros_like(weights) if way.update == "kahan" else None

    def step(self, gradient: Tensor, count: int, rate: float) -> Tensor:
        """Update the weights; return the update that was wanted."""
        g = gradient.float()
        g = g * (CLIP / (g.norm() + 1e-6)).clamp(max=1)
        m = self.m.float().lerp_(g, 1 - BETA1)
        v = self.v.float().mul_(BETA2).addcmul_(g, g, value=1 - BETA2)
        self.m.copy_(m)
        self.v.copy_(v)
        old = self.weights.float() if self.master is None else self.master
        root = (v / (1 - BETA2**count)).sqrt_().add_(EPSILON)
        wanted = (m / (1 - BETA1**count) / root + DECAY * old).mul_(-rate)
        if self.master is not None:
            self.master += wanted
            self.weights.copy_(self.master)
        elif self.lost is not None:
            aim = wanted + self.lost.float()
            self.weights.copy_(old + aim)
            self.lost.copy_(aim - (self.weights.float() - old))
        elif self.way.update == "stochastic":
            self.weights.copy_(stochastic_bf16(old + wanted))
        else:
            self.weights.copy_(old + wanted)
        return wanted


class LossScale:
    """The rule of torch.amp.GradScaler with its defaults, but growing after 200 good steps."""

    def __init__(self, used: bool) -> None:
        self.value, self.good, self.skipped, self.used = (65536.0 if used else 1.0), 0, 0, used

    def accepts(self, gradient: Tensor) -> bool:
        """Divide the gradient by the scale; tell whether it is finite, and set the next scale."""
        if not self.used:
            return True
        gradient /= self.value
        if not bool(gradient.isfinite().all()):
            self.value, self.good, self.skipped = self.value / 2, 0, self.skipped + 1
            return False
        self.good += 1
        if self.good == 200:
            self.value, self.good = self.value * 2, 0
        return True


# --8<-- [end:update]


def language(vocabulary: int) -> Tensor:
    """For each two tokens the four that may follow: the same for all seeds."""
    source = torch.Generator().manual_seed(2026)
    order = torch.rand(vocabulary, vocabulary, vocabulary, generator=source).argsort(-1)
    return order[..., : len(CHANCES)].contiguous().to(DEVICE)


def text(follows: Tensor, rows: int, length: int) -> Tensor:
    """Rows of tokens, the first two of each at random."""
    vocabulary = follows.shape[0]
    out = torch.randint(0, vocabulary, (rows, length), device=DEVICE)
    below = torch.tensor(CHANCES, device=DEVICE).cumsum(0)[:-1]
    draw = torch.bucketize(torch.rand(rows, length, device=DEVICE), below)
    for at in range(2, length):
        out[:, at] = follows[out[:, at - 2], out[:, at - 1], draw[:, at]]
    return out


def floor(shape: Shape) -> float:
    """Nats a token: entropy of the four chances, and of the second token, which is random."""
    entropy = -sum(p * math.log(p) for p in CHANCES)
    return (entropy * (shape.sequence - 1) + math.log(shape.vocabulary)) / shape.sequence


def flattened(model: GPT, kind: torch.dtype) -> tuple[Tensor, Tensor]:
    """Make all weights views of one tensor, all gradients of another."""
    parameters = list(model.parameters())
    weights = torch.cat([p.detach().flatten() for p in parameters]).to(kind)
    gradients, at = torch.zeros_like(weights), 0
    for p in parameters:
        part = slice(at, at + p.numel())
        p.data = weights[part].view_as(p)
        p.grad = gradients[part].view_as(p)
        at = part.stop
    return weights, gradients


def rates(steps: int) -> Iterator[float]:
    """Learning rates: a linear warm-up, then half a cosine down to a tenth."""
    for step in range(steps):
        done = max(0, step - WARM_UP) / max(1, steps - WARM_UP)
        yield PEAK * min(1, (step + 1) / WARM_UP) * (0.55 + 0.45 * math.cos(math.pi * done))


def allocated() -> int:
    """Bytes that tensors hold."""
    return torch.cuda.memory_allocated() if CUDA else 0


def train(way: Way, seed: int, shape: Shape, batch: int, steps: int, follows: Tensor) -> None:
    """Train once; print a line every WINDOW steps, and one for the whole run."""
    gc.collect()
    if CUDA:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    torch.backends.cuda.matmul.allow_tf32 = way.tf32
    torch.manual_seed(seed)
    rows = text(follows, batch * steps, shape.sequence + 1)
    before = allocated()
    model = GPT(shape, "efficient" if CUDA else "math").to(DEVICE)
    weights, gradients = flattened(model, way.weights)
    gains = [p for name, p in model.named_parameters() if "norm" in name and "weight" in name]
    optimizer, scale = AdamW(weights, way), LossScale(way.scaled)
    state = allocated() - before
    losses: list[Tensor] = []
    times: list[float] = []
    count = 0
    for step, rate in enumerate(rates(steps)):
        looked = step % WINDOW == 0
        if step % WINDOW == 1:
            synchronize()
            began = time.perf_counter()
        part = rows[step * batch : (step + 1) * batch]
        with torch.autocast(DEVICE, way.autocast or BF16, enabled=way.autocast is not None):
            loss = model(part[:, :-1], part[:, 1:])
        (loss * scale.value).backward()
        losses.append(loss.detach())
        seen: dict[str, float] = {}
        if looked:
            seen["zeros"] = float((gradients == 0).float().mean())
            old = weights.clone()
        if scale.accepts(gradients):
            count += 1
            wanted = optimizer.step(gradients, count, rate)
            if looked:
                change = weights.float() - old.float()
                moved = wanted != 0
                seen["unchanged"] = float(((change == 0) & moved).sum() / moved.sum())
                # In double: the sums run over millions of small products.
                along = (change.double() * wanted.double()).sum()
                seen["kept"] = float(along / wanted.double().square().sum())
                del change, moved
            del wanted
        if looked:
            del old
        gradients.zero_()
        if looked:
            emit("look", way=way.name, seed=seed, step=step, scale=scale.value, **seen)
        if step % WINDOW == WINDOW - 1:
            synchronize()
            times.append((time.perf_counter() - began) / (WINDOW - 1))
            mean = float(torch.stack(losses[-WINDOW:]).mean())
            emit("loss", way=way.name, seed=seed, step=step + 1, loss=mean)
    with torch.no_grad():
        frozen = sum(int((g == 1).sum()) for g in gains) / sum(g.numel() for g in gains)
    emit(
        "run",
        "s",
        times[2:] or times,
        way=way.name,
        seed=seed,
        final=float(torch.stack(losses[-100:]).mean()),
        state=state,
        parameters=weights.numel(),
        peak=(torch.cuda.max_memory_allocated() - before) if CUDA else 0,
        skipped=scale.skipped,
        scale=scale.value,
        gains_still_one=frozen,
    )
    if seed == 0 and not way.scaled:
        alone(model, way, rows[-batch:, :-1])


@torch.no_grad()
def alone(model: GPT, way: Way, tokens: Tensor) -> None:
    """The logits of sequences computed one at a time, and all in one batch."""
    shape = model.shape

    def logits(part: Tensor) -> Tensor:
        with torch.autocast(DEVICE, way.autocast or BF16, enabled=way.autocast is not None):
            x = model.token(part) + model.position(torch.arange(part.shape[1], device=DEVICE))
            for layer in model.layers:
                x = layer(x)
            return functional.linear(model.norm(x), model.token.weight).float()

    together, again = logits(tokens), logits(tokens)
    single = torch.cat([logits(tokens[n : n + 1]) for n in range(len(tokens))])
    emit(
        "alone",
        way=way.name,
        sequences=len(tokens),
        length=shape.sequence,
        equal=float((single == together).float().mean()),
        largest=float((single - together).abs().max()),
        size=float(together.abs().mean()),
        other_choice=float((single.argmax(-1) != together.argmax(-1)).float().mean()),
        repeat_equal=bool((together == again).all()),
    )


def main() -> None:
    """Train in every way, seed after seed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tiny", action="store_true", help="small sizes, to try the program")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=300)
    options = parser.parse_args()
    shape, batch, steps = Shape(4, 512, 8, 64, 256), 32, options.steps
    if options.tiny:
        shape, batch, steps = Shape(2, 64, 2, 16, 32), 16, 100
    versions()
    follows = language(shape.vocabulary)
    emit(
        "setting",
        parameters=shape.parameters,
        batch=batch,
        steps=steps,
        floor=floor(shape),
        peak_rate=PEAK,
        beta2=BETA2,
    )
    start = time.perf_counter()
    train(WAYS[4], 99, shape, batch, 2 * WINDOW, follows)  # warm-up; seed 99 is left out
    for seed in range(3):
        began = time.perf_counter()
        for way in WAYS:
            train(way, seed, shape, batch, steps, follows)
        now = time.perf_counter()
        if now - start + (now - began) > options.seconds:
            break


if __name__ == "__main__":
    main()
