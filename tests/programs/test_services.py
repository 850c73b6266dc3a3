"""Protobuf by hand: equal to the official guide and to the official library."""

from __future__ import annotations

import random
from typing import Any

import pytest
from google.protobuf import (  # type: ignore[import-untyped]
    descriptor_pb2,
    descriptor_pool,
    message_factory,
)

from tools.figures.files import load_program

wire = load_program("eng/code/wire.py")

TYPES = {
    "int32": (5, 31),
    "int64": (3, 63),
    "sint32": (17, 31),
    "sint64": (18, 63),
    "uint64": (4, 64),
    "bool": (8, 1),
    "float": (2, 0),
    "double": (1, 0),
    "fixed64": (6, 64),
    "string": (9, 0),
    "bytes": (12, 0),
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
    bits = TYPES[kind][1]
    if kind == "bool":
        return True
    if kind == "string":
        return "字 " * rng.randint(1, 90)
    if kind == "bytes":
        return rng.randbytes(rng.randint(1, 300))
    if kind in ("float", "double"):
        return rng.randint(1, 99) / 4
    high = (1 << rng.randint(1, bits)) - 1
    return high if kind in ("uint64", "fixed64") else rng.choice([high, -high])


@pytest.mark.parametrize(("schema", "message", "printed"), wire.GUIDE)
def test_the_guide_prints_these_bytes(schema: Any, message: Any, printed: str) -> None:
    assert wire.encode(schema, message).hex() == printed
    assert wire.decode(schema, bytes.fromhex(printed)) == message


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
