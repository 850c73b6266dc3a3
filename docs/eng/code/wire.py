"""Protobuf's wire format by hand: encode, decode, and what a reader of another schema sees.

Proves itself on the examples of the official encoding guide. Only Python.
"""

from __future__ import annotations

import argparse
import json
import struct
from typing import Any, NamedTuple

VARINT, I64, LEN, I32 = 0, 1, 2, 5
MASK = (1 << 64) - 1
DEEPEST = 100  # messages in messages that C++ and Java accept


class Field(NamedTuple):
    """A line of a .proto: its name and type; repeated numbers are packed."""

    name: str
    type: str
    repeated: bool = False
    message: dict[int, Field] | None = None


Schema = dict[int, Field]
WIRE = {"float": I32, "double": I64, "fixed64": I64, "string": LEN, "bytes": LEN, "message": LEN}
PACK = {"float": "<f", "double": "<d", "fixed64": "<Q"}


def varint(value: int) -> bytes:
    """Return seven bits a byte, lowest first; the top bit says that more follow."""
    value &= MASK  # a negative int32 becomes 64 bits of two's complement: ten bytes
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number and the position after it."""
    value = 0
    for count in range(10):
        if at + count >= len(data):
            raise ValueError("truncated")
        byte = data[at + count]
        value |= (byte & 0x7F) << 7 * count
        if byte < 0x80:
            return value & MASK, at + count + 1
    raise ValueError("a varint has at most ten bytes")


def zigzag(value: int) -> int:
    """Return 0, -1, 1, -2 … as 0, 1, 2, 3 …: small magnitudes stay short."""
    return value << 1 if value >= 0 else (-value << 1) - 1


def unzigzag(value: int) -> int:
    return value >> 1 if value % 2 == 0 else -(value + 1 >> 1)


def scalar(kind: str, value: Any) -> bytes:
    if kind in PACK:
        packed: bytes = struct.pack(PACK[kind], value)
        return packed
    return varint(zigzag(value) if kind.startswith("sint") else int(value))


def record(number: int, wire: int, payload: bytes) -> bytes:
    """Return one record: the tag, for LEN the length, the payload."""
    size = varint(len(payload)) if wire == LEN else b""
    return varint(number << 3 | wire) + size + payload


def encode(schema: Schema, message: dict[str, Any]) -> bytes:
    """Return the bytes of a message; a field that is absent from it costs nothing."""
    out: bytes = message.get("unknown", b"")
    for number, field in schema.items():
        if field.name not in message:
            continue
        value = message[field.name]
        wire = WIRE.get(field.type, VARINT)
        if field.repeated and wire != LEN:
            payload = b"".join(scalar(field.type, one) for one in value)
            out += record(number, LEN, payload)
            continue
        for one in value if field.repeated else [value]:
            if field.type == "message":
                payload = encode(field.message or {}, one)
            elif wire == LEN:
                payload = one.encode() if field.type == "string" else one
            else:
                payload = scalar(field.type, one)
            out += record(number, wire, payload)
    return out


def records(data: bytes) -> list[tuple[int, int, Any, bytes]]:
    """Split bytes into (number, wire type, payload, the record's bytes), without a schema."""
    found: list[tuple[int, int, Any, bytes]] = []
    at = 0
    while at < len(data):
        start = at
        tag, at = read_varint(data, at)
        wire, value = tag & 7, b""
        if wire == VARINT:
            number, at = read_varint(data, at)
            found.append((tag >> 3, wire, number, data[start:at]))
            continue
        size = {I32: 4, I64: 8}.get(wire)
        if wire == LEN:
            size, at = read_varint(data, at)
        if size is None or tag >> 3 == 0:
            raise ValueError(f"no field {tag >> 3} of wire type {wire} here")
        if at + size > len(data):
            raise ValueError("truncated")
        value, at = data[at : at + size], at + size
        found.append((tag >> 3, wire, value, data[start:at]))
    return found


def number_of(kind: str, raw: int) -> Any:
    """Return what a varint means in a type; a wider number is cut, as a cast in C++ would."""
    if kind == "bool":
        return raw != 0
    if kind.startswith("sint"):
        return unzigzag(raw)
    bits = 32 if kind in ("int32", "enum") else 64
    raw &= (1 << bits) - 1
    return raw - (1 << bits) if raw >> bits - 1 else raw


def read(field: Field, wire: int, value: Any, depth: int) -> list[Any] | None:
    """Return the values of a record, or None where its wire type is not the field's."""
    natural = WIRE.get(field.type, VARINT)
    if wire == LEN and natural != LEN and field.repeated:  # packed
        if natural != VARINT:
            return [one for (one,) in struct.iter_unpack(PACK[field.type], value)]
        found, at = [], 0
        while at < len(value):
            raw, at = read_varint(value, at)
            found.append(number_of(field.type, raw))
        return found
    if wire != natural:
        return None
    if field.type == "message":
        return [decode(field.message or {}, value, depth + 1)]
    if field.type == "string":
        return [value.decode()]
    if wire == VARINT:
        return [number_of(field.type, value)]
    return [struct.unpack(PACK[field.type], value)[0]] if wire in (I32, I64) else [value]


def decode(schema: Schema, data: bytes, depth: int = 1) -> dict[str, Any]:
    """Return the message; what the schema does not know stays, as bytes, under "unknown"."""
    if depth > DEEPEST:
        raise ValueError("nested too deep")
    out: dict[str, Any] = {}
    for number, wire, value, raw in records(data):
        field = schema.get(number)
        values = read(field, wire, value, depth) if field else None
        if field is None or values is None:
            out["unknown"] = out.get("unknown", b"") + raw
        elif field.repeated:
            out.setdefault(field.name, []).extend(values)
        else:  # the last one wins; a real parser merges messages, this one does not
            out[field.name] = values[-1]
    return out


# --8<-- [start:guide]
TEST1: Schema = {1: Field("a", "int32")}
GUIDE: list[tuple[Schema, dict[str, Any], str]] = [  # what the encoding guide prints
    (TEST1, {"a": 150}, "089601"),
    ({2: Field("b", "string")}, {"b": "testing"}, "120774657374696e67"),
    ({3: Field("c", "message", message=TEST1)}, {"c": {"a": 150}}, "1a03089601"),
    (
        {4: Field("d", "string"), 5: Field("e", "int32", repeated=True)},
        {"d": "hello", "e": [1, 2, 3]},
        "220568656c6c6f2a03010203",
    ),
]
# --8<-- [end:guide]

# --8<-- [start:evolve]
NEW: Schema = {
    1: Field("prompt", "string"),
    2: Field("max_tokens", "int64"),
    3: Field("top_k", "int32"),
}
READERS: dict[str, Schema] = {
    "older, without top_k": {1: Field("prompt", "string"), 2: Field("max_tokens", "int64")},
    "max_tokens as int32": {**NEW, 2: Field("max_tokens", "int32")},
    "max_tokens as sint64": {**NEW, 2: Field("max_tokens", "sint64")},
    "number 3 used again": {**NEW, 3: Field("stream", "bool")},
    "top_k as string": {**NEW, 3: Field("top_k", "string")},
}
# --8<-- [end:evolve]


def guide() -> None:
    for schema, message, printed in GUIDE:
        made = encode(schema, message)
        verdict = "equal" if made.hex() == printed and decode(schema, made) == message else "WRONG"
        print(f"{json.dumps(message):<34} {made.hex(' '):<36} {verdict}")
    print("int32 -2   ", varint(-2).hex(" "), f"({len(varint(-2))} bytes)")
    print("sint32 -2  ", varint(zigzag(-2)).hex(" "), "(zigzag: 3)")
    for number in (1, 15, 16, 2047, 2048):
        size = len(varint(number << 3))
        print(f"tag of field {number:<5} {size} {'byte' if size == 1 else 'bytes'}")


def evolve() -> None:
    sent = encode(NEW, {"prompt": "hi", "max_tokens": 2**32 + 7, "top_k": 40})
    print("sent:", sent.hex(" "))
    for name, schema in READERS.items():
        seen = decode(schema, sent)
        unknown = seen.pop("unknown", b"").hex(" ")
        print(f"{name + ':':<22}{seen}" + (f", unknown {unknown}" if unknown else ""))
    old = READERS["older, without top_k"]
    again = decode(NEW, encode(old, decode(old, sent)))
    print("through the older one and back:", again)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--evolve", action="store_true", help="read with other schemas")
    evolve() if parser.parse_args().evolve else guide()


if __name__ == "__main__":
    main()
