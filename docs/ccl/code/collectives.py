"""Collectives over simulated ranks: run a schedule, prove the result, count bytes and rounds.

    python docs/ccl/code/collectives.py --ranks 8
    python docs/ccl/code/collectives.py --ranks 16 --per-node 8 --size 1000003

A rank's copy of a chunk is known by whose contributions it holds, and how often: an all-reduce is
right when every rank holds each rank's contribution to each chunk exactly once. Bytes are exact
also where the size cannot be divided. In a round every rank may send several messages; its time by
the alpha-beta model is alpha plus the bytes of the busiest sender.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parent))

import schedules
from schedules import Message, Schedule

State = NDArray[np.int32]
"""How often rank r's copy of chunk c holds the contribution of rank s: state[r, c, s]."""


@dataclass
class Counts:
    """What a run cost."""

    sent: Counter[int] = field(default_factory=Counter)
    received: Counter[int] = field(default_factory=Counter)
    links: Counter[tuple[int, int]] = field(default_factory=Counter)
    rounds: list[int] = field(default_factory=list)
    """Bytes of the busiest sender of each round."""

    @property
    def busiest(self) -> int:
        """Return the bytes that the busiest rank sends in all."""
        return max(self.sent.values(), default=0)

    def time(self, alpha: float, bandwidth: float) -> float:
        """Return the seconds of all rounds, one after another."""
        return sum(alpha + moved / bandwidth for moved in self.rounds)


