"""A mixture-of-experts layer with its experts spread over all GPUs: exchange, experts, overlap.

Run:  torchrun --standalone --nproc-per-node=2 docs/train/code/expert_exchange.py [--tiny]

Tokens stay where they are (data parallel), experts are divided; two all-to-alls carry tokens to
their experts and back. First the exchange alone by tokens per rank, then the whole layer, forward
only, part by part. Times are the slowest rank's. One JSON object a line.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import comb
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "chip/code"))
import torch
import torch.distributed as dist
from data_parallel import timed
from timing import CUDA, DEVICE, barrier, emit, graphed, ranks, slowest, versions
from torch import Tensor
from torch.nn import functional

KIND = torch.bfloat16 if CUDA else torch.float32
PARTS = ("counts", "sort", "dispatch", "experts", "combine", "sum")


@dataclass(frozen=True)
class Shape:
    """Of a layer: `top` of `experts` for each token, each expert hidden -> inner -> hidden."""

    name: str
    hidden: int
    inner: int
    experts: int
    top: int


MIXTRAL = Shape("Mixtral 8x7B", 4096, 14336, 8, 2)
DEEPSEEK = Shape("DeepSeek-V3", 7168, 2048, 256, 8)


class Layer:
    """The experts of this rank, and the ways of a token to them and back."""

    def __init__(self, shape: Shape, rank: int, n: int, whole: bool = False) -> None:
        self.shape, self.rank, self.n = shape, rank, n
        mine = shape.experts if whole else shape.experts // n
        self.local, first = mine, 0 if whole else rank * mine
        self.up = torch.empty(mine, shape.hidden, 2 * shape.inner, device=DEVICE, dtype=KIND)
        self.down = torch.empty(mine, shape.inner, shape.hidden, device=DEVICE, dtype=KIND)
        for e in range(mine):
            torch.manual_seed(first + e)
            self.up[e].normal_(0, shape.hidden**-0.5)
            self.down[e].normal_(0, shape.inner**-0.5)

    def experts(self, x: Tensor, ends: Tensor) -> Tensor:
        """Rows sorted by expert; `ends` are the last rows of each, cumulated."""
        if not CUDA:
            out, start = torch.empty_like(x), 0
            for e, end in enumerate(ends.tolist()):
                gate, up = (x[start:end] @ self.up[e]).chunk(2, -1)
                out[start:end] = (functional.silu(gate) * up) @ self.down[e]
                start = end
            return out
        gate, up = torch._grouped_mm(x, self.up, offs=ends).chunk(2, -1)
        return torch._grouped_mm(functional.silu(gate) * up, self.down, offs=ends)

    # --8<-- [start:layer]
    def forward(
        self, x: Tensor, chosen: Tensor, weight: Tensor, mark: Callable[[str], None]
    ) -> Tensor:
        """Tokens x, the experts each has chosen and their weights; `mark` ends a part."""
        order = chosen.flatten().argsort()  # by expert, so also by rank
        counts = chosen.flatten().bincount(minlength=self.shape.experts).view(self.n, -1)
        theirs = torch.empty_like(counts)
        dist.all_to_all_single(theirs, counts)
        sizes = torch.stack([counts.sum(1), theirs.sum(1)]).tolist()  # the host waits here
        mark("counts")
        rows = x[order // self.shape.top]
        mark("sort")
        got = x.new_empty(sum(sizes[1]), x.shape[1])
        dist.all_to_all_single(got, rows, sizes[1], sizes[0])
        mark("dispatch")
        # What comes is sorted by rank, then by expert; the experts want it by expert.
        expert = torch.arange(self.local, device=x.device).repeat(self.n)
        expert = expert.repeat_interleave(theirs.flatten(), output_size=sum(sizes[1]))
        local = expert.argsort(stable=True)
        out = self.experts(got[local], theirs.sum(0).cumsum(0).to(torch.int32))
        got[local] = out
        mark("experts")
        dist.all_to_all_single(rows, got, sizes[0], sizes[1])
        mark("combine")
        back = torch.empty_like(rows)
        back[order] = rows
        result = torch.einsum("tkh,tk->th", back.view(len(x), -1, x.shape[1]), weight)
        mark("sum")
        return result

    # --8<-- [end:layer]

    # --8<-- [start:overlap]
    def overlapped(self, x: Tensor, chosen: Tensor, weight: Tensor) -> Tensor:
        """The same in two halves: while one is with its experts the other is on its way."""
        flights = []
        for part, choice in zip(x.chunk(2), chosen.chunk(2), strict=True):
            order = choice.flatten().argsort()
            counts = choice.flatten().bincount(minlength=self.shape.experts).view(self.n, -1)
            theirs = torch.empty_like(counts)
            dist.all_to_all_single(theirs, counts)
            sizes = torch.stack([counts.sum(1), theirs.sum(1)]).tolist()
            rows = part[order // self.shape.top]
            got = x.new_empty(sum(sizes[1]), x.shape[1])
            work = dist.all_to_all_single(got, rows, sizes[1], sizes[0], async_op=True)
            flights.append((order, theirs, sizes, rows, got, work))
        returns = []
        for order, theirs, sizes, rows, got, work in flights:
            work.wait()
            expert = torch.arange(self.local, device=x.device).repeat(self.n)
            expert = expert.repeat_interleave(theirs.flatten(), output_size=len(got))
            local = expert.argsort(stable=True)
            got[local] = self.experts(got[local], theirs.sum(0).cumsum(0).to(torch.int32))
            back = dist.all_to_all_single(rows, got, sizes[0], sizes[1], async_op=True)
            returns.append((order, rows, back))
        result = []
        for (order, rows, work), part in zip(returns, weight.chunk(2), strict=True):
            work.wait()
            back = torch.empty_like(rows)
            back[order] = rows
            result.append(torch.einsum("tkh,tk->th", back.view(len(part), -1, x.shape[1]), part))
        return torch.cat(result)

    # --8<-- [end:overlap]


def routed(shape: Shape, tokens: int, seed: int, hot: float = 0.0) -> tuple[Tensor, ...]:
    """Random tokens, their experts and weights; `hot` favours the experts of the first rank."""
    torch.manual_seed(seed)
    x = torch.randn(tokens, shape.hidden, device=DEVICE, dtype=KIND)
    logits = torch.randn(tokens, shape.experts, device=DEVICE)
    logits[:, : shape.experts // 2] += hot
    weight, chosen = logits.softmax(-1).topk(shape.top, -1)
    return x, chosen, (weight / weight.sum(-1, keepdim=True)).to(KIND)


def close(shape: Shape, rank: int, n: int) -> None:
    """The divided layer must give what one GPU with all experts gives."""
    x, chosen, weight = routed(shape, 96, 7 + rank)
    layer, one = Layer(shape, rank, n), Layer(shape, rank, n, whole=True)
    order = chosen.flatten().argsort()
    ends = chosen.flatten().bincount(minlength=shape.experts).cumsum(0).to(torch.int32)
    back = torch.empty(len(order), shape.hidden, device=DEVICE, dtype=KIND)
    back[order] = one.experts(x[order // shape.top], ends)
    want = torch.einsum("tkh,tk->th", back.view(len(x), -1, shape.hidden), weight).float()
    ways = {
        "layer": lambda: layer.forward(x, chosen, weight, lambda _: None),
        "overlapped": lambda: layer.overlapped(x, chosen, weight),
    }
    for name, way in ways.items():
        error = float((way().float() - want).norm() / want.norm())
        emit("error", "1", slowest([error]), way=name)


def exchange(shape: Shape, n: int, tokens: int, tiny: bool) -> None:
    """The exchange alone, even: once for every chosen expert, once for every rank, or to all."""
    e, k = shape.experts, shape.top
    reached = 1 - comb(e - e // n, k) / comb(e, k)  # a rank holds one of a token's experts
    rows = {"expert": tokens * k // n * n, "rank": max(1, round(tokens * reached)) * n}
    for way in ("expert", "rank", "all ranks"):
        if way == "all ranks":
            sent = torch.randn(tokens, shape.hidden, device=DEVICE, dtype=KIND)
            got = sent.new_empty(tokens * n, shape.hidden)
            call = partial(dist.all_gather_into_tensor, got, sent)
            out = sent.numel() * sent.element_size() * (n - 1)
        else:
            sent = torch.randn(max(n, rows[way]), shape.hidden, device=DEVICE, dtype=KIND)
            got = torch.empty_like(sent)
            call = partial(dist.all_to_all_single, got, sent)
            out = sent.numel() * sent.element_size() * (n - 1) // n
        calls = 10 if out < 2**25 else 2
        labels = {"model": shape.name, "tokens": tokens, "way": way, "bytes": out, "ranks": n}
        for launch, one in (("called", call), ("replayed", graphed([call] * calls))):
            repeats = 1 if tiny else calls if launch == "called" else 1
            found = timed(one, 2 if tiny else 10, 3, repeats)
            divide = calls if launch == "replayed" else 1
            emit("exchange", "s", [t / divide for t in found], launch=launch, **labels)


def whole_layer(layer: Layer, tokens: int, hot: float, tiny: bool) -> None:
    """The layer, its parts, and the two halves that overlap."""
    shape, n = layer.shape, layer.n
    x, chosen, weight = routed(shape, tokens, 100 + layer.rank, hot)
    taken = chosen.flatten().bincount(minlength=shape.experts).double()
    dist.all_reduce(taken)
    per_rank = taken.view(n, -1).sum(1)
    labels = {"model": shape.name, "tokens": tokens, "hot": hot, "ranks": n}
    labels["busiest"] = round(float(per_rank.max() / per_rank.sum()), 4)
    labels["flop"] = 6 * tokens * shape.top * shape.hidden * shape.inner
    count = 2 if tiny else 10
    nothing: Callable[[str], None] = lambda _: None  # noqa: E731
    found = timed(lambda: layer.forward(x, chosen, weight, nothing), count, 3)
    emit("layer", "s", found, way="one after another", **labels)
    found = timed(lambda: layer.overlapped(x, chosen, weight), count, 3)
    emit("layer", "s", found, way="two halves", **labels)
    if not CUDA:
        return
    times: dict[str, list[float]] = {name: [] for name in PARTS}
    for _ in range(count):
        events = [torch.cuda.Event(enable_timing=True) for _ in range(len(PARTS) + 1)]
        barrier()
        events[0].record()
        at = iter(events[1:])
        layer.forward(x, chosen, weight, lambda _, at=at: next(at).record())
        barrier()
        for name, a, b in zip(PARTS, events, events[1:], strict=False):
            times[name].append(a.elapsed_time(b) * 1e-3)
    for name in PARTS:
        emit("part", "s", slowest(times[name]), part=name, **labels)


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tiny", action="store_true", help="small sizes, to try the program")
    tiny = parser.parse_args().tiny
    rank, n = ranks()
    versions()
    small = Shape("small", 256, 128, 8, 2)
    close(small, rank, n)
    for shape in (small,) if tiny else (DEEPSEEK, MIXTRAL):
        for tokens in (4, 64) if tiny else (1, 4, 16, 64, 256, 1024, 4096, 16384):
            exchange(shape, n, tokens, tiny)
        layer = Layer(shape, rank, n)
        for tokens, hot in [(64, 0.0)] if tiny else [(64, 0), (512, 0), (4096, 0), (16384, 0)]:
            whole_layer(layer, tokens, hot, tiny)
        for hot in (1.0,) if tiny else (0.5, 1.0, 2.0):
            whole_layer(layer, 64 if tiny else 4096, hot, tiny)
        del layer
        if CUDA:
            torch.cuda.empty_cache()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
