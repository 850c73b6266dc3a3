"""Schedules of collectives: who sends which chunks to whom, round after round.

A schedule is a list of rounds, a round a list of messages that are sent at once. Every function
returns one; `reverse` turns an all-gather into the reduce-scatter that undoes it. In all but the
trees, the doubling and the chain, chunk c ends up on (or starts from) rank c.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple


class Message(NamedTuple):
    """Chunks sent from one rank to another, added to or put over what is there."""

    source: int
    target: int
    chunks: tuple[int, ...]
    adds: bool = False


Schedule = list[list[Message]]


def levels(n: int) -> int:
    """Return the base-2 logarithm of n, rounded up."""
    return (n - 1).bit_length()


def reverse(schedule: Schedule) -> Schedule:
    """Return the schedule backwards: where a chunk was copied to, its sum now comes from."""
    return [[Message(m.target, m.source, m.chunks, True) for m in r] for r in reversed(schedule)]


def both(first: Schedule, second: Schedule) -> Schedule:
    """Return two schedules side by side, round by round."""
    length = max(len(first), len(second))
    padded = [part + [[]] * (length - len(part)) for part in (first, second)]
    return [a + b for a, b in zip(*padded, strict=True)]


def shifted(schedule: Schedule, chunks: int) -> Schedule:
    """Return the schedule on chunks with higher numbers."""
    return [[m._replace(chunks=tuple(c + chunks for c in m.chunks)) for m in r] for r in schedule]


def ring_gather(n: int, way: int = 1) -> Schedule:
    """All-gather: everyone passes on to the right (way 1) what came last from the left."""
    return [
        [Message(r, (r + way) % n, ((r - way * s) % n,)) for r in range(n)] for s in range(n - 1)
    ]


def ring_left(n: int) -> Schedule:
    """All-gather to the left; its reverse is the reduce-scatter to the right."""
    return ring_gather(n, -1)


def doubling_gather(n: int) -> Schedule:
    """All-gather by recursive doubling, near partners first; n a power of two."""
    if n & (n - 1):
        raise ValueError(f"recursive doubling needs a power of two, not {n}")
    found: Schedule = []
    for k in range(levels(n)):
        size = 1 << k
        held = {r: tuple(range(r // size * size, r // size * size + size)) for r in range(n)}
        found.append([Message(r, r ^ size, held[r]) for r in range(n)])
    return found


def bruck_gather(n: int) -> Schedule:
    """All-gather by Bruck: near ranks first, messages double; any n."""
    found: Schedule = []
    for k in range(levels(n)):
        size = 1 << k
        some = range(min(size, n - size))
        found.append(
            [Message(r, (r - size) % n, tuple((r + i) % n for i in some)) for r in range(n)]
        )
    return found


def pat_gather(n: int, most: int = 0) -> Schedule:
    """All-gather in PAT's order: far ranks first, each rank the root of a tree; any n.

    `most` is how many chunks a message may hold (0: any number). The order of NCCL's rounds with
    small buffers is another; only that there are more of them is modelled here.
    """
    found: Schedule = []
    for k in reversed(range(levels(n))):
        size = 1 << k
        away = [o for o in range(0, n, 2 * size) if o + size < n]
        width = most or len(away)
        for start in range(0, len(away), width):
            some = away[start : start + width]
            found.append(
                [Message(r, (r + size) % n, tuple((r - o) % n for o in some)) for r in range(n)]
            )
    return found


def all_reduce(gather: Schedule, back: Schedule | None = None) -> Schedule:
    """Reduce-scatter, the reverse of `back` (or of the same all-gather), then all-gather."""
    return reverse(back or gather) + gather


def doubling_reduce(n: int) -> Schedule:
    """All-reduce of the whole buffer (chunk 0) by recursive doubling; others fold in first."""
    power = 1 << (n.bit_length() - 1)
    extra = range(power, n)
    found = [[Message(r, r - power, (0,), True) for r in extra]]
    found += [
        [Message(r, r ^ (1 << k), (0,), True) for r in range(power)] for k in range(levels(power))
    ]
    found += [[Message(r - power, r, (0,)) for r in extra]]
    return [r for r in found if r]


def binary_tree(n: int) -> list[int]:
    """Return each rank's parent (-1: the root) in NCCL's binary tree (trees.cc, ncclGetBtree)."""
    parents = [-1]
    for rank in range(1, n):
        bit = rank & -rank
        up = (rank ^ bit) | (bit << 1)
        parents.append(up if up < n else rank ^ bit)
    return parents


def second_tree(n: int) -> list[int]:
    """Return the parents in the other tree: mirrored for even n, shifted by one for odd n."""
    first, found = binary_tree(n), [0] * n
    for rank in range(n):
        there = (rank - 1) % n if n % 2 else n - 1 - rank
        up = first[there]
        found[rank] = -1 if up < 0 else (up + 1) % n if n % 2 else n - 1 - up
    return found


def depths(parents: Sequence[int]) -> list[int]:
    """Return how far each rank is from the root."""

    def depth(rank: int) -> int:
        return 0 if parents[rank] < 0 else 1 + depth(parents[rank])

    return [depth(rank) for rank in range(len(parents))]


def tree_reduce(parents: Sequence[int], chunks: int = 1) -> Schedule:
    """All-reduce up a tree and down again; chunk after chunk follows, a round behind."""
    depth = depths(parents)
    deepest = max(depth)
    found: Schedule = [[] for _ in range(2 * deepest + chunks - 1)]
    for rank, up in enumerate(parents):
        for chunk in range(chunks if up >= 0 else 0):
            found[chunk + deepest - depth[rank]].append(Message(rank, up, (chunk,), True))
            found[chunk + deepest + depth[rank] - 1].append(Message(up, rank, (chunk,)))
    return found


def double_tree_reduce(n: int, chunks: int = 1) -> Schedule:
    """All-reduce by two trees, `chunks` chunks of the data for each."""
    second = tree_reduce(second_tree(n), chunks)
    return both(tree_reduce(binary_tree(n), chunks), shifted(second, chunks))


def in_groups(n: int, groups: int, gather: Callable[[int], Schedule]) -> Schedule:
    """All-gather within each group of neighbours, of the chunks that a rail's ranks hold there."""
    size = n // groups
    found: Schedule = []
    for one in gather(size):
        found.append([])
        for g in range(groups):
            for m in one:
                chunks = tuple(c + other * size for c in m.chunks for other in range(groups))
                found[-1].append(Message(m.source + g * size, m.target + g * size, chunks))
    return found


