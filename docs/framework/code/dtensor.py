"""What a sharded product communicates: DTensor on four processes, no GPU needed.

    python docs/framework/code/dtensor.py

Each line: how x lies on a mesh of 2 x 2, how h = x @ w1 and y = h @ w2 come out for a choice of w1
and w2, and which collectives ran until y was whole along the second dimension of the mesh.
"""

from __future__ import annotations

import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Placement, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.debug import CommDebugMode

ROWS, WIDTH, HIDDEN = 64, 256, 1024


def short(placements: tuple[Placement, ...]) -> str:
    """Return placements as S(dim), R and P."""
    names = {"Shard": "S", "Replicate": "R", "Partial": "P"}
    return " ".join(
        names[type(one).__name__.lstrip("_")] + (f"({one.dim})" if isinstance(one, Shard) else "")
        for one in placements
    )


def run(rank: int, world: int, port: int) -> None:
    """One process: distribute, multiply, compare with the whole product."""
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    dist.init_process_group("gloo", rank=rank, world_size=world)
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
    torch.manual_seed(0)
    x, w1, w2 = torch.randn(ROWS, WIDTH), torch.randn(WIDTH, HIDDEN), torch.randn(HIDDEN, WIDTH)
    whole = (x @ w1) @ w2
    # --8<-- [start:ways]
    dp = Shard(0)  # rows of the batch over the first dimension of the mesh, always
    ways = {
        "columns, then rows": (Replicate(), Shard(1), Shard(0)),
        "columns, then columns": (Replicate(), Shard(1), Shard(1)),
        "sequence parallel in": (Shard(0), Shard(1), Shard(0)),
        "weights replicated": (Replicate(), Replicate(), Replicate()),
    }
    for name, (at_x, at_w1, at_w2) in ways.items():
        a = distribute_tensor(x, mesh, [dp, at_x])
        b = distribute_tensor(w1, mesh, [Replicate(), at_w1])
        c = distribute_tensor(w2, mesh, [Replicate(), at_w2])
        with CommDebugMode() as comm:
            h = a @ b
            y = h @ c
            out = y.redistribute(mesh, [dp, Replicate()])
        # --8<-- [end:ways]
        assert torch.allclose(out.full_tensor(), whole, rtol=1e-4, atol=1e-2)
        if rank == 0:
            ran = [f"{op.__name__.split('.')[-1]} {n}" for op, n in comm.get_comm_counts().items()]
            placed = f"x {short(a.placements)}, h {short(h.placements)}, y {short(y.placements)}"
            weights = b.to_local().numel() + c.to_local().numel()
            print(f"{name:22} {placed}; {', '.join(ran) or 'nothing'}; weights here {weights}")
    dist.destroy_process_group()


def main() -> None:
    """Start four processes on a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    print("torch", torch.__version__, "mesh 2 x 2: first data, second tensor parallel", flush=True)
    mp.spawn(run, (4, port), 4)


if __name__ == "__main__":
    main()
