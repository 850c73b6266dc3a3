"""Read one data set as small files and as tar shards, cold and cached. Standard library only.

Run:  python3 docs/storage/code/loader.py FOLDER [--work MS] [--workers 1 2 4] [--json FILE]

The same samples lie as one file each and packed into tar shards of 64 MiB; they are written if
FOLDER lacks them (0.9 GB). "cold" asks the kernel to drop the pages of every file before
(posix_fadvise, no root needed; names and inodes stay cached). --work adds CPU time to each
sample, as decoding an image does. Each case runs three times; printed is the median.
"""

from __future__ import annotations

import argparse
import io
import json
import multiprocessing
import os
import random
import statistics
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SAMPLE, SAMPLES, SHARD, RUNS = 110_000, 4096, 64 << 20, 3


def make(folder: Path, samples: int = SAMPLES) -> None:
    """Write random samples twice: as files in folders of 256, and as tar shards."""
    (folder / "shards").mkdir(parents=True)
    each = SHARD // SAMPLE
    for first in range(0, samples, each):
        with tarfile.open(folder / "shards" / f"{first // each:04d}.tar", "w") as shard:
            for i in range(first, min(first + each, samples)):
                data = os.urandom(SAMPLE)
                place = folder / "files" / f"{i // 256:03d}"
                place.mkdir(parents=True, exist_ok=True)
                (place / f"{i:06d}.bin").write_bytes(data)
                info = tarfile.TarInfo(f"{i:06d}.bin")
                info.size = SAMPLE
                shard.addfile(info, io.BytesIO(data))
    os.sync()


def drop(paths: list[Path]) -> None:
    """Ask the kernel to forget the clean pages of these files."""
    for path in paths:
        fd = os.open(path, os.O_RDONLY)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)


def samples(paths: list[Path]) -> Iterator[bytes]:
    """Yield the samples of files or of shards, shards from front to back."""
    for path in paths:
        if path.suffix == ".tar":
            with tarfile.open(path, "r|") as shard:
                for member in shard:
                    part = shard.extractfile(member)
                    if part:
                        yield part.read()
        else:
            yield path.read_bytes()


def work(job: tuple[list[Path], float]) -> int:
    """Read a share, spending CPU time on each sample; return the bytes seen."""
    paths, seconds = job
    seen = 0
    for data in samples(paths):
        seen += len(data)
        until = time.thread_time() + seconds
        while time.thread_time() < until:
            pass
    return seen


def run(paths: list[Path], workers: int, seconds: float) -> tuple[float, int]:
    """Return the seconds that so many processes need for all the paths, and the bytes."""
    jobs = [(paths[i::workers], seconds) for i in range(workers)]
    with multiprocessing.Pool(workers) as pool:
        pool.map(abs, range(workers))  # all have started
        began = time.perf_counter()
        seen = sum(pool.map(work, jobs, chunksize=1))
    return time.perf_counter() - began, seen


def cases(folder: Path, workers: list[int], seconds: float) -> Iterator[dict[str, Any]]:
    """Measure every case; a point has the median rate and its least and greatest."""
    for name in ("files", "shards"):
        paths = sorted(p for p in (folder / name).rglob("*") if p.is_file())
        random.Random(1).shuffle(paths)
        for pages in ("cold", "cached"):
            for count in workers:
                rates = []
                for _ in range(RUNS):
                    if pages == "cold":
                        drop(paths)
                    took, seen = run(paths, count, seconds)
                    rates.append(seen / SAMPLE / took)
                yield {
                    "read": name,
                    "pages": pages,
                    "workers": count,
                    "value": round(statistics.median(rates)),
                    "min": round(min(rates)),
                    "max": round(max(rates)),
                }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--work", type=float, default=0.0, metavar="MS")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--json", type=Path, help="keep the points here too")
    options = parser.parse_args()
    if not (options.folder / "shards").is_dir():
        make(options.folder)
    points = []
    print("read as  pages   workers   samples/s (least to greatest)    MB/s")
    for point in cases(options.folder, options.workers, options.work / 1e3):
        points.append(point)
        print(
            f"{point['read']:7s}  {point['pages']:6s}  {point['workers']:7d}  {point['value']:10d}"
            f"  ({point['min']} to {point['max']})  {point['value'] * SAMPLE / 1e6:6.0f}",
            flush=True,
        )
    if options.json:
        options.json.write_text(json.dumps(points, indent=1) + "\n")


if __name__ == "__main__":
    main()
