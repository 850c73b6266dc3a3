"""Causal attention with the sequence split over all GPUs: ring, zigzag ring, Ulysses.

Run:  torchrun --standalone --nproc-per-node=2 docs/train/code/sequence_split.py [--tiny]

Shape of a Llama 3 8B layer: 32 heads of 128, 8 heads of keys and values; one sequence. Only the
attention itself, forward and backward, after the projections and before the output matrix. Every
way must give what one GPU gives. Times are the slowest rank's. One JSON object a line.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "chip/code"))
import torch
import torch.distributed as dist
from data_parallel import timed
from timing import CUDA, DEVICE, emit, ranks, slowest, versions
from torch import Tensor

KIND = torch.bfloat16 if CUDA else torch.float32
Three = tuple[Tensor, Tensor, Tensor]


def repeated(kv: Tensor, heads: int) -> Tensor:
    """Each head of keys or values as often as heads of queries share it (the CPU needs that)."""
    return kv.repeat_interleave(heads // kv.shape[1], 1)


def forward(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> tuple[Tensor, Tensor]:
    """Attention of a block, and the logarithm of each row's sum."""
    if CUDA:
        return torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, 0.0, causal)[:2]
    k, v = (repeated(t, q.shape[1]) for t in (k, v))
    return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, causal)


def backward(grad: Tensor, q: Tensor, kv: Tensor, out: Tensor, lse: Tensor, causal: bool) -> Three:
    """Gradients of a block, given the output and the sums over **all** blocks."""
    k, v = kv
    if CUDA:
        seed = torch.zeros(2, dtype=torch.uint64, device=DEVICE)  # of a dropout that is not there
        return torch.ops.aten._scaled_dot_product_flash_attention_backward(
            grad, q, k, v, out, lse, None, None, q.shape[2], k.shape[2], 0.0, causal, seed, seed
        )
    b, h, s, d = k.shape
    k, v = (repeated(t, q.shape[1]) for t in (k, v))
    dq, dk, dv = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward(
        grad, q, k, v, out, lse, 0.0, causal
    )
    return dq, dk.view(b, h, -1, s, d).sum(2), dv.view(b, h, -1, s, d).sum(2)


# --8<-- [start:merge]
def merge(out: Tensor, lse: Tensor, more: Tensor, more_lse: Tensor) -> None:
    """Add a block's result to the one so far, in place: weights from the sums of both."""
    both = torch.logaddexp(lse, more_lse)
    out.mul_((lse - both).exp().unsqueeze(-1)).add_(more * (more_lse - both).exp().unsqueeze(-1))
    lse.copy_(both)


# --8<-- [end:merge]


# --8<-- [start:blocks]
def block(way: str, rank: int, source: int, s: int) -> tuple[slice, slice, bool] | None:
    """Rows of queries and of `source`'s keys that meet, and whether the mask cuts them.

    contiguous: rank r holds part r of n. zigzag: parts r and 2n-1-r of 2n, so that every rank has
    early and late tokens.
    """
    everything, half = slice(0, s), s // 2
    if source == rank:
        return everything, everything, True
    if way == "contiguous":
        return (everything, everything, False) if source < rank else None
    if source < rank:
        return everything, slice(0, half), False  # only the early part of its keys
    return slice(half, s), everything, False  # only our late queries


# --8<-- [end:blocks]


