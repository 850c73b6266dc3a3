"""Warps, stages and a fused epilogue: Triton beside torch.compile and cuBLAS on one GPU.

    python3 docs/compiler/code/triton_epilogue.py            measures, prints JSON lines
    python3 docs/compiler/code/triton_epilogue.py --quick    only checks results on small cases

Needs torch, triton and an NVIDIA GPU; ends with 77 without them. Every time is of several calls
queued behind each other, between two events; ways that are compared take turns, trial by trial.
"""

import functools
import json
import os
import statistics
import sys
import tempfile
import time

for folder in ("TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR"):  # nothing compiled yet
    os.environ[folder] = tempfile.mkdtemp(prefix="triton-epilogue-")
try:
    import torch
    import triton
    import triton.language as tl
    from torch.nn import functional
    from triton.runtime.errors import OutOfResources
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(77)

TRIALS = 20
QUICK = "--quick" in sys.argv[1:]


# --8<-- [start:softmax]
@triton.jit
def softmax(x, out, columns, block: tl.constexpr):
    at = tl.arange(0, block)
    row = tl.program_id(0).to(tl.int64) * columns
    values = tl.load(x + row + at, at < columns, -float("inf"))
    values = tl.exp(values - tl.max(values, 0))
    tl.store(out + row + at, values / tl.sum(values, 0), at < columns)


# --8<-- [end:softmax]


