"""Three kernels in Triton beside PyTorch's own: a vector add, a fused softmax, a matrix product.

    python3 docs/hpc/cuda/code/triton_tiles.py            measures, prints JSON lines
    python3 docs/hpc/cuda/code/triton_tiles.py --quick    only checks results on small cases

Needs torch, triton and an NVIDIA GPU of compute capability 9.0; ends with 77 without them.
Times on the GPU are of CUDA graphs, so that no launch overhead is in them; ways that are
compared take turns, trial by trial.
"""

import functools
import json
import os
import re
import statistics
import sys
import tempfile
import time

os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp(prefix="triton-tiles-")  # nothing compiled yet
try:
    import torch
    import triton
    import triton.language as tl
    from triton.tools.tensor_descriptor import TensorDescriptor
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(77)

TRIALS = 20
bench = functools.partial(triton.testing.do_bench, warmup=10, rep=40)


# --8<-- [start:add]
@triton.jit
def add(x, y, out, n, block: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)  # a tile of offsets
    inside = at < n
    tl.store(out + at, tl.load(x + at, inside) + tl.load(y + at, inside), inside)


# --8<-- [end:add]


# --8<-- [start:softmax]
@triton.autotune([triton.Config({}, num_warps=w) for w in (4, 8, 16)], ["columns"], do_bench=bench)
@triton.jit
def softmax(x, out, columns, block: tl.constexpr):
    at = tl.arange(0, block)  # one program, one row: a power of two, the rest is masked
    row = tl.program_id(0).to(tl.int64) * columns
    values = tl.load(x + row + at, at < columns, -float("inf"))
    values = tl.exp(values - tl.max(values, 0))
    tl.store(out + row + at, values / tl.sum(values, 0), at < columns)


# --8<-- [end:softmax]


@triton.jit
def tile_of(m, n, bm: tl.constexpr, bn: tl.constexpr, group: tl.constexpr):
    """Which tile this program makes: down `group` rows first, so that neighbours share tiles."""
    rows, columns, at = tl.cdiv(m, bm), tl.cdiv(n, bn), tl.program_id(0)
    first = at // (group * columns) * group
    height = min(rows - first, group)
    return first + at % (group * columns) % height, at % (group * columns) // height


# --8<-- [start:pointers]
@triton.jit
def matmul_pointers(a, b, c, m, n, k, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr):
    row, column = tile_of(m, n, bm, bn, 8)
    i, j = row * bm + tl.arange(0, bm), column * bn + tl.arange(0, bn)
    inner = tl.arange(0, bk)
    ap = a + i[:, None] * k + inner[None, :]  # a tile of pointers
    bp = b + inner[:, None] * n + j[None, :]
    total = tl.zeros((bm, bn), tl.float32)
    for _ in range(0, k, bk):  # m, n, k are multiples of the tile here: no masks
        total = tl.dot(tl.load(ap), tl.load(bp), total)
        ap += bk
        bp += bk * n
    tl.store(c + i[:, None] * n + j[None, :], total.to(tl.bfloat16))


# --8<-- [end:pointers]


# --8<-- [start:descriptors]
@triton.jit
def matmul_descriptors(a, b, c, m, n, k, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr):
    row, column = tile_of(m, n, bm, bn, 8)
    total = tl.zeros((bm, bn), tl.float32)
    for at in range(0, k, bk):
        total = tl.dot(a.load([row * bm, at]), b.load([at, column * bn]), total)
    c.store([row * bm, column * bn], total.to(tl.bfloat16))


# --8<-- [end:descriptors]


def shapes(named):
    """Give the three descriptors the tile of the configuration that is about to run."""
    bm, bn, bk = named["bm"], named["bn"], named["bk"]
    for name, shape in (("a", [bm, bk]), ("b", [bk, bn]), ("c", [bm, bn])):
        named[name].block_shape = shape


TILES = [  # bm, bn, bk, stages, warps
    (64, 64, 64, 4, 4), (64, 128, 64, 4, 4), (128, 128, 64, 4, 4),
    (128, 128, 64, 3, 8), (128, 256, 64, 3, 8), (128, 256, 64, 4, 8),
]  # fmt: skip


def configs(hook=None):
    return [
        triton.Config(
            dict(zip(("bm", "bn", "bk"), tile, strict=True)),
            num_stages=stages,
            num_warps=warps,
            pre_hook=hook,
        )
        for *tile, stages, warps in TILES
    ]


tuned_pointers = triton.autotune(configs(), ["m", "n", "k"], do_bench=bench)(matmul_pointers)
tuned_descriptors = triton.autotune(configs(shapes), ["m", "n", "k"], do_bench=bench)(
    matmul_descriptors
)


def grid_of(m, n):
    return lambda chosen: (triton.cdiv(m, chosen["bm"]) * triton.cdiv(n, chosen["bn"]),)