def between_groups(n: int, groups: int, gather: Callable[[int], Schedule]) -> Schedule:
    """All-gather along each rail: the ranks with the same place in their groups."""
    size = n // groups
    found: Schedule = []
    for one in gather(groups):
        found.append([])
        for p in range(size):
            for m in one:
                chunks = tuple(c * size + p for c in m.chunks)
                found[-1].append(Message(m.source * size + p, m.target * size + p, chunks))
    return found


def hierarchical_gather(
    n: int, groups: int, gather: Callable[[int], Schedule] = ring_gather
) -> Schedule:
    """All-gather between groups on each rail, then within groups."""
    return between_groups(n, groups, gather) + in_groups(n, groups, gather)


def torus_reduce(rows: int, columns: int) -> Schedule:
    """All-reduce on a torus: half of the data goes along rows first, the other along columns."""
    n = rows * columns

    def place(rank: int) -> int:
        return rank % rows * columns + rank // rows  # of ranks counted column by column

    def turned(schedule: Schedule) -> Schedule:
        return [
            [
                Message(place(a), place(b), tuple(n + place(c) for c in cs), adds)
                for a, b, cs, adds in r
            ]
            for r in schedule
        ]

    rings = [hierarchical_reduce(n, groups) for groups in (rows, columns)]
    return both(rings[0], turned(rings[1]))


def hierarchical_reduce(n: int, groups: int) -> Schedule:
    """All-reduce by rings: reduce-scatter in groups, all-reduce on rails, all-gather in groups."""
    return all_reduce(hierarchical_gather(n, groups), hierarchical_gather(n, groups, ring_left))


def rail_rings(per_node: int, nodes: int, way: int = 1) -> Schedule:
    """All-gather by a ring for each port; ring j enters a node at GPU j. Chunks: ring x rank."""
    n = per_node * nodes
    found: Schedule = [[] for _ in range(n - 1)]
    for j in range(per_node):
        order = [a * per_node + (j + i) % per_node for a in range(nodes) for i in range(per_node)]
        for s, one in enumerate(ring_gather(n, way)):
            found[s] += [
                Message(order[m.source], order[m.target], tuple(j * n + order[c] for c in m.chunks))
                for m in one
            ]
    return found


def rail_trees(per_node: int, nodes: int) -> Schedule:
    """All-reduce by two trees over the nodes for each port, a chain in each node (as NCCL's)."""
    found: Schedule = []
    for number in range(2 * per_node):
        rail, over = number // 2, (binary_tree, second_tree)[number % 2](nodes)
        parents = [0] * (per_node * nodes)
        for node, up in enumerate(over):
            chain = [node * per_node + (rail + i) % per_node for i in range(per_node)]
            parents[chain[0]] = up * per_node + rail if up >= 0 else -1
            for above, below in pairwise(chain):
                parents[below] = above
        found = both(found, shifted(tree_reduce(parents), number))
    return found


def binomial(n: int) -> Schedule:
    """Broadcast of chunk 0 from rank 0: whoever has it sends it on, far ranks first."""
    found: Schedule = []
    for k in reversed(range(levels(n))):
        size = 1 << k
        found.append([Message(r, r + size, (0,)) for r in range(0, n, 2 * size) if r + size < n])
    return found


def scatter(n: int) -> Schedule:
    """Scatter from rank 0 along a binomial tree: each message is what lies below its target."""
    return [
        [m._replace(chunks=tuple(range(m.target, min(n, 2 * m.target - m.source)))) for m in r]
        for r in binomial(n)
    ]


def chain(n: int, chunks: int) -> Schedule:
    """Broadcast from rank 0 along a chain, chunk after chunk."""
    found: Schedule = [[] for _ in range(n - 2 + chunks)]
    for rank in range(n - 1):
        for chunk in range(chunks):
            found[rank + chunk].append(Message(rank, rank + 1, (chunk,)))
    return found


def direct_exchange(n: int) -> Schedule:
    """All-to-all, a partner a round. Chunk s * n + d goes from rank s to rank d."""
    return [
        [Message(r, (r + s) % n, (r * n + (r + s) % n,)) for r in range(n)] for s in range(1, n)
    ]


def bruck_exchange(n: int) -> Schedule:
    """All-to-all by Bruck: a round for each bit of the distance, blocks travel on by it."""
    found: Schedule = []
    for k in range(levels(n)):
        held: dict[int, list[int]] = {r: [] for r in range(n)}
        for s in range(n):
            for away in range(n):
                if away >> k & 1:
                    held[(s + away % (1 << k)) % n].append(s * n + (s + away) % n)
        found.append([Message(r, (r + (1 << k)) % n, tuple(held[r])) for r in range(n)])
    return found
