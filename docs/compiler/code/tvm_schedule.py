"""One product through TVM: Relax and fusion, schedules by hand, by rule, by instruction.

    python3 docs/compiler/code/tvm_schedule.py                what each step leaves, counted
    python3 docs/compiler/code/tvm_schedule.py text TILES     the loops after a schedule
    python3 docs/compiler/code/tvm_schedule.py --time FILE    times on one thread, as a record

Needs apache-tvm 0.27.0.post1 with apache-tvm-ffi 0.1.14.post0, NumPy, and AVX-512 to run what it
compiled. Ends with 77 where one of them is missing.
"""

import collections
import hashlib
import json
import os
import platform
import re
import statistics
import sys
import time
from pathlib import Path

os.environ["TVM_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
try:
    import numpy as np
    import tvm
    from tvm import relax, te
    from tvm.s_tir import Schedule, dlight
    from tvm.s_tir.tensor_intrin.x86 import AVX512_DOT_16x4_INTRIN
    from tvm.script import ir_module
    from tvm.script import relax as R  # noqa: N812
except ImportError as missing:
    print(f"skipped: no {missing.name}", file=sys.stderr)
    sys.exit(77)

NEEDED = {"avx512f", "avx512bw", "avx512vl"}
CPU = {"kind": "llvm", "mcpu": "x86-64-v4"}
SIZES = (256, 512)
TRIALS = 21


@ir_module
class Layer:
    @R.function
    def main(
        x: R.Tensor((8, 16), "float32"),  # noqa: N805
        w: R.Tensor((16, 32), "float32"),
        b: R.Tensor((32,), "float32"),
    ):
        with R.dataflow():
            product = R.matmul(x, w)
            biased = R.add(product, b)
            y = R.nn.relu(biased)
            R.output(y)
        return y


def product(n):
    """What is computed, and nothing of how: c[i, j] is the sum of a[i, k] b[k, j] over k."""
    a = te.placeholder((n, n), "float32", name="a")
    b = te.placeholder((n, n), "float32", name="b")
    k = te.reduce_axis((0, n), "k")
    c = te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="c")
    return tvm.IRModule({"main": te.create_prim_func([a, b, c])})


def as_written(s):
    """No step at all."""


# --8<-- [start:reorder]
def reordered(s):
    block = s.get_sblock("c")
    i, j, k = s.get_loops(block)
    s.reorder(i, k, j)
    s.decompose_reduction(block, k)


# --8<-- [end:reorder]
def vectorised(s):
    block = s.get_sblock("c")
    i, j, k = s.get_loops(block)
    outer, lanes = s.split(j, [None, 16])
    s.reorder(i, k, outer, lanes)
    s.vectorize(lanes)
    s.decompose_reduction(block, k)


def tiled(s, register_tile=False):
    """Tiles of 8 rows, two vectors and 64 steps; on demand summed in registers, then stored."""
    block = s.get_sblock("c")
    copy = s.cache_write(block, 0, "local") if register_tile else None
    i, j, k = s.get_loops(block)
    io, ii = s.split(i, [None, 8])
    jo, jv, lanes = s.split(j, [None, 2, 16])
    ko, ki = s.split(k, [None, 64])
    s.reorder(io, jo, ko, ki, ii, jv, lanes)
    s.vectorize(lanes)
    if copy:
        s.reverse_compute_at(copy, jo)
        s.vectorize(s.split(s.get_loops(copy)[-1], [None, 16])[1])
        s.unroll(ii)
        s.unroll(jv)
    start = s.decompose_reduction(block, ko)
    if copy:
        *_, rows, vectors, lanes = s.get_loops(start)
        s.unroll(rows)
        s.unroll(vectors)
        s.vectorize(lanes)


SCHEDULES = {
    "written": as_written,
    "reorder": reordered,
    "vectorize": vectorised,
    "tiles": tiled,
    "cache_write": lambda s: tiled(s, register_tile=True),
}


def scheduled(name, n):
    schedule = Schedule(product(n))
    SCHEDULES[name](schedule)
    return schedule


def assembly(built):
    """How often each fused multiply-add stands in the machine code, by width of its registers."""
    text = built.mod.inspect_source("asm")
    scalar = len(re.findall(r"\bvfmadd\d+ss\b", text))
    vector = re.findall(r"\bvfmadd\d+ps\b.*%([yz])mm", text)
    return {"scalar": scalar, "256": vector.count("y"), "512": vector.count("z")}


def functions(module):
    kinds = collections.Counter(type(f).__name__ for _, f in module.functions_items())
    return f"{kinds['Function']} of Relax, {kinds['PrimFunc']} of TensorIR"


