"""Time of recomputing whole layers, with and without PyTorch's early stop.

Run:  python3 docs/train/code/recompute_time.py
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "chip/code"))
import torch
from gpt import GPT, batch_of
from memory_model import Shape
from timing import DEVICE, emit, trials, versions
from torch.utils.checkpoint import set_checkpoint_early_stop


def passes(layers: int, b: int, attention: str, recompute: str, stops: bool) -> None:
    """Time a forward pass, and one with its backward pass."""
    shape = Shape(layers=layers)
    with torch.device(DEVICE):
        model = GPT(shape, attention, 0.0, recompute).to(torch.bfloat16)
    batch = batch_of(shape, b, DEVICE)
    how = {"layers": layers, "b": b, "attention": attention, "recompute": recompute, "stops": stops}

    @torch.no_grad()
    def forward() -> None:
        model(*batch)

    def both() -> None:
        with set_checkpoint_early_stop(stops):
            loss = model(*batch)
        loss.backward()
        model.zero_grad()

    emit("forward", "s", trials(forward, 10), **how)
    emit("both", "s", trials(both, 10), **how)


versions()
for b, attention in ((8, "flash"), (4, "written_out")):
    for layers, recompute, stops in (
        (24, "none", True),
        (24, "full", True),
        (24, "full", False),
        (24, "selective", True),
        (24, "selective", False),
        (0, "none", True),
    ):
        passes(layers, b, attention, recompute, stops)
