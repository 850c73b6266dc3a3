"""Matrix products in few bits: error by way of scaling, accumulation, batch, order; cost of FP8.

Run:  python3 docs/train/code/precision_products.py [--tiny]

One JSON object a line. Errors are ||got - want|| / ||want|| with `want` computed in fp64.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "chip/code"))
import torch
from timing import CUDA, DEVICE, emit, trials, versions
from torch import Tensor
from torch.nn import functional

E4M3, E5M2, BF16 = torch.float8_e4m3fn, torch.float8_e5m2, torch.bfloat16
LARGEST = {"e4m3": 448.0, "e5m2": 57344.0, "e2m1": 6.0}


# --8<-- [start:scaling]
def rounded(x: Tensor, kind: str) -> Tensor:
    """The nearest values of a format; larger ones become its largest."""
    x = x.clamp(-LARGEST[kind], LARGEST[kind])
    if kind == "e2m1":  # 0, 0.5 .. 2 by halves, 3, 4, 6
        size = x.abs()
        unit = torch.where(size < 2, 0.5, torch.where(size < 4, 1.0, 2.0))
        return (x / unit).round() * unit
    return x.to({"e4m3": E4M3, "e5m2": E5M2}[kind]).to(x.dtype)


def power_of_two(scale: Tensor) -> Tensor:
    """The next power of two, as the scale of an E8M0 byte."""
    return torch.exp2(torch.log2(scale).ceil())


def through(x: Tensor, kind: str, rows: int, columns: int, scale: str = "fp32") -> Tensor:
    """x to the format and back, each block of rows x columns (0: all) with its own scale.

    scale: fp32; e8m0, rounded up to a power of two; or e4m3 of one fp32 scale for the tensor.
    """
    m, k = x.shape
    rows, columns = rows or m, columns or k
    blocks = x.view(m // rows, rows, k // columns, columns)
    largest = blocks.abs().amax((1, 3), keepdim=True).clamp(min=1e-30)
    each = largest / LARGEST[kind]
    if scale == "e8m0":
        each = power_of_two(each)
    elif scale == "e4m3":
        whole = largest.max() / (448 * LARGEST[kind])
        each = rounded(each / whole, "e4m3").clamp(min=2.0**-9) * whole
    return (rounded(blocks / each, kind) * each).view(m, k)


WAYS: dict[str, tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]]] = {
    "bf16": (lambda x: x.to(BF16).to(x.dtype), lambda w: w.to(BF16).to(w.dtype)),
    "e4m3_tensor": (lambda x: through(x, "e4m3", 0, 0), lambda w: through(w, "e4m3", 0, 0)),
    "e5m2_tensor": (lambda x: through(x, "e5m2", 0, 0), lambda w: through(w, "e5m2", 0, 0)),
    "e4m3_row": (lambda x: through(x, "e4m3", 1, 0), lambda w: through(w, "e4m3", 1, 0)),
    "e4m3_1x128": (lambda x: through(x, "e4m3", 1, 128), lambda w: through(w, "e4m3", 128, 128)),
    "mxfp8": (
        lambda x: through(x, "e4m3", 1, 32, "e8m0"),
        lambda w: through(w, "e4m3", 1, 32, "e8m0"),
    ),
    "mxfp4": (
        lambda x: through(x, "e2m1", 1, 32, "e8m0"),
        lambda w: through(w, "e2m1", 1, 32, "e8m0"),
    ),
    "nvfp4": (
        lambda x: through(x, "e2m1", 1, 16, "e4m3"),
        lambda w: through(w, "e2m1", 1, 16, "e4m3"),
    ),
}
# --8<-- [end:scaling]


def error(got: Tensor, want: Tensor) -> float:
    """Relative distance."""
    return float((got.double() - want.double()).norm() / want.double().norm())


def outliers(size: int) -> None:
    """Error of x w' where one channel in 1024 of x is larger, by way of scaling.

    The weights of those channels are zero, so what is seen is the harm done to the others.
    Products of the rounded operands are formed in fp64: nothing but the rounding is counted.
    """
    m, n, k = size, size, 8 * size
    x, w = torch.randn(m, k, device=DEVICE), torch.randn(n, k, device=DEVICE) * 0.02
    large = torch.arange(0, k, 1024, device=DEVICE)
    w[:, large] = 0
    want = x.double() @ w.double().t()
    for factor in (1, 10, 100, 1000, 10_000, 100_000, 1_000_000):
        y = x.clone()
        y[:, large] *= factor
        for way, (of_x, of_w) in WAYS.items():
            got = of_x(y).double() @ of_w(w).double().t()
            emit("outliers", "1", [error(got, want)], way=way, factor=factor, k=k)
        if not CUDA:
            continue
        for way, dim in (("e4m3_tensor", None), ("e4m3_row", 1)):
            sx, sw = (
                (t.abs().amax() if dim is None else t.abs().amax(dim, keepdim=True)) / 448
                for t in (y, w)
            )
            got = torch._scaled_mm(
                (y / sx).to(E4M3),
                (w / sw).to(E4M3).t(),
                sx.float(),
                sw.float().t(),
                out_dtype=BF16,
                use_fast_accum=False,
            )
            emit("outliers_on_gpu", "1", [error(got, want)], way=way, factor=factor, k=k)


def spread(size: int) -> None:
    """Error of x w' where the rows of x differ in size by factors of e^(sigma z), z normal.

    Gradients of tokens are like that. Reported is the mean of the relative errors of the rows.
    """
    m, n, k = size, size, 4 * size
    x, w = torch.randn(m, k, device=DEVICE), torch.randn(n, k, device=DEVICE) * 0.02
    z = torch.randn(m, 1, device=DEVICE)
    for sigma in (0, 1, 2, 3, 4, 5):
        y = x * torch.exp(sigma * z)
        want = y.double() @ w.double().t()
        for way, (of_x, of_w) in WAYS.items():
            got = of_x(y).double() @ of_w(w).double().t()
            rows = (got - want).norm(dim=1) / want.norm(dim=1)
            emit("spread", "1", [float(rows.mean())], way=way, sigma=sigma)


def accumulation(tiny: bool) -> None:
    """Error of a product of FP8 operands by how it is summed; the operands count as exact."""
    for k in (256, 1024) if tiny else (1024, 4096, 16384, 65536):
        for fill in ("normal", "positive"):
            a, b = (torch.randn(256, k, device=DEVICE) for _ in range(2))
            if fill == "positive":
                a, b = a.abs(), b.abs()
            a, b = a.to(E4M3), b.to(E4M3)
            want = a.double() @ b.double().t()
            one = torch.ones((), device=DEVICE)
            for fast in (True, False):
                got = torch._scaled_mm(
                    a, b.t(), one, one, out_dtype=torch.float32, use_fast_accum=fast
                )
                how = {"k": k, "fill": fill, "way": "fp8_fast" if fast else "fp8_split"}
                worst = float(((got.double() - want) / want).abs().max())
                emit("accumulation", "1", [error(got, want)], worst=worst, **how)
            for kind in (torch.float32, BF16):
                got = a.to(kind) @ b.to(kind).t()
                way = "bf16_output" if kind == BF16 else "fp32"
                worst = float(((got.double() - want) / want).abs().max())
                emit("accumulation", "1", [error(got, want)], worst=worst, k=k, fill=fill, way=way)


def batches(size: int) -> None:
    """The same rows multiplied alone and among others: are the results equal, bit for bit?"""
    for kind in ("fp32", "tf32", "fp16", "bf16"):
        torch.backends.cuda.matmul.allow_tf32 = kind == "tf32"
        of = {"fp16": torch.float16, "bf16": BF16}.get(kind, torch.float32)
        x = torch.randn(1024, size, device=DEVICE).to(of)
        w = torch.randn(size, size, device=DEVICE).to(of)
        whole = x @ w.t()
        want = x.double() @ w.double().t()
        for m in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512):
            part = x[:m] @ w.t()
            same = all(bool((x[:m] @ w.t() == part).all()) for _ in range(10))
            emit(
                "batch",
                "1",
                [float((part != whole[:m]).float().mean())],
                type=kind,
                m=m,
                largest=float((part - whole[:m]).abs().max()),
                difference=error(part, whole[:m]),
                error=error(part, want[:m]),
                repeats_equal=same,
            )
    torch.backends.cuda.matmul.allow_tf32 = False


def reductions(tiny: bool) -> None:
    """PyTorch's switches for partial sums in 16 bits, on products with a long sum."""
    switch = torch.backends.cuda.matmul
    for m, n, k in [(64, 64, 1024)] if tiny else [(64, 64, 65536), (256, 256, 32768), (4096,) * 3]:
        for fill in ("normal", "positive"):
            a, b = (torch.randn(s, k, device=DEVICE) for s in (m, n))
            if fill == "positive":
                a, b = a.abs(), b.abs()
            for kind, of in (("fp16", torch.float16), ("bf16", BF16)):
                # 0.5 keeps sums of products of positive numbers below the largest of fp16.
                x, y = (a * 0.5).to(of), (b * 0.5).to(of)
                want = x.double() @ y.double().t()
                for allowed in (True, False):
                    setattr(switch, f"allow_{kind}_reduced_precision_reduction", allowed)
                    got = x @ y.t()
                    emit(
                        "reduced",
                        "1",
                        [error(got, want)],
                        type=kind,
                        size=f"{m} x {k} x {n}",
                        fill=fill,
                        allowed=allowed,
                        rounded=error(want.to(of), want),
                        infinite=int((~got.isfinite()).sum()),
                    )
                setattr(switch, f"allow_{kind}_reduced_precision_reduction", True)


