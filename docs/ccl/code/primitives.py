"""Eight collectives on lists: what each rank has before and after, and whose count is named.

    python docs/ccl/code/primitives.py

Letters are values, digits the rank that they came from; a sum is written with plus signs. `count`
is what NCCL's call is given; send and recv are the elements of the two buffers of each rank.
"""

from __future__ import annotations

from collections.abc import Callable

RANKS = 3
Buffers = list[list[str]]
"""The elements of a buffer, for each rank."""


def reduce_scatter(send: Buffers) -> Buffers:
    """Rank r gets block r of the sum."""
    size = len(send[0]) // RANKS
    total = added(send)
    return [total[r * size : (r + 1) * size] for r in range(RANKS)]


def added(send: Buffers) -> list[str]:
    """Return the sum of the ranks' buffers, element by element."""
    return ["+".join(one) for one in zip(*send, strict=True)]


def all_gather(send: Buffers) -> Buffers:
    """Every rank gets the blocks of all, in the order of ranks."""
    return [[one for block in send for one in block]] * RANKS


def all_to_all(send: Buffers) -> Buffers:
    """Rank r gets block r of every rank: a transpose of blocks."""
    size = len(send[0]) // RANKS
    return [
        [one for block in send for one in block[r * size : (r + 1) * size]] for r in range(RANKS)
    ]


def all_reduce(send: Buffers) -> Buffers:
    """Every rank gets the sum."""
    return [added(send)] * RANKS


def at_root(values: list[str]) -> Buffers:
    """Only rank 0, the root, gets something."""
    return [values, *([] for _ in range(RANKS - 1))]


OPERATIONS: dict[str, tuple[int, Callable[[Buffers], Buffers], bool]] = {
    "broadcast": (1, lambda send: [send[0]] * RANKS, True),
    "reduce": (1, lambda send: at_root(added(send)), False),
    "all-reduce": (1, all_reduce, False),
    "scatter": (RANKS, lambda send: [[one] for one in send[0]], True),
    "gather": (1, lambda send: at_root([one for block in send for one in block]), False),
    "all-gather": (1, all_gather, False),
    "reduce-scatter": (RANKS, reduce_scatter, False),
    "all-to-all": (RANKS, all_to_all, False),
}
"""Elements of a send buffer when count is 1, the operation, and whether only the root sends."""


def before(size: int, *, only_root: bool) -> Buffers:
    """Return the send buffers."""
    return [
        [] if only_root and rank else [f"{letter}{rank}" for letter in "abc"[:size]]
        for rank in range(RANKS)
    ]


def shown(buffers: Buffers) -> str:
    """Return all ranks' buffers in a line."""
    return " | ".join(" ".join(one) or "-" for one in buffers)


def main() -> None:
    """Print every operation, and three that are made of others."""
    for name, (size, operation, only_root) in OPERATIONS.items():
        send = before(size, only_root=only_root)
        print(f"{name:15}{shown(send):30} -> {shown(operation(send))}")
    full = before(RANKS, only_root=False)
    assert all_gather(reduce_scatter(full)) == all_reduce(full)
    assert all_to_all(all_to_all(full)) == full
    print("reduce-scatter, then all-gather = all-reduce; all-to-all twice = nothing")


if __name__ == "__main__":
    main()
