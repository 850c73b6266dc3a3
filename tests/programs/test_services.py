"""Protobuf by hand, equal to the official guide and library; a service over gRPC."""

from __future__ import annotations

import importlib.util
import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import (  # type: ignore[import-untyped]
    descriptor_pb2,
    descriptor_pool,
    message_factory,
)

from tests.programs import printed
from tools.figures.files import ROOT

(wire,) = printed.load("eng/code", "wire")

TYPES = {  # number in descriptors, bits of the largest value
    **{"int32": (5, 31), "int64": (3, 63), "sint32": (17, 31), "sint64": (18, 63)},
    **{"uint64": (4, 64), "fixed64": (6, 64), "bool": (8, 1)},
    **{"float": (2, 0), "double": (1, 0), "string": (9, 0), "bytes": (12, 0)},
}


def official(schema: Any) -> Any:
    """Return the class that the official library makes of a schema, without protoc."""
    file = descriptor_pb2.FileDescriptorProto(name="case.proto", package="p", syntax="proto3")
    message = file.message_type.add(name="M")
    for number, field in schema.items():
        label = 3 if field.repeated else 1
        message.field.add(name=field.name, number=number, type=TYPES[field.type][0], label=label)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("p.M"))


def anything(kind: str, rng: random.Random) -> Any:
    made: dict[str, Any] = {
        "bool": True,
        "string": "字 " * rng.randint(1, 90),
        "bytes": rng.randbytes(rng.randint(1, 300)),
        **dict.fromkeys(("float", "double"), rng.randint(1, 99) / 4),
    }
    high = (1 << rng.randint(1, max(TYPES[kind][1], 1))) - 1
    return made.get(kind, high if kind in ("uint64", "fixed64") else rng.choice([high, -high]))


@pytest.mark.parametrize(("schema", "message", "shown"), wire.GUIDE)
def test_the_guide_prints_these_bytes(schema: Any, message: Any, shown: str) -> None:
    assert wire.encode(schema, message).hex() == shown
    assert wire.decode(schema, bytes.fromhex(shown)) == message


@pytest.mark.parametrize("repeated", [False, True])
@pytest.mark.parametrize("kind", TYPES)
def test_the_official_library_agrees(kind: str, repeated: bool) -> None:
    rng = random.Random(kind)
    for number in (1, 15, 16, 2047, 2048, 18999):
        schema = {number: wire.Field("a", kind, repeated)}
        value = [anything(kind, rng) for _ in range(5)] if repeated else anything(kind, rng)
        theirs = official(schema)(a=value).SerializeToString()
        assert wire.encode(schema, {"a": value}) == theirs
        assert wire.decode(schema, theirs) == {"a": value}


def test_repeated_numbers_are_read_packed_or_not() -> None:
    schema = {5: wire.Field("e", "int32", repeated=True)}
    assert wire.decode(schema, bytes.fromhex("28012a02020328 04")) == {"e": [1, 2, 3, 4]}


@pytest.mark.parametrize(
    "data", ["08", "0896", "1207746573", "0d0000", "00", "ff" * 11, "0b"], ids=str
)
def test_broken_bytes_are_refused(data: str) -> None:
    with pytest.raises(ValueError, match=r"truncated|ten bytes|no field"):
        wire.decode(wire.TEST1, bytes.fromhex(data))


def test_an_unknown_field_survives_an_older_program() -> None:
    new = {"prompt": "hi", "max_tokens": 9, "top_k": 40}
    old = wire.READERS["older, without top_k"]
    seen = wire.decode(old, wire.encode(wire.NEW, new))
    assert "top_k" not in seen
    assert wire.decode(wire.NEW, wire.encode(old, seen)) == new


SERVING = ROOT / "docs/eng/code/serving"
NEEDS_GRPC = pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in ("grpc", "grpc_tools", "grpc_health")),
    reason="needs grpcio, grpcio-tools and grpcio-health-checking",
)


def paths(*first: Path) -> dict[str, str]:
    """Return the environment with these folders before those where Python looks for modules."""
    known = os.environ.get("PYTHONPATH")
    found = [*map(str, first), *([known] if known else [])]
    return os.environ | {"PYTHONPATH": os.pathsep.join(found), "GRPC_VERBOSITY": "NONE"}


def run(program: str, cwd: Path) -> str:
    """Generate the code into a folder and return what a program of the example prints."""
    out = ["-I", str(SERVING), f"--python_out={cwd}", f"--grpc_python_out={cwd}"]
    printed.by_python("-m", "grpc_tools.protoc", *out, SERVING / "tokens.proto")
    return printed.by_python(SERVING / program, env=paths(cwd), timeout=60).strip()


@NEEDS_GRPC
def test_the_notes_show_what_the_service_says(tmp_path: Path) -> None:
    said = run("client.py", tmp_path)
    assert all(said in printed.text(note) for note in ("eng/grpc", "eng/grpc.en"))
    behind, chosen, first = (
        [int(number) for number in re.findall(r"[abc] (\d+)", line)]
        for line in run("balance.py", tmp_path).splitlines()
    )
    assert sorted(behind) == sorted(first) == [0, 0, 300]
    assert min(chosen) > 90


@NEEDS_GRPC
def test_a_stream_that_runs_ends_well_when_the_server_is_told_to_stop(tmp_path: Path) -> None:
    run("client.py", tmp_path)
    ask = (
        "import asyncio, grpc, sys, tokens_pb2, tokens_pb2_grpc\n"
        "async def main():\n"
        "    async with grpc.aio.insecure_channel(sys.argv[1]) as channel:\n"
        "        request = tokens_pb2.GenerateRequest(prompt='a b', max_tokens=50)\n"
        "        call = tokens_pb2_grpc.TokensStub(channel).Generate(request, timeout=9)\n"
        "        count = 0\n"
        "        async for _ in call:\n"
        "            count += 1\n"
        "            print(count, flush=True)\n"
        "        print(await call.code())\n"
        "asyncio.run(main())\n"
    )
    environment = paths(tmp_path, SERVING)
    server = [sys.executable, str(SERVING / "server.py"), "--address", "127.0.0.1:0"]
    with subprocess.Popen(server, env=environment, stdout=subprocess.PIPE, text=True) as serving:
        assert serving.stdout is not None
        port = serving.stdout.readline().split()[-1]
        with subprocess.Popen(
            [sys.executable, "-c", ask, f"127.0.0.1:{port}"],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        ) as asking:
            assert asking.stdout is not None
            assert asking.stdout.readline() == "1\n"
            serving.send_signal(signal.SIGTERM)
            assert asking.stdout.read().splitlines()[-2:] == ["50", "StatusCode.OK"]
        assert serving.wait(timeout=60) == 0


def test_the_parts_of_the_service_name_the_same_things() -> None:
    proto = (SERVING / "tokens.proto").read_text("utf-8")
    package, service = (
        re.search(pattern, proto) for pattern in (r"(?m)^package (.*);", r"(?m)^service (\w+)")
    )
    assert package and service
    server = (SERVING / "server.py").read_text("utf-8")
    assert f'SERVICE = "{package[1]}.{service[1]}"' in server
    docker = (SERVING / "Dockerfile").read_text("utf-8")
    for line in re.findall(r"(?m)^COPY (?!--from)(.*)", docker):
        for name in line.split()[:-1]:
            assert (SERVING / name).exists()
