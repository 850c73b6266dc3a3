"""Sets of judged queries: what readers type, and the sections that answer them.

A set is a YAML file, `handbook.dev.yml` or `handbook.test.yml`: the half (`dev` may be used for
tuning an engine, `test` may not), and queries with the graded sections that answer them.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

CLASSES = "zh question en mixed api partial typo cross variant none".split()
"""Kinds of query: Chinese words, a question, English words, both together, an identifier, the
first or a middle part of one, a slip, words of the other language than the answer, another
spelling (traditional, full width, case, hyphens, British or American), nothing to be found."""

NO_ANSWER = "none"

RIGHT = 2
"""Sections of this grade or better count as right; grade 1 (acceptable) only adds to nDCG."""

Grade = Literal[1, 2, 3]


class QueryError(ValueError):
    """A set of queries is not what it should be; the message names file and place."""


class Query(BaseModel):
    """What a reader types, and what answers it."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    id: Annotated[str, Field(pattern=r"^[a-z]+-\d+$")]
    """Unique over both halves."""
    kind: Annotated[str, Field(alias="class")]
    """One of CLASSES, or of `known_items.KINDS`."""
    language: Literal["zh", "en"]
    """The language of the pages the reader is on."""
    text: Annotated[str, Field(min_length=1)]
    right: dict[str, Grade] = {}
    """Section (`page.md#id`, or `page.md` for the part before the first heading below the title;
    the Chinese page) -> grade: 3 the section, 2 as good or nearly, 1 acceptable. Empty for a
    query that nothing answers."""

    @model_validator(mode="after")
    def _is_answerable(self) -> Query:
        if self.kind == NO_ANSWER and self.right:
            raise ValueError(f"class '{NO_ANSWER}' has no right sections")
        if self.kind != NO_ANSWER and max(self.right.values(), default=0) < 3:
            raise ValueError("no section has grade 3")
        return self

    def right_sections(self) -> set[str]:
        """Return the sections that count as right."""
        return {section for section, grade in self.right.items() if grade >= RIGHT}


class QuerySet(BaseModel):
    """The queries of one file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    collection: Literal["handbook"]
    half: Literal["dev", "test"]
    queries: list[Query]

    @model_validator(mode="after")
    def _classes_are_known(self) -> QuerySet:
        for query in self.queries:
            if query.kind not in CLASSES:
                known = ", ".join(CLASSES)
                raise ValueError(f"query '{query.id}': class '{query.kind}' is none of {known}")
        return self


def load(paths: Iterable[Path]) -> list[Query]:
    """Read and check files, in order.

    Raises QueryError, which names the file, also when an id, or a text in one language, occurs
    twice, or OSError.
    """
    seen: dict[tuple[str, str], str] = {}
    found = []
    for path in paths:
        try:
            one = QuerySet.model_validate(yaml.load(path.read_text("utf-8"), yaml.CSafeLoader))
        except (yaml.YAMLError, ValidationError) as error:
            raise QueryError(f"{path}: {error}") from None
        for query in one.queries:
            for key in (("id", query.id), (query.language, query.text)):
                if key in seen:
                    raise QueryError(f"{path}: '{key[1]}' is in {seen[key]} already")
                seen[key] = path.name
            found.append(query)
    return found
