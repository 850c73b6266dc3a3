"""Does one request's result depend on what else is in its batch? Bits compared, on one GPU.

    python3 docs/infer/code/batch_invariance.py [--tiny]      (about a minute; needs PyTorch)

Shapes of Llama 3.1 8B, random weights, BF16. Every comparison is of bits: the same row of input,
computed alone and as row 0 of a batch, and the same call again and again. One JSON object a line.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "chip/code"))
import torch
from timing import CUDA, DEVICE, emit, graphed, trials, versions
from torch import Tensor
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.bias import causal_lower_right

HIDDEN, INNER, QKV, VOCABULARY = 4096, 14336, 6144, 128256  # of Llama 3.1 8B
HEADS, KV_HEADS, WIDTH, LAYERS = 32, 8, 128, 32
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
FULL = BATCHES[-1]
RUNS = 100
SHAPES = {
    "qkv": (HIDDEN, QKV),
    "output": (HIDDEN, HIDDEN),
    "gate and up": (HIDDEN, 2 * INNER),
    "down": (INNER, HIDDEN),
    "vocabulary": (HIDDEN, VOCABULARY),
}
MODES = {
    "no workspace": {"CUBLAS_WORKSPACE_CONFIG": ":16:8", "CUBLASLT_WORKSPACE_SIZE": "1"},
    "deterministic": {"CUBLAS_WORKSPACE_CONFIG": ":4096:8"},
}
BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}


def normal(*shape: int, scale: float = 1.0) -> Tensor:
    """Random normal BF16 numbers."""
    return torch.randn(shape, device=DEVICE, dtype=torch.bfloat16) * scale


def different(one: Tensor, other: Tensor) -> float:
    """Percentage of elements that are not equal."""
    return 100 * (one != other).float().mean().item()


def distinct(call: Callable[[], Tensor], runs: int) -> int:
    """Number of different results of the same call."""
    seen: list[Tensor] = []
    for _ in range(runs):
        result = call()
        if not any(torch.equal(result, old) for old in seen):
            seen.append(result.clone())
    return len(seen)


def kernels(call: Callable[[], object]) -> list[str]:
    """Names of the kernels that a call starts; empty where the profiler does not run."""
    call()
    try:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as seen:
            call()
            torch.cuda.synchronize()
        return [e.name for e in seen.events() if e.device_type == torch.autograd.DeviceType.CUDA]
    except Exception as error:  # a machine without the profiler's library: any kind of error
        emit("left_out", reason=f"{type(error).__name__}: {error}"[:200])
        return []


def products(mode: str, runs: int) -> None:
    """Row 0 of x @ w by batch: against batch 1, and again and again."""
    for name, (inner, outer) in SHAPES.items():
        x, w = normal(FULL, inner), normal(outer, inner, scale=0.02).t()
        copies = [w, *(w.clone() for _ in range(0 if outer == VOCABULARY else 7))]  # beyond L2
        alone = x[:1] @ w
        exact = x[:1].double() @ w.double() if outer < VOCABULARY else None
        for batch in BATCHES:
            rows = x[:batch]
            row = (rows @ w)[:1]
            labels = {"mode": mode, "shape": name, "batch": batch}
            emit("product_changed", "%", [different(row, alone)], **labels)
            step = (row.float() - alone.float()).abs().max() / alone.float().std()
            emit("product_step", "1", [step.item()], **labels)
            emit("product_results", "count", [distinct(lambda r=rows, w=w: r @ w, runs)], **labels)
            if exact is not None:
                error = (row.double() - exact).abs().mean() / exact.std()
                emit("product_error", "1", [error.item()], **labels)
            if mode == "deterministic":
                continue
            started = kernels(lambda r=rows, w=w: r @ w)
            emit("product_kernels", "count", [len(started)], names=started, **labels)
            calls = [lambda r=rows, w=one: r @ w for one in copies]
            times = trials(graphed(calls), n=5)
            emit("product_time", "us", [t * 1e6 / len(calls) for t in times], **labels)
        if mode == "default":
            padded(name, x, w)


def padded(name: str, x: Tensor, w: Tensor) -> None:
    """The same kernel for every batch: always FULL rows. Does the row's place or company matter?"""
    row = x[:1]
    seen = []
    for place in (0, 1, 7, 8, 63, 64, 127, 128, 200, FULL - 1):
        for company in (torch.zeros_like(x), normal(*x.shape), x.clone()):
            company[place] = row[0]
            seen.append((company @ w)[place])
    results = 1 + sum(not torch.equal(one, seen[0]) for one in seen)
    emit("padded_results", "count", [results], shape=name, tried=len(seen))


def norms() -> None:
    """Root mean square of a row, in FP32, by batch."""
    x = normal(4096, HIDDEN)
    alone = x[:1].float().pow(2).mean(-1)
    for batch in (*BATCHES, 1024, 4096):
        row = x[:batch].float().pow(2).mean(-1)[:1]
        emit("norm_changed", "count", [int(not torch.equal(row, alone))], batch=batch)


def attend(backend: SDPBackend, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """PyTorch's attention with grouped heads, by one back end."""
    with sdpa_kernel(backend):
        return functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)


