"""What is compared: anything that answers a query with a list of sections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bench.search.evaluation.metrics import DEPTH, Answer
from bench.search.evaluation.queries import Query
from bench.search.evaluation.sections import Sections


class Hit(Protocol):
    """One entry of an answer."""

    @property
    def location(self) -> str:
        """The address of the section, relative to the site."""
        ...


class Engine(Protocol):
    """A search engine over one folder of notes."""

    def search(self, query: str, language: str = "zh", limit: int = 10) -> Sequence[Hit]:
        """Return the best sections for a reader of a language, best first."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """A hit that is an address and nothing else."""

    location: str


class Recorded:
    """An engine that ran elsewhere: it knows the answers to the queries it was asked."""

    def __init__(self, answers: Mapping[tuple[str, str], Sequence[str]]) -> None:
        self._answers = answers

    def search(self, query: str, language: str = "zh", limit: int = 10) -> Sequence[Hit]:
        """Return the recorded addresses. Raises KeyError for a query that was not asked."""
        return [Place(location) for location in self._answers[language, query][:limit]]


def own_engine(docs: Path, terms: Path | None = None) -> Engine:
    """Return this handbook's own engine over a folder of notes."""
    # Here, because reading queries and judging answers needs no engine.
    from hooks.search.engine import build_index, open_engine

    engine: Engine = open_engine(build_index(docs, terms))
    return engine


def ask(engine: Engine, queries: Iterable[Query], sections: Sections) -> list[Answer]:
    """Ask an engine every query and look up the sections it answers with."""
    answers = []
    for query in queries:
        hits = engine.search(query.text, query.language, DEPTH)
        keys = tuple(sections.key(hit.location) for hit in hits[:DEPTH])
        answers.append(Answer(query, keys))
    return answers
