"""Whether one engine answers better than another, or was lucky with these queries.

Both answer the same queries, so differences are taken query by query. The p value is that of a
randomisation test on the mean difference of reciprocal ranks (Smucker, Allan, Carterette, "A
comparison of statistical significance tests for information retrieval evaluation", CIKM 2007);
the interval comes from a paired bootstrap.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from bench.search.evaluation.metrics import Answer
from bench.search.evaluation.queries import NO_ANSWER

ROUNDS = 10_000


@dataclass(frozen=True, slots=True)
class Change:
    """A query that two engines rank differently."""

    id: str
    text: str
    before: int
    """Rank of the first right section with the first engine; 0 for not among the first ten."""
    after: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """The second engine against the first."""

    queries: int
    difference: float
    """Mean difference of the reciprocal ranks; positive when the second engine is better."""
    low: float
    """Lower end of the 95 % interval of the difference."""
    high: float
    p: float
    """How often chance alone would give a difference at least as large, in either direction."""
    wins: tuple[Change, ...]
    """Queries the second engine ranks higher, the largest gain first."""
    losses: tuple[Change, ...]

    def as_dict(self) -> dict[str, object]:
        """Return the numbers, rounded, and how many queries were won and lost."""
        return {
            "queries": self.queries,
            "difference": round(self.difference, 4),
            "low": round(self.low, 4),
            "high": round(self.high, 4),
            "p": round(self.p, 4),
            "wins": len(self.wins),
            "losses": len(self.losses),
        }


def compare(
    first: Sequence[Answer], second: Sequence[Answer], *, seed: int = 1, rounds: int = ROUNDS
) -> Comparison:
    """Compare two engines' answers to the same queries, in the same order.

    Queries that nothing answers are left out. Raises ValueError when the queries differ.
    """
    if [one.query.id for one in first] != [one.query.id for one in second]:
        raise ValueError("the two engines answered different queries")
    pairs = [
        (one, other)
        for one, other in zip(first, second, strict=True)
        if one.query.kind != NO_ANSWER
    ]
    gains = [other.reciprocal_rank - one.reciprocal_rank for one, other in pairs]
    count = len(gains)
    if not count:
        return Comparison(0, 0.0, 0.0, 0.0, 1.0, (), ())
    chance = random.Random(seed)
    total = sum(gains)
    decided = [abs(gain) for gain in gains if gain]
    larger = 0
    for _ in range(rounds):
        bits = chance.getrandbits(len(decided)) if decided else 0
        by_chance = sum(gain if bits >> i & 1 else -gain for i, gain in enumerate(decided))
        larger += abs(by_chance) >= abs(total) - 1e-12
    means = sorted(sum(chance.choices(gains, k=count)) / count for _ in range(rounds))
    moved = sorted(
        (
            (gain, Change(one.query.id, one.query.text, one.rank, other.rank))
            for gain, (one, other) in zip(gains, pairs, strict=True)
            if gain
        ),
        key=lambda pair: (-abs(pair[0]), pair[1].id),
    )
    return Comparison(
        count,
        total / count,
        means[int(rounds * 0.025)],
        means[min(rounds - 1, int(rounds * 0.975))],
        # The difference seen is one of those that chance may give.
        (larger + 1) / (rounds + 1),
        tuple(change for gain, change in moved if gain > 0),
        tuple(change for gain, change in moved if gain < 0),
    )
