"""Count what one message costs a CPU: over a TCP socket, and over the verbs path.

    python docs/link/infiniband/code/copies.py                 # 1000 messages of 4096 bytes
    python docs/link/infiniband/code/copies.py -n 10 -s 8192   # others

The TCP half really runs, over the loopback device: every system call goes through `Counted`, and
where Linux shows them, its own counters in /proc/self/io must agree. The verbs half is a model in
one process, without a device and without time: the same queues, with the party that touches each
byte written down. Which call enters the kernel follows rdma-core 64.0 and its mlx5 provider.
"""

from __future__ import annotations

import argparse
import os
import socket
import threading
from dataclasses import dataclass, field
from pathlib import Path

COUNTERS = Path("/proc/self/io")


@dataclass
class Cost:
    """What the CPUs of both sides did."""

    setup: int = 0
    kernel: int = 0
    copied: int = 0
    dma: int = 0
    doorbells: int = 0


# --8<-- [start:tcp]
@dataclass
class Counted:
    """A file descriptor that counts calls, and bytes that the kernel copied for them."""

    fd: int
    calls: int = 0
    copied: int = 0

    def send(self, data: bytes) -> None:
        """Hand the data to the kernel, which copies it into socket buffers."""
        self.calls += 1
        self.copied += os.write(self.fd, data)

    def receive(self, size: int) -> bytes:
        """Wait for a message; the kernel copies it out of its socket buffers."""
        self.calls += 1
        data = os.read(self.fd, size)
        self.copied += len(data)
        return data
        # --8<-- [end:tcp]


def kernel_counters() -> tuple[int, int]:
    """Return the process's read and write calls and the bytes they moved, or zeros."""
    if not COUNTERS.exists():
        return 0, 0
    values = dict(line.split(": ") for line in COUNTERS.read_text().splitlines())
    calls = int(values["syscr"]) + int(values["syscw"])
    return calls, int(values["rchar"]) + int(values["wchar"])


def over_tcp(messages: int, size: int) -> tuple[Cost, tuple[int, int]]:
    """Send messages through the loopback device, one after another; return also Linux's count."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname())
        server, _ = listener.accept()
    with client, server:
        # A read returns only whole messages, so that calls can be counted.
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, size)
        a, b = Counted(client.fileno()), Counted(server.fileno())
        payload = bytes(size)
        turn = threading.Semaphore(0)

        def serve() -> None:
            for _ in range(messages):
                b.receive(size)
                turn.release()

        thread = threading.Thread(target=serve)
        before = kernel_counters()
        overhead = kernel_counters()  # what reading the counters adds to them
        thread.start()
        for _ in range(messages):
            a.send(payload)
            turn.acquire()
        thread.join()
        after = kernel_counters()
    seen = tuple(z - y - (y - x) for x, y, z in zip(before, overhead, after, strict=True))
    return Cost(kernel=a.calls + b.calls, copied=a.copied + b.copied), (seen[0], seen[1])


@dataclass
class Nic:
    """The adapter: it fetches work requests, moves bytes and writes completions by DMA."""

    cost: Cost
    completions: list[int] = field(default_factory=list)

    def doorbell(self, work: tuple[memoryview, memoryview]) -> None:
        """Carry out a WRITE; the CPU's part was one store to a mapped register."""
        self.cost.doorbells += 1
        source, target = work
        target[:] = source
        self.cost.dma += 2 * len(source)  # read at one end, written at the other
        self.completions.append(0)


# --8<-- [start:verbs]
SETUP = ["open_device", "alloc_pd", "reg_mr", "create_cq", "create_qp", "to INIT", "RTR", "RTS"]


def over_verbs(messages: int, size: int) -> Cost:
    """Send messages as RDMA WRITE: the kernel takes part in the set-up only."""
    cost = Cost(setup=2 * len(SETUP))  # both sides; at least one system call each
    source, target = memoryview(bytearray(size)), memoryview(bytearray(size))
    nic = Nic(cost)
    for _ in range(messages):
        nic.doorbell((source, target))  # ibv_post_send: stores, no system call
        while not nic.completions:  # ibv_poll_cq: loads from mapped memory
            pass
        nic.completions.pop()
    return cost
    # --8<-- [end:verbs]


def main() -> None:
    """Print both counts side by side."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("-n", "--messages", type=int, default=1000)
    parser.add_argument("-s", "--size", type=int, default=4096, help="bytes of a message")
    options = parser.parse_args()
    tcp, seen = over_tcp(options.messages, options.size)
    verbs = over_verbs(options.messages, options.size)
    if any(seen) and seen != (tcp.kernel, tcp.copied):
        raise SystemExit(f"Linux counted {seen}, the program {(tcp.kernel, tcp.copied)}")
    n, payload = options.messages, options.messages * options.size
    print(f"{n} messages of {options.size} bytes, one way, both sides together")
    print(f"{'':36}{'TCP, run':>12}{'verbs, model':>14}")
    rows = [
        ("system calls before the first message", "-", tcp.setup, verbs.setup),
        ("system calls per message", "", tcp.kernel / n, verbs.kernel / n),
        ("doorbells per message", "", tcp.doorbells / n, verbs.doorbells / n),
        ("bytes copied by a CPU / payload", "", tcp.copied / payload, verbs.copied / payload),
    ]
    for name, skip, left, right in rows:
        print(f"{name:36}{skip or format(left, 'g'):>12}{right:>14g}")


if __name__ == "__main__":
    main()