# --8<-- [start:linear]
@triton.jit
def linear_gelu(
    a, b, bias, c, m, n, k, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, act: tl.constexpr
):
    rows, at = m // bm, tl.program_id(0)  # 8 rows of tiles at a time: neighbours share tiles in L2
    group, inside = at // (8 * (n // bn)), at % (8 * (n // bn))
    height = min(rows - group * 8, 8)
    i = (group * 8 + inside % height) * bm + tl.arange(0, bm)
    j = (inside // height) * bn + tl.arange(0, bn)
    inner = tl.arange(0, bk)
    ap = a + i[:, None] * k + inner[None, :]
    bp = b + j[None, :] * k + inner[:, None]  # the weight as PyTorch keeps it: N x K
    total = tl.zeros((bm, bn), tl.float32)
    for _ in range(0, k, bk):
        total = tl.dot(tl.load(ap), tl.load(bp), total)
        ap += bk
        bp += bk
    total += tl.load(bias + j)[None, :].to(tl.float32)
    if act:  # exact GELU on the accumulator: no intermediate goes to memory
        total = 0.5 * total * (1 + tl.erf(total * 0.7071067811865476))
    tl.store(c + i[:, None] * n + j[None, :], total.to(tl.bfloat16))


# --8<-- [end:linear]

TILES = [(128, 128, 64, 4, 4), (128, 128, 64, 3, 8), (128, 256, 64, 3, 8), (128, 256, 64, 4, 8)]
CONFIGS = [
    triton.Config({"bm": bm, "bn": bn, "bk": bk}, num_stages=stages, num_warps=warps)
    for bm, bn, bk, stages, warps in TILES
]
bench = functools.partial(triton.testing.do_bench, warmup=10, rep=30)
tuned = triton.autotune(CONFIGS, ["m", "n", "k", "act"], do_bench=bench)(linear_gelu)


def emit(result, axes, unit, samples):
    ordered = sorted(samples)
    low, high = (ordered[round(q * (len(ordered) - 1))] for q in (0.05, 0.95))
    spread = {"median": statistics.median(ordered), "p5": low, "p95": high}
    print(json.dumps({"result": result, **axes, "unit": unit, "n": len(ordered)} | spread))
    sys.stdout.flush()


def check(got, wanted, share, what):
    wanted = wanted.float()
    if not bool((got.float() - wanted).abs().max() <= share * wanted.abs().max()):
        print(f"wrong result: {what}", file=sys.stderr)
        sys.exit(1)


def race(result, axes, ways, calls, unit, scale):
    """Emit scale(seconds of one call) of every way, in turn."""
    for work in ways.values():
        for _ in range(3):
            work()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    found = {name: [] for name in ways}
    for _ in range(TRIALS):
        for name, work in ways.items():
            torch.cuda.synchronize()
            begin.record()
            for _ in range(calls):
                work()
            end.record()
            end.synchronize()
            found[name].append(scale(begin.elapsed_time(end) * 1e-3 / calls))
    for name, samples in found.items():
        emit(result, axes | {"way": name}, unit, samples)


def facts(kernel, axes):
    for what, count in (
        ("registers", kernel.n_regs),
        ("spilled", kernel.n_spills),
        ("shared bytes", kernel.metadata.shared),
    ):
        emit("code", axes | {"what": what}, "count", [count])


def parts(x):
    powers = (x - x.amax(1, keepdim=True)).exp()
    return powers / powers.sum(1, keepdim=True)


def rows():
    """Softmax: the number of warps by hand, then beside what torch.compile writes."""
    x = torch.randn((1 << (18 if QUICK else 26)) // 8192, 8192, device="cuda")
    out, wanted, ways = torch.empty_like(x), torch.softmax(x.double(), 1), {}
    for warps in (1, 2, 4, 8, 16, 32):
        launch = functools.partial(softmax[(len(x),)], x, out, 8192, block=8192, num_warps=warps)
        facts(launch(), {"kernel": f"softmax, {warps} warps"})
        check(out, wanted, 1e-5, f"softmax, {warps} warps")
        ways[warps] = launch
    if QUICK:
        return
    rate = 8 * x.numel() / 1e9
    race("warps", {}, ways, 5, "GB/s", lambda s: rate / s)
    compiled = torch.compile(parts, dynamic=False)
    check(compiled(x), wanted, 1e-5, "softmax, compiled")
    best = {
        "torch.softmax": functools.partial(torch.softmax, x, 1, out=out),
        "compiled": lambda: compiled(x),
        "Triton, 8 warps": ways[8],
        "Triton, 16 warps": ways[16],
    }
    race("softmax", {}, best, 5, "GB/s", lambda s: rate / s)


def operands(m, n, k):
    a, b = (torch.randn(d, k, device="cuda", dtype=torch.bfloat16) for d in (m, n))
    bias = torch.randn(n, device="cuda", dtype=torch.bfloat16)
    return a, b * k**-0.5, bias, torch.empty(m, n, device="cuda", dtype=torch.bfloat16)


def stages():
    """One tile, one to five stages: what the pipeline of asynchronous copies is worth."""
    size = 256 if QUICK else 4096
    a, b, bias, c = operands(size, size, size)
    wanted, flop = functional.linear(a.float(), b.float(), bias.float()), 2 * size**3 / 1e12
    ways, grid = {}, (size // 128 * (size // 256),)
    for count in range(1, 6):
        tile = {"bm": 128, "bn": 256, "bk": 64, "num_stages": count, "num_warps": 8}
        launch = functools.partial(
            linear_gelu[grid], a, b, bias, c, size, size, size, act=False, **tile
        )
        try:
            facts(launch(), {"kernel": f"128x256x64, {count} stages"})
        except OutOfResources as error:
            print(f"128x256x64, {count} stages: {error}", file=sys.stderr)
            continue
        check(c, wanted, 0.01, f"product, {count} stages")
        ways[count] = launch
    if not QUICK:
        race("stages", {}, ways, 5, "TFLOP/s", lambda s: flop / s)


def epilogues():
    """A linear layer and its GELU: two kernels, or one."""
    for m, n, k in ((256, 256, 256),) if QUICK else ((8192, 8192, 512), (4096, 4096, 4096)):
        a, b, bias, c = operands(m, n, k)
        wanted = functional.gelu(functional.linear(a.float(), b.float(), bias.float()))
        grid = lambda chosen, m=m, n=n: (m // chosen["bm"] * (n // chosen["bn"]),)  # noqa: E731

        def layer(x, w, v):
            return functional.gelu(functional.linear(x, w, v))

        ways = {"eager": functools.partial(layer, a, b, bias)}
        ways["product alone (cuBLAS)"] = functools.partial(functional.linear, a, b, bias)
        torch._dynamo.reset()
        ways["compiled"] = functools.partial(torch.compile(layer, dynamic=False), a, b, bias)
        ways["Triton, fused"] = functools.partial(tuned[grid], a, b, bias, c, m, n, k, act=True)
        if not QUICK:
            options = {
                "max_autotune": True,
                "max_autotune_gemm_backends": "TRITON",
                "epilogue_fusion": True,
            }
            torch._dynamo.reset()
            start = time.perf_counter()
            written = torch.compile(layer, dynamic=False, options=options)
            check(written(a, b, bias), wanted, 0.01, "compiled, Triton product")
            took = time.perf_counter() - start
            emit("tuning", {"shape": f"{m}x{n}x{k}"}, "s", [took])
            ways["compiled, product in Triton"] = functools.partial(written, a, b, bias)
        ways["Triton, fused"]()
        check(c, wanted, 0.01, "linear and GELU")
        check(ways["compiled"](), wanted, 0.01, "compiled")
        best = tuned.best_config
        print(f"{m}x{n}x{k}: {best}", file=sys.stderr)
        if not QUICK:
            race("epilogue", {"shape": f"{m}x{n}x{k}"}, ways, 5, "us", lambda s: s * 1e6)


def main():
    if not torch.cuda.is_available() or torch.version.cuda is None:
        print("skipped: no NVIDIA GPU that PyTorch can use", file=sys.stderr)
        return 77
    torch.manual_seed(7)
    print(f"torch {torch.__version__}, triton {triton.__version__}", file=sys.stderr)
    for part in (epilogues, rows, stages):
        start = time.perf_counter()
        part()
        print(f"{part.__name__}: {time.perf_counter() - start:.1f} s", file=sys.stderr)
    print("all results right", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
