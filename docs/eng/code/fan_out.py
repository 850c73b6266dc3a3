"""One producer, several consumers that each need every message: by queues, pipes, or one ring.

python docs/eng/code/fan_out.py            the same messages by each way, checked
python docs/eng/code/fan_out.py --time     one JSON object a line: bytes delivered a second

In a queue or a pipe each consumer gets a copy of its own. In the ring the message lies once in
shared memory; consumers read it there and say by a number how far they are. The numbers need a
processor that keeps the order of stores, as x86-64 does: Python has no fences.
"""

from __future__ import annotations

import json
import statistics
import struct
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from multiprocessing import Pipe, Process, Queue, SimpleQueue
from multiprocessing.shared_memory import SharedMemory
from typing import Any

SLOTS = 8
LINE = 128  # bytes between two counters, so that they share no cache line, nor a pair of lines
COUNTER = struct.Struct("<q")
Feed = Callable[[], memoryview | bytes]
Way = Callable[[int, int, int], tuple[list[Callable[[], Feed]], Callable[[bytes], None]]]


# --8<-- [start:ring]
class Ring:
    """A ring of messages in shared memory: one writer, readers that each see every message."""

    def __init__(self, size: int, readers: int, name: str = "") -> None:
        """Make a ring, or with a name open one that exists."""
        self.size, self.readers = size, readers
        bytes_all = LINE * (1 + readers) + SLOTS * size
        self.memory = SharedMemory(name or None, create=not name, size=bytes_all)
        self.next = 0

    def counter(self, number: int) -> int:
        """Return how many messages are written (0), or a reader is done with (1, 2, …)."""
        return int(COUNTER.unpack_from(self.memory.buf, LINE * number)[0])

    def count(self, number: int, value: int) -> None:
        COUNTER.pack_into(self.memory.buf, LINE * number, value)

    def slot(self, sequence: int) -> memoryview:
        start = LINE * (1 + self.readers) + sequence % SLOTS * self.size
        return self.memory.buf[start : start + self.size]

    def put(self, message: bytes) -> None:
        """Write a message once the slowest reader has left its slot."""
        while self.next - min(map(self.counter, range(1, self.readers + 1))) >= SLOTS:
            time.sleep(0)
        self.slot(self.next)[:] = message
        self.next += 1
        self.count(0, self.next)  # published: only now may readers look

    def get(self, reader: int) -> memoryview:
        """Return the next message where it lies; asking again gives it back."""
        if self.next:
            self.count(reader, self.next)
        while self.counter(0) <= self.next:
            time.sleep(0)
        self.next += 1
        return self.slot(self.next - 1)

    # --8<-- [end:ring]


def by_queues(_: int, readers: int, __: int) -> Any:
    """Give each consumer a queue of its own; messages are pickled for each."""
    queues: list[Queue[bytes]] = [Queue(SLOTS) for _ in range(readers)]
    return [lambda one=one: one.get for one in queues], lambda m: [one.put(m) for one in queues]


def by_pipes(_: int, readers: int, __: int) -> Any:
    """Give each consumer a pipe; bytes are copied into the kernel and out for each."""
    ends = [Pipe(duplex=False) for _ in range(readers)]
    return (
        [lambda one=one: one.recv_bytes for one, _ in ends],
        lambda m: [one.send_bytes(m) for _, one in ends],
    )


def by_ring(size: int, readers: int, _: int) -> Any:
    """Give all consumers one ring."""
    ring = Ring(size, readers)

    def opened(number: int) -> Callable[[], Feed]:
        def open_it() -> Feed:
            mine = Ring(size, readers, ring.memory.name)
            return lambda: mine.get(number)

        return open_it

    return [opened(number) for number in range(1, readers + 1)], ring.put


WAYS: dict[str, Any] = {"queues": by_queues, "pipes": by_pipes, "ring": by_ring}


def _consume(opened: Callable[[], Feed], messages: int, done: SimpleQueue[int]) -> None:
    feed, total = opened(), 1
    for _ in range(messages):
        total = zlib.adler32(feed(), total)  # every byte is read
    done.put(total)


def run(way: str, size: int, readers: int, messages: int) -> tuple[float, set[int]]:
    """Return the seconds for all messages, and the checksums that the consumers came to."""
    openers, put = WAYS[way](size, readers, messages)
    done: SimpleQueue[int] = SimpleQueue()
    workers = [Process(target=_consume, args=(one, messages, done)) for one in openers]
    for worker in workers:
        worker.start()
    texts = [bytes([number]) * size for number in range(3)]
    start = time.perf_counter()
    for number in range(messages):
        put(texts[number % 3])
    sums = {done.get() for _ in workers}
    took = time.perf_counter() - start
    for worker in workers:
        worker.join()
    if way == "ring":
        memory = put.__self__.memory
        memory.close()
        memory.unlink()
    return took, sums


def expected(size: int, messages: int) -> int:
    """Return the checksum of all messages in order."""
    total = 1
    for number in range(messages):
        total = zlib.adler32(bytes([number % 3]) * size, total)
    return total


def lines() -> Iterator[dict[str, Any]]:
    for size, messages in ((4096, 4000), (262144, 800), (4194304, 120)):
        for readers in (1, 4, 8):
            rates: dict[str, list[float]] = {way: [] for way in WAYS}
            for _ in range(5):
                for way, found in rates.items():  # by turns
                    took, _sums = run(way, size, readers, messages)
                    found.append(size * messages * readers / took / 1e9)
            for way, found in rates.items():
                found.sort()
                yield {
                    "result": "delivered",
                    "way": way,
                    "consumers": readers,
                    "bytes": size,
                    "unit": "GB/s",
                    "n": len(found),
                    "median": statistics.median(found),
                    "p5": found[0],
                    "p95": found[-1],
                }


def main() -> None:
    if "--time" in sys.argv:
        for line in lines():
            print(json.dumps(line), flush=True)
        return
    for way in WAYS:
        _, sums = run(way, 100_000, 3, 40)
        good = sums == {expected(100_000, 40)}
        print(f"{way:<7} 3 consumers, 40 messages of 100,000 bytes: {'equal' if good else sums}")


if __name__ == "__main__":
    main()
