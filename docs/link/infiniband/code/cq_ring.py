"""A send queue and a completion queue as rings: who may write what, and what frees a place.

The NIC writes completions (CQE) round the ring and turns the owner bit each time round; the CPU
reads an entry only if its bit is the one of this round, so that no counter has to cross PCIe for
each completion. A send queue frees places only when a CQE is polled: tail = place of that WQE + 1,
which frees all earlier ones too (rdma-core, providers/mlx5/cq.c and qp.c).

Usage
    python docs/link/infiniband/code/cq_ring.py
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Cqe:
    """One entry: which WQE it is about, and whose turn it is."""

    wqe: int = -1
    owner: int = 1


# --8<-- [start:rings]
@dataclass
class CompletionQueue:
    """A ring of 2^k entries in host memory."""

    size: int
    ring: list[Cqe] = field(init=False)
    produced: int = 0
    """Known to the NIC alone."""
    consumed: int = 0
    """Known to the CPU; the NIC sees the copy in the doorbell record."""

    def __post_init__(self) -> None:
        self.ring = [Cqe() for _ in range(self.size)]

    def write(self, wqe: int, record: int) -> None:
        """NIC: write the next entry, with the owner bit of this round."""
        if self.produced - record >= self.size:
            raise OverflowError("CQ overrun: IBV_EVENT_CQ_ERR")
        self.ring[self.produced % self.size] = Cqe(wqe, self.produced // self.size % 2)
        self.produced += 1

    def poll(self) -> int | None:
        """CPU: take the next entry if its owner bit says that it is new."""
        entry = self.ring[self.consumed % self.size]
        if entry.owner != self.consumed // self.size % 2:
            return None
        self.consumed += 1
        return entry.wqe


@dataclass
class SendQueue:
    """A ring of WQEs; `signal_every` says which of them make a CQE."""

    depth: int
    signal_every: int
    head: int = 0
    tail: int = 0

    def post(self, cq: CompletionQueue) -> str:
        """CPU: post one WR; the NIC sends it at once and completes it if it is signalled."""
        if self.head - self.tail >= self.depth:
            return "ENOMEM"
        self.head += 1
        if self.head % self.signal_every:
            return "posted"
        cq.write(self.head - 1, cq.consumed)
        return "posted, CQE"

    def retire(self, wqe: int) -> int:
        """CPU: a CQE about `wqe` was polled; return how many places it frees."""
        freed = wqe + 1 - self.tail
        self.tail = wqe + 1
        return freed


# --8<-- [end:rings]


def story(signal_every: int) -> list[str]:
    """Post six WRs into a queue of four, polling whenever it is full."""
    cq, sq = CompletionQueue(2), SendQueue(4, signal_every)
    lines = [f"send queue of 4, one CQE for every {signal_every} WRs"]
    for number in range(6):
        said = sq.post(cq)
        while said == "ENOMEM":
            wqe = cq.poll()
            if wqe is None:
                return [*lines, f"  WR {number}: ENOMEM, and no CQE will ever come"]
            lines.append(f"  WR {number}: ENOMEM; poll: CQE of WR {wqe} frees {sq.retire(wqe)}")
            said = sq.post(cq)
        lines.append(f"  WR {number}: {said}")
    return lines


def main() -> None:
    """Print six posts twice: with enough signals, and with too few."""
    print("\n".join([*story(2), "", *story(8)]))


if __name__ == "__main__":
    main()
