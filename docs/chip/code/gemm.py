"""Throughput of matrix products by data type and shape, with the clock and power they ran at.

Run:  python3 docs/chip/code/gemm.py [--tiny]

Prints one JSON object a line; TFLOP/s = 2 m n k / time / 10^12 (for int8: 10^12 operations/s).
Random normal data; operands rotate among several sets, so that small ones come from memory and
not from the L2 cache; launches are replayed from a CUDA graph. cuBLAS does the products.
"""

from __future__ import annotations

import argparse
import contextlib
import time
from collections.abc import Callable, Iterator

import torch
from timing import CUDA, DEVICE, Watch, emit, graphed, seconds, synchronize, trials, versions

Product = Callable[[], torch.Tensor]
TYPES = {
    "fp64": torch.float64,
    "fp32": torch.float32,
    "tf32": torch.float32,
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
    "fp8": torch.float8_e4m3fn,
    "fp8_accurate": torch.float8_e4m3fn,
    "int8": torch.int8,
}


def operand(rows: int, columns: int, kind: str, fill: str = "normal") -> torch.Tensor:
    """A random matrix of the type; fp8 and int8 are rounded from normal numbers."""
    if fill == "zeros":
        x = torch.zeros(rows, columns, device=DEVICE)
    elif fill == "signs":  # +1 or -1
        x = torch.randint(0, 2, (rows, columns), device=DEVICE).float() * 2 - 1
    else:
        x = torch.randn(rows, columns, device=DEVICE)
    if kind == "int8":
        x = (x * 30).clamp(-127, 127)
    return x.to(TYPES[kind])


# --8<-- [start:product]
def product(a: torch.Tensor, b: torch.Tensor, kind: str) -> Product:
    """The call that multiplies a (m x k) by the transpose of b (n x k)."""
    if kind.startswith("fp8"):
        one = torch.ones((), device=DEVICE)
        return lambda: torch._scaled_mm(
            a, b.t(), one, one, out_dtype=torch.bfloat16, use_fast_accum=kind == "fp8"
        )
    if kind == "int8":
        return lambda: torch._int_mm(a, b.t())
    return lambda: a @ b.t()


# --8<-- [end:product]


def relative_error(m: int, n: int, k: int, kind: str) -> float:
    """Distance of one product from the same in fp64, relative to its norm."""
    a, b = operand(m, k, kind), operand(n, k, kind)
    got = product(a, b, kind)().double()
    want = a.double() @ b.double().t()
    return float((got - want).norm() / want.norm())


def rates(m: int, n: int, k: int, kind: str, count: int = 10) -> list[float]:
    """TFLOP/s of each trial."""
    size = (m * k + n * k) * TYPES[kind].itemsize
    sets = max(1, min(32, 2**28 // size)) if CUDA else 1
    calls = [product(operand(m, k, kind), operand(n, k, kind), kind) for _ in range(sets)]
    one = seconds(calls[0])
    synchronize()
    one = seconds(calls[0])
    together = calls * max(1, min(8, round(0.002 / max(one, 1e-6) / sets)))
    run = graphed(together) if one < 0.005 else lambda: [call() for call in calls]
    inside = len(together) if one < 0.005 else sets
    return [2 * m * n * k * inside / s / 1e12 for s in trials(run, count)]


def shapes(tiny: bool) -> Iterator[tuple[str, str, int, int, int]]:
    """Result, type, m, n, k."""
    squares = [64, 128] if tiny else [512, 1024, 2048, 3072, 4096, 6144, 8192, 12288, 16384]
    for kind in TYPES:
        for n in squares:
            yield "square", kind, n, n, n
    # From one row (a product with a vector) to thousands: memory-bound to compute-bound.
    wide = 128 if tiny else 8192
    for kind in ("bf16", "fp8"):
        for m in [16, 32] if tiny else [16, 32, 64, 128, 192, 256, 384, 512, 1024, 2048, 4096]:
            yield "rows", kind, m, wide, wide
    for m in [1, 8] if tiny else [1, 2, 4, 8]:
        yield "rows", "bf16", m, wide, wide
    # A little more than a whole number of tiles, and sizes that no tile divides.
    for n in [63, 65] if tiny else [8191, 8193, 8184, 8200, 8064, 8256, 8320]:
        yield "unaligned", "bf16", n, n, n
    # Waves of tiles over the multiprocessors: the output grows by one tile row at a time.
    for m in [64] if tiny else range(1024, 4097, 128):
        yield "waves", "bf16", m, 4096 if not tiny else 64, 4096 if not tiny else 64


def sustained(kind: str, n: int, span: float, fill: str, watch: Watch) -> None:
    """The same product for `span` seconds: rate, clock and power once they are steady."""
    run = product(operand(n, n, kind, fill), operand(n, n, kind, fill), kind)
    once = seconds(run)
    once = seconds(run)
    repeats = max(1, int(0.05 / max(once, 1e-6)))
    rate = []
    with watch.during():
        end = time.perf_counter() + span
        while time.perf_counter() < end:
            rate.append(2 * n**3 / seconds(run, repeats) / 1e12)
    half = rate[len(rate) // 2 :]
    first = rate[0]
    emit("sustained", "TFLOP/s", half, type=kind, fill=fill, m=n, first=first, **watch.summary())


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tiny", action="store_true", help="small sizes, to try the program")
    tiny = parser.parse_args().tiny
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = False
    versions()
    watch = Watch()
    for kind in TYPES:
        torch.backends.cuda.matmul.allow_tf32 = kind == "tf32"
        with contextlib.suppress(NotImplementedError, RuntimeError):
            n = 64 if tiny else 2048
            emit("error", "1", [relative_error(n, n, n, kind)], type=kind, m=n)
    for result, kind, m, n, k in shapes(tiny):
        torch.backends.cuda.matmul.allow_tf32 = kind == "tf32"
        try:
            found = rates(m, n, k, kind)
        except (NotImplementedError, RuntimeError) as error:
            why = str(error).splitlines()[0][:200]
            emit("refused", type=kind, of=result, m=m, columns=n, k=k, why=why)
            continue
        out_bytes = {"fp8": 2, "fp8_accurate": 2, "int8": 4}.get(kind, TYPES[kind].itemsize)
        intensity = 2 * m * n * k / ((m + n) * k * TYPES[kind].itemsize + m * n * out_bytes)
        emit(result, "TFLOP/s", found, type=kind, m=m, columns=n, k=k, intensity=intensity)
    for kind in TYPES:
        torch.backends.cuda.matmul.allow_tf32 = kind == "tf32"
        for fill in ("normal", "signs", "zeros") if kind in ("bf16", "fp8") else ("normal",):
            try:
                sustained(kind, 128 if tiny else 8192, 0.1 if tiny else 2.0, fill, watch)
            except (NotImplementedError, RuntimeError) as error:
                emit("refused", type=kind, of="sustained", why=str(error).splitlines()[0][:200])


if __name__ == "__main__":
    main()
