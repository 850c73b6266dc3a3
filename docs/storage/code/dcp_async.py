"""Save a sharded training state in the background, and load it on another number of processes.

Run:  torchrun --nproc-per-node 4 docs/storage/code/dcp_async.py save /tmp/dcp
      torchrun --nproc-per-node 2 docs/storage/code/dcp_async.py load /tmp/dcp

PyTorch on CPUs with gloo. On GPUs the group needs both: init_process_group("cpu:gloo,cuda:nccl").
"""

from __future__ import annotations

import sys
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard


# --8<-- [start:state]
class Training:
    """What a checkpoint holds. DCP calls both methods: on saving, and after loading in place."""

    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        self.model, self.optimizer = model, optimizer
        self.schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, 1.0, 100)
        self.samples = 0  # consumed by all ranks together: independent of their number

    def state_dict(self) -> dict[str, Any]:
        weights, moments = get_state_dict(self.model, self.optimizer)  # sharded, by full names
        rest = {"schedule": self.schedule.state_dict(), "samples": self.samples}
        return {"weights": weights, "moments": moments, "rest": rest}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        set_state_dict(
            self.model,
            self.optimizer,
            model_state_dict=state["weights"],
            optim_state_dict=state["moments"],
        )
        self.schedule.load_state_dict(state["rest"]["schedule"])
        self.samples = state["rest"]["samples"]


# --8<-- [end:state]


def prepared() -> Training:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    for layer in (model[0], model[2], model):
        fully_shard(layer, mesh=mesh)
    return Training(model, torch.optim.AdamW(model.parameters(), lr=1e-3))


def step(training: Training, batch: int = 24) -> float:
    size, rank = batch // dist.get_world_size(), dist.get_rank()
    source = torch.Generator().manual_seed(training.samples)
    inputs = torch.randn(batch, 64, generator=source)[rank * size : (rank + 1) * size]
    loss = (training.model(inputs) - inputs).square().mean()
    training.optimizer.zero_grad()
    loss.backward()
    training.optimizer.step()
    training.schedule.step()
    training.samples += batch
    total = loss.detach().clone()
    dist.all_reduce(total)
    return float(total) / dist.get_world_size()


# --8<-- [start:save]
def save(training: Training, folder: Path, steps: int = 40, every: int = 10) -> list[float]:
    writing: Future[Any] | None = None
    own = dist.new_group(backend="gloo")  # the writer's thread must not share training's group
    losses = []
    for number in range(1, steps + 1):
        losses.append(step(training))
        if number % every == 0:
            if writing is not None:
                writing.result()  # never two at a time; raises what the writer raised
            target = folder / f"step-{number}"  # a new folder each time, never an old one
            state = {"training": training}
            writing = dcp.async_save(state, checkpoint_id=target, process_group=own)
    if writing is not None:
        writing.result()  # else the last one may die with the process
    return losses


def newest(folder: Path) -> Path:
    """Return the last checkpoint that is whole: DCP writes .metadata last."""
    whole = [path for path in folder.glob("step-*") if (path / ".metadata").exists()]
    return max(whole, key=lambda path: int(path.name.split("-")[1]))


# --8<-- [end:save]


def main() -> None:
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    folder, training = Path(sys.argv[2]), prepared()
    if sys.argv[1] == "save":
        losses = save(training, folder)
        text = f"saved every 10 of 40 steps, loss {losses[-1]:.6f}"
    else:
        dcp.load({"training": training}, checkpoint_id=newest(folder))
        rate = training.optimizer.param_groups[0]["lr"]
        text = f"loaded {newest(folder).name}, {training.samples} samples, rate {rate:.6f}"
    after = [step(training) for _ in range(2)]
    if dist.get_rank() == 0:
        print(f"{dist.get_world_size()} processes: {text}; next {after[0]:.6f} {after[1]:.6f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