def fusion():
    """The layer after each pass, then the calls of its bytecode without fusion and with it."""
    print("a layer of three operators")
    module = Layer
    for name in ("written", "LegalizeOps", "AnnotateTIROpPattern", "FuseOps", "FuseTIR"):
        if name != "written":
            module = getattr(relax.transform, name)()(module)
        print(f"  {name:22} {functions(module)}")
    x, w, b = (np.full(shape, 0.5, np.float32) for shape in ((8, 16), (16, 32), (32,)))
    for title, given in (("tvm.compile alone", Layer), ("FuseTIR, tvm.compile", module)):
        built = tvm.compile(given, target=tvm.target.Target(CPU))
        main = built.as_text().split("@main:")[1].split("\n\n")[0]
        called = re.findall(r"call +(\S+)", main)
        kernels = [name for name in called if not name.startswith("vm.")]
        storage = called.count("vm.builtin.alloc_storage")
        machine = relax.VirtualMachine(built, tvm.cpu())
        y = machine["main"](*(tvm.runtime.tensor(array) for array in (x, w, b))).numpy()
        assert np.allclose(y, np.maximum(x @ w + b, 0))
        print(f"  {title:22} calls {', '.join(kernels)}; buffers: {storage}")
    return module


def by_hand(n):
    """Each schedule of one product: its instructions, and what became of the inner loop."""
    print(f"product of {n} x {n}, schedules by hand")
    print(f"  {'':20} {'steps':>5} {'scalar':>6} {'256':>4} {'512':>4}")
    rng = np.random.default_rng(1)
    a, b = (rng.random((n, n), dtype=np.float32) for _ in range(2))
    given, wanted = [tvm.runtime.tensor(array) for array in (a, b)], a @ b
    calls = {}
    for name in SCHEDULES:
        schedule = scheduled(name, n)
        built = tvm.compile(schedule.mod, target=tvm.target.Target(CPU))
        result = tvm.runtime.tensor(np.zeros((n, n), np.float32))
        built["main"](*given, result)
        assert np.allclose(result.numpy(), wanted, rtol=1e-3), name
        found, steps = assembly(built), len(schedule.trace.insts)
        print(f"  {name:20} {steps:5} {found['scalar']:6} {found['256']:4} {found['512']:4}")
        calls[name] = lambda call=built["main"], out=result: call(*given, out)
    print("  all equal to NumPy within 0.1%")
    spare = np.empty_like(a)
    calls["numpy"] = lambda: np.matmul(a, b, out=spare)
    return calls


def by_rule(fused, n):
    """DLight for a GPU that is not there: no measurement, and the parts it chose."""
    print(f"rules of DLight for an H100, product of {n} x {n} and the fused layer")
    for title, module in ((f"{n} x {n}", product(n)), ("layer", fused)):
        with tvm.target.Target("nvidia/nvidia-h100"):
            made = dlight.ApplyDefaultSchedule(dlight.gpu.Matmul(), dlight.gpu.Fallback())(module)
        text = made.script()
        bound = r'thread_binding\((?:T\.int64\()?(\d+)\)?, thread="([\w.]+)"'
        sizes = dict.fromkeys(re.findall(bound, text))
        blocks = [size for size, name in sizes if name.startswith("blockIdx")]
        threads = [size for size, name in sizes if name.startswith("threadIdx")]
        shared = text.count('scope="shared"')
        grid, group = " x ".join(blocks), " x ".join(threads)
        print(f"  {title:10} {grid} blocks of {group} threads, {shared} buffers in shared memory")


