"""Who reads which shard, and how far a shuffle buffer moves a sample. Standard library only."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator


def share(shards: list[int], seed: int, epoch: int, place: int, places: int) -> list[int]:
    """Return the shards of one place: the same order everywhere, then every n-th of it."""
    order = shards[:]
    random.Random(f"{seed}/{epoch}").shuffle(order)
    return order[place::places]


def buffered(samples: Iterable[int], size: int, draw: random.Random) -> Iterator[int]:
    """Yield the samples in the order of a shuffle buffer of so many places."""
    held: list[int] = []
    for sample in samples:
        if len(held) < size:
            held.append(sample)
            continue
        at = draw.randrange(size)
        yield held[at]
        held[at] = sample
    draw.shuffle(held)
    yield from held


def moved(size: int, samples: int = 20_000) -> float:
    """Return the share of neighbours in the output that were within 100 places in the input."""
    order = list(buffered(range(samples), size, random.Random(1)))
    near = sum(abs(a - b) <= 100 for a, b in itertools.pairwise(order))
    return near / (samples - 1)


def main() -> None:
    shards = list(range(10))
    ranks, workers = 2, 2
    places = ranks * workers
    print(f"10 shards, {ranks} ranks x {workers} workers")
    print(f"not split:       {places * len(shards)} shard reads, each shard {places} times")
    for epoch in (0, 1):
        shares = [share(shards, 7, epoch, place, places) for place in range(places)]
        print(f"split, epoch {epoch}:  {shares}")
    print("buffer   neighbours that were within 100 places before")
    for size in (1, 100, 1000, 10_000):
        print(f"{size:6d}   {moved(size):6.1%}")


if __name__ == "__main__":
    main()
