"""Decode and prefill steps of Llama 3.1 70B with tensor parallelism, against one GPU's bound.

Run:  torchrun --standalone --nproc-per-node=N docs/infer/code/serve_tp.py [--tiny]

One JSON object a line, from rank 0; the time is that of the slowest rank. Every rank holds a share
of the heads and of the inner columns, and sums two partial results a layer by all-reduce. As many
layers are taken as fit beside the cache; `communication` is the share of the step that the same
number of all-reduces of the same size takes alone.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "chip/code"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import torch
import torch.distributed as dist
from serve_steps import DEVICE, KIND, LLAMA_70B, SMALL_FUSED, TINY, Model, Shape, bound
from timing import CUDA, barrier, emit, graphed, ranks, slowest, trials, versions
from torch import Tensor
from torch.nn import functional


def share(shape: Shape, n: int, layers: int) -> Shape:
    """Return what one of n ranks holds."""
    if shape.kv_heads % n:
        raise ValueError(f"{shape.kv_heads} KV heads do not divide among {n} ranks")
    return dataclasses.replace(
        shape,
        name=shape.name.split(",")[0],
        layers=layers,
        heads=shape.heads // n,
        kv_heads=shape.kv_heads // n,
        inner=shape.inner // n,
    )


class Sharded(Model):
    """A rank's share of the model."""

    def step(self, x: Tensor, decoding: int, context: int, chunk: int) -> Tensor:
        """As in serve_steps, with an all-reduce after attention and after the feed-forward part."""
        s = self.shape
        first = torch.full((decoding,), context - 1, device=DEVICE)
        at = torch.cat((first, torch.arange(chunk, device=DEVICE)))
        norm, turn, gate = SMALL_FUSED
        for layer, (qkv, out, up, down) in enumerate(self.layers):
            y = functional.linear(norm(x, self.norm), qkv)
            q, k, v = y.view(-1, s.heads + 2 * s.kv_heads, s.width).split(
                (s.heads, s.kv_heads, s.kv_heads), 1
            )
            q, k = turn(q, self.cos, self.sin, at), turn(k, self.cos, self.sin, at)
            mixed = self.decode(layer, q, k, v, context) if decoding else self.prefill(q, k, v)
            partial = functional.linear(mixed, out)
            dist.all_reduce(partial)
            x = x + partial
            partial = functional.linear(gate(functional.linear(norm(x, self.norm), up)), down)
            dist.all_reduce(partial)
            x = x + partial
        return x


def report(model: Sharded, decoding: int, context: int, chunk: int, n: int) -> None:
    """Time one kind of step on all ranks, and its all-reduces alone."""
    x = torch.randn(decoding + chunk, model.shape.hidden, dtype=KIND, device=DEVICE)
    part = torch.randn_like(x)

    def sums() -> None:
        for _ in range(2 * model.shape.layers):
            dist.all_reduce(part)

    found = []
    with torch.inference_mode():
        for call in (lambda: model.step(x, decoding, context, chunk), sums):
            run = graphed([call]) if decoding else call
            barrier()
            found.append(slowest(trials(run, at_least=0)))
            part.normal_()
    labels = {"gpus": n, "batch": decoding, "context": context, "chunk": chunk}
    best = max(bound(model.shape, decoding, context, chunk))
    emit("step", "s", found[0], **labels)
    emit("bound_share", "1", [best / t for t in found[0]], **labels)
    emit("communication", "1", [b / a for a, b in zip(*found, strict=True)], **labels)


def main() -> None:
    """Decode by batch, prefill by length."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="sizes that any machine can run")
    tiny = parser.parse_args().tiny
    _, n = ranks()
    versions()
    torch.manual_seed(1)
    whole = dataclasses.replace(TINY, heads=4, kv_heads=2) if tiny else LLAMA_70B
    layers = whole.layers if tiny else min(80, 24 * n)
    model = Sharded(share(whole, n, layers), 256 if tiny else 64 * 1024 * n)
    context = 32 if tiny else 2048
    for batch in (1, 2) if tiny else (1, 8, 32, 64):
        report(model, batch, context, 0, n)
    for chunk in (32,) if tiny else (512, 4096):
        report(model, 0, 0, chunk, n)
    if CUDA:
        torch.cuda.synchronize()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
