"""What recomputing whole layers costs in time, with and without stopping early.

Run:  python3 docs/train/code/recompute_time.py [--tiny]

PyTorch's non-reentrant checkpoint stops recomputing once every tensor that the backward pass
needs is there again, so the last product of a layer is not done twice. This times forward and
backward with that switched on (the default) and off, and a model of no layers, which is the
embedding and the head that are never recomputed. One JSON object a line; times are of
back-to-back passes without optimiser.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "chip/code"))
import torch
from gpt import GPT, batch_of
from memory_model import Shape
from timing import DEVICE, emit, trials, versions
from torch.utils.checkpoint import set_checkpoint_early_stop


def passes(shape: Shape, batch: int, attention: str, recompute: str, stops: bool) -> None:
    """Time the forward pass, and forward with backward, of one configuration."""
    torch.manual_seed(0)
    with torch.device(DEVICE):
        model = GPT(shape, attention, 0.0, recompute)
    model.to(torch.bfloat16)
    tokens, targets = batch_of(shape, batch, DEVICE)
    how = {"attention": attention, "recompute": recompute, "early_stop": stops}
    how |= {"b": batch, "layers": shape.layers}

    def forward() -> None:
        with torch.no_grad():
            model(tokens, targets)

    def both() -> None:
        # --8<-- [start:switch]
        with set_checkpoint_early_stop(stops):
            loss = model(tokens, targets)
        loss.backward()
        # --8<-- [end:switch]
        for p in model.parameters():
            p.grad = None

    emit("pass", "s", trials(forward, 10), **how, part="forward")
    emit("pass", "s", trials(both, 10), **how, part="forward_backward")
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
        both()
        emit("peak", **how, bytes=torch.cuda.max_memory_allocated())


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tiny", action="store_true", help="small sizes, to try the program")
    tiny = parser.parse_args().tiny
    shape = Shape(2, 64, 2, 512, 32) if tiny else Shape()
    versions()
    for attention, batch in [("flash", 8), ("written_out", 4)]:
        if tiny and attention == "flash":
            continue
        for recompute, stops in [
            ("none", True),
            ("full", True),
            ("full", False),
            ("selective", True),
            ("selective", False),
        ]:
            if attention == "flash" and recompute == "selective":
                continue
            passes(shape, batch, attention, recompute, stops)
        passes(replace(shape, layers=0), batch, attention, "none", True)


if __name__ == "__main__":
    main()
