"""Size and time of Protobuf and JSON for what a serving system sends, in Python.

Run:  python docs/eng/code/wire_speed.py [--sizes] [--json FILE]

Needs the package protobuf, not protoc: the classes are made from a description. Time goes from
Python values to bytes and back to Python values, on both sides, since that is what a program pays.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import platform
import random
import statistics
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from google.protobuf import (  # type: ignore[import-untyped]
    __version__,
    descriptor_pb2,
    descriptor_pool,
    message_factory,
)
from google.protobuf.internal import api_implementation  # type: ignore[import-untyped]

Values = dict[str, Any]
STRING, INT32, FLOAT, BYTES = 9, 5, 2, 12
SHAPES: dict[str, list[tuple[str, int, bool]]] = {
    "Token": [
        ("request", STRING, False),
        ("index", INT32, False),
        ("id", INT32, False),
        ("text", STRING, False),
        ("logprob", FLOAT, False),
    ],
    "Prompt": [("ids", INT32, True)],
    "Embedding": [("values", FLOAT, True)],
}


def classes() -> dict[str, Any]:
    """Return a class for each shape, as protoc would have made it."""
    file = descriptor_pb2.FileDescriptorProto(name="speed.proto", package="speed", syntax="proto3")
    for name, fields in SHAPES.items():
        message = file.message_type.add(name=name)
        for number, (field, kind, repeated) in enumerate(fields, 1):
            message.field.add(name=field, number=number, type=kind, label=3 if repeated else 1)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"speed.{name}"))
        for name in SHAPES
    }


def single(value: float) -> float:
    """Return the value as a 32-bit float holds it."""
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


def cases(rng: random.Random) -> dict[str, tuple[str, Values]]:
    return {
        "token": (
            "Token",
            {
                "request": "req-7f3a",
                "index": 42,
                "id": 27183,
                "text": " cache",
                "logprob": single(-0.1234),
            },
        ),
        "prompt": (  # by the law of Zipf: rank uniform in its logarithm
            "Prompt",
            {"ids": [int(128000 ** rng.random()) for _ in range(4096)]},
        ),
        "embedding": (
            "Embedding",
            {"values": [single(rng.gauss(0, 0.03)) for _ in range(1536)]},
        ),
    }


Way = tuple[Callable[[Values], bytes], Callable[[bytes], Values]]


def ways(shape: str, made: Any) -> dict[str, Way]:
    """Return for each format how values become bytes, and bytes values."""
    fields = SHAPES[shape]

    def parse(data: bytes) -> Values:
        message = made.FromString(data)
        return {
            name: list(getattr(message, name)) if repeated else getattr(message, name)
            for name, _, repeated in fields
        }

    found: dict[str, Way] = {
        "JSON": (lambda values: json.dumps(values, separators=(",", ":")).encode(), json.loads),
        "Protobuf": (lambda values: made(**values).SerializeToString(), parse),
    }
    if shape == "Embedding":

        def packed(values: Values) -> bytes:
            raw = struct.pack(f"<{len(values['values'])}f", *values["values"])
            return json.dumps({"values": base64.b64encode(raw).decode()}).encode()

        def unpacked(data: bytes) -> Values:
            raw = base64.b64decode(json.loads(data)["values"])
            return {"values": list(struct.unpack(f"<{len(raw) // 4}f", raw))}

        found["base64"] = (packed, unpacked)
    return found


def seconds(what: Callable[[], object], least: float = 0.02) -> float:
    """Return the time of one call, over as many as take `least` seconds."""
    count = 1
    while True:
        start = time.perf_counter()
        for _ in range(count):
            what()
        took = time.perf_counter() - start
        if took >= least:
            return took / count
        count = max(count * 2, int(count * least / max(took, 1e-9)))


def sizes() -> list[Values]:
    """Return the bytes of each case in each format, having checked that all come back."""
    made, points = classes(), []
    for case, (shape, values) in cases(random.Random(1)).items():
        for name, (there, back) in ways(shape, made[shape]).items():
            data = there(values)
            if back(data) != values:
                raise AssertionError(f"{case} in {name} came back changed")
            points.append({"case": case, "format": name, "value": len(data)})
    return points


def times(repeat: int) -> tuple[list[Values], list[Values]]:
    """Return microseconds there and back, the formats in turn so that drift meets them alike."""
    made = classes()
    runs: dict[tuple[str, str, str], list[float]] = {}
    for _ in range(repeat):
        for case, (shape, values) in cases(random.Random(1)).items():
            for name, (there, back) in ways(shape, made[shape]).items():
                data = there(values)
                write = seconds(lambda there=there, values=values: there(values))  # type: ignore[misc]
                read = seconds(lambda back=back, data=data: back(data))  # type: ignore[misc]
                runs.setdefault((case, name, "write"), []).append(write * 1e6)
                runs.setdefault((case, name, "read"), []).append(read * 1e6)
    out: dict[str, list[Values]] = {"write": [], "read": []}
    for (case, name, way), all_of in runs.items():
        middle = statistics.median(all_of)
        out[way].append(
            {
                "case": case,
                "format": name,
                "value": float(f"{middle:.3g}"),
                "min": float(f"{min(all_of):.3g}"),
                "max": float(f"{max(all_of):.3g}"),
            }
        )
    return out["write"], out["read"]


def both(zh: str, en: str) -> dict[str, str]:
    return {"zh": zh, "en": en}


def record(repeat: int) -> Values:
    """Measure, and return the record in the form of the handbook."""
    digest = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    axes = [
        {"name": "case", "title": both("内容", "content")},
        {"name": "format", "title": both("格式", "format")},
    ]
    write, read = times(repeat)
    time_of = {"unit": "us", "direction": None, "statistic": "median", "n": repeat, "axes": axes}
    return {
        "schema": 1,
        "id": "wire",
        "title": both("Protobuf 与 JSON 的大小和时间", "Size and time of Protobuf and JSON"),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "machine": {
            "description": both(
                "2 个 vCPU 的 Firecracker 虚拟机，同时有别的任务",
                "Firecracker VM with 2 vCPUs, other jobs running",
            ),
            "os_kernel": platform.release(),
            "cpu": "AMD EPYC, 2 vCPU",
        },
        "program": {"path": "docs/eng/code/wire_speed.py", "sha256": digest},
        "command": "python docs/eng/code/wire_speed.py --json FILE",
        "notes": both(
            f"Python {platform.python_version()}，protobuf {__version__}"
            f"（{api_implementation.Type()}），标准库 json；"
            "从 Python 值到字节再回来。token：流里的一个；prompt：4096 个 id；"
            "embedding：1536 个浮点数；base64：JSON 里放 base64 的 float32。",
            f"Python {platform.python_version()}, protobuf {__version__} "
            f"({api_implementation.Type()}), json of the standard library; "
            "from Python values to bytes and back. Token: one of a stream; prompt: 4096 ids; "
            "embedding: 1536 floats; base64: float32 as base64 in JSON.",
        ),
        "specification": [],
        "results": [
            {
                "id": "size",
                "title": both("大小", "Size"),
                "unit": "B",
                "direction": None,
                "statistic": "exact",
                "n": 1,
                "axes": axes,
                "points": sizes(),
            },
            {"id": "write", "title": both("写成字节", "To bytes")} | time_of | {"points": write},
            {"id": "read", "title": both("读成值", "From bytes")} | time_of | {"points": read},
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", action="store_true", help="only the sizes, which are exact")
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--json", type=Path, help="write the record here")
    options = parser.parse_args()
    if options.sizes:
        for point in sizes():
            print(f"{point['case']:<10} {point['format']:<9} {point['value']:>6} bytes")
        return
    made = record(options.repeat)
    for result in made["results"]:
        for point in result["points"]:
            print(f"{result['id']:<6} {point['case']:<10} {point['format']:<9} {point['value']:>8}")
    if options.json:
        options.json.write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