class Ring:
    """Keys and values travel round; in the backward pass their gradients travel with them."""

    def __init__(self, way: str, rank: int, n: int, talk: str = "overlapped") -> None:
        self.way, self.rank, self.n, self.talk = way, rank, n, talk

    def send(self, x: Tensor) -> tuple[Tensor, Callable[[], None]]:
        """Send to the next rank and receive from the one before; the second value waits."""
        if self.talk == "silent":
            return x, lambda: None
        got = torch.empty_like(x)
        ops = [
            dist.P2POp(dist.isend, x, (self.rank + 1) % self.n),
            dist.P2POp(dist.irecv, got, (self.rank - 1) % self.n),
        ]
        work = dist.batch_isend_irecv(ops)

        def wait() -> None:
            for one in work:
                one.wait()

        if self.talk == "serial":
            wait()
            return got, lambda: None
        return got, wait

    # --8<-- [start:ring]
    def forward(self, q: Tensor, kv: Tensor) -> tuple[Tensor, Tensor]:
        """Output and sums; while a block is computed the next keys are on their way."""
        out = lse = None
        for step in range(self.n):
            if step + 1 < self.n:
                coming, wait = self.send(kv)
            where = block(self.way, self.rank, (self.rank - step) % self.n, q.shape[2])
            if where:
                rows, columns, causal = where
                k, v = kv[:, :, :, columns]
                more, sums = forward(q[:, :, rows], k, v, causal)
                if out is None or lse is None:
                    out, lse = more.float(), sums.float()
                else:
                    merge(out[:, :, rows], lse[:, :, rows], more, sums)
            if step + 1 < self.n:
                wait()
                kv = coming
        assert out is not None and lse is not None
        return out.to(q.dtype), lse

    # --8<-- [end:ring]

    def backward(self, grad: Tensor, q: Tensor, kv: Tensor, out: Tensor, lse: Tensor) -> Three:
        """Gradients of queries, keys and values of this rank."""
        dq = torch.zeros_like(q, dtype=torch.float32)
        coming, dkv = kv, torch.zeros(0)
        home: Callable[[], None] = lambda: None  # noqa: E731
        for step in range(self.n):
            if step + 1 < self.n:
                coming, wait = self.send(kv)
            where = block(self.way, self.rank, (self.rank - step) % self.n, q.shape[2])
            mine = torch.zeros_like(kv, dtype=torch.float32)
            if where:
                r, c, causal = where
                found = backward(
                    grad[:, :, r], q[:, :, r], kv[:, :, :, c], out[:, :, r],
                    lse[:, :, r].contiguous(), causal,
                )  # fmt: skip
                dq[:, :, r] += found[0]
                mine[0, :, :, c], mine[1, :, :, c] = found[1], found[2]
            home()
            if step:
                mine += dkv
            dkv, home = self.send(mine)
            if step + 1 < self.n:
                wait()
                kv = coming
        home()
        return dq.to(q.dtype), dkv[0].to(q.dtype), dkv[1].to(q.dtype)


