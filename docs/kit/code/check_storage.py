"""A file system as training uses it: large reads, random reads, small files, a checkpoint.

    python3 check_storage.py --path /mnt/data --gb 8 --writers 8 --expect write=5,read=10
    srun --ntasks-per-node=8 python3 check_storage.py --path /mnt/data  # all ranks write at once

It works in a new folder below --path and removes it. 1 GB = 10^9 bytes.
"""

from __future__ import annotations

import errno
import json
import mmap
import os
import random
import re
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from common import REFERENCE, Report, main_of, parser, place, quantile, read, run, say, the_torch

SECTIONS = {
    "sequential": "one large file, written and read, with and without the page cache",
    "random": "reads of 4 KiB at random places, 1 and 16 at once",
    "small": "many files of 16 KiB: create, stat, read, delete",
    "checkpoint": "every writer writes a file, then reads that of another",
}
NEEDS = """Needs about two minutes, 100 MB of memory for each writer, and (writers + 1) times --gb
of the disk. Several ranks meet by PyTorch; otherwise Python is enough."""
GOOD = "Storage does what was expected: start the job, with watch_job.py beside it."
BLOCK = 8 << 20
FORGET = os.POSIX_FADV_DONTNEED  # asks the kernel; what lies below may keep it
CHECKPOINT = 987.7  # GB, Llama 3.1 70B at 14 bytes a parameter: storage/checkpoint


