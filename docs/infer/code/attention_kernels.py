"""Attention kernels for prefill and decode: PyTorch's back ends, FlashInfer, and a KV cache in FP8.

Run:  python3 docs/infer/code/attention_kernels.py [--tiny]

One JSON object a line. One layer of Llama 3.1 8B: 32 query heads, 8 KV heads of 128. Prefill is
causal attention of one prompt; the rate counts half of the square. Decode is one new token for
each sequence; the rate counts the bytes of the cache. FlashInfer reads pages of 16 tokens, in
shuffled order; PyTorch reads a contiguous cache. A back end that is not there is left out, and
said so. Caches rotate, so that none stays in the L2 cache.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "chip/code"))
import torch
from timing import CUDA, DEVICE, emit, graphed, trials, versions
from torch import Tensor
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

try:
    import flashinfer
except ImportError:
    flashinfer = None

KIND = torch.bfloat16 if CUDA else torch.float32
FP8 = torch.float8_e4m3fn
HEADS, KV_HEADS, WIDTH, PAGE = 32, 8, 128, 16
BACKENDS = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "math": SDPBackend.MATH,
}


def reference(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    """Attention in FP32; q heads x rows x width, k and v kv_heads x length x width."""
    group = q.shape[0] // k.shape[0]
    k, v = (t.float().repeat_interleave(group, 0) for t in (k, v))
    scores = q.float() @ k.transpose(1, 2) / WIDTH**0.5
    if causal:
        scores += torch.full(scores.shape[1:], -torch.inf, device=q.device).triu(1)
    return scores.softmax(-1) @ v


def tried(name: str, make: Callable[[], Callable[[], Tensor]]) -> Callable[[], Tensor] | None:
    """Return a way that runs, or say why it does not."""
    try:
        call = make()
        call()
        return call
    except Exception as error:  # a library without this kernel: any kind of error
        emit("left_out", way=name, reason=f"{type(error).__name__}: {error}"[:200])
        return None


def sdpa(backend: SDPBackend, heads: list[Tensor]) -> Callable[[], Tensor]:
    """Return PyTorch's causal attention by one back end."""

    def call() -> Tensor:
        with sdpa_kernel(backend):
            return functional.scaled_dot_product_attention(*heads, is_causal=True, enable_gqa=True)[
                0
            ]

    return call


def prefill(tiny: bool) -> None:
    """Causal attention of one prompt by length."""
    for length in (64,) if tiny else (512, 1024, 2048, 4096, 8192, 16384, 32768):
        q = torch.randn(length, HEADS, WIDTH, device=DEVICE, dtype=KIND)
        k, v = (torch.randn(length, KV_HEADS, WIDTH, device=DEVICE, dtype=KIND) for _ in "kv")
        heads = [t.transpose(0, 1)[None] for t in (q, k, v)]

        ways: dict[str, Callable[[], Callable[[], Tensor]]] = {
            name: lambda b=b, heads=heads: sdpa(b, heads)
            for name, b in BACKENDS.items()
            if name != "math" or length <= 4096
        }
        if flashinfer and CUDA:
            for name in ("fa2", "fa3"):
                ways[f"flashinfer {name}"] = lambda name=name, q=q, k=k, v=v: (
                    lambda: flashinfer.single_prefill_with_kv_cache(
                        q, k, v, causal=True, backend=name
                    ).transpose(0, 1)
                )
        exact = reference(heads[0][0], heads[1][0], heads[2][0], True) if length <= 4096 else None
        for name, make in ways.items():
            call = tried(name, make)
            if call is None:
                continue
            labels = {"way": name, "length": length}
            if exact is not None:
                emit("prefill_error", "1", [(call().float() - exact).abs().max().item()], **labels)
            times = trials(graphed([call]), at_least=0.02)
            work = 4 * HEADS * WIDTH * length * (length + 1) / 2 / 1e12
            emit("prefill", "s", times, **labels)
            emit("prefill_rate", "TFLOP/s", [work / t for t in times], **labels)


def paged(batch: int, length: int, kind: torch.dtype, sets: int) -> tuple[Any, list[Any]]:
    """A FlashInfer wrapper planned for a batch, and calls over several caches in pages."""
    pages = batch * (length // PAGE)
    wrapper = flashinfer.BatchDecodeWithPagedKVCacheWrapper(
        torch.empty(256 << 20, dtype=torch.uint8, device=DEVICE), "NHD", use_tensor_cores=True
    )
    at = torch.arange(0, pages + 1, length // PAGE, dtype=torch.int32, device=DEVICE)
    order = torch.randperm(pages, device=DEVICE).to(torch.int32)
    last = torch.full((batch,), PAGE, dtype=torch.int32, device=DEVICE)
    wrapper.plan(at, order, last, HEADS, KV_HEADS, WIDTH, PAGE, q_data_type=KIND, kv_data_type=kind)
    calls = []
    for _ in range(sets):
        cache = torch.randn(pages, 2, PAGE, KV_HEADS, WIDTH, device=DEVICE, dtype=KIND).to(kind)
        q = torch.randn(batch, HEADS, WIDTH, device=DEVICE, dtype=KIND)
        calls.append(lambda q=q, cache=cache: wrapper.run(q, cache))
    return wrapper, calls


def decode(tiny: bool) -> None:
    """One new token for each sequence, by batch and length; the cache in BF16 and in FP8."""
    cases = ((1, 64),) if tiny else ((1, 8192), (8, 8192), (64, 2048), (64, 8192), (256, 2048))
    for batch, length in cases:
        size = batch * length * 2 * KV_HEADS * WIDTH * KIND.itemsize
        sets = 1 if tiny else max(1, min(8, 2**29 // size))
        made: dict[str, tuple[float, list[Callable[[], Tensor]]]] = {}
        contiguous = []
        for _ in range(sets):
            q = torch.randn(batch, KV_HEADS, HEADS // KV_HEADS, WIDTH, device=DEVICE, dtype=KIND)
            k, v = (
                torch.randn(batch, length, KV_HEADS, WIDTH, device=DEVICE, dtype=KIND).transpose(
                    1, 2
                )
                for _ in "kv"
            )
            contiguous.append((q, k, v))
        for name, backend in BACKENDS.items():
            if name == "math":
                continue

            def one(parts: tuple[Tensor, ...], backend: SDPBackend = backend) -> Tensor:
                with sdpa_kernel(backend):
                    return functional.scaled_dot_product_attention(*parts)

            made[f"{name} bf16"] = (size, [lambda p=p, one=one: one(p) for p in contiguous])
        if flashinfer and CUDA:
            for kind in (KIND, FP8):
                name = f"flashinfer {'fp8' if kind is FP8 else 'bf16'}"
                try:
                    _, calls = paged(batch, length, kind, sets)
                    made[name] = (size * kind.itemsize / KIND.itemsize, calls)
                except Exception as error:  # see tried()
                    emit("left_out", way=name, reason=f"{type(error).__name__}: {error}"[:200])
        for name, (moved, calls) in made.items():
            if tried(name, lambda calls=calls: calls[0]) is None:
                continue
            times = [t / sets for t in trials(graphed(calls))]
            labels = {"way": name, "batch": batch, "length": length}
            emit("decode", "s", times, **labels)
            emit("decode_rate", "GB/s", [moved / t / 1e9 for t in times], **labels)


def main() -> None:
    """Run both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="sizes that any machine can run")
    tiny = parser.parse_args().tiny
    versions(flashinfer=getattr(flashinfer, "__version__", None))
    torch.manual_seed(1)
    with torch.inference_mode():
        prefill(tiny)
        decode(tiny)


if __name__ == "__main__":
    main()
