"""Key-value cache: bytes per token and waste of a paged allocator, and the time to read it.

Run:  python3 docs/infer/code/kv_cache.py [--tiny]

One JSON object a line. The decode times are of one layer's attention for one new token of each
sequence, replayed from a CUDA graph; caches rotate among several, so that none stays in the L2
cache. The value is time; `gbytes_per_s` is cache bytes over time.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "chip/code"))
import torch
from kv_model import SHAPES, Cache, decode_bytes, decode_flop, pages_for
from timing import CUDA, DEVICE, emit, graphed, quantile, synchronize, trials, versions
from torch import Tensor
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

KIND = torch.bfloat16 if CUDA else torch.float32
BACKENDS = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "math": SDPBackend.MATH,
}


# --8<-- [start:pool]
class Pool:
    """Pages of a cache, all layers together, handed out from a list of free ones."""

    def __init__(self, cache: Cache, pages: int, page: int) -> None:
        shape = (pages, cache.layers, page, cache.values_per_token)
        self.page, self.data = page, torch.empty(shape, dtype=KIND, device=DEVICE)
        self.free, self.table = list(range(pages)), dict[int, list[int]]()

    def grow(self, sequence: int, tokens: int) -> bool:
        """Hold `tokens` for a sequence; say whether there were pages enough."""
        have = self.table.setdefault(sequence, [])
        need = pages_for(tokens, self.page) - len(have)
        if need > len(self.free):
            return False
        have += [self.free.pop() for _ in range(need)]
        return True

    def release(self, sequence: int) -> None:
        """Give a sequence's pages back."""
        self.free += self.table.pop(sequence)

    @property
    def in_use(self) -> int:
        """Pages that sequences hold."""
        return sum(map(len, self.table.values()))


# --8<-- [end:pool]


def memory(tiny: bool) -> None:
    """Bytes per token that the allocator of PyTorch reports, against the formula."""
    for cache in SHAPES:
        pages, page = (8, 16) if tiny else (256, 16)
        before = torch.cuda.memory_allocated() if CUDA else 0
        pool = Pool(cache, pages, page)
        taken = (torch.cuda.memory_allocated() - before) if CUDA else pool.data.nbytes
        emit(
            "per_token",
            shape=cache.name,
            bytes=taken / (pages * page),
            formula=cache.bytes_per_token(KIND.itemsize),
        )
        del pool