def write(path: Path, size: int) -> float:
    """Seconds to write a file of random blocks and to flush it."""
    block, began = bytearray(os.urandom(BLOCK)), time.perf_counter()
    with path.open("wb", buffering=0) as out:
        for number in range(size // BLOCK):
            block[:8] = number.to_bytes(8, "little")
            out.write(block)
        os.fsync(out.fileno())
    return time.perf_counter() - began


def opened(path: Path, direct: bool) -> int | None:
    """A file to read, with O_DIRECT past the cache; None where that is refused."""
    fd = None
    try:
        fd = os.open(path, os.O_RDONLY | (os.O_DIRECT if direct else 0))
        os.preadv(fd, [mmap.mmap(-1, 4096)], 0)  # memory of mmap is aligned, as it must be
        return fd
    except OSError as error:
        if fd is not None:
            os.close(fd)
        if error.errno != errno.EINVAL:
            raise
        return None


def load(path: Path, way: str) -> float | None:
    """Seconds to read a file: cached, cold or direct; None where that is refused."""
    fd, buffer = opened(path, way == "direct"), mmap.mmap(-1, BLOCK)
    if fd is None:
        return None
    if way == "cold":
        os.posix_fadvise(fd, 0, 0, FORGET)
    began = time.perf_counter()
    for at in range(0, os.fstat(fd).st_size, BLOCK):
        os.preadv(fd, [buffer], at)
    took = time.perf_counter() - began
    os.close(fd)
    return took


def others(path: str, seconds: float = 3.0) -> float:
    """GB/s that a disk moves while this program waits; 0 where the kernel does not count."""
    number, counts = Path(path).stat().st_dev, []
    for pause in (seconds, 0.0):
        told = read(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}/stat") or ""
        counts.append(sum(map(int, told.split()[2:7:4])))  # sectors read and written
        time.sleep(pause)
    return (counts[1] - counts[0]) * 512e-9 / seconds


def at_once(jobs: list[Callable[[], Any]]) -> list[Any]:
    """What the jobs return, each in a thread; the system calls run side by side."""
    with ThreadPoolExecutor(len(jobs)) as pool:
        return [one.result() for one in [pool.submit(job) for job in jobs]]


def hop(path: Path, seconds: float, seed: int) -> list[float]:
    """Times of reads of 4 KiB at random places, past the cache where that is allowed."""
    buffer, taken, rng = mmap.mmap(-1, 4096), [], random.Random(seed)
    fd = opened(path, True) or opened(path, False)
    os.posix_fadvise(fd, 0, 0, FORGET)
    places, stop = os.fstat(fd).st_size // 4096, time.perf_counter() + seconds
    while (began := time.perf_counter()) < stop:
        os.preadv(fd, [buffer], rng.randrange(places) * 4096)
        taken.append(time.perf_counter() - began)
    os.close(fd)
    return taken


class Storage:
    """The measurements: rank 0 alone, but for the checkpoint."""

    def __init__(self, args: Any, where: dict[str, Any]) -> None:
        self.args, self.rank, self.world = args, where["rank"], where["world"]
        self.size, self.store = int(args.gb * 1e9) // BLOCK * BLOCK or BLOCK, None
        if self.world > 1:
            torch = the_torch()
            if torch is None:
                raise RuntimeError("several ranks meet by PyTorch, which is not here")
            at, limit = (where["address"], where["port"]), timedelta(seconds=300)
            store = torch.distributed.TCPStore(*at, None, where["hosts"], limit, False)
            store.set_timeout(timedelta(days=1))
            self.store = torch.distributed.PrefixStore("storage", store)
        number = self.meet("pid", os.getpid())[0]
        self.folder, self.report = Path(args.path) / f"kit-{number}", None

    def meet(self, name: str, mine: Any = None) -> list[Any]:
        """Wait for all ranks; what each of them brings."""
        if self.store is None:
            return [mine]
        self.store.set(f"{name}/{self.rank}", json.dumps(mine))
        return [json.loads(self.store.get(f"{name}/{r}")) for r in range(self.world)]

    def add(self, what: str, value: float, unit: str, note: str, **more: Any) -> None:
        """A figure; its key serves a later run with --against."""
        key = f"storage.{re.sub(r'[^a-z0-9]+', '-', what)}"
        key = "" if "good" in more or "so " in what else key
        more.update(key=key, lower=unit == "us", note=f"en/storage/{note}.html")
        self.report.add(what, value, unit, **more)

    def sequential(self) -> None:
        path, gb = self.folder / "large", self.size / 1e9
        rate = gb / write(path, self.size)
        self.add(f"write {gb:.3g} GB, with fsync", rate, "GB/s", "hierarchy")
        for way, text in (("cold", "cache dropped"), ("direct", "O_DIRECT"), ("cached", "cached")):
            seconds = load(path, way)
            if seconds is None:
                print(f"  this file system refuses {text}")
                continue
            self.add(f"read {gb:.3g} GB, {text}", gb / seconds, "GB/s", "hierarchy")

    def random(self) -> None:
        path = self.folder / "large"
        if not path.exists():
            write(path, self.size)
        for depth in (1, 16):
            jobs = [lambda seed=n: hop(path, 3.0, seed) for n in range(depth)]
            times = sorted(t for one in at_once(jobs) for t in one)
            text = f"random 4 KiB, {depth} at once"
            self.add(text, len(times) / 3.0, "reads/s", "hierarchy")
            for q, name in ((0.5, "median"), (0.99, "99 %")):
                self.add(f"{text}, {name}", quantile(times, q) * 1e6, "us", "hierarchy")

    def small(self) -> None:
        names = [self.folder / f"small-{n}" for n in range(self.args.files)]
        data = os.urandom(16 << 10)

        def cold(path: Path) -> None:
            with path.open("rb", buffering=0) as one:
                os.posix_fadvise(one.fileno(), 0, 0, FORGET)
                one.read()

        os.sync()
        ways = {"create": lambda path: path.write_bytes(data), "stat": os.stat}
        ways.update(read=cold, delete=os.unlink)
        for name, way in ways.items():
            began = time.perf_counter()
            for path in names:
                way(path)
            if name == "create":
                os.sync()
            rate = len(names) / (time.perf_counter() - began)
            self.add(f"{len(names)} files of 16 KiB, {name}", rate, "files/s", "dataset-io")

    def checkpoint(self) -> None:
        each = self.args.writers
        total = self.world * each
        mine = [self.rank * each + n for n in range(each)]
        paths = [self.folder / f"shard-{n}" for n in range(total)]
        self.meet("write")
        took = at_once([lambda n=n: write(paths[n], self.size) for n in mine])
        writes = [t for one in self.meet("written", took) for t in one]
        # another rank's file: what this host wrote may still be in its cache
        others = [paths[(n + each * self.world // 2 + 1) % total] for n in mine]
        self.meet("read")
        took = at_once([lambda p=path: load(p, "direct") or load(p, "cold") for path in others])
        reads = [t for one in self.meet("done", took) for t in one]
        if self.rank:
            return
        rates = {}
        for name, times in (("write", writes), ("read", reads)):
            rates[name] = total * self.size / max(times) / 1e9
            wanted = self.args.expect.get(name)
            rule = {"good": rates[name] >= (wanted or 0), "rule": f"{wanted} GB/s or more"}
            text = f"checkpoint, {total} writers x {self.size / 1e9:.3g} GB, {name}"
            self.add(text, rates[name], "GB/s", "checkpoint", **(rule if wanted else {}))
            if total > 1:
                share, then = quantile(times) / max(times), "Run it again without other users"
                more = {"good": share >= 0.7, "rule": "0.7 or more", "then": then}
                self.add(f"{name}: median time / slowest", share, "", "parallel-fs", **more)
        took = CHECKPOINT / rates["write"]
        self.add(f"so {CHECKPOINT} GB (70B parameters) take", took, "s", "checkpoint")


def main() -> int:
    def promises(text: str) -> dict[str, float]:
        return {k: float(v) for k, v in (one.split("=") for one in text.split(","))}

    made = parser(__doc__.splitlines()[0], NEEDS, SECTIONS)
    made.add_argument("--path", default=".", help="a folder of the file system to measure")
    made.add_argument("--gb", type=float, default=4.0, help="size of each file (4)")
    made.add_argument("--writers", type=int, default=1, help="writers in each process (1)")
    made.add_argument("--files", type=int, default=2000, help="small files (2000)")
    made.add_argument("--expect", type=promises, default={}, help="GB/s: write=5,read=10 in all")
    args, where = made.parse_args(), place()
    disk = Storage(args, where)
    free = shutil.disk_usage(args.path).free
    needs = disk.size * (args.writers * where["world"] + 1)
    if needs > 0.8 * free:
        print(f"could not measure: {needs / 1e9:.0f} GB are needed, {free / 1e9:.0f} GB are free")
        return 2
    if where["rank"] == 0:
        REFERENCE.setdefault("figures", {})["storage"] = {"at_least": 0.7}  # runs differ by so much
        disk.report = Report("check_storage.py", args)
        disk.folder.mkdir()
        if (busy := others(args.path)) > 0.05:
            how = {"good": False, "rule": "0.05 GB/s or less", "then": "End what uses the disk"}
            disk.add("the disk moves for others", busy, "GB/s", "hierarchy", **how)
    kind = (run("stat", "-f", "-c", "%T", args.path) or "?").strip()
    try:
        disk.meet("folder is there")
        for name in args.sections:
            if where["rank"] == 0:
                disk.report.section(f"{name} ({SECTIONS[name]})")
                say(f"{name}, on {kind}" + (": memory!" if kind == "tmpfs" else ""))
            if where["rank"] == 0 or name == "checkpoint":
                getattr(disk, name)()
        disk.meet("end")
    finally:
        if where["rank"] == 0:
            shutil.rmtree(disk.folder, ignore_errors=True)
    status = disk.report.finish(GOOD, fs=kind) if disk.report else 0
    with suppress(RuntimeError):  # the store lives until all have read the last word
        disk.meet("bye")
        time.sleep(1 if where["rank"] == 0 < where["world"] - 1 else 0)
    return status


if __name__ == "__main__":
    main_of(main)
