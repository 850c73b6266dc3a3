"""Shared by the measuring programs in Python: timing, statistics, one JSON object a line.

Works on a GPU, and on the CPU (slow, small sizes) so that the programs can be tried anywhere.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
import torch.distributed as dist

CUDA = torch.cuda.is_available()
DEVICE = "cuda" if CUDA else "cpu"


def quantile(values: Sequence[float], q: float) -> float:
    """Linear interpolation between order statistics."""
    v = sorted(values)
    at = q * (len(v) - 1)
    low = int(at)
    return v[low] + (at - low) * (v[low + 1] - v[low]) if low + 1 < len(v) else v[low]


def emit(result: str, unit: str = "", samples: Sequence[float] = (), **labels: Any) -> None:
    """Print one line: the labels and, of the samples, median, p5 and p95. Rank 0 only."""
    if dist.is_available() and dist.is_initialized() and dist.get_rank() != 0:
        return
    line: dict[str, Any] = {"result": result, **labels}
    if samples:
        line |= {"unit": unit, "n": len(samples), "median": quantile(samples, 0.5)}
        line |= {"p5": quantile(samples, 0.05), "p95": quantile(samples, 0.95)}
    print(json.dumps(line), flush=True)


def versions(**more: Any) -> None:
    """Print what ran: libraries, device, ranks."""
    gpu = torch.cuda.get_device_name() if CUDA else "CPU"
    nccl = ".".join(map(str, torch.cuda.nccl.version())) if CUDA else None
    ranks = dist.get_world_size() if dist.is_initialized() else 1
    found = {"torch": torch.__version__, "cuda": torch.version.cuda, "nccl": nccl, "gpu": gpu}
    emit("versions", **found, ranks=ranks, **more)


def synchronize() -> None:
    """Wait for the device."""
    if CUDA:
        torch.cuda.synchronize()


def seconds(call: Callable[[], object], repeats: int = 1) -> float:
    """Seconds per call of `repeats` calls back to back."""
    if not CUDA:
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        return (time.perf_counter() - start) / repeats
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(repeats):
        call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e-3 / repeats


def trials(
    call: Callable[[], object], n: int = 10, at_least: float = 0.01, warm_up: int = 2
) -> list[float]:
    """Seconds per call, `n` times; each trial repeats the call until it takes `at_least` s."""
    for _ in range(warm_up):
        call()
    synchronize()
    once = max(seconds(call), 1e-7)
    repeats = max(1, min(2000, math.ceil(at_least / once)))
    return [seconds(call, repeats) for _ in range(n)]


def graphed(calls: Sequence[Callable[[], object]]) -> Callable[[], object]:
    """All calls captured into one CUDA graph, so that launching costs next to nothing."""

    def one_by_one() -> None:
        for call in calls:
            call()

    if not CUDA:
        return one_by_one
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        one_by_one()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        one_by_one()
    return graph.replay


class Watch:
    """Samples SM clock (MHz), power (W), temperature and the reasons for a lower clock, by NVML."""

    def __init__(self) -> None:
        self.samples: list[tuple[float, int, float, int, int]] = []
        self.handle: Any = None
        with contextlib.suppress(Exception):
            import pynvml  # package nvidia-ml-py

            pynvml.nvmlInit()
            self.nvml = pynvml
            self.handle = pynvml.nvmlDeviceGetHandleByIndex(torch.cuda.current_device())

    def power(self) -> float:
        """Watts now; the driver's one-second average where it offers nothing faster."""
        with contextlib.suppress(Exception):
            field = self.nvml.nvmlDeviceGetFieldValues(
                self.handle, [self.nvml.NVML_FI_DEV_POWER_INSTANT]
            )[0]
            if field.nvmlReturn == 0:
                return float(field.value.uiVal) / 1000
        return float(self.nvml.nvmlDeviceGetPowerUsage(self.handle)) / 1000

    def look(self) -> None:
        """Take one sample."""
        n, h = self.nvml, self.handle
        self.samples.append(
            (
                time.perf_counter(),
                n.nvmlDeviceGetClockInfo(h, n.NVML_CLOCK_SM),
                self.power(),
                n.nvmlDeviceGetTemperature(h, n.NVML_TEMPERATURE_GPU),
                n.nvmlDeviceGetCurrentClocksEventReasons(h),
            )
        )

    @contextlib.contextmanager
    def during(self) -> Iterator[None]:
        """Sample every 20 ms while the block runs."""
        self.samples.clear()
        done = threading.Event()

        def loop() -> None:
            while not done.is_set():
                with contextlib.suppress(Exception):
                    self.look()
                done.wait(0.02)

        thread = threading.Thread(target=loop, daemon=True)
        if self.handle is not None:
            thread.start()
        try:
            yield
        finally:
            done.set()
            if self.handle is not None:
                thread.join()

    def summary(self, skip: float = 0.5) -> dict[str, Any]:
        """Medians of the later part; the first `skip` of the samples are left out."""
        late = self.samples[int(len(self.samples) * skip) :]
        if not late:
            return {}
        return {
            "sm_mhz": quantile([s[1] for s in late], 0.5),
            "sm_mhz_min": min(s[1] for s in late),
            "watts": round(quantile([s[2] for s in late], 0.5), 1),
            "celsius": max(s[3] for s in late),
            "reasons": sorted({f"0x{s[4]:x}" for s in late}),
        }


def ranks() -> tuple[int, int]:
    """Start the process group that torchrun prepared; return rank and number of ranks."""
    if CUDA:
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    dist.init_process_group("nccl" if CUDA else "gloo")
    return dist.get_rank(), dist.get_world_size()


def slowest(values: Sequence[float]) -> list[float]:
    """Of each value, the largest over all ranks."""
    t = torch.tensor(list(values), dtype=torch.float64, device=DEVICE)
    dist.all_reduce(t, op=dist.ReduceOp.MAX)
    return t.tolist()


def barrier() -> None:
    """Bring all ranks and their devices to the same point."""
    synchronize()
    dist.barrier(device_ids=[torch.cuda.current_device()] if CUDA else None)
    synchronize()