def waste(tiny: bool) -> None:
    """Sequences of random length, admitted until the pool is full; pages against reservations.

    Lengths are log-normal (median 512, a long tail) and cut at 4096, which is what a
    reservation without pages must hold for every sequence. A simulation: no device needed.
    """
    longest, tokens = 4096, 2**14 if tiny else 2**18
    for page in (1, 8, 16, 32, 64, 128, 256, 1024, longest):
        held, useful = [], []
        for seed in range(20):
            draw = random.Random(seed)
            pool = Pool(Cache("count", 1, 1, 1, width=1), tokens // page, page)
            live, n = 0, 0
            while True:
                length = min(longest, max(1, int(draw.lognormvariate(6.2383, 1.0))))
                if not pool.grow(n, length):
                    break
                live, n = live + length, n + 1
            held.append(float(n))
            useful.append(live / (pool.in_use * page))
        emit("sequences", "1", held, page=page, pool_tokens=tokens)
        emit("useful", "1", useful, page=page, pool_tokens=tokens)


def reference(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attention in fp64; q b x heads x 1 x width, k and v b x kv_heads x length x width."""
    group = q.shape[1] // k.shape[1]
    k, v = (t.double().repeat_interleave(group, 1) for t in (k, v))
    weights = (q.double() @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).softmax(-1)
    return weights @ v


# --8<-- [start:ways]
def attend(q: Tensor, k: Tensor, v: Tensor, packed: bool, backend: SDPBackend) -> Tensor:
    """One token's attention. packed: the heads of a group become rows of one small matrix."""
    call = functional.scaled_dot_product_attention
    with sdpa_kernel(backend):
        if not packed:
            return call(q, k, v, enable_gqa=q.shape[1] != k.shape[1])
        b, heads, _, width = q.shape
        rows = q.view(b, k.shape[1], heads // k.shape[1], width)
        return call(rows, k, v).reshape(b, heads, 1, width)


def absorbed(q: Tensor, latent: Tensor, width: int, scale: float) -> Tensor:
    """MLA with the up-projections folded into q: b x heads x 576 against b x length x 576."""
    weights = (q @ latent.transpose(1, 2) * scale).softmax(-1)
    return weights @ latent[..., :width]


# --8<-- [end:ways]


def calls_for(cache: Cache, b: int, length: int, backend: str) -> list[Callable[[], Tensor]]:
    """The same call over several caches, together well beyond the L2 cache."""
    size = decode_bytes(cache, b, length, KIND.itemsize)
    sets = max(1, min(16, int(2**28 / size))) if CUDA else 1
    name, packed = backend.removesuffix("_packed"), backend.endswith("_packed")
    calls: list[Callable[[], Tensor]] = []
    for _ in range(sets):
        if cache.latent:
            q = torch.randn(b, cache.heads, cache.latent + cache.rotary, device=DEVICE, dtype=KIND)
            c = torch.randn(b, length, cache.latent + cache.rotary, device=DEVICE, dtype=KIND)
            calls.append(lambda q=q, c=c: absorbed(q, c, cache.latent, 192**-0.5))
            continue
        q = torch.randn(b, cache.heads, 1, cache.width, device=DEVICE, dtype=KIND)
        k, v = (
            torch.randn(b, cache.kv_heads, length, cache.width, device=DEVICE, dtype=KIND)
            for _ in range(2)
        )
        calls.append(lambda q=q, k=k, v=v: attend(q, k, v, packed, BACKENDS[name]))
    return calls


def right() -> None:
    """Every way against fp64."""
    for cache in SHAPES[:3]:
        q = torch.randn(2, cache.heads, 1, cache.width, device=DEVICE, dtype=KIND)
        k, v = (
            torch.randn(2, cache.kv_heads, 1000, cache.width, device=DEVICE, dtype=KIND)
            for _ in range(2)
        )
        want = reference(q, k, v)
        for backend, kernel in BACKENDS.items():
            for packed in (False, True):
                try:
                    got = attend(q, k, v, packed, kernel).double()
                except RuntimeError:
                    continue
                way = backend + "_packed" * packed
                error = float((got - want).norm() / want.norm())
                emit("error", "1", [error], shape=cache.name, way=way)
    mla = SHAPES[-1]
    width = mla.latent + mla.rotary
    q = torch.randn(2, mla.heads, width, device=DEVICE, dtype=KIND)
    c = torch.randn(2, 1000, width, device=DEVICE, dtype=KIND)
    weights = (q.double() @ c.double().transpose(1, 2) * 192**-0.5).softmax(-1)
    want = weights @ c.double()[..., : mla.latent]
    got = absorbed(q, c, mla.latent, 192**-0.5).double()
    emit("error", "1", [float((got - want).norm() / want.norm())], shape="mla", way="matrices")


def decode(tiny: bool) -> None:
    """Time of one layer's decode attention over cached length and batch."""
    lengths = [64, 256] if tiny else [1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072]
    batches = [1, 2] if tiny else [1, 2, 4, 8, 16, 32, 64, 128]
    cases = [(length, b) for length in lengths for b in (1, 16)]
    cases += [(256 if tiny else 4096, b) for b in batches if b not in (1, 16)]
    began = time.perf_counter()
    for cache in [SHAPES[k] for k in (0, 1, 2, 4)]:
        ways = ["matrices"] if cache.latent else ["flash", "cudnn", "efficient", "math"]
        if 0 < cache.kv_heads < cache.heads:
            ways = ["flash", "flash_packed", "cudnn", "cudnn_packed", "math"]
        for way in ways:
            for length, b in cases:
                size = decode_bytes(cache, b, length, KIND.itemsize)
                slow = way in ("math", "efficient") and length * b > 2**17
                if size > 2**34 or slow or time.perf_counter() - began > 100:
                    continue
                labels = {"shape": cache.name, "way": way, "length": length, "b": b}
                try:
                    calls = calls_for(cache, b, length, way)
                    calls[0]()
                    synchronize()
                    run = graphed(calls)
                    found = [t / len(calls) for t in trials(run, 10, 0.003)]
                except RuntimeError as error:
                    emit("refused", **labels, why=str(error).splitlines()[0][:200])
                    continue
                rate = size / quantile(found, 0.5) / 1e9
                flop = decode_flop(cache, b, length)
                emit("decode", "s", found, **labels, bytes=size, flop=flop, gbytes_per_s=rate)


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tiny", action="store_true", help="small sizes, to try the program")
    tiny = parser.parse_args().tiny
    torch.manual_seed(0)
    versions()
    memory(tiny)
    waste(tiny)
    right()
    decode(tiny)


if __name__ == "__main__":
    main()
