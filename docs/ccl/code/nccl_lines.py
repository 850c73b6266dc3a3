"""How NCCL's protocols lay a message out in lines, and what a buffer holds.

    python docs/ccl/code/nccl_lines.py

After ncclLLFifoLine in src/include/device.h, storeLL in src/device/prims_ll.h, recvReduceSendCopy
in src/device/prims_ll128.h, and computeBuffSizes in src/init.cc of NCCL v2.30.7-1. LL: per line of
16 bytes four of data, four of flag, twice. LL128: per line of 128 bytes 120 of data, then a flag
of eight.
"""

from __future__ import annotations

import struct

STEPS = 8
THREADS = {"LL": 512, "LL128": 640, "Simple": 512}
BUFFER = {"LL": 8 * 512 * STEPS * 16, "LL128": 120 * 640 * STEPS * 8, "Simple": 4 << 20}
SHARE = {"LL": (1, 2), "LL128": (15, 16), "Simple": (1, 1)}


class NotReadyError(Exception):
    """A flag that is not that of the step: the reader must look again."""


def pack_ll(data: bytes, step: int) -> bytes:
    """Return lines of 16 bytes; the flag is step + 1, so that an empty buffer never matches."""
    data += bytes(-len(data) % 8)
    words = struct.iter_unpack("<II", data)
    return b"".join(struct.pack("<IIII", a, step + 1, b, step + 1) for a, b in words)


def unpack_ll(lines: bytes, step: int) -> bytes:
    """Return the data if both flags of every line are those of the step."""
    out = []
    for first, flag1, second, flag2 in struct.iter_unpack("<IIII", lines):
        if (flag1, flag2) != (step + 1, step + 1):
            raise NotReadyError
        out.append(struct.pack("<II", first, second))
    return b"".join(out)


def pack_ll128(data: bytes, step: int) -> bytes:
    """Return lines of 128 bytes, the flag in the last eight.

    A warp stores sixteen lines at a time, the last one whole too, so data is padded to 1920 bytes;
    which word stands in which line differs in NCCL, for the flag lanes pass theirs on.
    """
    data += bytes(-len(data) % 1920)
    flag = struct.pack("<Q", step + 1)
    return b"".join(data[i : i + 120] + flag for i in range(0, len(data), 120))


def unpack_ll128(lines: bytes, step: int) -> bytes:
    """Return the data if the flag of every line is that of the step."""
    whole = [lines[i : i + 128] for i in range(0, len(lines), 128)]
    if any(struct.unpack("<Q", one[120:]) != (step + 1,) for one in whole):
        raise NotReadyError
    return b"".join(one[:120] for one in whole)


def main() -> None:
    """Print what a message of 3840 bytes takes, and what each buffer and step holds."""
    message = bytes(range(256)) * 15
    sizes = {
        "LL": len(pack_ll(message, 0)),
        "LL128": len(pack_ll128(message, 0)),
        "Simple": len(message),
    }
    print(f"message of {len(message)} B")
    print("protocol  on the wire   share   buffer B   a step B   data in a step B")
    for name, size in sizes.items():
        step = BUFFER[name] // STEPS
        data = step * SHARE[name][0] // SHARE[name][1]
        share = len(message) / size
        print(f"{name:8}{size:13}{share:8.2%}{BUFFER[name]:11}{step:11}{data:19}")
    print("LL line 0, step 0:  ", pack_ll(message, 0)[:16].hex(" ", 4))
    print("LL128 line 0, end:  ", pack_ll128(message, 0)[112:128].hex(" ", 8))


if __name__ == "__main__":
    main()