def emit(result, axes, unit, samples):
    ordered = sorted(samples)
    low, high = (ordered[round(q * (len(ordered) - 1))] for q in (0.05, 0.95))
    spread = {"median": statistics.median(ordered), "p5": low, "p95": high}
    print(json.dumps({"result": result, **axes, "unit": unit, "n": len(ordered)} | spread))
    sys.stdout.flush()


def expect(good, what):
    if not good:
        print(f"wrong result: {what}", file=sys.stderr)
        sys.exit(1)


def near(got, wanted, share, what):
    wanted = wanted.float()
    expect(bool((got.float() - wanted).abs().max() <= share * wanted.abs().max()), what)


def race(result, axes, ways, amount, unit):
    """Time the ways in turn, each as a graph of several launches; emit `amount` per second."""
    graphs, repeats = {}, {}
    for name, work in ways.items():
        for _ in range(3):
            work()
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        repeats[name] = max(1, min(50, int(3e-3 / (time.perf_counter() - start))))
        graphs[name] = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graphs[name]):
            for _ in range(repeats[name]):
                work()
        graphs[name].replay()
    found = {name: [] for name in ways}
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for _ in range(TRIALS):
        for name, graph in graphs.items():
            begin.record()
            graph.replay()
            end.record()
            end.synchronize()
            found[name].append(amount / (begin.elapsed_time(end) * 1e-3 / repeats[name]) / unit[1])
    for name, samples in found.items():
        emit(result, axes | {"way": name}, unit[0], samples)


GB, TFLOP = ("GB/s", 1e9), ("TFLOP/s", 1e12)


def compiling():
    """The first call with a new constant compiles; the next process finds it on the disk."""
    x = torch.ones(1 << 16, device="cuda")
    start = time.perf_counter()
    add[(1,)](x, x, x, 32, block=32)
    torch.cuda.synchronize()
    emit("compile", {"call": "first of the process"}, "ms", [(time.perf_counter() - start) * 1e3])
    for call in ("new constant", "found on disk", "in memory"):
        if call == "found on disk":
            add.device_caches.clear()
            add[(1,)](x, x, x, 32, block=32)
        samples = []
        for power in range(6, 16):
            torch.cuda.synchronize()
            start = time.perf_counter()
            add[(1,)](x, x, x, 64, block=1 << power)
            samples.append((time.perf_counter() - start) * 1e3)
        emit("compile", {"call": call}, "ms", samples)


def launching():
    """Host time of a launch, and time per launch until the last of a hundred has finished."""
    n, count = 1024, 100
    x, y, out = (torch.ones(n, device="cuda") for _ in range(3))
    ready = add[(1,)](x, y, out, n, block=1024)[(1, 1, 1)]  # the compiled kernel, its launcher
    ways = {
        "torch.add": lambda: torch.add(x, y, out=out),
        "Triton": lambda: add[(1,)](x, y, out, n, block=1024),
        "Triton, compiled kernel": lambda: ready(x, y, out, n, 1024),
    }
    graph = torch.cuda.CUDAGraph()
    ways["Triton"]()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        for _ in range(count):
            ways["Triton"]()

    def many(work):
        return lambda: [work() for _ in range(count)]

    batches = {name: many(work) for name, work in ways.items()} | {
        "Triton, CUDA graph": graph.replay
    }
    issued, done = {name: [] for name in batches}, {name: [] for name in batches}
    for trial in range(3 + 30):
        for name, batch in batches.items():
            torch.cuda.synchronize()
            start = time.perf_counter()
            batch()
            middle = time.perf_counter()
            torch.cuda.synchronize()
            if trial >= 3:
                issued[name].append((middle - start) / count * 1e6)
                done[name].append((time.perf_counter() - start) / count * 1e6)
    near(out, x + y, 0, "add after the launches")
    for name in batches:
        emit("launch", {"way": name, "until": "issued"}, "us", issued[name])
        emit("launch", {"way": name, "until": "finished"}, "us", done[name])


def instructions(name, kernel):
    """Count instructions of the machine code, and what a thread and a block hold."""
    counts = {
        "registers": kernel.n_regs,
        "spilled": kernel.n_spills,
        "shared bytes": kernel.metadata.shared,
    }
    try:
        sass = kernel.asm["sass"]
        for what in (
            "LDG.E.128",
            "LDG.E",
            "STG.E.128",
            "STG.E",
            "LDGSTS",
            "UTMALDG",
            "UTMASTG",
            "HGMMA",
            "HMMA",
        ):
            end = r"(?!\.(?:64|128))\b" if what.endswith(".E") else ""
            counts[what] = len(re.findall(rf"\b{re.escape(what)}{end}", sass))
    except Exception as error:  # no disassembler here
        print(f"no machine code: {error}", file=sys.stderr)
    for what, count in counts.items():
        emit("code", {"kernel": name, "what": what}, "count", [count])


