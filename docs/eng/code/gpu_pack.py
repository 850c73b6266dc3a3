"""Small GPU jobs scatter over nodes: how often does a whole node stay free? Only Python."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable

NODES, PER_NODE = 32, 8
SIZES = (1, 1, 1, 2, 2, 4)  # small jobs, drawn alike
Choose = Callable[[list[int], int], int | None]


def fits(free: list[int], size: int) -> list[int]:
    return [node for node, left in enumerate(free) if left >= size]


def spread(free: list[int], size: int) -> int | None:
    """The emptiest node: what a scheduler does that balances load."""
    return max(fits(free, size), key=lambda node: free[node], default=None)


def pack(free: list[int], size: int) -> int | None:
    """The fullest node that still fits."""
    return min(fits(free, size), key=lambda node: free[node], default=None)


def run(choose: Choose, load: float, seed: int, jobs: int = 20_000) -> tuple[float, float, float]:
    """Return the share of GPUs used, that of times with 8 free but no free node, and free nodes."""
    draw = random.Random(seed)
    free, now, ends = [PER_NODE] * NODES, 0.0, []
    mean_size = sum(SIZES) / len(SIZES)
    rate = load * NODES * PER_NODE / mean_size  # jobs a unit of time, each lasting 1 on average
    used = stuck = whole = seen = 0.0
    for number in range(jobs):
        now += draw.expovariate(rate)
        while ends and ends[0][0] <= now:
            _, node, size = heapq.heappop(ends)
            free[node] += size
        size = draw.choice(SIZES)
        if (node := choose(free, size)) is not None:
            free[node] -= size
            heapq.heappush(ends, (now + draw.expovariate(1.0), node, size))
        if number > jobs // 10:  # after the start
            seen += 1
            used += 1 - sum(free) / (NODES * PER_NODE)
            whole += sum(left == PER_NODE for left in free)
            stuck += sum(free) >= PER_NODE and max(free) < PER_NODE
    return used / seen, stuck / seen, whole / seen


def gang(nodes: int, first: int, second: int, together: bool, seed: int) -> str:
    """Two jobs that need all their nodes at once come to a free cluster at the same moment."""
    draw = random.Random(seed)
    if together:
        done = [name for name, need in (("A", first), ("B", second)) if need <= nodes]
        return f"{' then '.join(done)} run"
    pods = ["A"] * first + ["B"] * second
    draw.shuffle(pods)
    got = pods[:nodes]
    held = {name: got.count(name) for name in "AB"}
    if held["A"] == first or held["B"] == second:
        return "one runs"
    return f"neither runs: A holds {held['A']} of {first}, B {held['B']} of {second}"


def main() -> None:
    print("load  placement  in use  8 free, no free node  whole nodes free")
    for load in (0.5, 0.7, 0.85):
        for name, choose in (("spread", spread), ("pack", pack)):
            used, stuck, whole = run(choose, load, seed=3)
            print(f"{load:4}  {name:9} {used:7.0%} {stuck:21.0%} {whole:17.1f}")
    print("pod by pod:", gang(16, 12, 12, together=False, seed=3))
    print("gang:      ", gang(16, 12, 12, together=True, seed=3))


if __name__ == "__main__":
    main()
