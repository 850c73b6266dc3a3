"""A ring all-reduce by sends and receives over PyTorch's gloo backend, beside dist.all_reduce.

Ranks are forked processes of this machine. Needs PyTorch, so it runs with the system's Python
(Debian, Ubuntu: python3-torch):

    /usr/bin/python3 docs/ccl/code/gloo_allreduce.py compare RANKS ELEMENTS
    /usr/bin/python3 docs/ccl/code/gloo_allreduce.py mismatch   rank 0 reduces, rank 1 broadcasts
    /usr/bin/python3 docs/ccl/code/gloo_allreduce.py missing    one rank stays away from a barrier
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from datetime import timedelta
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

PATIENCE = timedelta(seconds=5)
Job = Callable[[int, int, int], "tuple[bool, str]"]


# --8<-- [start:ring]
def ring_all_reduce(data: torch.Tensor) -> tuple[int, int]:
    """Sum `data` over all ranks in place; return rounds, and elements that this rank sent."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    chunks = list(torch.tensor_split(data, ranks))  # views; lengths differ by one at most
    rounds = sent = 0
    for first, reducing in ((rank, True), (rank + 1, False)):
        for step in range(ranks - 1):
            out, into = chunks[(first - step) % ranks], chunks[(first - step - 1) % ranks]
            got = torch.empty_like(into)
            sending = dist.isend(out, (rank + 1) % ranks)  # all send before they receive
            dist.recv(got, (rank - 1) % ranks)
            sending.wait()
            into.copy_(into + got if reducing else got)
            rounds, sent = rounds + 1, sent + out.numel()
    return rounds, sent


# --8<-- [end:ring]


def compare(rank: int, ranks: int, elements: int) -> tuple[bool, str]:
    """Run both all-reduces on whole numbers, which float32 adds exactly."""
    pattern = torch.arange(elements) % 97
    mine = (pattern + rank).to(torch.float32)
    theirs = mine.clone()
    rounds, sent = ring_all_reduce(mine)
    dist.all_reduce(theirs)
    right = (pattern * ranks + ranks * (ranks - 1) // 2).to(torch.float32)
    wrong, differ = int((mine != right).sum()), int((mine != theirs).sum())
    said = f"{rounds} rounds, sent {sent} of {elements}, {wrong} wrong, {differ} unlike all_reduce"
    return wrong == differ == 0, said


def mismatch(rank: int, ranks: int, elements: int) -> tuple[bool, str]:
    """Rank 0 calls all_reduce, the others broadcast."""
    data = torch.ones(elements)
    if rank == 0:
        dist.all_reduce(data)
    else:
        dist.broadcast(data, 1)
    return True, "no error"


def missing(rank: int, ranks: int, elements: int) -> tuple[bool, str]:
    """All but the last rank come to a barrier."""
    if rank == ranks - 1:
        return True, "was elsewhere"
    dist.monitored_barrier(timeout=timedelta(seconds=2), wait_all_ranks=True)
    return True, "passed the barrier"


def one_rank(job: Job, rank: int, ranks: int, elements: int, store: Path, out: Any) -> None:
    """Join the group through a file, do the job, hand back what happened."""
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group(
        "gloo", init_method=f"file://{store}", rank=rank, world_size=ranks, timeout=PATIENCE
    )
    try:
        out.put((rank, job(rank, ranks, elements)))
    except RuntimeError as error:
        out.put((rank, (False, str(error).splitlines()[0])))


def run(job: Job, ranks: int, elements: int) -> int:
    """Fork the ranks and print what each says, in order."""
    context = get_context("fork")
    out = context.Queue()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        processes = [
            context.Process(target=one_rank, args=(job, rank, ranks, elements, store, out))
            for rank in range(ranks)
        ]
        for process in processes:
            process.start()
        said = dict(out.get(timeout=60) for _ in processes)
        for process in processes:
            process.join(10)
            process.kill()
    for rank in range(ranks):
        print(f"rank {rank}: {said[rank][1]}")
    return 0 if all(good for good, _ in said.values()) else 1


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    jobs: dict[str, Job] = {"compare": compare, "mismatch": mismatch, "missing": missing}
    parser.add_argument("command", choices=jobs)
    parser.add_argument("ranks", type=int, nargs="?", default=2)
    parser.add_argument("elements", type=int, nargs="?", default=8)
    args = parser.parse_args()
    return run(jobs[args.command], args.ranks, args.elements)


if __name__ == "__main__":
    sys.exit(main())
