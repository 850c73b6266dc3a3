"""The fields at the head of a note: what they mean, and where they are wrong.

Positions come from the YAML nodes, so that an error names the line and column of the field.
"""

from __future__ import annotations

import datetime
import re
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from hooks import yaml_loader
from hooks.findings import Finding, nearest
from hooks.halves import Split, split

_NOTE_ID = re.compile(r"[a-z0-9][a-z0-9-]*(?:/[a-z0-9][a-z0-9-]*)*\Z")

__all__ = ["FrontMatter", "Kind", "Split", "parse", "split"]

Kind = Literal["note", "map", "tutorial", "paper", "interview", "reference"]


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
    verified: datetime.date
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

    @field_validator("verified", mode="before")
    @classmethod
    def _date_only(cls, value: object) -> object:
        # YAML reads `2026-11-21` as a date and `2026-11-21 10:00` as a time: refuse the latter.
        if isinstance(value, datetime.datetime) or not isinstance(value, datetime.date):
            raise ValueError("must be a date such as 2026-11-21, without quotes")
        return value

    @field_validator("verified")
    @classmethod
    def _not_in_future(cls, value: datetime.date) -> datetime.date:
        # One day of grace: the author may be east of the machine that checks.
        if value > datetime.datetime.now(tz=datetime.UTC).date() + datetime.timedelta(days=1):
            raise ValueError(f"lies in the future: {value.isoformat()}")
        return value

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
        return None, [Finding(file, 1, 1, "front-matter", message)]
    try:
        node, data = yaml_loader.read(yaml_text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return None, [_yaml_finding(error, file)]
    if not isinstance(data, dict) or not isinstance(node, yaml.MappingNode):
        message = "front matter must be 'field: value' lines"
        return None, [Finding(file, 2, 1, "front-matter", message)]
    repeated = _repeated_keys(node, file)
    try:
        record = FrontMatter.model_validate(data)
    except ValidationError as error:
        return None, repeated + [_field_finding(item, node, file) for item in error.errors()]
    return (None if repeated else record), repeated


def recall(data: dict[str, Any]) -> FrontMatter:
    """Return a record from what `model_dump(mode="json")` made of it.

    Raises:
        ValueError, TypeError, KeyError: The data is something else.
    """
    verified = datetime.date.fromisoformat(data["verified"])
    return FrontMatter.model_validate(data | {"verified": verified})


def _yaml_finding(error: Exception, file: str) -> Finding:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error)
    # +2: marks are 0-based, and the opening `---` is a line of its own.
    line, column = (mark.line + 2, mark.column + 1) if mark else (2, 1)
    return Finding(file, line, column, "front-matter", f"front matter is not YAML: {problem}")


def _repeated_keys(node: yaml.MappingNode, file: str) -> list[Finding]:
    seen: set[str] = set()
    findings = []
    for key, _ in node.value:
        if key.value in seen:
            message = f"field '{key.value}' stands twice; keep one"
            line, column = key.start_mark.line + 2, key.start_mark.column + 1
            findings.append(Finding(file, line, column, "front-matter", message, target=key.value))
        seen.add(key.value)
    return findings


def _field_finding(item: Any, node: yaml.MappingNode, file: str) -> Finding:
    name = str(item["loc"][0]) if item["loc"] else ""
    line, column = 2, 1
    for key, value in node.value:
        if key.value == name:
            place = key
            if len(item["loc"]) > 1 and isinstance(value, yaml.SequenceNode):
                place = value.value[int(item["loc"][1])]
            line, column = place.start_mark.line + 2, place.start_mark.column + 1
    inner = str(item["loc"][1]) if len(item["loc"]) > 1 and name == "length" else ""
    if item["type"] == "missing" and inner:
        message = f"field '{name}' lacks '{inner}'; write {{words: 2200, reason: why}}"
        return Finding(file, line, column, "front-matter", message, target=inner)
    if item["type"] == "extra_forbidden":
        known = Allowance.model_fields if inner else FrontMatter.model_fields
        name = inner or name
        message = f"unknown field '{name}'; known fields: {', '.join(known)}"
        hint = nearest(name, known)
        return Finding(file, line, column, "front-matter", message, target=name, suggestion=hint)
    if item["type"] == "missing":
        return Finding(file, 1, 1, "front-matter", f"field '{name}' is missing", target=name)
    detail = str(item["msg"]).removeprefix("Value error, ")
    message = f"field '{name}': {detail} (found {item['input']!r})"
    return Finding(file, line, column, "front-matter", message, target=str(item["input"]))
