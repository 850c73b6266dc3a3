"""Power and energy of one GPU under steady loads and under loads that come and go.

Energy is the driver's own counter (millijoules since it was loaded), divided by the time of a
window; rates are counted in the same window. Changes no setting of the GPU.

    python3 docs/chip/code/power.py          (about five minutes; needs PyTorch and nvidia-ml-py)

Prints JSON lines: result, unit, median, p5 and p95 over the windows, and the load.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import pynvml
import torch
from timing import emit, graphed, quantile, versions

WARM, WINDOW, WINDOWS = 2.0, 3.0, 3  # seconds; the counter moves every tenth of one
SIDE = 8192
HIDDEN, INNER, QKV, LAYERS, VOCABULARY = 4096, 14336, 6144, 32, 128256  # of Llama 3.1 8B
Call = Callable[[], object]

os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = "32"  # as many streams side by side
pynvml.nvmlInit()
CARD = pynvml.nvmlDeviceGetHandleByIndex(0)


def joules() -> float:
    """Energy since the driver was loaded."""
    return float(pynvml.nvmlDeviceGetTotalEnergyConsumption(CARD)) / 1000


def field(name: str) -> float:
    """One of the driver's power fields, in watts."""
    value = pynvml.nvmlDeviceGetFieldValues(CARD, [getattr(pynvml, name)])[0]
    return float(value.value.uiVal) / 1000


def look() -> dict[str, Any]:
    """Clock, temperature and the reasons for a lower clock."""
    return {
        "sm_mhz": pynvml.nvmlDeviceGetClockInfo(CARD, pynvml.NVML_CLOCK_SM),
        "celsius": pynvml.nvmlDeviceGetTemperature(CARD, pynvml.NVML_TEMPERATURE_GPU),
        "reasons": f"0x{pynvml.nvmlDeviceGetCurrentClocksEventReasons(CARD):x}",
    }


def rest(load: str) -> None:
    """Watts while nothing runs."""
    time.sleep(WARM)
    watts = []
    for _ in range(WINDOWS):
        begin, energy = time.perf_counter(), joules()
        time.sleep(WINDOW)
        watts.append((joules() - energy) / (time.perf_counter() - begin))
    emit("watts", "W", watts, load=load, **look())


def steady(group: str, load: str, call: Call, work: float, unit: str) -> None:
    """Watts, rate and energy per unit of work of a load without gaps."""
    call()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    call()
    torch.cuda.synchronize()
    batch = max(1, int(0.05 / (time.perf_counter() - begin)))

    def for_seconds(span: float) -> tuple[int, float]:
        done, begin = 0, time.perf_counter()
        while time.perf_counter() - begin < span:
            for _ in range(batch):
                call()
            done += batch
            torch.cuda.synchronize()
        return done, time.perf_counter() - begin

    for_seconds(WARM)
    watts, rates, costs = [], [], []
    state: dict[str, Any] = {}
    for _ in range(WINDOWS):
        energy = joules()
        done, span = for_seconds(WINDOW)
        spent = joules() - energy
        watts.append(spent / span)
        rates.append(done * work / span)
        costs.append(spent / (done * work))
        state = look()
    emit("watts", "W", watts, load=load, **state)
    emit(f"{group}_rate", f"{unit}/s", rates, load=load)
    emit(f"{group}_energy", f"J/{unit}", costs, load=load)


def products() -> None:
    """An 8192 cube in several types, and of several fillings."""
    flop = 2 * SIDE**3 / 1e12

    def pair(kind: torch.dtype, fill: str) -> tuple[torch.Tensor, torch.Tensor]:
        made = []
        for _ in range(2):
            x = torch.randn(SIDE, SIDE, device="cuda")
            if fill == "zeros":
                x.zero_()
            elif fill == "one_bit":
                x = x.sign()
            made.append(x.to(kind))
        return made[0], made[1].t()

    for fill in ("random", "one_bit", "zeros"):
        a, b = pair(torch.bfloat16, fill)
        steady("products", f"bf16_{fill}", lambda a=a, b=b: a @ b, flop, "TFLOP")  # type: ignore[misc]
    a, b = pair(torch.float8_e4m3fn, "random")
    one = torch.ones((), device="cuda")
    steady(
        "products",
        "fp8_random",
        lambda: torch._scaled_mm(a, b, one, one, out_dtype=torch.bfloat16, use_fast_accum=True),
        flop,
        "TFLOP",
    )
    c, d = pair(torch.float32, "random")
    for name, tf32 in (("tf32_random", True), ("fp32_random", False)):
        torch.backends.cuda.matmul.allow_tf32 = tf32
        steady("products", name, lambda: c @ d, flop, "TFLOP")
    e, f = c.double(), d.double()
    steady("products", "fp64_random", lambda: e @ f, flop, "TFLOP")


