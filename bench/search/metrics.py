"""How good answers are: reciprocal rank, success and nDCG, for sections and for pages.

Definitions as usual in information retrieval (Manning, Raghavan, Schütze, "Introduction to
Information Retrieval", chapter 8): the reciprocal rank of an answer is 1 / r for the first right
section at rank r, 0 when none is among the first ten; success at k is 1 when a right section is
among the first k; nDCG at ten has gain 2^grade - 1 and discount log2(rank + 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from bench.search.queries import NO_ANSWER, Query

DEPTH = 10
"""How far down a list is looked at."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an engine listed for a query: sections by rank, None where there is no such section."""

    query: Query
    keys: tuple[str | None, ...]

    @property
    def rank(self) -> int:
        """The rank of the first right section among the first ten, from 1; 0 for none."""
        return _first(self.keys, self.query.right_sections())

    @property
    def page_rank(self) -> int:
        """The rank of the first section on a right section's page; 0 for none."""
        pages = {_page(key) for key in self.query.right_sections()}
        return _first([_page(key) if key else None for key in self.keys], pages)

    @property
    def reciprocal_rank(self) -> float:
        """1 / rank, or 0."""
        return 1 / self.rank if self.rank else 0.0

    @property
    def ndcg(self) -> float:
        """Discounted gain of the first ten over the best possible; each section counts once."""
        seen: set[str] = set()
        gains = []
        for key in self.keys[:DEPTH]:
            grade = self.query.right.get(key, 0) if key and key not in seen else 0
            gains.append(2**grade - 1)
            seen.add(key or "")
        best = sorted((2**grade - 1 for grade in self.query.right.values()), reverse=True)
        return _discounted(gains) / (_discounted(best[:DEPTH]) or 1)


def _page(key: str) -> str:
    return key.partition("#")[0]


def _first(keys: Sequence[str | None], right: set[str]) -> int:
    for rank, key in enumerate(keys[:DEPTH], 1):
        if key in right:
            return rank
    return 0


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


@dataclass(frozen=True, slots=True)
class Scores:
    """The means over some queries; shares are from 0 to 1."""

    queries: int
    mrr: float
    success_1: float
    success_5: float
    ndcg: float
    page_success_5: float

    def as_dict(self) -> dict[str, float | int]:
        """Return the numbers, rounded to four places."""
        return {name: round(value, 4) for name, value in asdict(self).items()}


def score(answers: Iterable[Answer]) -> Scores:
    """Return the means over answers to queries that have an answer; all 0 for none."""
    taken = [answer for answer in answers if answer.query.kind != NO_ANSWER]

    def mean(value: Callable[[Answer], float]) -> float:
        return sum(value(answer) for answer in taken) / len(taken) if taken else 0.0

    return Scores(
        len(taken),
        mean(lambda answer: answer.reciprocal_rank),
        mean(lambda answer: answer.rank == 1),
        mean(lambda answer: 1 <= answer.rank <= 5),
        mean(lambda answer: answer.ndcg),
        mean(lambda answer: 1 <= answer.page_rank <= 5),
    )


def by_class(answers: Iterable[Answer]) -> dict[str, Scores]:
    """Return the scores of each class of query that has answers, in the order of first use."""
    groups: dict[str, list[Answer]] = {}
    for answer in answers:
        if answer.query.kind != NO_ANSWER:
            groups.setdefault(answer.query.kind, []).append(answer)
    return {kind: score(group) for kind, group in groups.items()}


@dataclass(frozen=True, slots=True)
class FalseHits:
    """What was listed for queries that nothing answers."""

    queries: int
    with_hits: float
    """Share of the queries for which anything was listed."""
    hits: float
    """Mean number of sections listed, ten at most."""

    def as_dict(self) -> dict[str, float | int]:
        """Return the numbers, rounded to four places."""
        return {name: round(value, 4) for name, value in asdict(self).items()}


def false_hits(answers: Iterable[Answer]) -> FalseHits:
    """Count what was listed for queries that nothing answers; all 0 when there are none."""
    counts = [min(len(answer.keys), DEPTH) for answer in answers if answer.query.kind == NO_ANSWER]
    total = len(counts) or 1
    return FalseHits(len(counts), sum(count > 0 for count in counts) / total, sum(counts) / total)


def as_record(answers: Sequence[Answer]) -> dict[str, object]:
    """Return every number about one engine's answers, for JSON."""
    classes: Mapping[str, Scores] = by_class(answers)
    return {
        "all": score(answers).as_dict(),
        "classes": {kind: scores.as_dict() for kind, scores in classes.items()},
        "none": false_hits(answers).as_dict(),
    }
