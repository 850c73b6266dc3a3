"""One kernel, SwiGLU, called from PyTorch in eight ways: build, launch, compile, graph, gradient.

    python3 docs/hpc/cuda/code/kernel_ways.py            prints JSON lines
    python3 docs/hpc/cuda/code/kernel_ways.py --build    only builds the two extensions

Needs torch, triton, nvcc, ninja and a GPU; ends with 77 without them. Host time is that of one
call on 4096 elements without waiting for the GPU; GPU time is of 2^26 bf16 elements; graph time
is a launch inside a CUDA graph of 50.
"""

import contextlib
import functools
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

for name in ("TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "TORCH_EXTENSIONS_DIR"):
    os.environ.setdefault(name, tempfile.mkdtemp(prefix="kernel-ways-"))  # nothing built yet
try:
    import torch
    import triton
    import triton.language as tl
    from torch import Tensor
    from torch.library import triton_op, wrap_triton
    from torch.utils import cpp_extension
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(77)

HERE = Path(__file__).resolve().parent
Way = Callable[[Tensor, Tensor], Tensor]


def emit(result: str, unit: str = "", samples: Sequence[float] = (), **labels: Any) -> None:
    """Print a line: the labels and, of the samples, median, p5 and p95."""
    figure: dict[str, Any] = {}
    if samples:
        v = sorted(samples)
        at = {q: v[round(q * (len(v) - 1))] for q in (0.05, 0.5, 0.95)}
        figure = {"unit": unit, "n": len(v), "median": at[0.5], "p5": at[0.05], "p95": at[0.95]}
    print(json.dumps({"result": result, **labels, **figure}), flush=True)


def built(what: str, call: Callable[[], Any]) -> Any:
    """Return the call's result, and print how long it took."""
    began = time.perf_counter()
    out = call()
    torch.cuda.synchronize()
    emit("build", "s", [time.perf_counter() - began], what=what)
    return out


def composite(gate: Tensor, up: Tensor) -> Tensor:
    """Two kernels of PyTorch."""
    return torch.nn.functional.silu(gate) * up


# --8<-- [start:nvrtc]
NVRTC_TYPES = {
    torch.float32: "float",
    torch.float64: "double",
    torch.bfloat16: "__nv_bfloat16",
}
NVRTC: dict[torch.dtype, Any] = {}


def swiglu_nvrtc(gate: Tensor, up: Tensor) -> Tensor:
    """The kernel of swiglu.cuh, compiled for the type on first use and launched by ctypes."""
    if gate.dtype not in NVRTC:
        NVRTC[gate.dtype] = torch.cuda._compile_kernel(
            (HERE / "swiglu.cuh").read_text(),
            f"swiglu<{NVRTC_TYPES[gate.dtype]}>",  # a name expression: this instance is made
            nvcc_options=["-std=c++17"],
        )
    out = torch.empty_like(gate)
    n = gate.numel()  # int: _compile_kernel passes every int as 32 bits
    blocks = max(1, min(4096, (n + 2047) // 2048))
    NVRTC[gate.dtype]((blocks, 1, 1), (256, 1, 1), [gate, up, out, n])
    return out


# --8<-- [end:nvrtc]


# --8<-- [start:triton]
@triton.jit
def swiglu_tile(gate, up, out, n, block: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    g, u = tl.load(gate + at, at < n), tl.load(up + at, at < n)
    if gate.dtype.element_ty == tl.bfloat16:
        g, u = g.to(tl.float32), u.to(tl.float32)
    tl.store(out + at, g / (1 + tl.exp(-g)) * u, at < n)


def swiglu_triton(gate: Tensor, up: Tensor) -> Tensor:
    """The plain launch of a Triton kernel."""
    out = torch.empty_like(gate)
    swiglu_tile[(triton.cdiv(gate.numel(), 2048),)](gate, up, out, gate.numel(), block=2048)
    return out


@triton_op("handbook_triton::swiglu", mutates_args=())
def swiglu_triton_op(gate: Tensor, up: Tensor) -> Tensor:
    """The same as an operator: torch.compile sees the kernel inside."""
    out = torch.empty_like(gate)
    grid = (triton.cdiv(gate.numel(), 2048),)
    wrap_triton(swiglu_tile)[grid](gate, up, out, gate.numel(), block=2048)
    return out


# --8<-- [end:triton]


# --8<-- [start:custom]
@torch.library.custom_op("handbook_python::swiglu", mutates_args=(), device_types="cuda")
def swiglu_custom(gate: Tensor, up: Tensor) -> Tensor:
    """Opaque to torch.compile: any Python may stand here, and it runs as it is."""
    return swiglu_nvrtc(gate, up)


@swiglu_custom.register_fake
def _(gate: Tensor, up: Tensor) -> Tensor:
    torch._check(gate.shape == up.shape)
    return torch.empty_like(gate)


# --8<-- [end:custom]


def formula(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
    """The gradient in PyTorch's own operators."""
    gate, up = ctx.saved_tensors
    s = torch.sigmoid(gate)
    return grad * up * s * (1 + gate * (1 - s)), grad * gate * s


def keep(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
    """Save what the gradient needs; PyTorch passes these three by name."""
    ctx.save_for_backward(*inputs)


# --8<-- [start:extension]
def build_extension() -> None:
    """Build swiglu_register.cuh and load it; the operators appear under torch.ops.handbook."""
    cpp_extension.load_inline(
        "swiglu_registered",
        cpp_sources="",
        cuda_sources='#include "swiglu_register.cuh"\n',
        extra_include_paths=[str(HERE)],
        is_python_module=False,
        no_implicit_headers=True,
    )
    torch.library.register_fake("handbook::swiglu")(lambda gate, up: torch.empty_like(gate))
    torch.library.register_fake("handbook::swiglu_backward")(
        lambda grad, gate, up: (torch.empty_like(gate), torch.empty_like(up))
    )
    torch.library.register_autograd(
        "handbook::swiglu",
        lambda ctx, grad: torch.ops.handbook.swiglu_backward(grad.contiguous(), *ctx.saved_tensors),
        setup_context=keep,
    )


# --8<-- [end:extension]


def build_pybind() -> Any:
    """Build swiglu_op.cuh as a plain Python module, with torch/extension.h."""
    wrap = "at::Tensor swiglu(at::Tensor g, at::Tensor u) { return swiglu_forward(g, u); }\n"
    return cpp_extension.load_inline(
        "swiglu_pybind",
        cpp_sources="at::Tensor swiglu(at::Tensor, at::Tensor);",
        cuda_sources='#include "swiglu_op.cuh"\n' + wrap,
        functions=["swiglu"],
        extra_include_paths=[str(HERE)],
    )


def host_us(call: Callable[[], object], groups: int = 20) -> list[float]:
    """Microseconds a call on the host, of groups of 500; the GPU is not waited for."""
    found = []
    for _ in range(groups):
        torch.cuda.synchronize()
        began = time.perf_counter_ns()
        for _ in range(500):
            call()
        found.append((time.perf_counter_ns() - began) / 5e5)
    torch.cuda.synchronize()
    return found


def gpu_us(call: Callable[[], object], repeats: int = 20, trials: int = 9) -> list[float]:
    """Microseconds a call on the GPU: `repeats` calls between two events, `trials` times."""
    found = []
    call()
    for _ in range(trials):
        a, b = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        a.record()
        for _ in range(repeats):
            call()
        b.record()
        b.synchronize()
        found.append(a.elapsed_time(b) * 1e3 / repeats)
    return found


def kernels_of(call: Callable[[], object]) -> int:
    """How many kernels one call launches."""
    call()
    torch.cuda.synchronize()
    with torch.profiler.profile() as found:
        call()
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        found.export_chrome_trace(str(path))
        events = json.loads(path.read_text())["traceEvents"]
    return sum(e.get("cat") == "kernel" for e in events)


def error_of(error: BaseException) -> str:
    """The first lines of a message."""
    return f"{type(error).__name__}: {error}"[:500]


# --8<-- [start:graph]
def graph_us(call: Callable[[], object], calls: int = 50) -> list[float]:
    """GPU time of a call inside a CUDA graph of `calls`."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            call()  # compile and load before the capture
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            call()
    return [us / calls for us in gpu_us(graph.replay)]


# --8<-- [end:graph]


def check(name: str, way: Way) -> None:
    """Compare with the formula in fp64, on sizes with and without a tail."""
    worst: dict[str, float] = {}
    for kind in (torch.float64, torch.float32, torch.bfloat16):
        for n in (1, 7, 4096, 100003):
            g, u = (torch.randn(n, device="cuda", dtype=kind) for _ in range(2))
            want = composite(g.double(), u.double())
            got = way(g, u).double()
            error = float(((got - want).abs() / (want.abs() + 1e-3)).max())
            worst[str(kind)] = max(worst.get(str(kind), 0.0), error)
    emit("error", way=name, **{k.removeprefix("torch."): v for k, v in worst.items()})


def differentiate(name: str, way: Way, op: Any) -> None:
    """gradcheck in fp64, and opcheck where it is an operator."""
    g, u = (
        torch.randn(37, device="cuda", dtype=torch.float64, requires_grad=True) for _ in range(2)
    )
    said: dict[str, Any] = {}
    try:
        said["gradcheck"] = torch.autograd.gradcheck(way, (g, u))
    except Exception as error:
        said["gradcheck"] = error_of(error)
    if op is not None:
        try:
            said["opcheck"] = torch.library.opcheck(op, (g, u))
        except Exception as error:
            said["opcheck"] = error_of(error)
    emit("checked", way=name, **said)


def compiled(name: str, way: Way, g: Tensor, u: Tensor) -> None:
    """Between two elementwise operators under torch.compile: does it work, how many kernels?"""

    def chain(gate: Tensor, up: Tensor) -> Tensor:
        return way(gate * 2, up) + 1

    wanted = chain(g, u)
    for whole in (True, False):
        torch._dynamo.reset()
        began = time.perf_counter()
        call = torch.compile(chain, fullgraph=whole)
        try:
            got = call(g, u)
        except Exception as error:
            emit("compile_failed", way=name, fullgraph=whole, error=error_of(error))
            continue
        torch.cuda.synchronize()
        spent = time.perf_counter() - began
        said = {"way": name, "fullgraph": whole, "seconds": round(spent, 3)}
        said["worst"] = float((got.float() - wanted.float()).abs().max())
        run = functools.partial(call, g, u)
        emit("compiled", "kernels", [kernels_of(run)], **said)
        emit("compiled_host", "us", host_us(run), way=name)
        return


def stale(way: Way) -> None:
    """Capture a launch on stream 0 into a graph, and see whether replay does the work."""
    g, u = torch.ones(4096, device="cuda"), torch.ones(4096, device="cuda")
    way(g, u)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            out = way(g, u)
        out.fill_(-1)
        graph.replay()
        torch.cuda.synchronize()
        emit("stream0", seen=out[:2].tolist(), wanted=composite(g, u)[:2].tolist())
    except Exception as error:
        emit("stream0", error=error_of(error))


def main() -> None:
    """Measure every way."""
    if not torch.cuda.is_available():
        print("skipped: no GPU", file=sys.stderr)
        sys.exit(77)
    emit(
        "versions",
        torch=torch.__version__,
        triton=triton.__version__,
        cuda=torch.version.cuda,
        gpu=torch.cuda.get_device_name(),
        python=sys.version.split()[0],
    )
    if "--build" in sys.argv:
        with ThreadPoolExecutor() as pool:  # beside each other
            one = pool.submit(built, "extension, TORCH_LIBRARY", build_extension)
            built("extension, pybind11", build_pybind)
            one.result()
        return
    g, u = (torch.randn(4096, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    composite(g, u)
    built("NVRTC, bf16", lambda: swiglu_nvrtc(g, u))
    built("Triton, first call", lambda: swiglu_triton(g, u))
    built("torch.compile, first call", lambda: torch.compile(composite)(g, u))
    built("extension, TORCH_LIBRARY", build_extension)
    module = built("extension, pybind11", build_pybind)
    swiglu_custom.register_autograd(formula, setup_context=keep)
    swiglu_triton_op.register_autograd(formula, setup_context=keep)
    registered = torch.ops.handbook.swiglu
    ways: dict[str, tuple[Way, Any]] = {
        "silu(gate) * up": (composite, None),
        "NVRTC": (swiglu_nvrtc, None),
        "extension, pybind11": (module.swiglu, None),
        "extension, torch.ops": (registered, registered.default),
        "custom_op around NVRTC": (swiglu_custom, swiglu_custom),
        "Triton": (swiglu_triton, None),
        "triton_op": (swiglu_triton_op, swiglu_triton_op),
        "torch.compile": (torch.compile(composite), None),
    }
    big, other = (torch.randn(1 << 26, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    tracked = g.clone().requires_grad_()
    calls: dict[tuple[str, str], Callable[[], object]] = {}
    for name, (way, _) in ways.items():
        calls["host", name] = functools.partial(way, g, u)
        with contextlib.suppress(Exception):
            if way(tracked, u).requires_grad:
                calls["host_recorded", name] = functools.partial(way, tracked, u)
    found: dict[tuple[str, str], list[float]] = {key: [] for key in calls}
    for _ in range(6):  # the ways take turns, so that a slow moment of the host hits all of them
        for key, call in calls.items():
            found[key] += host_us(call, groups=4)
    for (what, name), us in found.items():
        emit(what, "us", us, way=name)
    for name, (way, op) in ways.items():
        try:
            emit("graph", "us", graph_us(functools.partial(way, g, u)), way=name)
            if name == "torch.compile":
                torch._dynamo.reset()  # else it has a graph for any length
            us = gpu_us(functools.partial(way, big, other))
            emit("gpu", "us", us, way=name)
            emit("rate", "GB/s", [6e-3 * big.numel() / x for x in us], way=name)
            check(name, way)
            if op is not None or name == "silu(gate) * up":
                differentiate(name, way, op)
            if name != "torch.compile":
                compiled(name, way, g, u)
        except Exception as error:
            emit("failed", way=name, error=error_of(error))
    emit(
        "schema",
        registered=str(registered.default._schema),
        python=str(swiglu_custom._schema) if hasattr(swiglu_custom, "_schema") else "",
    )
    stale(torch.ops.handbook.swiglu_stream0)


if __name__ == "__main__":
    main()
