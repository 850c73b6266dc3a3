"""Who holds up a synchronous job: compute and wait times of each rank. Standard library only.

The log is made by a model: a step ends for all when the last rank has computed, plus the transfer.
"""

from __future__ import annotations

import random
from statistics import mean, median

RANKS, STEPS, PER_NODE = 32, 120, 8
TRANSFER = 0.040  # s of every step, the same for all


def computed(rank: int, step: int, draw: random.Random) -> float:
    """Return the seconds that a rank computes in a step; three things are wrong in this job."""
    seconds = 0.400 * draw.gauss(1.0, 0.004)
    if rank == 13:
        seconds *= 1.08  # a GPU whose clock is low, always
    if rank == 5 and step % 10 == 9:
        seconds += 0.150  # loader late every tenth step
    if rank // PER_NODE == 3 and step >= 60:
        seconds *= 1.05  # a node whose fans failed in the middle
    return seconds


def run(seed: int = 7) -> list[list[tuple[float, float]]]:
    """Return for each step and rank (computed, waited)."""
    draw = random.Random(seed)
    log = []
    for step in range(STEPS):
        times = [computed(rank, step, draw) for rank in range(RANKS)]
        last = max(times)
        log.append([(time, last - time + TRANSFER) for time in times])
    return log


def excess(log: list[list[tuple[float, float]]], first: int, end: int) -> list[list[float]]:
    """Return for each rank how far it lay over the median of its step, as shares."""
    over: list[list[float]] = [[] for _ in range(RANKS)]
    for step in log[first:end]:
        middle = median(time for time, _ in step)
        for rank, (time, _) in enumerate(step):
            over[rank].append(time / middle - 1)
    return over


def verdicts(over: list[list[float]]) -> dict[int, str]:
    """Name ranks that are always slow, and those that are slow now and then."""
    found = {}
    for rank, shares in enumerate(over):
        if median(shares) > 0.03:
            found[rank] = f"always, {median(shares):+.1%}"
        elif max(shares) > 0.15 and median(shares) < 0.02:
            often = sum(share > 0.15 for share in shares)
            found[rank] = f"{often} of {len(shares)} steps, up to {max(shares):+.0%}"
    return found


def main() -> None:
    log = run()
    spread = max(max(sum(one) for one in step) - min(sum(one) for one in step) for step in log)
    print(f"step time differs between ranks by at most {spread * 1000:.3f} ms")
    for first, end in ((0, 60), (60, 120)):
        took = mean(max(time for time, _ in step) + TRANSFER for step in log[first:end])
        best = mean(median(time for time, _ in step) + TRANSFER for step in log[first:end])
        print(f"steps {first}-{end - 1}: {took:.3f} s, with median ranks only {best:.3f} s")
        found = verdicts(excess(log, first, end))
        nodes = {rank // PER_NODE for rank in found}
        for node in sorted(nodes):
            of_node = {rank: text for rank, text in found.items() if rank // PER_NODE == node}
            if len(of_node) == PER_NODE:
                print(f"  node {node}, all its ranks: {of_node[min(of_node)]}")
            else:
                for rank, text in of_node.items():
                    print(f"  rank {rank} on node {node}: {text}")


if __name__ == "__main__":
    main()