def byte_product(n, packed):
    """Unsigned bytes times signed bytes; the weights lie as the instruction reads them, or not."""
    a = te.placeholder((n, n), "uint8", name="a")
    shape = (n // 16, n // 4, 16, 4) if packed else (n, n)
    b = te.placeholder(shape, "int8", name="b")
    k = te.reduce_axis((0, n), "k")

    def term(i, j):
        weight = b[j // 16, k // 4, j % 16, k % 4] if packed else b[j, k]
        return te.sum(a[i, k].astype("int32") * weight.astype("int32"), axis=k)

    return tvm.IRModule({"main": te.create_prim_func([a, b, te.compute((n, n), term, name="c")])})


def by_instruction(n):
    """tensorize puts an instruction in the place of loops; is the result still right?"""
    print(f"tensorize with {AVX512_DOT_16x4_INTRIN}, product of {n} x {n} of bytes")
    rng = np.random.default_rng(2)
    for packed, largest in ((False, 64), (True, 64), (True, 127)):
        schedule = Schedule(byte_product(n, packed))
        block = schedule.get_sblock("c")
        i, j, k = schedule.get_loops(block)
        (jo, ji), (ko, ki) = schedule.split(j, [None, 16]), schedule.split(k, [None, 4])
        schedule.reorder(i, jo, ko, ji, ki)
        schedule.decompose_reduction(block, ko)
        schedule.tensorize(ji, AVX512_DOT_16x4_INTRIN)
        built = tvm.compile(schedule.mod, target=tvm.target.Target(CPU))
        assert "vpmaddubsw" in built.mod.inspect_source("asm")
        a = rng.integers(0, 2 * largest, (n, n), np.uint8, endpoint=True)
        w = rng.integers(-largest, largest, (n, n), np.int8, endpoint=True)
        laid = w.reshape(n // 16, 16, n // 4, 4).transpose(0, 2, 1, 3) if packed else w
        c = tvm.runtime.tensor(np.zeros((n, n), np.int32))
        built["main"](*map(tvm.runtime.tensor, (a, np.ascontiguousarray(laid))), c)
        wrong = np.count_nonzero(c.numpy() != a.astype(np.int32) @ w.T.astype(np.int32))
        layout = "packed" if packed else "in rows"
        sizes = f"bytes up to {2 * largest} and {largest}"
        print(f"  weights {layout:8} {sizes:23} {wrong} of {n * n} results wrong")


def record(target):
    """Time the schedules in turn, round by round, and write the ratios as a record."""
    times, points, milliseconds = {}, [], []
    for n in SIZES:
        calls = by_hand(n)
        times = {name: [] for name in calls}
        for call in calls.values():
            call()
        for _ in range(TRIALS):
            for name, call in calls.items():
                start = time.thread_time()  # not the clock: other jobs run here
                call()
                times[name].append((time.thread_time() - start) * 1e3)
        for name, taken in times.items():
            ratios = sorted(base / one for base, one in zip(times["written"], taken, strict=True))
            spread = {"p5": ratios[1], "p95": ratios[-2]}
            values = {"value": statistics.median(ratios), **spread}
            points.append({"n": n, "schedule": name} | {k: rounded(v) for k, v in values.items()})
            ordered = sorted(taken)
            milliseconds.append(
                {"n": n, "schedule": name, "value": rounded(statistics.median(ordered)),
                 "p5": rounded(ordered[1]), "p95": rounded(ordered[-2])}
            )  # fmt: skip
    axes = [
        {"name": "n", "title": {"zh": "边长", "en": "Side"}},
        {"name": "schedule", "title": {"zh": "调度", "en": "Schedule"}},
    ]
    common = {"direction": None, "per": None, "statistic": "median", "n": TRIALS, "axes": axes}
    speed = {"zh": "是原样的几倍", "en": "Times as fast as written"}
    took = {"zh": "一次乘积", "en": "One product"}
    program = Path(__file__)
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text("utf-8"))[1]
    versions = f"TVM {tvm.__version__}, NumPy {np.__version__}, Python {platform.python_version()}"
    load = os.getloadavg()[0]
    machine = {
        "description": {
            "zh": f"{os.cpu_count()} 个 vCPU 的虚拟机，同时有别的任务",
            "en": f"VM with {os.cpu_count()} vCPUs, other jobs running",
        },
        "os_kernel": platform.release(),
        "cpu": f"{model}, {os.cpu_count()} vCPU",
    }
    notes = {
        "zh": f"{versions}；FP32 方阵；计一个线程的 CPU 时间，目标 x86-64-v4；各做法逐轮轮流，"
        f"先各跑一次；倍数按轮计算，再取 {TRIALS} 轮的中位数；平均负载 {load:.1f}。"
        "看倍数，不看绝对时间。",
        "en": f"{versions}; square FP32 matrices; CPU time of one thread, target x86-64-v4; ways "
        "take turns, round by round, after one call each; ratios are taken in each round, then the "
        f"median of {TRIALS} rounds; load {load:.1f}. Read the ratios, not the times.",
    }
    data = {
        "schema": 1,
        "id": "tvm_schedule",
        "title": {"zh": "同一乘积，五种调度", "en": "One product, five schedules"},
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "machine": machine,
        "program": {
            "path": "docs/compiler/code/tvm_schedule.py",
            "sha256": hashlib.sha256(program.read_bytes()).hexdigest(),
        },
        "command": "python3 docs/compiler/code/tvm_schedule.py --time FILE",
        "notes": notes,
        "specification": [],
        "results": [
            {"id": "speed", "title": speed, "unit": "x", **common, "points": points},
            {"id": "time", "title": took, "unit": "ms", **common, "points": milliseconds},
        ],
    }
    Path(target).write_text(json.dumps(data, ensure_ascii=False, indent=2) + "\n", "utf-8")


def rounded(value):
    return float(f"{value:.4g}")


def main(arguments):
    flags = re.search(r"^flags\s*: (.*)", Path("/proc/cpuinfo").read_text("utf-8"), re.M)
    if not flags or not set(flags[1].split()) >= NEEDED:
        print("skipped: no AVX-512", file=sys.stderr)
        sys.exit(77)
    if arguments[:1] == ["text"]:
        print(scheduled(" ".join(arguments[1:]), SIZES[-1]).mod.script())
    elif arguments[:1] == ["--time"]:
        record(arguments[1])
    else:
        print("TVM", tvm.__version__)
        fused = fusion()
        by_hand(SIZES[-1])
        by_rule(fused, SIZES[-1])
        by_instruction(64)


if __name__ == "__main__":
    main(sys.argv[1:])
