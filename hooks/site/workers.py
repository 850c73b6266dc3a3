"""Work spread over the cores by forked processes, which hold all that was read before the fork."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import pickle
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

Result = TypeVar("Result")

ENOUGH: Final = 8
"""Fewer pieces of work than this are not worth a fork."""
LIMIT_S: Final = 600.0
"""A worker that takes longer hangs: it is ended, and its work is left to the caller."""


def cores() -> int:
    """Return how many processes may work at once; 1 where forking is not safe."""
    if sys.platform != "linux":  # macOS' own libraries do not survive a fork, Windows has none
        return 1
    return len(os.sched_getaffinity(0))


def spread(
    work: Callable[[int], object], count: int, *, each: int = 1, limit_s: float = LIMIT_S
) -> None:
    """Call `work` with each number below `count`, in processes of their own, and wait for them.

    What it returns or raises is lost: it leaves its result in a file, and who finds none does the
    work again, and meets the error there. With one core, or little to do, nothing is done here.

    Args:
        work: What is called.
        count: How many pieces of work there are.
        each: How many are worth a process, where each takes long to start.
        limit_s: How long all may take.
    """
    if cores() < 2 or count < ENOUGH:
        return
    processes = max(1, min(cores(), count // each))
    context = multiprocessing.get_context("fork")
    following = context.Value("i", 0)

    def run() -> None:
        while True:
            with following.get_lock():
                number = following.value
                following.value += 1
            if number >= count:
                return
            try:
                work(number)
            except Exception:
                continue

    sys.stdout.flush()
    sys.stderr.flush()
    gc.collect()
    gc.freeze()  # else each process would copy all memory as soon as it looks for garbage
    workers = [context.Process(target=run, daemon=True) for _ in range(processes)]
    for worker in workers:
        worker.start()
    end = time.monotonic() + limit_s
    for worker in workers:
        worker.join(max(0.0, end - time.monotonic()))
    for worker in workers:
        if worker.is_alive():
            worker.kill()
            worker.join()
    gc.unfreeze()


def gather(work: Callable[[int], Result], count: int) -> list[Result]:
    """Return what `work` returns for each number below `count`, made by several processes.

    What a process did not make is made here, and so is all where `spread` does nothing.
    """
    found: dict[int, Result] = {}
    with tempfile.TemporaryDirectory() as folder:

        def keep(number: int) -> None:
            data = pickle.dumps(work(number), protocol=5)
            unfinished = Path(folder, f"{number}.part")
            unfinished.write_bytes(data)
            unfinished.rename(Path(folder, str(number)))

        spread(keep, count)
        for file in Path(folder).iterdir():
            if file.name.isdigit():
                with contextlib.suppress(OSError, ValueError, EOFError, pickle.PickleError):
                    found[int(file.name)] = pickle.loads(file.read_bytes())
    return [found[number] if number in found else work(number) for number in range(count)]
