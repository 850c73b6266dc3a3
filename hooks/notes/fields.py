"""The fields at the head of a note: what they mean, and where they are wrong.

Positions come from the YAML nodes, so that an error names the line and column of the field.
"""

from __future__ import annotations

import datetime
import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from hooks.findings import Finding, schema

RULE = "front-matter"
NOTE_ID = re.compile(r"[a-z0-9][a-z0-9-]*(?:/[a-z0-9][a-z0-9-]*)*\Z")

BROWSED = frozenset({"note", "tutorial", "paper", "interview", "questions"})
"""Kinds that readers find by tags."""

Kind = Literal["note", "map", "tutorial", "paper", "interview", "questions", "reference"]


class Allowance(BaseModel):
    """A length beyond the budget that a note asks for."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    words: int = Field(gt=1800, le=2600)
    """English words before the references; the Chinese twin gets 1.4 characters for each."""
    reason: str = Field(min_length=10, max_length=200)


class FrontMatter(BaseModel):
    """The fields a note may have.

    `title`, `description` and `kind` are required, and `verified` of what is no draft.
    """

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    title: str = Field(min_length=1, max_length=80)
    """The note's name; equal to its only H1."""
    description: str = Field(min_length=1, max_length=300)
    """One sentence; it is what search and topic pages show."""
    kind: Kind
    draft: bool = False
    """Whether the note is not finished: shown in a preview, left out of the site."""
    verified: datetime.date | None = Field(default=None, validate_default=True)
    """The day on which every fact in the note was last checked; a draft may leave it empty."""
    tags: list[str] = Field(default_factory=list, max_length=8)
    prerequisites: list[str] = Field(default_factory=list)
    """Ids of notes to read first, such as `link/topo/nvswitch`."""
    length: Allowance | None = None
    """More words than the budget, and why this note needs them."""
    hide: list[Literal["navigation", "toc", "path", "footer", "tags"]] = Field(default_factory=list)
    """Parts of the page frame that the theme leaves out."""

    @field_validator("verified", mode="before")
    @classmethod
    def _day(cls, value: object, info: ValidationInfo) -> datetime.date | None:
        if value is not None:
            return schema.past_day(value)
        if info.data.get("draft"):
            return None
        raise PydanticCustomError("missing", "write the day on which every fact was checked")

    @field_validator("tags")
    @classmethod
    def _enough(cls, value: list[str], info: ValidationInfo) -> list[str]:
        if not value and info.data.get("kind") in BROWSED and not info.data.get("draft"):
            raise ValueError("is empty; name two to six words that readers look for")
        return value

    @field_validator("prerequisites")
    @classmethod
    def _note_ids(cls, value: list[str]) -> list[str]:
        for item in value:
            if not NOTE_ID.match(item):
                raise ValueError(f"'{item}' is not a note id such as link/topo/nvswitch")
        return value


def parse(yaml_text: str | None, file: str) -> tuple[FrontMatter | None, list[Finding]]:
    """Validate front matter.

    Returns the record, or None with every finding of rule `front-matter`.
    """
    if yaml_text is None:
        message = "the note has no front matter; begin it with a '---' line, then title: …"
        return None, [Finding(file, 1, 1, RULE, message)]
    # The blank line stands for the opening `---`: places are the note's own.
    return schema.load_model(FrontMatter, f"\n{yaml_text}", file, RULE, "front matter")