def repeats(count: int) -> None:
    """The same call again and again: how many different results?"""
    rows = torch.randn(count, 64, device=DEVICE)
    to = torch.randint(0, 100, (count,), device=DEVICE)
    embedding = torch.randn(100, 64, device=DEVICE, requires_grad=True)
    x = torch.randn(512, 4096, device=DEVICE, dtype=BF16)
    w = torch.randn(4096, 4096, device=DEVICE, dtype=BF16)

    def added() -> Tensor:
        return torch.zeros(100, 64, device=DEVICE).index_add_(0, to, rows)

    def gathered() -> Tensor:
        total = (functional.embedding(to, embedding) * rows).sum()
        return torch.autograd.grad(total, embedding)[0]

    calls = {"index_add": added, "embedding_backward": gathered, "matmul": lambda: x @ w}
    calls["sum"] = lambda: rows.sum(0)
    for fixed in (False, True):
        torch.use_deterministic_algorithms(fixed, warn_only=True)
        for name, call in calls.items():
            found = {call().cpu().float().numpy().tobytes() for _ in range(20)}
            emit("repeats", call=name, deterministic=fixed, calls=20, different=len(found))
    torch.use_deterministic_algorithms(False)


def identity(size: int) -> None:
    """A matrix times the identity: what the multiplier reads of it."""
    a, one = torch.randn(size, size, device=DEVICE), torch.eye(size, device=DEVICE)
    for kind in ("fp32", "tf32", "bf16", "fp16"):
        torch.backends.cuda.matmul.allow_tf32 = kind == "tf32"
        of = {"fp16": torch.float16, "bf16": BF16}.get(kind, torch.float32)
        got = (a.to(of) @ one.to(of)).float()
        worst = float(((got - a) / a).abs().max())
        emit("identity", "1", [error(got, a)], type=kind, worst=worst)
    torch.backends.cuda.matmul.allow_tf32 = False


