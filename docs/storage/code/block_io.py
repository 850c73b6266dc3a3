"""Read a file past the page cache with many requests in flight. Standard library only, Linux.

Run:  python docs/storage/code/block_io.py FILE [--make GIB] [--seconds 2]

Each thread keeps one O_DIRECT request open, so threads are the queue depth. Rates in requests and
10^6 bytes per second; latency is the median and the 99th percentile of single
requests. "in flight" is Little's law: requests per second times the mean latency.
"""

from __future__ import annotations

import argparse
import mmap
import os
import random
import threading
import time
from pathlib import Path

SIZES = {"4 KiB": 4 << 10, "64 KiB": 64 << 10, "1 MiB": 1 << 20}
DEPTHS = (1, 4, 16, 64)


def make(path: str, gib: int) -> None:
    """Write random bytes, so that no layer below can shrink them, and flush them."""
    with Path(path).open("wb") as out:
        for _ in range(gib * 64):
            out.write(os.urandom(16 << 20))
        out.flush()
        os.fsync(out.fileno())


# --8<-- [start:loop]
def one(fd: int, file_size: int, size: int, stop: float, into: list[float], seed: int) -> None:
    """Read random aligned places, one after the other, until the time is over."""
    buffer = mmap.mmap(-1, size)  # anonymous memory is aligned to a page, as O_DIRECT wants
    rng, places = random.Random(seed), file_size // size
    while (start := time.perf_counter()) < stop:
        if os.preadv(fd, [buffer], rng.randrange(places) * size) != size:
            raise OSError("short read")
        into.append(time.perf_counter() - start)


# --8<-- [end:loop]


def run(path: str, size: int, depth: int, seconds: float) -> tuple[float, float, float, float]:
    """Return requests per second, then mean, median and 99th percentile of the latency in s."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    seen: list[list[float]] = [[] for _ in range(depth)]
    began = time.perf_counter()
    threads = [
        threading.Thread(
            target=one, args=(fd, os.fstat(fd).st_size, size, began + seconds, seen[i], i)
        )
        for i in range(depth)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - began
    os.close(fd)
    every = sorted(x for part in seen for x in part)
    mean = sum(every) / len(every)
    return len(every) / took, mean, every[len(every) // 2], every[int(len(every) * 0.99)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--make", type=int, default=0, metavar="GIB")
    parser.add_argument("--seconds", type=float, default=2.0)
    options = parser.parse_args()
    if options.make:
        make(options.file, options.make)
    print("  request  depth  requests/s     MB/s  median us     p99 us  in flight")
    for name, size in SIZES.items():
        for depth in DEPTHS:
            rate, mean, median, tail = run(options.file, size, depth, options.seconds)
            print(
                f"{name:>9s}  {depth:5d}  {rate:10.0f}  {rate * size / 1e6:7.0f}"
                f"  {median * 1e6:9.0f}  {tail * 1e6:9.0f}  {rate * mean:9.1f}"
            )


if __name__ == "__main__":
    main()
