"""The fields at the head of a note: what they mean, and where they are wrong.

Positions come from the YAML nodes, so that an error names the line and column of the field.
"""

from __future__ import annotations

import datetime
import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from hooks.findings import Finding, schema
from hooks.markdown import Split, split

RULE = "front-matter"
_NOTE_ID = re.compile(r"[a-z0-9][a-z0-9-]*(?:/[a-z0-9][a-z0-9-]*)*\Z")

__all__ = ["FrontMatter", "Kind", "Split", "parse", "split"]

Kind = Literal["note", "map", "tutorial", "paper", "interview", "questions", "reference"]


class Allowance(BaseModel):
    """A length beyond the budget that a note asks for."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    words: int = Field(gt=1800, le=2600)
    """English words before the references; the Chinese twin gets 1.4 characters for each."""
    reason: str = Field(min_length=10, max_length=200)


class FrontMatter(BaseModel):
    """The fields a note may have. `title`, `description`, `kind` and `verified` are required."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    title: str = Field(min_length=1, max_length=80)
    """The note's name; equal to its only H1."""
    description: str = Field(min_length=1, max_length=300)
    """One sentence; it is what search and topic pages show."""
    kind: Kind
    verified: Annotated[datetime.date, BeforeValidator(schema.past_day)]
    """The day on which every fact in the note was last checked."""
    tags: list[str] = Field(default_factory=list, max_length=8)
    prerequisites: list[str] = Field(default_factory=list)
    """Ids of notes to read first, such as `link/topo/nvswitch`."""
    aliases: list[str] = Field(default_factory=list)
    """Former ids of this note, which keep leading here."""
    length: Allowance | None = None
    """More words than the budget, and why this note needs them."""
    hide: list[Literal["navigation", "toc", "path", "footer", "tags"]] = Field(default_factory=list)
    """Parts of the page frame that the theme leaves out."""

    @field_validator("prerequisites", "aliases")
    @classmethod
    def _note_ids(cls, value: list[str]) -> list[str]:
        for item in value:
            if not _NOTE_ID.match(item):
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


def recall(data: dict[str, Any]) -> FrontMatter:
    """Return a record from what `model_dump(mode="json")` made of it.

    Raises:
        ValueError, TypeError, KeyError: The data is something else.
    """
    verified = datetime.date.fromisoformat(data["verified"])
    return FrontMatter.model_validate(data | {"verified": verified})
