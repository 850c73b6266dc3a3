"""Sets of judged queries: what readers type, and the sections that answer them.

A set is a YAML file: the name of the collection of notes, the half (`dev` may be used for tuning
an engine, `test` may not), and queries with the graded sections that answer them.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

CLASSES = (
    "zh",
    "question",
    "en",
    "mixed",
    "api",
    "partial",
    "typo",
    "cross",
    "variant",
    "none",
)
"""Kinds of query: Chinese words, a question, English words, both together, an identifier, the
first or a middle part of one, a slip, words of the other language than the answer, another
spelling (traditional, full width, case, hyphens, British or American), nothing to be found."""

NO_ANSWER = "none"

RIGHT = 2
"""Sections of this grade or better count as right; grade 1 (acceptable) only adds to nDCG."""

Grade = Literal[1, 2, 3]


class QueryError(ValueError):
    """A set of queries is not what it should be; the message names file and place."""


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Query(_Record):
    """What a reader types, and what answers it."""

    id: Annotated[str, Field(pattern=r"^[a-z]+-\d+$")]
    """Unique in its collection, over both halves."""
    kind: Annotated[str, Field(alias="class")]
    """One of CLASSES, or of `known_items.KINDS`."""
    language: Literal["zh", "en"]
    """The language of the pages the reader is on."""
    text: Annotated[str, Field(min_length=1)]
    right: dict[str, Grade] = {}
    """Section (`page.md#id`, or `page.md` for the part before the first heading below the title;
    the page in the notes' main language) -> grade: 3 the section, 2 as good or nearly, 1
    acceptable. Empty for a query that nothing answers."""

    @model_validator(mode="after")
    def _is_answerable(self) -> Query:
        if self.kind == NO_ANSWER:
            if self.right:
                raise ValueError(f"class '{NO_ANSWER}' has no right sections")
        elif max(self.right.values(), default=0) < 3:
            raise ValueError("no section has grade 3")
        return self

    def right_sections(self, at_least: int = RIGHT) -> set[str]:
        """Return the sections of a grade or better."""
        return {section for section, grade in self.right.items() if grade >= at_least}


class QuerySet(_Record):
    """The queries of one file."""

    collection: Annotated[str, Field(pattern=r"^[a-z0-9-]+$")]
    half: Literal["dev", "test"]
    queries: list[Query]

    @model_validator(mode="after")
    def _classes_are_known(self) -> QuerySet:
        for query in self.queries:
            if query.kind not in CLASSES:
                raise ValueError(
                    f"query '{query.id}': class '{query.kind}' is none of {', '.join(CLASSES)}"
                )
        return self


def load_set(path: Path) -> QuerySet:
    """Read and check one file. Raises QueryError, naming the file and the query, or OSError."""
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise QueryError(f"{path}: {error}") from None
    try:
        return QuerySet.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        given = data["queries"] if isinstance(data, dict) and "queries" in data else []
        if len(first["loc"]) > 1 and first["loc"][0] == "queries" and isinstance(given, list):
            item = given[int(first["loc"][1])]
            place += f" (id {item.get('id')!r})" if isinstance(item, dict) else ""
        raise QueryError(f"{path}: {place}: {first['msg']}") from None


def load(paths: Iterable[Path]) -> list[Query]:
    """Read several files of one collection, in order.

    Raises QueryError when an id, or a text in one language, occurs twice, or when the files are
    of different collections.
    """
    sets = [(path, load_set(path)) for path in paths]
    names = sorted({one.collection for _, one in sets})
    if len(names) > 1:
        raise QueryError(f"queries of different collections: {', '.join(names)}")
    seen: dict[tuple[str, str], str] = {}
    found = []
    for path, one in sets:
        for query in one.queries:
            for key in (("id", query.id), (query.language, query.text)):
                if key in seen:
                    raise QueryError(f"{path}: '{key[1]}' is in {seen[key]} already")
                seen[key] = path.name
            found.append(query)
    return found