class Ulysses:
    """All-to-all: from all heads of a part of the sequence to a part of the heads of all of it."""

    def __init__(self, rank: int, n: int, talk: bool = True) -> None:
        self.rank, self.n, self.talk = rank, n, talk

    # --8<-- [start:ulysses]
    def heads(self, x: Tensor) -> Tensor:
        """b, heads, part of the sequence, d -> b, part of the heads, sequence, d."""
        b, h, s, d = x.shape
        sent = x.view(b, self.n, h // self.n, s, d).transpose(0, 1).contiguous()
        return self.exchange(sent).permute(1, 2, 0, 3, 4).reshape(b, h // self.n, self.n * s, d)

    def rows(self, x: Tensor) -> Tensor:
        """The way back."""
        b, h, s, d = x.shape
        sent = x.view(b, h, self.n, s // self.n, d).permute(2, 0, 1, 3, 4).contiguous()
        return self.exchange(sent).transpose(0, 1).reshape(b, h * self.n, s // self.n, d)

    # --8<-- [end:ulysses]

    def exchange(self, sent: Tensor) -> Tensor:
        """Part i of the first axis to rank i."""
        if not self.talk:
            return sent
        got = torch.empty_like(sent)
        dist.all_to_all_single(got, sent)
        return got

    def both(self, q: Tensor, kv: Tensor, grad: Tensor | None) -> tuple[Tensor, Three | None]:
        """Output, and with `grad` the gradients."""
        hq, (hk, hv) = self.heads(q), (self.heads(x) for x in kv)
        out, lse = forward(hq, hk, hv, True)
        result = self.rows(out)
        if grad is None:
            return result, None
        found = backward(self.heads(grad), hq, torch.stack([hk, hv]), out, lse, True)
        return result, (self.rows(found[0]), self.rows(found[1]), self.rows(found[2]))


def part(x: Tensor, way: str, rank: int, n: int) -> Tensor:
    """What `rank` holds of a whole sequence (axis -2)."""
    if way != "zigzag":
        return x.chunk(n, -2)[rank].contiguous()
    pieces = x.chunk(2 * n, -2)
    return torch.cat([pieces[rank], pieces[2 * n - 1 - rank]], -2)


def tensors(s: int, heads: int, kv_heads: int) -> Three:
    """Queries, keys with values, and the gradient of the output: the same on every rank."""
    torch.manual_seed(s)
    made = (
        torch.randn(1, heads, s, 128, device=DEVICE),
        torch.randn(2, 1, kv_heads, s, 128, device=DEVICE),
        torch.randn(1, heads, s, 128, device=DEVICE),
    )
    return made[0].to(KIND), made[1].to(KIND), made[2].to(KIND)


def whole(q: Tensor, kv: Tensor, grad: Tensor | None) -> tuple[Tensor, Three | None]:
    """One GPU."""
    out, lse = forward(q, kv[0], kv[1], True)
    return out, None if grad is None else backward(grad, q, kv, out, lse, True)


def run(name: str, rank: int, n: int) -> Callable[..., tuple[Tensor, Three | None]]:
    """The attention of a way: queries, keys with values, gradient or None."""
    if name == "whole":
        return whole
    way, _, talk = name.partition(" ")
    if way == "ulysses":
        return Ulysses(rank, n, talk != "silent").both
    ring = Ring(way, rank, n, talk or "overlapped")

    def both(q: Tensor, kv: Tensor, grad: Tensor | None) -> tuple[Tensor, Three | None]:
        out, lse = ring.forward(q, kv)
        return out, None if grad is None else ring.backward(grad, q, kv, out, lse)

    return both


def close(rank: int, n: int, s: int, heads: int, kv_heads: int) -> None:
    """Every way must give what one GPU gives."""
    q, kv, grad = tensors(s, heads, kv_heads)
    want, grads = whole(q, kv, grad)
    assert grads is not None
    for way in ("contiguous", "zigzag", "ulysses"):
        mine = [part(t, way, rank, n) for t in (q, kv, grad)]
        out, found = run(way, rank, n)(*mine)
        assert found is not None
        pairs = zip(("output", "dq", "dk", "dv"), (want, *grads), (out, *found), strict=True)
        for name, one, other in pairs:
            a, b = part(one, way, rank, n).float(), other.float()
            emit("error", "1", slowest([float((a - b).norm() / a.norm())]), way=way, part=name)


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tiny", action="store_true", help="small sizes, to try the program")
    tiny = parser.parse_args().tiny
    rank, n = ranks()
    versions()
    heads = 4 if tiny else 32
    close(rank, n, 64 * n if tiny else 2048, heads, heads // 2 if tiny else 8)
    cases = [(2**k, 8) for k in range(12, 18)] + [(32768, 32)]
    for s, kv_heads in [(128, 2)] if tiny else cases:
        q, kv, grad = tensors(s, heads, kv_heads)
        labels = {"sequence": s, "kv_heads": kv_heads, "ranks": n}
        flop = 2 * s * s * heads * 128
        ways = ("contiguous", "zigzag", "zigzag serial", "zigzag silent", "ulysses")
        for way in ("whole", *ways, "ulysses silent"):
            mine = (q, kv, grad)
            if way != "whole":
                layout = way.partition(" ")[0]
                mine = tuple(part(t, layout, rank, n) for t in mine)
            call = run(way, rank, n)
            count = 2 if tiny else (10 if s <= 32768 else 4)
            repeats = 1 if tiny else max(1, 2**14 // s)
            only = timed(lambda c=call, m=mine: c(m[0], m[1], None), count, 2, repeats)
            emit("attention", "s", only, way=way, direction="forward", flop=flop, **labels)
            both = timed(lambda c=call, m=mine: c(*m), count, 2, repeats)
            emit("attention", "s", both, way=way, direction="both", flop=3.5 * flop, **labels)
        ring, x = Ring("zigzag", rank, n), part(kv, "zigzag", rank, n)
        alone = timed(lambda r=ring, x=x: r.send(x)[1](), 2 if tiny else 10, 2, 1 if tiny else 10)
        emit("exchange", "s", alone, way="ring", bytes=x.numel() * x.element_size(), **labels)
        turn, y = Ulysses(rank, n), part(q, "ulysses", rank, n)
        alone = timed(lambda t=turn, y=y: t.heads(y), 2 if tiny else 10, 2, 1 if tiny else 10)
        emit("exchange", "s", alone, way="ulysses", bytes=y.numel() * y.element_size(), **labels)
        sent = turn.exchange
        z = y.view(n, -1).contiguous()
        alone = timed(lambda e=sent, z=z: e(z), 2 if tiny else 10, 2, 1 if tiny else 10)
        emit("exchange", "s", alone, way="all-to-all", bytes=z.numel() * z.element_size(), **labels)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
