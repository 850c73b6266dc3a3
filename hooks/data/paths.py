"""Learning paths: which notes to read in which order, for whom, and what one can do afterwards.

`docs/data/paths.yml` holds them. Whether notes exist, and whether the order suits what notes say
must be read first, is for the pages to say, where notes are known; here is the form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from hooks.data.wording import Strict, Text
from hooks.findings import Document, Finding, load, validate

if TYPE_CHECKING:
    from pathlib import Path

RULE = "paths"


class Step(Strict):
    """A note on a path; a plain string is its id."""

    note: str = Field(pattern=r"^[a-z0-9-]+(/[a-z0-9-]+)+$")
    why: Text | None = None
    """One line: why this note stands here."""

    @model_validator(mode="before")
    @classmethod
    def _id_alone(cls, value: object) -> object:
        return {"note": value} if isinstance(value, str) else value


class LearningPath(Strict):
    """An order of notes."""

    id: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    title: Text
    reader: Text
    """For whom it is, and what one can do at its end."""
    notes: tuple[Step, ...]

    @model_validator(mode="after")
    def _long_enough(self) -> LearningPath:
        if len(self.notes) < 2:
            raise ValueError("must have two notes at least")
        return self

    def place(self, note_id: str) -> int | None:
        """Return where a note stands, from 0; None if it is not on the path."""
        ids = [step.note for step in self.notes]
        return ids.index(note_id) if note_id in ids else None


class Paths(Strict):
    """All of them, in the order shown."""

    paths: tuple[LearningPath, ...]


def load_paths(
    path: Path, file: str
) -> tuple[tuple[LearningPath, ...], Document | None, list[Finding]]:
    """Read the file; return the paths, their places, and findings of the rule `paths`."""
    if not path.is_file():
        return (), None, []
    document, findings = load(path.read_text(encoding="utf-8"), file, RULE)
    if document is None:
        return (), None, findings
    found, mistakes = validate(Paths, document, RULE)
    findings += mistakes
    if found is None:
        return (), document, findings
    seen: set[str] = set()
    for number, one in enumerate(found.paths):
        if one.id in seen:
            message = f"path '{one.id}' stands twice; give one an id of its own"
            findings.append(document.finding(RULE, ("paths", number, "id"), message, one.id))
        seen.add(one.id)
        ids = [step.note for step in one.notes]
        for at, note in enumerate(ids):
            if note in ids[:at]:
                message = f"note '{note}' stands twice on the path '{one.id}'; keep one"
                place = ("paths", number, "notes", at)
                findings.append(document.finding(RULE, place, message, note))
    return found.paths, document, findings