def decode(runs: int, lengths: tuple[int, ...]) -> None:
    """One new token per sequence: sequence 0 alone and within a batch."""
    for length in lengths:
        q = normal(FULL, HEADS, 1, WIDTH)
        k, v = normal(FULL, KV_HEADS, length, WIDTH), normal(FULL, KV_HEADS, length, WIDTH)
        for name, backend in BACKENDS.items():
            try:
                alone = attend(backend, q[:1], k[:1], v[:1])
            except RuntimeError as error:
                emit("left_out", way=name, reason=str(error)[:200])
                continue
            for batch in BATCHES:
                part = [t[:batch] for t in (q, k, v)]
                row = attend(backend, *part)[:1]
                labels = {"way": name, "length": length, "batch": batch}
                emit("decode_changed", "%", [different(row, alone)], **labels)
                count = distinct(lambda p=part, b=backend: attend(b, *p), runs)
                emit("decode_results", "count", [count], **labels)
                started = kernels(lambda p=part, b=backend: attend(b, *p))
                emit("decode_kernels", "count", [len(started)], names=started, **labels)


def chunks() -> None:
    """The last token of a prompt: whole prompt at once, or the end of it over a cache."""
    length = 2048
    q, k, v = (normal(1, HEADS, length, WIDTH) for _ in "qkv")
    with sdpa_kernel(BACKENDS["flash"]):
        whole = functional.scaled_dot_product_attention(q, k, v, is_causal=True)[:, :, -1]
    for chunk in (1, 16, 64, 128, 256, 512, 1024, 2048):
        try:
            mask = causal_lower_right(chunk, length) if chunk > 1 else None
            with sdpa_kernel(BACKENDS["flash"]):
                part = q[:, :, -chunk:]
                read = functional.scaled_dot_product_attention(part, k, v, attn_mask=mask)
            last = read[:, :, -1]
            emit("chunk_changed", "%", [different(last, whole)], chunk=chunk)
        except RuntimeError as error:
            emit("left_out", way=f"chunk {chunk}", reason=str(error)[:200])


def layers(count: int, rows: int) -> None:
    """A decode step of a whole model with random weights: which token wins, alone and in a batch.

    All layers share one cache of 1,024 tokens per sequence; the weights are of each layer.
    """
    weights = [
        [normal(o, i, scale=i**-0.5).t() for i, o in list(SHAPES.values())[:4]]
        for _ in range(count)
    ]
    last = normal(VOCABULARY, HIDDEN, scale=HIDDEN**-0.5).t()
    x = normal(rows, HIDDEN)
    k, v = normal(rows, KV_HEADS, 1024, WIDTH), normal(rows, KV_HEADS, 1024, WIDTH)

    def step(at: int, batch: int) -> Tensor:
        h, part = x[at : at + batch], slice(at, at + batch)
        for qkv, out, up, down in weights:
            normed = functional.rms_norm(h, (HIDDEN,))
            q = (normed @ qkv)[:, :HIDDEN].reshape(-1, HEADS, 1, WIDTH)
            read = attend(BACKENDS["flash"], q, k[part], v[part])
            h = h + read.reshape(-1, HIDDEN) @ out
            gate, value = (functional.rms_norm(h, (HIDDEN,)) @ up).chunk(2, -1)
            h = h + (functional.silu(gate) * value) @ down
        return (functional.rms_norm(h, (HIDDEN,)) @ last).float()

    def logits(batch: int) -> Tensor:
        return torch.cat([step(at, batch) for at in range(0, rows, batch)])

    alone = logits(1)
    best = alone.topk(2).values
    margin = best[:, 0] - best[:, 1]
    emit("margin", "1", margin.tolist())
    emit("ties", "%", [100 * (margin == 0).float().mean().item()])
    for batch in (2, 8, 32, 128, 256):
        if batch > rows:
            continue
        other = logits(batch)
        emit("logits_changed", "%", [different(other, alone)], batch=batch)
        emit("logits_step", "1", (other - alone).abs().amax(1).tolist(), batch=batch)
        moved = other.argmax(1) != alone.argmax(1)
        emit("flips", "%", [100 * moved.float().mean().item()], batch=batch, rows=rows)
        widest = margin[moved].max().item() if moved.any() else 0.0
        emit("flip_margin", "1", [widest], batch=batch)
    again = logits(rows)
    same = torch.equal(again, logits(rows))
    emit("model_repeats", "count", [1 if same else 2])


def section(call: Callable[[], None]) -> None:
    """Run a part; say why if it cannot, and go on."""
    try:
        call()
    except Exception as error:  # whatever a driver or library refuses: the other parts still count
        emit("left_out", reason=f"{type(error).__name__}: {error}"[:200])
    torch.cuda.empty_cache()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="few runs, two layers")
    parser.add_argument("--mode", choices=MODES, help="products only, in this mode")
    options = parser.parse_args()
    if not CUDA:
        sys.exit("needs a CUDA device")
    torch.manual_seed(1)
    torch.set_grad_enabled(False)
    runs = 3 if options.tiny else RUNS
    if options.mode:
        if options.mode == "deterministic":
            torch.use_deterministic_algorithms(True)
        else:  # with MODES' environment, as vLLM sets it for Hopper
            torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = (False, False)
            torch.backends.cuda.preferred_blas_library(backend="cublaslt")
        products(options.mode, runs)
        return
    versions()
    section(lambda: products("default", runs))
    section(norms)
    section(chunks)
    section(lambda: layers(2 if options.tiny else LAYERS, FULL))
    section(lambda: decode(runs, (1024,) if options.tiny else (1024, 8192)))
    for mode, environment in MODES.items():
        again = [sys.executable, __file__, "--mode", mode, *sys.argv[1:]]
        subprocess.run(again, env={**os.environ, **environment}, check=False)


if __name__ == "__main__":
    main()
