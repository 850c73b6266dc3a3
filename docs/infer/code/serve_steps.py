"""Prefill and decode steps of one dense model with random weights, against its bounds.

Run:  python3 docs/infer/code/serve_steps.py [--tiny]

One JSON object a line. A step is what an engine runs once: one new token for each decoding
sequence, and a chunk of one prompt. The value is time; `share` is the bound over the time. The
bound is the larger of bytes over the specified memory bandwidth and operations over the specified
dense BF16 rate. Bytes are weights and KV cache, each once; operations are those of the matrix
products and of causal attention. Weights are random: no step depends on their values.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "chip/code"))
import torch
from timing import CUDA, DEVICE, emit, graphed, trials, versions
from torch import Tensor
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

KIND = torch.bfloat16 if CUDA else torch.float32
# Memory bandwidth (byte/s) and dense BF16 rate (FLOP/s) of the data sheets, as in docs/data.
SPECIFIED = {"NVIDIA H100 80GB HBM3": (3.35e12, 989.4e12), "NVIDIA H200": (4.8e12, 989.4e12)}


@dataclass(frozen=True)
class Shape:
    """Sizes of a decoder with grouped-query attention and a gated feed-forward part."""

    name: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    inner: int
    vocabulary: int  # 0: a stack of layers without the output matrix
    width: int = 128

    @property
    def weights(self) -> int:
        """Values in the matrices that every token is multiplied with."""
        attention = self.hidden * self.width * (2 * self.heads + 2 * self.kv_heads)
        return self.layers * (attention + 3 * self.hidden * self.inner)


LLAMA_8B = Shape("Llama 3.1 8B", 32, 4096, 32, 8, 14336, 128256)
LLAMA_70B = Shape("Llama 3.1 70B, 24 of 80 layers", 24, 8192, 64, 8, 28672, 0)
TINY = Shape("tiny", 2, 256, 2, 1, 512, 1000)


def normed(x: Tensor, weight: Tensor) -> Tensor:
    """RMS norm of every token."""
    return functional.rms_norm(x, (weight.numel(),), weight)


def turned(x: Tensor, cos: Tensor, sin: Tensor, at: Tensor) -> Tensor:
    """Rotary positions: x tokens x heads x width, one position per token."""
    c, s = cos[at][:, None], sin[at][:, None]
    a, b = x.chunk(2, -1)
    return torch.cat((a * c - b * s, b * c + a * s), -1)


def gated(both: Tensor) -> Tensor:
    """SiLU of the first half of the columns times the second."""
    gate, value = both.chunk(2, -1)
    return functional.silu(gate) * value


class Model:
    """Random weights and a KV cache of so many tokens, shared out among the sequences."""

    def __init__(self, shape: Shape, cache_tokens: int) -> None:
        s, make = shape, torch.empty
        self.shape = s
        qkv = (s.heads + 2 * s.kv_heads) * s.width

        def matrix(rows: int, columns: int) -> Tensor:
            return make(rows, columns, dtype=KIND, device=DEVICE).normal_(std=columns**-0.5)

        self.layers = [
            (
                matrix(qkv, s.hidden),
                matrix(s.hidden, s.heads * s.width),
                matrix(2 * s.inner, s.hidden),
                matrix(s.hidden, s.inner),
            )
            for _ in range(s.layers)
        ]
        self.head = matrix(s.vocabulary, s.hidden) if s.vocabulary else None
        self.norm = torch.ones(s.hidden, dtype=KIND, device=DEVICE)
        self.cache = make(
            s.layers, 2, cache_tokens, s.kv_heads, s.width, dtype=KIND, device=DEVICE
        ).normal_()
        angle = torch.arange(65536, device=DEVICE)[:, None] / 500000 ** (
            torch.arange(0, s.width, 2, device=DEVICE) / s.width
        )
        self.fused = False
        self.cos, self.sin = angle.cos().to(KIND), angle.sin().to(KIND)

    # --8<-- [start:step]
    def step(self, x: Tensor, decoding: int, context: int, chunk: int) -> Tensor:
        """One step: `decoding` sequences of `context` tokens, and a prompt's first `chunk`."""
        s = self.shape
        at = torch.cat(
            (
                torch.full((decoding,), context - 1, device=DEVICE),
                torch.arange(chunk, device=DEVICE),
            )
        )
        norm, turn, gate = SMALL_FUSED if self.fused else SMALL
        for layer, (qkv, out, up, down) in enumerate(self.layers):
            y = functional.linear(norm(x, self.norm), qkv)
            q, k, v = y.view(-1, s.heads + 2 * s.kv_heads, s.width).split(
                (s.heads, s.kv_heads, s.kv_heads), 1
            )
            q, k = turn(q, self.cos, self.sin, at), turn(k, self.cos, self.sin, at)
            parts = []
            if decoding:
                parts.append(self.decode(layer, q[:decoding], k[:decoding], v[:decoding], context))
            if chunk:
                parts.append(self.prefill(q[decoding:], k[decoding:], v[decoding:]))
            x = x + functional.linear(torch.cat(parts) if len(parts) > 1 else parts[0], out)
            y = functional.linear(norm(x, self.norm), up)
            x = x + functional.linear(gate(y), down)
        last = torch.cat((x[:decoding], x[-1:])) if chunk else x  # of a prompt, one token's logits
        return last if self.head is None else functional.linear(last, self.head)

    # --8<-- [end:step]

    def decode(self, layer: int, q: Tensor, k: Tensor, v: Tensor, context: int) -> Tensor:
        """Attention of one new token each: the heads of a group become rows of one matrix."""
        s, n = self.shape, q.shape[0]
        keys, values = (
            self.cache[layer, i, : n * context].view(n, context, s.kv_heads, s.width)
            for i in (0, 1)
        )
        keys[:, -1], values[:, -1] = k, v
        rows = q.view(n, s.kv_heads, s.heads // s.kv_heads, s.width)
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION if CUDA else SDPBackend.MATH):
            y = functional.scaled_dot_product_attention(
                rows, keys.transpose(1, 2), values.transpose(1, 2)
            )
        return y.reshape(n, s.heads * s.width)

    def prefill(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Causal attention of a prompt from its start."""
        one = (t.transpose(0, 1)[None] for t in (q, k, v))
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION if CUDA else SDPBackend.MATH):
            y = functional.scaled_dot_product_attention(*one, is_causal=True, enable_gqa=True)
        return y[0].transpose(0, 1).reshape(q.shape[0], -1)


SMALL = (normed, turned, gated)
# The same, each made one kernel by the compiler, as engines have them by hand.
SMALL_FUSED = tuple(torch.compile(one, dynamic=False) for one in SMALL)


def bound(s: Shape, decoding: int, context: int, chunk: int) -> tuple[float, float]:
    """Return seconds for the bytes and seconds for the operations of a step."""
    gpu = torch.cuda.get_device_name() if CUDA else ""
    memory, compute = SPECIFIED.get(gpu, (1e11, 1e12))
    tokens, logits = decoding + chunk, decoding + (1 if chunk else 0)
    head = s.vocabulary * s.hidden
    cached = decoding * context * s.layers * 2 * s.kv_heads * s.width
    moved = (s.weights + head + cached) * KIND.itemsize
    pairs = decoding * context + chunk * (chunk + 1) / 2
    done = 2 * (s.weights * tokens + head * logits) + 4 * s.layers * s.heads * s.width * pairs
    return moved / memory, done / compute


def report(
    model: Model, result: str, decoding: int, context: int, chunk: int, launch: str = "calls"
) -> None:
    """Time one kind of step and print it with its bounds; launch: how its kernels start."""
    s = model.shape
    x = torch.randn(decoding + chunk, s.hidden, dtype=KIND, device=DEVICE)

    model.fused = "fused" in launch

    def call() -> object:
        return model.step(x, decoding, context, chunk)

    with torch.inference_mode():
        run: Callable[[], object] = graphed([call]) if "graph" in launch else call
        times = trials(run, at_least=0.05)
    labels = {
        "shape": s.name,
        "batch": decoding,
        "context": context,
        "chunk": chunk,
        "launch": launch,
    }
    by_bytes, by_work = bound(s, decoding, context, chunk)
    emit(result, "s", times, **labels)
    emit(f"{result}_bound", "s", [max(by_bytes, by_work)], **labels)
    emit(f"{result}_share", "1", [max(by_bytes, by_work) / t for t in times], **labels)
    emit(f"{result}_rate", "1/s", [(decoding + chunk) / t for t in times], **labels)


def sweep(shape: Shape, room: int, tiny: bool) -> None:
    """Decode by batch and context, prefill by length, mixed steps by chunk."""
    model = Model(shape, room)
    batches = (1, 2) if tiny else (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
    for context in (64,) if tiny else (512, 2048, 8192, 32768):
        for batch in batches:
            if batch * context <= room:
                report(model, "decode", batch, context, 0, "graph")
    for batch in (1,) if tiny else (1, 8, 64):
        report(model, "decode", batch, 64 if tiny else 2048, 0)
    for chunk in (32,) if tiny else (128, 256, 512, 1024, 2048, 4096, 8192, 16384):
        report(model, "prefill", 0, 0, chunk)
    for batch in (1,) if tiny else (1, 8, 64):
        report(model, "decode", batch, 64 if tiny else 2048, 0, "fused, graph")
    report(model, "prefill", 0, 0, 64 if tiny else 4096, "fused")
    for chunk in (32,) if tiny else (128, 256, 512, 1024, 2048, 4096, 8192):
        report(model, "mixed", 2 if tiny else 64, 32 if tiny else 2048, chunk)
    del model
    gc.collect()
    if CUDA:
        torch.cuda.empty_cache()


def main() -> None:
    """Run the sweeps."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="sizes that any machine can run")
    tiny = parser.parse_args().tiny
    versions()
    torch.manual_seed(1)
    torch._dynamo.config.recompile_limit = 64  # one shape after another
    if tiny:
        sweep(TINY, 256, True)
        return
    sweep(LLAMA_8B, 320 * 1024, False)  # 320 Ki tokens x 128 KiB = 40 GiB
    sweep(LLAMA_70B, 256 * 1024, False)


if __name__ == "__main__":
    main()
