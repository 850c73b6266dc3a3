"""Build a RoCEv2 packet, or take one apart field by field and check its ICRC.

    python docs/link/infiniband/code/dissect.py              # an RDMA WRITE, built here
    python docs/link/infiniband/code/dissect.py --captured   # a CNP that a ConnectX-4 Lx sent
    python docs/link/infiniband/code/dissect.py HEX...       # yours, from tcpdump -xx (IPv4)
    python docs/link/infiniband/code/dissect.py --only BTH ICRC

A header is a list of fields with their bits, the most significant first; the opcode in the BTH
says which headers follow. Sizes and the ICRC's rule are those of Linux's rxe driver; the captured
packet is the one in Scapy's tests. Pure Python, standard library.
"""

from __future__ import annotations

import argparse
import sys
import zlib

Values = dict[str, int]

# --8<-- [start:headers]
HEADERS: dict[str, list[tuple[str, int]]] = {
    "Ethernet": [("destination", 48), ("source", 48), ("type", 16)],
    "IPv4": [
        *[("version", 4), ("words", 4), ("dscp", 6), ("ecn", 2), ("length", 16)],
        *[("id", 16), ("flags", 3), ("offset", 13), ("ttl", 8), ("protocol", 8)],
        *[("checksum", 16), ("source", 32), ("destination", 32)],
    ],
    "UDP": [("source port", 16), ("destination port", 16), ("length", 16), ("checksum", 16)],
    "BTH": [
        *[("opcode", 8), ("solicited", 1), ("migrated", 1), ("pad", 2), ("version", 4)],
        *[("pkey", 16), ("fecn", 1), ("becn", 1), ("reserved 6", 6), ("destination qp", 24)],
        *[("ack request", 1), ("reserved 7", 7), ("psn", 24)],
    ],
    "RETH": [("address", 64), ("rkey", 32), ("dma length", 32)],
    "AETH": [("syndrome", 8), ("msn", 24)],
    "DETH": [("qkey", 32), ("reserved", 8), ("source qp", 24)],
    "AtomicETH": [("address", 64), ("rkey", 32), ("swap or add", 64), ("compare", 64)],
    "AtomicAckETH": [("original", 64)],
    "ImmDt": [("immediate", 32)],
    "IETH": [("rkey", 32)],
    "CNP": [("reserved", 128)],
}
# --8<-- [end:headers]
OPERATIONS: list[tuple[str, list[str]]] = [
    ("SEND_FIRST", []),
    ("SEND_MIDDLE", []),
    ("SEND_LAST", []),
    ("SEND_LAST_IMM", ["ImmDt"]),
    ("SEND_ONLY", []),
    ("SEND_ONLY_IMM", ["ImmDt"]),
    ("WRITE_FIRST", ["RETH"]),
    ("WRITE_MIDDLE", []),
    ("WRITE_LAST", []),
    ("WRITE_LAST_IMM", ["ImmDt"]),
    ("WRITE_ONLY", ["RETH"]),
    ("WRITE_ONLY_IMM", ["RETH", "ImmDt"]),
    ("READ_REQUEST", ["RETH"]),
    ("READ_RESPONSE_FIRST", ["AETH"]),
    ("READ_RESPONSE_MIDDLE", []),
    ("READ_RESPONSE_LAST", ["AETH"]),
    ("READ_RESPONSE_ONLY", ["AETH"]),
    ("ACKNOWLEDGE", ["AETH"]),
    ("ATOMIC_ACKNOWLEDGE", ["AETH", "AtomicAckETH"]),
    ("COMPARE_SWAP", ["AtomicETH"]),
    ("FETCH_ADD", ["AtomicETH"]),
    ("reserved", []),
    ("SEND_LAST_INV", ["IETH"]),
    ("SEND_ONLY_INV", ["IETH"]),
]
TRANSPORTS = {0x00: "RC", 0x20: "UC", 0x60: "UD"}
CAPTURED = (
    "e41d2dab2bc27cfe90643b32080045c2003c718c4000401191610a0011010a001201"
    "000012b7002800008100ffff400001180000000000000000000000000000000000000000"
    "82fd002a"
)
ICRC_SIZE = 4


def size(header: str) -> int:
    """Return the bytes of a header."""
    return sum(bits for _, bits in HEADERS[header]) // 8


def unpack(header: str, data: bytes) -> Values:
    """Return a header's fields, from the bytes that start with it."""
    if len(data) < size(header):
        raise ValueError(f"{header} needs {size(header)} bytes, {len(data)} are left")
    number, values = int.from_bytes(data[: size(header)], "big"), {}
    for name, bits in reversed(HEADERS[header]):
        values[name] = number & ((1 << bits) - 1)
        number >>= bits
    return dict(reversed(values.items()))


def pack(header: str, values: Values) -> bytes:
    """Return a header as bytes; fields that are not named are zero."""
    number = 0
    for name, bits in HEADERS[header]:
        value = values.get(name, 0)
        if value >> bits:
            raise ValueError(f"{header}: {name} = {value:#x} does not fit {bits} bits")
        number = number << bits | value
    return number.to_bytes(size(header), "big")


def operation(opcode: int) -> tuple[str, list[str]]:
    """Return an opcode's name, and the headers between the BTH and the payload."""
    if opcode == 0x81:
        return "CNP", ["CNP"]
    transport, code = TRANSPORTS.get(opcode & 0xE0), opcode & 0x1F
    if transport is None or code >= len(OPERATIONS):
        raise ValueError(f"opcode {opcode:#04x} is not known here")
    name, following = OPERATIONS[code]
    return f"{transport}_{name}", ["DETH", *following] if transport == "UD" else following


