"""What torch.profiler and NVTX cost, what a trace holds, and how three kinds of gap look in it.

    python3 docs/hpc/cuda/code/trace_cost.py         prints JSON lines
    python3 docs/hpc/cuda/code/trace_cost.py --nvtx  only the NVTX ranges (to run under nsys)

Two training steps are traced: `small`, whose kernels are shorter than their launches, and
`large`, whose kernels keep the GPU busy. Times of steps are by the clock, with a synchronisation
at the end of each; the medians of 20 steps.
"""

import collections
import importlib.util
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule

CUDA = torch.cuda.is_available()
DEVICE = "cuda" if CUDA else "cpu"
STEPS = 20 if CUDA else 3
BOTH = [ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * CUDA


def emit(result: str, unit: str = "", samples: Sequence[float] = (), **labels: Any) -> None:
    """Print a line: the labels and, of the samples, median, p5 and p95."""
    figure: dict[str, Any] = {}
    if samples:
        v = sorted(samples)
        at = {q: v[round(q * (len(v) - 1))] for q in (0.05, 0.5, 0.95)}
        figure = {"unit": unit, "n": len(v), "median": at[0.5], "p5": at[0.05], "p95": at[0.95]}
    print(json.dumps({"result": result, **labels, **figure}), flush=True)


def wait() -> None:
    """Wait for the device."""
    if CUDA:
        torch.cuda.synchronize()


def step_of(size: str) -> Callable[[], None]:
    """A step of 24 blocks: 512 wide on 64 rows, or 4096 wide on 8192."""
    h, rows = (512, 64) if size == "small" else (4096, 8192)
    torch.manual_seed(0)
    blocks = [nn.Sequential(nn.LayerNorm(h), nn.Linear(h, h), nn.GELU()) for _ in range(24)]
    model = nn.Sequential(*blocks).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, fused=True)
    x = torch.randn(rows, h, device=DEVICE)

    def step() -> None:
        with record_function("my forward"), torch.autocast(DEVICE, torch.bfloat16):
            loss = model(x).float().square().mean()
        with record_function("my backward"):
            loss.backward()
        with record_function("my optimizer"):
            optimizer.step()
            optimizer.zero_grad()

    return step


def timed(step: Callable[[], None], after: Callable[[], None] = lambda: None) -> list[float]:
    """Milliseconds of steps, the device idle at the end of each."""
    found = []
    for _ in range(STEPS):
        began = time.perf_counter()
        step()
        wait()
        found.append((time.perf_counter() - began) * 1e3)
        after()
    return found


# --8<-- [start:modes]
MODES: dict[str, dict[str, Any]] = {
    "CPU": {"activities": [ProfilerActivity.CPU]},
    "CUDA": {"activities": [ProfilerActivity.CUDA]},
    "CPU and CUDA": {},
    "and record_shapes": {"record_shapes": True},
    "and profile_memory": {"profile_memory": True},
    "and with_stack": {"with_stack": True},
    "all three": {"record_shapes": True, "profile_memory": True, "with_stack": True},
}
# --8<-- [end:modes]


def costs(size: str, step: Callable[[], None]) -> None:
    """Time a step without a profiler and in each of its modes, and the files that come out."""
    for _ in range(5):
        step()
    emit("cost", "ms", timed(step), size=size, mode="no profiler")
    for mode, options in MODES.items():
        if not CUDA and mode == "CUDA":
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "trace.json"
            began = time.perf_counter()
            recorded = profile(**({"activities": BOTH} | options))
            recorded.start()
            started = time.perf_counter() - began
            step()
            wait()
            spent = timed(step)
            began = time.perf_counter()
            recorded.stop()
            stopped = time.perf_counter() - began
            began = time.perf_counter()
            recorded.export_chrome_trace(str(path))
            export = time.perf_counter() - began
            bytes_of = path.stat().st_size / (STEPS + 1)
            emit("cost", "ms", spent, size=size, mode=mode)
            emit("trace_bytes", "MB", [bytes_of / 1e6], size=size, mode=mode)
            emit("handling", size=size, mode=mode, start_s=started, stop_s=stopped, export_s=export)
    with profile(activities=BOTH, schedule=schedule(wait=1000, warmup=1, active=1)) as recorded:
        spent = timed(step, recorded.step)
    emit("cost", "ms", spent, size=size, mode="scheduled, waiting")
    if CUDA:
        with torch.autograd.profiler.emit_nvtx():
            emit("cost", "ms", timed(step), size=size, mode="emit_nvtx, no tool")
    emit("cost", "ms", timed(step), size=size, mode="no profiler, afterwards")