def adding(n, measure):
    space = [torch.randn(n + 16, device="cuda") for _ in range(3)]
    cases = {"aligned": (0, n), "pointers + 4 bytes": (1, n), "length + 1": (0, n + 1)}
    for case, (offset, length) in cases.items():
        x, y, out = (one[offset : offset + length] for one in space)
        launch = functools.partial(add[(triton.cdiv(length, 1024),)], x, y, out, length, block=1024)
        kernel = launch()
        near(out, x + y, 0, f"add, {case}")
        if measure:
            instructions(f"add, {case}", kernel)
            ways = {"torch.add": functools.partial(torch.add, x, y, out=out), "Triton": launch}
            race("add", {"case": case}, ways, 12 * length, GB)


def unfused(x, out):
    shifted = x - x.amax(1, keepdim=True)
    powers = shifted.exp()
    return torch.div(powers, powers.sum(1, keepdim=True), out=out)


def softmaxing(elements, widths, measure):
    for columns in widths:
        x = torch.randn(elements // columns, columns, device="cuda")
        out = torch.empty_like(x)
        block = triton.next_power_of_2(columns)
        launch = functools.partial(softmax[(len(x),)], x, out, columns, block=block)
        kernel = launch()
        near(out, torch.softmax(x.double(), 1), 1e-5, f"softmax, {columns} columns")
        if measure:
            if columns in (8192, 8193, 32768):
                instructions(f"softmax, {columns} columns", kernel)
            ways = {
                "torch, five operations": functools.partial(unfused, x, out),
                "torch.softmax": functools.partial(torch.softmax, x, 1, out=out),
                "Triton": launch,
            }
            race("softmax", {"columns": columns}, ways, 8 * x.numel(), GB)


def multiplying(size, measure):
    a, b = (torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    c = torch.empty_like(a)
    wanted = a.float() @ b.float()
    grid, tail = grid_of(size, size), (size, size, size)
    described = [TensorDescriptor.from_tensor(one, [64, 64]) for one in (a, b, c)]
    kernels = {
        "pointers": (tuned_pointers, (a, b, c)),
        "descriptors": (tuned_descriptors, described),
    }
    ways = {"torch.matmul (cuBLAS)": functools.partial(torch.matmul, a, b, out=c)}
    for name, (tuned, operands) in kernels.items():
        c.zero_()
        kernel = tuned[grid](*operands, *tail)
        near(c, wanted, 0.005, f"matmul, {name}, {size}")
        ways[f"Triton, {name}"] = functools.partial(tuned[grid], *operands, *tail)
        best = tuned.best_config
        tile = "x".join(str(best.kwargs[key]) for key in ("bm", "bn", "bk"))
        axes = {
            "size": size,
            "way": name,
            "config": f"{tile}, {best.num_stages} stages, {best.num_warps} warps",
        }
        if measure:
            emit("tuning", axes, "s", [tuned.bench_time])
            if size == 4096:
                instructions(f"matmul, {name}", kernel)
    if measure:
        race("matmul", {"size": size}, ways, 2 * size**3, TFLOP)
    if measure and size in (1024, 8192):
        fixed = {}
        for bm, bn, bk, stages, warps in [*TILES, (128, 256, 64, 1, 8), (128, 256, 64, 2, 8)]:
            launch = functools.partial(
                matmul_pointers[grid],
                a,
                b,
                c,
                *tail,
                bm=bm,
                bn=bn,
                bk=bk,
                num_stages=stages,
                num_warps=warps,
            )
            c.zero_()
            kernel = launch()
            near(c, wanted, 0.005, "matmul, fixed tile")
            fixed[f"{bm}x{bn}x{bk}, {stages} stages, {warps} warps"] = launch
            if stages == 1 and size == 8192:
                instructions("matmul, one stage", kernel)
        race("config", {"size": size}, fixed, 2 * size**3, TFLOP)


def main():
    if not torch.cuda.is_available() or torch.version.cuda is None:
        print("skipped: no NVIDIA GPU that PyTorch can use", file=sys.stderr)
        return 77
    if torch.cuda.get_device_capability() < (9, 0):
        print("skipped: needs compute capability 9.0 (descriptors)", file=sys.stderr)
        return 77
    torch.manual_seed(7)
    measure = "--quick" not in sys.argv[1:]
    print(f"torch {torch.__version__}, triton {triton.__version__}", file=sys.stderr)
    if measure:
        compiling()
        launching()
    adding(1 << 26 if measure else 1 << 16, measure)
    widths = (512, 2048, 8192, 8208, 8193, 32768) if measure else (500, 512, 2048)
    softmaxing(1 << 26 if measure else 1 << 18, widths, measure)
    for size in (1024, 2048, 4096, 8192) if measure else (256,):
        multiplying(size, measure)
    print("all results right", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
