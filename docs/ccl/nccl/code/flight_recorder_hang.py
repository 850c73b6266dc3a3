"""One rank does not call an all-reduce: what the watchdog of PyTorch does and what it leaves.

Starts N processes, lets each run five all-reduces of 1 MiB, then every rank but one calls a
sixth. The watchdog times out, writes one flight record per rank and ends the process. Read them
with `python -m torch.distributed.flight_recorder.fr_trace FOLDER -p nccl_trace_rank_`.

Several ranks on one GPU need NCCL 2.30 (LD_PRELOAD) and NCCL_MULTI_RANK_GPU_ENABLE=1.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from datetime import timedelta
from pathlib import Path


def rank_main(rank: int, ranks: int, absent: int, seconds: int, folder: str) -> None:
    prefix = str(Path(folder) / "nccl_trace_rank_")
    os.environ.update(
        RANK=str(rank),
        WORLD_SIZE=str(ranks),
        LOCAL_RANK=str(rank),
        TORCH_FR_BUFFER_SIZE="2000",
        TORCH_NCCL_TRACE_BUFFER_SIZE="2000",
        TORCH_NCCL_DUMP_ON_TIMEOUT="1",
        # The watchdog sleeps four times this long before it ends the process; default 15000.
        TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC="2000",
        TORCH_FR_DUMP_TEMP_FILE=prefix,
        TORCH_NCCL_DEBUG_INFO_TEMP_FILE=prefix,
    )
    import torch
    import torch.distributed as dist

    device = torch.device("cuda", rank % torch.cuda.device_count())
    torch.cuda.set_device(device)
    dist.init_process_group(
        "nccl",
        init_method="tcp://127.0.0.1:29511",
        rank=rank,
        world_size=ranks,
        timeout=timedelta(seconds=seconds),
    )
    data = torch.ones(262_144, device=device)
    for _ in range(5):
        dist.all_reduce(data)
        data.fill_(1.0)
    torch.cuda.synchronize()
    print(f"rank {rank}: five all-reduces done, NCCL {torch.cuda.nccl.version()}", flush=True)
    if rank == absent and ranks > 1:
        print(f"rank {rank}: does not call the sixth", flush=True)
        time.sleep(4 * seconds)
        return
    start = time.monotonic()
    dist.all_reduce(data)
    if ranks > 1 and rank == 0:
        Path(folder, "hanging").touch()
    torch.cuda.synchronize()
    print(f"rank {rank}: the sixth returned after {time.monotonic() - start:.1f} s", flush=True)
    if ranks == 1:
        from torch._C._distributed_c10d import _dump_nccl_trace  # type: ignore[import-not-found]

        Path(folder, "nccl_trace_rank_0").write_bytes(_dump_nccl_trace())
        dist.destroy_process_group()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--absent", type=int, default=2, help="the rank that does not call")
    parser.add_argument("--seconds", type=int, default=8, help="the timeout of the group")
    parser.add_argument("--folder", default="flight-records")
    options = parser.parse_args()
    folder = Path(options.folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    children = []
    for rank in range(options.ranks):
        pid = os.fork()
        if pid == 0:
            rank_main(rank, options.ranks, options.absent, options.seconds, str(folder))
            sys.exit(0)
        children.append(pid)
    for rank, pid in enumerate(children):
        _, status = os.waitpid(pid, 0)
        print(f"rank {rank} ended, exit code {os.waitstatus_to_exitcode(status)}", flush=True)


if __name__ == "__main__":
    main()