def small(t: Tensor) -> tuple[Tensor, Tensor]:
    """E4M3 values and the scale of the tensor as it is now, by separate kernels."""
    scale = t.abs().amax().float() / 448
    return (t / scale.to(BF16)).to(E4M3), scale


def layer_cost(tokens: int, k: int, n: int) -> None:
    """Time of a linear layer's product in bf16 and FP8, and of bringing its operands to FP8."""
    x = torch.randn(tokens, k, device=DEVICE, dtype=BF16)
    w = torch.randn(n, k, device=DEVICE, dtype=BF16)
    (qx, sx), (qw, sw) = small(x), small(w)
    parts: dict[str, Callable[[], object]] = {
        "bf16_product": lambda: x @ w.t(),
        "fp8_product": lambda: torch._scaled_mm(
            qx, qw.t(), sx, sw, out_dtype=BF16, use_fast_accum=True
        ),
        "to_fp8_input": lambda: small(x),
        "to_fp8_weight": lambda: small(w),
        "cast_only_input": lambda: x.to(E4M3),
    }
    for part, call in parts.items():
        emit("cost", "s", trials(call), part=part, size=f"{tokens} x {k} x {n}")


def main() -> None:
    """Run everything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tiny", action="store_true", help="small sizes, to try the program")
    tiny = parser.parse_args().tiny
    versions()
    parts: dict[str, Callable[[], None]] = {
        "outliers": lambda: outliers(128 if tiny else 512),
        "spread": lambda: spread(128 if tiny else 512),
        "accumulation": lambda: accumulation(tiny),
        "batches": lambda: batches(256 if tiny else 4096),
        "reductions": lambda: reductions(tiny),
        "repeats": lambda: repeats(2_000 if tiny else 200_000),
        "identity": lambda: identity(256 if tiny else 2048),
    }
    for tokens, k, n in (
        [(64, 64, 64)]
        if tiny
        else [
            (8192, 2048, 8192),
            (8192, 4096, 16384),
            (8192, 8192, 8192),
        ]
    ):
        parts[f"cost {k}"] = partial(layer_cost, tokens, k, n)
    for name, part in parts.items():
        torch.manual_seed(0)
        try:
            part()
        except RuntimeError as problem:  # what this version or card refuses
            emit("refused", of=name, why=str(problem).splitlines()[0][:200])


if __name__ == "__main__":
    main()
