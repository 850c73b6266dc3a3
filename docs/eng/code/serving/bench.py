"""Unary calls against one stream: latency and rate on loopback, by the size of the message.

Run:  python docs/eng/code/serving/bench.py [--seconds 2] [--json FILE]

Needs only grpcio. Messages are bytes, without Protobuf. Server and client are two processes of
asyncio Python; in C++ or Go the same calls are several times faster, so read the ratios.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import multiprocessing
import platform
import statistics
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc

OPTIONS = [
    ("grpc.max_receive_message_length", 8 << 20),
    ("grpc.max_send_message_length", 8 << 20),
    ("grpc.use_local_subchannel_pool", 1),
]
SIZES = {"16 B": 16, "1 KiB": 1 << 10, "64 KiB": 1 << 16, "1 MiB": 1 << 20}
SENT = b"x" * max(SIZES.values())


async def echo(request: bytes, context: Any) -> bytes:
    return request


async def many(request: bytes, context: Any) -> AsyncIterator[bytes]:
    """Send messages of the size of the request until the client has enough."""
    while True:
        yield request


async def serve(answer: Any) -> None:
    server = grpc.aio.server(options=OPTIONS)
    handlers = {
        "Echo": grpc.unary_unary_rpc_method_handler(echo),
        "Many": grpc.unary_stream_rpc_method_handler(many),
    }
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("bench.Bench", handlers),)
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    answer.put(port)
    await server.wait_for_termination()


def child(answer: Any) -> None:
    asyncio.run(serve(answer))


async def latency(channel: Any, size: int, seconds: float) -> list[float]:
    """Return the microseconds of unary calls, one after the other."""
    call = channel.unary_unary("/bench.Bench/Echo")
    message, found = SENT[:size], []
    end = time.perf_counter() + seconds
    while (start := time.perf_counter()) < end:
        await call(message)
        found.append((time.perf_counter() - start) * 1e6)
    return found


async def fresh(address: str, seconds: float) -> list[float]:
    """Return the microseconds of unary calls of 16 bytes, each with a channel of its own."""
    found = []
    end = time.perf_counter() + seconds
    while (start := time.perf_counter()) < end:
        async with grpc.aio.insecure_channel(address, options=OPTIONS) as channel:
            await channel.unary_unary("/bench.Bench/Echo")(SENT[:16])
        found.append((time.perf_counter() - start) * 1e6)
    return found


async def unary_rate(channel: Any, size: int, at_once: int, seconds: float) -> float:
    """Return unary calls a second with this many in flight."""
    call = channel.unary_unary("/bench.Bench/Echo")
    end, count = time.perf_counter() + seconds, 0

    async def worker() -> None:
        nonlocal count
        while time.perf_counter() < end:
            await call(SENT[:size])
            count += 1

    start = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(at_once)))
    return count / (time.perf_counter() - start)


async def stream_rate(channel: Any, size: int, seconds: float) -> float:
    """Return messages a second of one stream from the server."""
    call = channel.unary_stream("/bench.Bench/Many")(SENT[:size])
    await call.read()
    start, count = time.perf_counter(), 0
    while time.perf_counter() < start + seconds:
        await call.read()
        count += 1
    took = time.perf_counter() - start
    call.cancel()
    return count / took


def point(values: list[float], digits: int = 3, **axes: Any) -> dict[str, Any]:
    def short(value: float) -> float:
        return float(f"{value:.{digits}g}")

    return axes | {
        "value": short(statistics.median(values)),
        "min": short(min(values)),
        "max": short(max(values)),
    }


async def measure(address: str, seconds: float, repeat: int) -> dict[str, list[Any]]:
    """Return the points of each result; the cases take turns, so that drift meets them alike."""
    raw: dict[tuple[str, str, str], list[float]] = {}

    def keep(result: str, way: str, size: str, value: float) -> None:
        raw.setdefault((result, way, size), []).append(value)

    async with grpc.aio.insecure_channel(address, options=OPTIONS) as channel:
        await latency(channel, 16, seconds / 2)
        for _ in range(repeat):
            for name, size in SIZES.items():
                taken = await latency(channel, size, seconds)
                keep("latency", "median", name, statistics.median(taken))
                keep("latency", "p99", name, statistics.quantiles(taken, n=100)[98])
                keep("rate", "unary, 1 at once", name, 1e6 / statistics.fmean(taken))
                keep(
                    "rate", "unary, 32 at once", name, await unary_rate(channel, size, 32, seconds)
                )
                keep("rate", "one stream", name, await stream_rate(channel, size, seconds))
            keep("fresh", "new channel", "16 B", statistics.median(await fresh(address, seconds)))
    out: dict[str, list[Any]] = {"latency": [], "rate": [], "fresh": []}
    for (result, way, size), values in raw.items():
        out[result].append(point(values, way=way, size=size))
    return out


def both(zh: str, en: str) -> dict[str, str]:
    return {"zh": zh, "en": en}


def record(points: dict[str, list[Any]], repeat: int) -> dict[str, Any]:
    axes = [
        {"name": "way", "title": both("方式", "way")},
        {"name": "size", "title": both("消息", "message")},
    ]
    titles = {
        "latency": (both("一元调用的延迟", "Latency of a unary call"), "us"),
        "rate": (both("每秒消息", "Messages per second"), "1/s"),
        "fresh": (both("每次新建通道的一元调用", "Unary call, each on a new channel"), "us"),
    }
    return {
        "schema": 1,
        "id": "grpc",
        "title": both("gRPC：一元与流，回环", "gRPC: unary and stream, on loopback"),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "machine": {
            "description": both(
                "2 个 vCPU 的 Firecracker 虚拟机，同时有别的任务",
                "Firecracker VM with 2 vCPUs, other jobs running",
            ),
            "os_kernel": platform.release(),
            "cpu": "AMD EPYC, 2 vCPU",
        },
        "program": {
            "path": "docs/eng/code/serving/bench.py",
            "sha256": hashlib.sha256(Path(__file__).read_bytes()).hexdigest(),
        },
        "command": "python docs/eng/code/serving/bench.py --json FILE",
        "notes": both(
            f"Python {platform.python_version()}，grpcio {grpc.__version__}，asyncio，两个进程，"
            "回环，无 TLS，字节消息（不经 Protobuf）；一元调用回送同样大小。",
            f"Python {platform.python_version()}, grpcio {grpc.__version__}, asyncio, two "
            "processes, loopback, no TLS, messages of bytes (no Protobuf); a unary call returns "
            "as many bytes.",
        ),
        "specification": [],
        "results": [
            {
                "id": name,
                "title": title,
                "unit": unit,
                "direction": None,
                "statistic": "median",
                "n": repeat,
                "axes": axes,
                "points": points[name],
            }
            for name, (title, unit) in titles.items()
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=1.0, help="per case and repetition")
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--json", type=Path, help="write the record here")
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    answer = context.Queue()
    process = context.Process(target=child, args=(answer,), daemon=True)
    process.start()
    address = f"127.0.0.1:{answer.get()}"
    points = asyncio.run(measure(address, options.seconds, options.repeat))
    process.terminate()
    for name, found in points.items():
        for one in found:
            print(f"{name:<8} {one['way']:<18} {one['size']:>7} {one['value']:>9g}")
    if options.json:
        made = record(points, options.repeat)
        options.json.write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