def start(operation: str, n: int, chunks: int) -> State:
    """Return who holds what before the operation."""
    state = np.zeros((n, chunks, n), dtype=np.int32)
    ranks = np.arange(n)
    if operation in ("all-reduce", "reduce-scatter"):
        state[ranks, :, ranks] = 1
    elif operation == "broadcast":
        state[0, :, 0] = 1
    elif operation == "all-gather":
        for chunk in range(chunks):
            state[chunk % n, chunk, chunk % n] = 1
    else:
        for chunk in range(chunks):
            state[chunk // n, chunk, chunk // n] = 1
    return state


def is_right(operation: str, state: State) -> bool:
    """Return whether every rank holds what it should, each contribution once."""
    n, chunks, _ = state.shape
    numbers = np.arange(chunks)
    if operation == "all-reduce":
        return bool((state == 1).all())
    if operation == "reduce-scatter":
        return bool((state[numbers % n, numbers] == 1).all())
    wanted = start(operation, n, chunks).sum(axis=0)
    if operation == "all-to-all":
        return bool((state[numbers % n, numbers] == wanted).all())
    return bool((state == wanted).all())


def deliver(state: State, messages: list[Message]) -> None:
    """Carry out a round: all send what they have at its start.

    Raises:
        ValueError: A rank sends what it does not have.
    """
    payloads = [state[m.source, list(m.chunks)] for m in messages]  # copies
    for m, payload in zip(messages, payloads, strict=True):
        if not payload.any(axis=1).all():
            raise ValueError(f"rank {m.source} sends to {m.target} what it does not have")
        if m.adds:
            state[m.target, list(m.chunks)] += payload
        else:
            state[m.target, list(m.chunks)] = payload


def run(operation: str, schedule: Schedule, n: int, chunks: int, size: int) -> Counts:
    """Run a schedule on `size` bytes, as nccl-tests counts them, and return its counts.

    Raises:
        ValueError: A rank sends what it does not have, or the result is wrong.
    """
    state = start(operation, n, chunks)
    part, left = divmod(size * n if operation == "all-to-all" else size, chunks)
    sizes = [part + (c < left) for c in range(chunks)]
    counts = Counts()
    for messages in schedule:
        deliver(state, messages)
        moved: Counter[int] = Counter()
        for m in messages:
            amount = sum(sizes[c] for c in m.chunks)
            moved[m.source] += amount
            counts.received[m.target] += amount
            counts.links[m.source, m.target] += amount
        counts.sent.update(moved)
        counts.rounds.append(max(moved.values(), default=0))
    if not is_right(operation, state):
        raise ValueError(f"{operation}: wrong result")
    return counts


def examples(n: int, per_node: int) -> list[tuple[str, str, Schedule, int]]:
    """Return operation, algorithm, schedule and number of chunks of all that n ranks can run."""
    s, power, nodes = schedules, n & (n - 1) == 0, n // per_node
    square = {4: (2, 2), 8: (2, 4), 16: (4, 4), 32: (4, 8), 64: (8, 8)}.get(n)
    found = [
        ("all-reduce", "ring", s.all_reduce(s.ring_gather(n), s.ring_left(n)), n),
        ("all-reduce", "binary tree", s.tree_reduce(s.binary_tree(n)), 1),
        ("all-reduce", "double binary tree", s.double_tree_reduce(n), 2),
        ("all-reduce", "double tree, 64 segments", s.double_tree_reduce(n, 64), 128),
        ("all-reduce", "doubling, whole buffer", s.doubling_reduce(n), 1),
    ]
    if power:
        found.append(("all-reduce", "halving-doubling", s.all_reduce(s.doubling_gather(n)), n))
    if square:
        found.append(
            ("all-reduce", f"torus {square[0]}x{square[1]}", s.torus_reduce(*square), 2 * n)
        )
    if nodes > 1:
        rails = s.all_reduce(s.rail_rings(per_node, nodes), s.rail_rings(per_node, nodes, -1))
        found.append(("all-reduce", "ring for each port", rails, n * per_node))
        trees = s.rail_trees(per_node, nodes)
        found.append(("all-reduce", "chains and trees by port", trees, 2 * per_node))
        found.append(("all-reduce", "hierarchical", s.hierarchical_reduce(n, nodes), n))
    gathers = [("ring", s.ring_gather(n)), ("Bruck", s.bruck_gather(n)), ("PAT", s.pat_gather(n))]
    for name, gather in gathers:
        found.append(("all-gather", name, gather, n))
    found.append(("reduce-scatter", "PAT", s.reverse(s.pat_gather(n)), n))
    found += [
        ("broadcast", "binomial tree", s.binomial(n), 1),
        ("broadcast", "scatter, all-gather", s.scatter(n) + s.ring_gather(n), n),
        ("broadcast", "chain, 64 segments", s.chain(n, 64), 64),
        ("all-to-all", "direct exchange", s.direct_exchange(n), n * n),
        ("all-to-all", "Bruck", s.bruck_exchange(n), n * n),
    ]
    return found


def out_of_nodes(counts: Counts, per_node: int) -> Counter[int]:
    """Return the bytes that each rank sends out of its node."""
    out: Counter[int] = Counter()
    for (source, target), amount in counts.links.items():
        if source // per_node != target // per_node:
            out[source] += amount
    return out


def main() -> None:
    """Print rounds and, in units of S, bytes: busiest rank, busiest port, all between nodes."""
    parser = argparse.ArgumentParser(description="Run collectives over simulated ranks.")
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--per-node", type=int, default=0, help="0: one node")
    parser.add_argument("--size", type=int, default=1 << 20, help="bytes, as nccl-tests counts")
    asked = parser.parse_args()
    n, per_node = asked.ranks, asked.per_node or asked.ranks
    print(f"{n} ranks, {per_node} a node, S = {asked.size} B; every result verified")
    print(f"{'':41} rounds  sent/S  port/S  across/S")
    for operation, name, schedule, chunks in examples(n, per_node):
        counts = run(operation, schedule, n, chunks, asked.size)
        out = out_of_nodes(counts, per_node)
        shares = counts.busiest, max(out.values(), default=0), out.total()
        columns = "  ".join(f"{share / asked.size:6.3f}" for share in shares)
        print(f"{operation:15}{name:26} {len(counts.rounds):6}  {columns}")


if __name__ == "__main__":
    main()
