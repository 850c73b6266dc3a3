"""What the public documents ask that the handbook grew from, and which notes answer it.

`docs/data/coverage.yml` has a row for every heading, question and link of those documents. Whether
notes and headings exist is for the pages to say, where notes are known; here is the form.
"""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from hooks.data.wording import Text
from hooks.findings import Document, Finding, load, nearest, past_day, validate

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

RULE = "coverage"


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


class Origin(_Record):
    """A public document: its title and author, and where it is."""

    title: Text
    author: str | None = None
    url: str | None = Field(default=None, pattern=r"^https://[^/\s]+/\S*$")
    sought: Annotated[datetime.date, BeforeValidator(past_day)] | None = None
    """The day on which its address was looked for in vain."""


class Question(_Record):
    """A heading, a question or a link of a document."""

    what: Text
    answers: tuple[str, ...] = ()
    """Ids of notes, with or without the id of a heading of the Chinese file: `a/b#heading`."""
    planned: str | None = Field(default=None, pattern=r"^[a-z0-9-]+(/[a-z0-9-]+)+$")
    """The id of the note that is owed; once it exists, it is the answer."""
    resource: str | None = None
    """The key of the resource that a link, a person or a course of a document is."""

    @model_validator(mode="after")
    def _either(self) -> Question:
        if self.answers and self.planned:
            raise ValueError("must have 'answers' or 'planned', not both")
        if not (self.answers or self.planned or self.resource):
            raise ValueError("must have 'answers', 'planned' or 'resource'")
        return self

    def answered_by(self, notes: Iterable[str]) -> tuple[str, ...]:
        """Return which notes answer it, given the ids of those that exist."""
        if self.planned:
            return (self.planned,) if self.planned in notes else ()
        return self.answers

    def is_answered(self, notes: Iterable[str]) -> bool:
        """Return whether a note or a resource answers it, given the ids of existing notes."""
        return bool(self.resource or self.answered_by(notes))


class Coverage(_Record):
    """The documents by their keys, and the rows by their ids, which begin with a key."""

    documents: dict[str, Origin]
    rows: dict[str, Question]

    def of(self, key: str) -> dict[str, Question]:
        """Return the rows of a document."""
        return {name: row for name, row in self.rows.items() if name.rpartition("-")[0] == key}


def load_coverage(path: Path, file: str) -> tuple[Coverage | None, Document | None, list[Finding]]:
    """Read the file; return what is valid, its places, and findings of the rule `coverage`."""
    if not path.is_file():
        return None, None, []
    document, findings = load(path.read_text(encoding="utf-8"), file, RULE)
    if document is None:
        return None, None, findings
    coverage, mistakes = validate(Coverage, document, RULE)
    findings += mistakes
    if coverage is None:
        return None, document, findings
    for key, origin in coverage.documents.items():
        if not origin.url and not origin.sought:
            message = (
                f"document '{key}' has no address; give 'url', or 'sought' with the day on "
                "which it was looked for in vain"
            )
            findings.append(document.finding(RULE, ("documents", key), message, key))
    for name in coverage.rows:
        key = name.rpartition("-")[0]
        if key not in coverage.documents:
            message = f"row '{name}' belongs to no document; its id must begin with the key of one"
            hint = nearest(key, coverage.documents)
            findings.append(document.finding(RULE, ("rows", name), message, name, hint))
    return coverage, document, findings