def rows(step: Callable[[], None]) -> None:
    """Print how many events of each category three steps give, and the table's first lines."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        with profile(
            activities=BOTH,
            schedule=schedule(wait=0, warmup=1, active=3, repeat=1),
            on_trace_ready=lambda p: p.export_chrome_trace(str(path)),
            with_stack=True,
        ) as recorded:
            for _ in range(4):
                with record_function("my step"):
                    step()
                recorded.step()
        trace = json.loads(path.read_text())
        events = trace["traceEvents"]
    count = collections.Counter(e.get("cat", "none") for e in events)
    emit("categories", counts=dict(count), keys=sorted(set(trace) - {"traceEvents"}))
    for category in sorted(count):
        named = next(e for e in events if e.get("cat", "none") == category)
        emit(
            "example",
            category=category,
            name=str(named.get("name"))[:90],
            args=list(named.get("args", {}))[:24],
        )
    named = [e for e in events if str(e.get("name", "")).startswith(("ProfilerStep", "my "))]
    first = min(e["ts"] for e in named)
    for e in named:  # where a range stands on the host, and where on the GPU
        at = {"start_us": round(e["ts"] - first, 1), "us": round(e["dur"], 1)}
        emit("range", category=e["cat"], name=e["name"], **at)
    table = recorded.key_averages().table(
        sort_by="self_cuda_time_total" if CUDA else "cpu_time", row_limit=6
    )
    emit("table", lines=table.splitlines()[:14])


# --8<-- [start:gaps]
def gaps(step: Callable[[], None], between: Callable[[], None]) -> tuple[float, float, list[Any]]:
    """Return the GPU's idle share, the longest gap in µs, and what the host did in that gap."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        with profile(activities=BOTH) as recorded:
            for _ in range(3):
                step()
                between()
            wait()
        recorded.export_chrome_trace(str(path))
        events = [e for e in json.loads(path.read_text())["traceEvents"] if "dur" in e]
    on_gpu = ("kernel", "gpu_memcpy", "gpu_memset")
    busy = sorted((e["ts"], e["ts"] + e["dur"]) for e in events if e["cat"] in on_gpu)
    idle, longest, end = 0.0, (0.0, 0.0, 0.0), busy[0][0]
    for start, stop in busy:
        if start > end:
            idle += start - end
            longest = max(longest, (start - end, end, start))
        end = max(end, stop)
    _, begin, until = longest
    host = [
        e
        for e in events
        if e["cat"] in ("cuda_runtime", "cuda_driver", "cpu_op", "user_annotation")
    ]
    # The longest host events that lie in the gap for the most part.
    inside = [(min(e["ts"] + e["dur"], until) - max(e["ts"], begin), e["name"]) for e in host]
    top = sorted(((t, name) for t, name in inside if t > 0), reverse=True)[:4]
    return idle / (end - busy[0][0]), longest[0], [[name[:60], round(t, 1)] for t, name in top]


# --8<-- [end:gaps]


def nvtx() -> None:
    """Print what a range costs the host, by several ways of setting one."""

    def ns(call: Callable[[], object]) -> list[float]:
        found = []
        for _ in range(30):
            began = time.perf_counter_ns()
            for _ in range(1000):
                call()
            found.append((time.perf_counter_ns() - began) / 1000)
        return found

    def pair() -> None:
        torch.cuda.nvtx.range_push("step")
        torch.cuda.nvtx.range_pop()

    def block() -> None:
        with torch.cuda.nvtx.range("step"):
            pass

    def recorded() -> None:
        with record_function("step"):
            pass

    ways: dict[str, Callable[[], object]] = {"record_function, no profiler": recorded}
    if CUDA:
        ways |= {"torch: range_push and range_pop": pair, "torch: with nvtx.range": block}
    if importlib.util.find_spec("nvtx"):
        import nvtx as package

        def annotated() -> None:
            with package.annotate("step", domain="handbook"):
                pass

        ways["package nvtx: annotate in a domain"] = annotated
    for name, call in ways.items():
        emit("nvtx", "ns", ns(call), call=name)
    with profile(activities=[ProfilerActivity.CPU]):
        emit("nvtx", "ns", ns(recorded), call="record_function, profiler on")


def main() -> None:
    """Measure everything."""
    emit(
        "versions", torch=torch.__version__, cuda=torch.version.cuda, python=sys.version.split()[0]
    )
    nvtx()
    if "--nvtx" in sys.argv:
        return
    os.environ.setdefault("KINETO_LOG_LEVEL", "5")
    small = step_of("small")
    costs("small", small)
    rows(small)
    if CUDA:
        large = step_of("large")
        costs("large", large)
        ones = torch.ones(1, device=DEVICE)

        def read() -> None:
            ones.sum().item()

        def work() -> None:
            time.sleep(0.005)

        def wait_and_work() -> None:
            wait()
            work()

        kinds: dict[str, tuple[Callable[[], None], Callable[[], None]]] = {
            "small kernels": (small, lambda: None),
            "busy": (large, lambda: None),
            "item after each step": (large, read),
            "5 ms of host work": (large, work),
            "5 ms of host work after a synchronisation": (large, wait_and_work),
        }
        for kind, (step, between) in kinds.items():
            step()
            share, longest, host = gaps(step, between)
            emit("idle", "1", [share], kind=kind, longest_us=round(longest, 1), host=host)


if __name__ == "__main__":
    main()