def memory() -> None:
    """Reading and copying what does not fit in L2, reading what does, and copying from the host."""
    x = torch.randn(1 << 31, device="cuda")  # 8 GiB
    y = torch.empty_like(x)
    gigabytes = x.nbytes / 1e9
    steady("memory", "read_memory", lambda: torch.amax(x), gigabytes, "GB")
    steady("memory", "copy_memory", lambda: y.copy_(x), 2 * gigabytes, "GB")
    small = x[: 4 << 20]  # 16 MiB
    steady(
        "memory",
        "read_l2",
        graphed([lambda: torch.amax(small)] * 100),
        100 * small.nbytes / 1e9,
        "GB",
    )
    host = torch.randn(1 << 28).pin_memory()  # 1 GiB
    here = torch.empty(1 << 28, device="cuda")
    steady(
        "memory", "from_host", lambda: here.copy_(host, non_blocking=True), host.nbytes / 1e9, "GB"
    )


def waiting() -> None:
    """One thread, and 32 blocks of one thread, that only watch the clock."""
    steady("waiting", "one_thread", lambda: torch.cuda._sleep(10_000_000), 1, "call")
    streams = [torch.cuda.Stream() for _ in range(32)]

    def all_streams() -> None:
        for stream in streams:
            with torch.cuda.stream(stream):
                torch.cuda._sleep(10_000_000)

    steady("waiting", "threads_32", all_streams, 1, "call")


def decoding() -> None:
    """All matrices of an 8B model applied to so many tokens at once; no attention, no cache."""
    shapes = [(QKV, HIDDEN), (HIDDEN, HIDDEN), (2 * INNER, HIDDEN), (HIDDEN, INNER)]
    matrices = [
        (torch.randn(shape, device="cuda", dtype=torch.bfloat16) * 0.02).t()
        for shape in [*shapes * LAYERS, (VOCABULARY, HIDDEN)]
    ]
    for tokens in (1, 8, 32, 128, 512, 2048):
        inputs = {
            width: torch.randn(tokens, width, device="cuda", dtype=torch.bfloat16)
            for width in (HIDDEN, INNER)
        }
        calls = [lambda m=m, x=inputs[m.shape[0]]: x @ m for m in matrices]  # type: ignore[misc]
        steady("decoding", f"tokens_{tokens}", graphed(calls), tokens, "token")


def come_and_go(product: Call, half: float, span: float = 6.0) -> None:
    """A product for `half` seconds, nothing as long, and so on: what the driver's fields show."""
    begin = time.perf_counter()
    for _ in range(20):
        product()
    torch.cuda.synchronize()
    batch = max(1, int(half / 8 / ((time.perf_counter() - begin) / 20)))
    readings: dict[str, list[tuple[float, float]]] = {"instant": [], "average": []}
    names = {"instant": "NVML_FI_DEV_POWER_INSTANT", "average": "NVML_FI_DEV_POWER_AVERAGE"}
    done = threading.Event()

    def sample() -> None:
        while not done.is_set():
            for name, known in names.items():
                readings[name].append((time.perf_counter(), field(known)))
            time.sleep(0.002)

    thread = threading.Thread(target=sample, daemon=True)
    energy, begin = joules(), time.perf_counter()
    thread.start()
    while time.perf_counter() - begin < span:
        until = time.perf_counter() + half
        while time.perf_counter() < until:
            for _ in range(batch):
                product()
            torch.cuda.synchronize()
        time.sleep(half)
    took = time.perf_counter() - begin
    done.set()
    thread.join()
    emit("counted", "W", [(joules() - energy) / took], half_ms=round(half * 1000))
    for name, seen in readings.items():
        late = [watts for at, watts in seen if at > begin + 1.5]
        for part, q in (("low", 0.02), ("mean", None), ("high", 0.98)):
            value = sum(late) / len(late) if q is None else quantile(late, q)
            emit(f"{name}_{part}", "W", [value], half_ms=round(half * 1000))
        emit(f"{name}_period", "ms", periods(seen), half_ms=round(half * 1000))


def periods(seen: Sequence[tuple[float, float]]) -> list[float]:
    """Milliseconds between two changes of a reading."""
    changes = [at for (_, was), (at, now) in itertools.pairwise(seen) if was != now]
    return [1000 * (b - a) for a, b in itertools.pairwise(changes)] or [0.0]


def main() -> None:
    limit = pynvml.nvmlDeviceGetEnforcedPowerLimit(CARD) / 1000
    rest("before_context")
    versions(power_limit=limit)
    torch.zeros(1, device="cuda")
    rest("context")
    waiting()
    memory()
    torch.cuda.empty_cache()
    products()
    torch.cuda.empty_cache()
    decoding()
    torch.cuda.empty_cache()
    a = torch.randn(SIDE, SIDE, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(SIDE, SIDE, device="cuda", dtype=torch.bfloat16)
    small = a[:2048, :2048].contiguous()
    for half in (0.02, 0.1, 0.5, 2.0):
        come_and_go((lambda: small @ small) if half < 0.05 else (lambda: a @ b), half)
    rest("context_after")


if __name__ == "__main__":
    main()
