"""Pure bf16 where updates are small: late in training, without decay, and with beta2 = 0.999.

Run:  python3 docs/train/code/precision_late.py [--tiny] [--seeds 2]

Model, text and ways are those of precision_training.py. One JSON object a line.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "chip/code"))
import precision_training
import torch
from gpt import GPT
from memory_model import Shape
from precision_training import BF16, WAYS, AdamW, Way, flattened, language, text, train
from timing import CUDA, DEVICE, emit, versions
from torch import Tensor

CHOSEN = {way.name: way for way in WAYS}
RATES = (3e-4, 1e-4, 3e-5, 1e-5, 3e-6)


def loss_of(model: GPT, way: Way, part: Tensor) -> Tensor:
    """Loss of one batch."""
    with torch.autocast(DEVICE, way.autocast or BF16, enabled=way.autocast is not None):
        return model(part[:, :-1], part[:, 1:])


def late(shape: Shape, batch: int, first: int, more: int, seed: int, follows: Tensor) -> None:
    """Train `first` steps with fp32 weights, then go on from there in each way, at each rate."""
    torch.manual_seed(seed)
    rows = text(follows, batch * (first + more), shape.sequence + 1)
    batches = rows.view(first + more, batch, shape.sequence + 1)
    way = CHOSEN["bf16_autocast"]
    model = GPT(shape, "efficient" if CUDA else "math").to(DEVICE)
    weights, gradients = flattened(model, torch.float32)
    optimizer = AdamW(weights, way)
    losses = []
    for step in range(first):
        loss = loss_of(model, way, batches[step])
        loss.backward()
        losses.append(loss.detach())
        optimizer.step(gradients, step + 1, 6e-4 * min(1, (step + 1) / 100))
        gradients.zero_()
    emit("start", seed=seed, loss=float(torch.stack(losses[-25:]).mean()), steps=first)
    kept_weights, kept_m, kept_v = weights.clone(), optimizer.m.clone(), optimizer.v.clone()
    for rate in RATES:
        for name in ("bf16_autocast", "bf16_pure", "bf16_kahan", "bf16_stochastic"):
            way = CHOSEN[name]
            weights, gradients = flattened(model, way.weights)
            weights.copy_(kept_weights)
            optimizer = AdamW(weights, way)
            optimizer.m.copy_(kept_m)
            optimizer.v.copy_(kept_v)
            losses, along, wanted_size, still, moved = [], 0.0, 0.0, 0.0, 0.0
            for step in range(more):
                loss = loss_of(model, way, batches[first + step])
                loss.backward()
                losses.append(loss.detach())
                old = weights.clone() if step % 50 == 25 else None
                wanted = optimizer.step(gradients, first + step + 1, rate)
                if old is not None:
                    change = weights.double() - old.double()
                    along += float((change * wanted.double()).sum())
                    wanted_size += float(wanted.double().square().sum())
                    still += float(((change == 0) & (wanted != 0)).sum())
                    moved += float((wanted != 0).sum())
                gradients.zero_()
            emit(
                "late",
                way=name,
                rate=rate,
                seed=seed,
                loss=float(torch.stack(losses[-100:]).mean()),
                kept=along / wanted_size,
                unchanged=still / moved,
            )


def main() -> None:
    """Run the three experiments."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tiny", action="store_true", help="small sizes, to try the program")
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    shape, batch, steps, first, more = Shape(4, 512, 8, 64, 256), 32, 1000, 500, 300
    if options.tiny:
        shape, batch, steps, first, more = Shape(2, 64, 2, 16, 32), 16, 50, 60, 30
    versions()
    emit("setting", parameters=shape.parameters, batch=batch, steps=steps, first=first, more=more)
    follows = language(shape.vocabulary)
    # A decay of 0.1 x rate x weight is far below half an ulp of a bf16 weight: none here.
    precision_training.DECAY = 0.0
    for seed in range(options.seeds):
        late(shape, batch, first, more, seed, follows)
        for beta2 in (0.95, 0.999):
            precision_training.BETA2 = beta2
            for name in ("bf16_autocast", "bf16_fp32_moments", "bf16_pure"):
                way = replace(CHOSEN[name], name=f"{name}, beta2 {beta2:g}")
                train(way, seed, shape, batch, steps, follows)
        precision_training.BETA2 = 0.95


if __name__ == "__main__":
    main()