# --8<-- [start:icrc]
def icrc(packet: bytes) -> bytes:
    """Return the ICRC of what lies between the Ethernet header and the ICRC (IPv4).

    Fields that a router or switch may change count as ones, and eight bytes of ones stand where
    InfiniBand has its LRH: what the ICRC covers is the same at both ends.
    """
    ip, udp, bth = unpack("IPv4", packet), unpack("UDP", packet[20:]), unpack("BTH", packet[28:])
    ip |= {"dscp": 0x3F, "ecn": 3, "ttl": 0xFF, "checksum": 0xFFFF}
    udp |= {"checksum": 0xFFFF}
    bth |= {"fecn": 1, "becn": 1, "reserved 6": 0x3F}
    masked = pack("IPv4", ip) + pack("UDP", udp) + pack("BTH", bth) + packet[40:]
    return zlib.crc32(b"\xff" * 8 + masked).to_bytes(4, "little")
    # --8<-- [end:icrc]


def ip_checksum(header: bytes) -> int:
    """Return the checksum of an IPv4 header whose checksum field is zero."""
    total = sum(int.from_bytes(header[n : n + 2], "big") for n in range(0, len(header), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def build(opcode: int, bth: Values, extended: dict[str, Values], payload: bytes) -> bytes:
    """Return a packet from 192.0.2.1 to 192.0.2.2, without the FCS that the port adds."""
    _, following = operation(opcode)
    pad = -len(payload) % 4
    transport = pack("BTH", {"opcode": opcode, "pad": pad, "pkey": 0xFFFF, **bth})
    transport += b"".join(pack(name, extended.get(name, {})) for name in following)
    transport += payload + bytes(pad)
    length = size("UDP") + len(transport) + ICRC_SIZE
    addresses = {"source": 0xC0000201, "destination": 0xC0000202}
    ip = {"version": 4, "words": 5, "dscp": 26, "ecn": 2, "length": 20 + length, "flags": 2}
    ip |= {"ttl": 64, "protocol": 17, **addresses}
    ip["checksum"] = ip_checksum(pack("IPv4", ip))
    udp = {"source port": 0xC001, "destination port": 4791, "length": length}
    packet = pack("IPv4", ip) + pack("UDP", udp) + transport
    ethernet = {"destination": 0x020000000002, "source": 0x020000000001, "type": 0x0800}
    return pack("Ethernet", ethernet) + packet + icrc(packet)


def dissect(frame: bytes) -> list[tuple[str, str, str]]:
    """Return (header, field, value) for each field of a frame without FCS."""
    rows: list[tuple[str, str, str]] = []
    at = 0
    found: dict[str, Values] = {}
    following = ["Ethernet", "IPv4", "UDP", "BTH"]
    while following:
        header = following.pop(0)
        found[header] = unpack(header, frame[at:])
        at += size(header)
        if header == "Ethernet" and found[header]["type"] != 0x0800:
            raise ValueError("not IPv4")
        if header == "IPv4" and (found[header]["words"], found[header]["protocol"]) != (5, 17):
            raise ValueError("not UDP in an IPv4 packet without options")
        if header == "UDP" and found[header]["destination port"] != 4791:
            raise ValueError(f"UDP port {found[header]['destination port']}, not RoCEv2's 4791")
        if header == "BTH":
            following = list(operation(found[header]["opcode"])[1])
        rows += [(header, name, shown(header, name, v)) for name, v in found[header].items()]
    end = size("Ethernet") + found["IPv4"]["length"] - ICRC_SIZE  # beyond it: Ethernet's padding
    if end < at:
        raise ValueError("the IP length leaves no room for these headers")
    name, _ = operation(found["BTH"]["opcode"])
    rows.append(("payload", "bytes", str(end - found["BTH"]["pad"] - at)))
    carried, computed = frame[end : end + ICRC_SIZE], icrc(frame[size("Ethernet") : end])
    verdict = "right" if carried == computed else f"wrong, should be {computed.hex()}"
    rows.append(("ICRC", carried.hex(), verdict))
    return [("packet", name, f"{len(frame)} bytes"), *rows]


def shown(header: str, name: str, value: int) -> str:
    """Return a field's value as people write it: addresses, decimal numbers, else hexadecimal."""
    if name in ("source", "destination"):
        is_ip = header == "IPv4"
        parts = value.to_bytes(4 if is_ip else 6, "big")
        return ".".join(map(str, parts)) if is_ip else parts.hex(":")
    plain = ("port", "length", "words", "psn", "qp", "ttl", "protocol", "msn")
    return str(value) if value < 10 or name.endswith(plain) else f"{value:#x}"


def main() -> None:
    """Print a packet's fields."""
    parser = argparse.ArgumentParser(description="Take a RoCEv2 packet apart.")
    parser.add_argument("hex", nargs="*", help="the frame, from the destination MAC on")
    parser.add_argument("--captured", action="store_true", help="the published CNP")
    parser.add_argument("--only", nargs="+", metavar="HEADER", help="such as BTH ICRC")
    options = parser.parse_args()
    reth = {"address": 0x7F0000001000, "rkey": 0x1234, "dma length": 6}
    bth = {"destination qp": 17, "psn": 100, "ack request": 1}
    frame = build(0x0A, bth, {"RETH": reth}, b"hello\n")
    if options.captured or options.hex:
        frame = bytes.fromhex(CAPTURED if options.captured else "".join(options.hex))
    before = ""
    for header, name, value in dissect(frame):
        if options.only and header not in options.only:
            continue
        print(f"{header if header != before else '':9} {name:17} {value}")
        before = header


if __name__ == "__main__":
    try:
        main()
    except ValueError as error:
        sys.exit(f"cannot take this apart: {error}")
