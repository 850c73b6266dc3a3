"""One transformer layer split over all GPUs by columns and rows: time against the model.

Run:  torchrun --standalone --nproc-per-node=2 docs/train/code/tensor_parallel.py [--tiny]

Megatron's split: the first matrix of each pair by columns, the second by rows, one all-reduce in
the forward pass after each pair and one in the backward pass before it: four a layer, of s b h
values each. Times are the slowest rank's. One JSON object a line.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "chip/code"))
import torch
import torch.distributed as dist
from collective_model import fit, interpolate
from data_parallel import Points, collectives, timed
from timing import CUDA, DEVICE, emit, ranks, slowest, versions
from torch import Tensor, nn
from torch.nn import functional

KIND = torch.bfloat16 if CUDA else torch.float32


# --8<-- [start:operators]
class ToAll(torch.autograd.Function):
    """Forward: nothing. Backward: add the gradients of all ranks. Megatron's f."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        grad = grad.contiguous()
        dist.all_reduce(grad)
        return grad


class FromAll(torch.autograd.Function):
    """Forward: add the parts of all ranks. Backward: nothing. Megatron's g."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return grad


# --8<-- [end:operators]


class Split(nn.Module):
    """A layer without biases; this rank holds heads and columns `rank` of `n`."""

    def __init__(self, hidden: int, heads: int, rank: int, n: int, talk: bool) -> None:
        super().__init__()
        self.heads, self.talk, h = heads // n, talk, hidden
        torch.manual_seed(5)  # the whole matrices are the same on every rank
        whole = {
            "qkv": torch.randn(3, heads, h // heads, h, device=DEVICE) * 0.02,
            "out": torch.randn(h, h, device=DEVICE) * 0.02,
            "up": torch.randn(4 * h, h, device=DEVICE) * 0.02,
            "down": torch.randn(h, 4 * h, device=DEVICE) * 0.02,
        }
        mine = {
            "qkv": whole["qkv"].chunk(n, 1)[rank].reshape(-1, h),
            "out": whole["out"].chunk(n, 1)[rank],
            "up": whole["up"].chunk(n, 0)[rank],
            "down": whole["down"].chunk(n, 1)[rank],
        }
        for name, weight in mine.items():
            setattr(self, name, nn.Parameter(weight.to(KIND).contiguous()))
        self.norm1, self.norm2 = nn.LayerNorm(h), nn.LayerNorm(h)
        self.to(DEVICE, KIND)

    def forward(self, x: Tensor) -> Tensor:
        enter = ToAll.apply if self.talk else lambda t: t
        leave = FromAll.apply if self.talk else lambda t: t
        b, s, _ = x.shape
        q, k, v = (
            functional.linear(enter(self.norm1(x)), self.qkv)
            .view(b, s, 3, self.heads, -1)
            .unbind(2)
        )
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)
        x = x + leave(functional.linear(y.reshape(b, s, -1), self.out))
        y = functional.gelu(functional.linear(enter(self.norm2(x)), self.up), approximate="tanh")
        return x + leave(functional.linear(y, self.down))


def close(hidden: int, heads: int, rank: int, n: int) -> None:
    """The split layer must give what the whole one gives, forward and backward."""
    torch.manual_seed(6)
    x = torch.randn(2, 128, hidden, device=DEVICE, dtype=KIND)
    grad = torch.randn_like(x)
    found = []
    for r, parts, talk in ((0, 1, False), (rank, n, True)):
        layer = Split(hidden, heads, r, parts, talk)
        inside = x.clone().requires_grad_()
        y = layer(inside)
        y.backward(grad)
        assert inside.grad is not None
        found.append((y.detach().float(), inside.grad.float()))
    for name, whole, split in zip(("forward", "backward"), *found, strict=True):
        emit("error", "1", slowest([float((split - whole).norm() / whole.norm())]), part=name)


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tiny", action="store_true", help="small sizes, to try the program")
    tiny = parser.parse_args().tiny
    rank, n = ranks()
    versions()
    top = 16 if tiny else 29
    sizes = [*(2**k for k in range(12, top, 2)), 2**top]
    points: Points = collectives("all_reduce", KIND, n, sizes)
    line = fit(points)
    close(64 if tiny else 1024, 4 if tiny else 8, rank, n)
    cases = (
        [(64, 4, 1, 32)]
        if tiny
        else [
            (2048, 16, 1, 2048),
            (4096, 32, 1, 2048),
            (4096, 32, 4, 2048),
            (8192, 64, 1, 2048),
            (8192, 64, 1, 8192),
        ]
    )
    for h, a, b, s in cases:
        x = torch.randn(b, s, h, device=DEVICE, dtype=KIND)
        grad = torch.randn_like(x)
        size = s * b * h * KIND.itemsize
        labels = {"h": h, "a": a, "b": b, "s": s, "ranks": n, "message": size}
        for name, r, parts, talk in (
            ("whole", 0, 1, False),
            ("split", rank, n, True),
            ("split_silent", rank, n, False),
        ):
            layer = Split(h, a, r, parts, talk)

            def step(layer: Split = layer, x: Tensor = x, grad: Tensor = grad) -> None:
                y = layer(x.requires_grad_())
                y.backward(grad)
                x.grad = None
                for p in layer.parameters():
                    p.grad = None

            emit(
                "layer",
                "s",
                timed(step, 2 if tiny else 20, 3, 1 if tiny else 4),
                way=name,
                **labels,
            )
        emit(
            "predicted",
            **labels,
            all_reduces=4,
            interpolated=4 * interpolate(points, size),
            alpha_beta=4 * line.time(size),
        )
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
