"""Which state a resumed run needs to continue bit for bit, and how fast two runs drift apart.

Run:  python docs/train/code/repro.py        (PyTorch; a CPU is enough, half a minute)

A small network with dropout learns the largest token of each sample. The data order is a
permutation drawn from a generator at each epoch. Nothing here is random between runs, so a
difference has a cause.
"""

from __future__ import annotations

import copy
import random
from typing import Any

import torch
from torch import Tensor, nn

SAMPLES, LENGTH, VOCABULARY, WIDTH = 1024, 8, 32, 16
BATCH, STEPS, CUT = 32, 400, 200


class Run:
    """A training run whose whole state can be taken out and put back."""

    def __init__(self, seed: int, micro: int = 1) -> None:
        random.seed(seed)
        torch.manual_seed(seed)
        self.micro = micro
        self.tokens = torch.randint(VOCABULARY, (SAMPLES, LENGTH), generator=torch.Generator())
        self.model = nn.Sequential(
            nn.Embedding(VOCABULARY, WIDTH),
            nn.Flatten(),
            nn.Linear(LENGTH * WIDTH, 4 * WIDTH),
            nn.GELU(),
            nn.Dropout(0.1),
            nn.Linear(4 * WIDTH, VOCABULARY),
        )
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-3)
        self.schedule = torch.optim.lr_scheduler.LinearLR(self.optimizer, 0.01, 1.0, STEPS)
        self.order = torch.Generator().manual_seed(seed)
        self.shuffled, self.position = torch.randperm(SAMPLES, generator=self.order), 0

    def batch(self) -> Tensor:
        if self.position + BATCH > SAMPLES:
            self.shuffled, self.position = torch.randperm(SAMPLES, generator=self.order), 0
        self.position += BATCH
        return self.tokens[self.shuffled[self.position - BATCH : self.position]]

    def step(self) -> float:
        total = 0.0
        self.optimizer.zero_grad()
        for part in self.batch().chunk(self.micro):
            loss = nn.functional.cross_entropy(self.model(part), part.amax(1))
            (loss / self.micro).backward()
            total += loss.item() / self.micro
        self.optimizer.step()
        self.schedule.step()
        return total

    # --8<-- [start:state]
    def state(self) -> dict[str, Any]:
        """Return all that the next step depends on."""
        return copy.deepcopy(
            {
                "weights": self.model.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "schedule": self.schedule.state_dict(),
                "data": (self.shuffled, self.position, self.order.get_state()),
                "rng": (random.getstate(), torch.get_rng_state()),  # and numpy, and every GPU
            }
        )

    def restore(self, state: dict[str, Any], parts: list[str]) -> None:
        """Put some parts back; what is missing stays as a fresh start left it."""
        if "weights" in parts:
            self.model.load_state_dict(state["weights"])
        if "optimizer" in parts:
            self.optimizer.load_state_dict(state["optimizer"])
        if "schedule" in parts:
            self.schedule.load_state_dict(state["schedule"])
        if "data" in parts:
            self.shuffled, self.position = state["data"][:2]
            self.order.set_state(state["data"][2])
        if "rng" in parts:
            random.setstate(state["rng"][0])
            torch.set_rng_state(state["rng"][1])

    # --8<-- [end:state]


def go(run: Run, steps: int) -> list[float]:
    return [run.step() for _ in range(steps)]


def flat(run: Run) -> Tensor:
    return torch.cat([weight.detach().flatten() for weight in run.model.parameters()])


def differ(one: Run, other: Run) -> str:
    a, b = flat(one), flat(other)
    return f"{100 * float((a != b).float().mean()):5.1f} %  {float((a - b).abs().max()):8.1e}"


def late(losses: list[float]) -> float:
    return sum(losses[-100:]) / 100


def resumed(first: list[float], whole: Run, state: dict[str, Any]) -> None:
    title = "first loss   last 100  weights that differ, by  last rate"
    print(f"resumed at step {CUT}                {title}")
    parts: list[str] = []
    for part in ("weights", "optimizer", "schedule", "data", "rng"):
        parts.append(part)
        run = Run(seed=7)
        run.restore(copy.deepcopy(state), parts)
        after = go(run, STEPS - CUT)
        gaps = (after[0] - first[CUT], late(after) - late(first))
        rate = run.optimizer.param_groups[0]["lr"]
        cells = f"{gaps[0]:+10.4f} {gaps[1]:+10.4f}  {differ(run, whole)}  {rate:10.4f}"
        print(f"{'+ ' + part:32s} {cells}")


def split(first: list[float], whole: Run) -> None:
    print(
        f"\n{BATCH} samples in parts, no dropout        step 1    step 10   step 100   step {STEPS}"
    )
    base = Run(seed=7)
    base.model[4].p = 0.0
    runs = {name: Run(seed=7, micro=name) for name in (2, 4, 8)}
    marks: dict[int, list[str]] = {name: [] for name in runs}
    for run in runs.values():
        run.model[4].p = 0.0
    for number in range(1, STEPS + 1):
        base.step()
        for name, run in runs.items():
            run.step()
            if number in (1, 10, 100, STEPS):
                marks[name].append(f"{float((flat(base) - flat(run)).abs().max()):10.1e}")
    for name, cells in marks.items():
        print(f"{name} micro-batches, largest difference   {' '.join(cells)}")


def main() -> None:
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    whole = Run(seed=7)
    first = go(whole, CUT)
    state = whole.state()
    first += go(whole, STEPS - CUT)

    again = Run(seed=7)  # one run after the other: they share the global generator
    second = go(again, STEPS)
    other = Run(seed=8)
    third = go(other, STEPS)
    print("two whole runs                  same losses   last 100  weights that differ, by")
    for name, run, losses in (("same seed", again, second), ("another seed", other, third)):
        gap = late(losses) - late(first)
        print(f"{name:32s} {first == losses!s:>10s} {gap:+10.4f}  {differ(run, whole)}")
    print()
    resumed(first, whole, state)
    split(first, whole)


if __name__ == "__main__":
    main()
