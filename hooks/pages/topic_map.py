"""The map of all topics: what exists is a link, what is planned says so.

The map is a nested list that style sheets draw as a tree, so that it can be read by screen
readers, found by the browser's search, and needs neither script nor picture.
"""

from __future__ import annotations

import posixpath
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hooks.data import Text
from hooks.findings import Finding, schema
from hooks.markdown import github_slug
from hooks.notes import Catalogue, Note
from hooks.pages import contents

_PLANNED = {"zh": "计划中", "en": "planned"}
_MIND_MAP = {"zh": "主题地图", "en": "Topic map"}


class Name(BaseModel):
    """A name in both languages."""

    model_config = ConfigDict(extra="forbid")
    zh: str
    en: str

    def get(self, language: str) -> str:
        """Return the name in a language."""
        return self.en if language == "en" else self.zh


class Item(BaseModel):
    """A name within a group that readers look for, beside the titles of notes."""

    model_config = ConfigDict(extra="forbid")
    title: Text
    at: str = ""
    """A note, or `note#heading` of the Chinese file, that tells of it."""
    planned: str = Field(default="", pattern=r"^([a-z0-9-]+(/[a-z0-9-]+)+)?$")
    """The note that will."""

    @model_validator(mode="after")
    def _either(self) -> Item:
        if bool(self.at) == bool(self.planned):
            raise ValueError("must have 'at' or 'planned', one of the two")
        return self


class Group(BaseModel):
    """A family of notes within an area."""

    model_config = ConfigDict(extra="forbid")
    title: Name
    notes: list[str]
    covers: Name
    items: list[Item] = []


class Area(BaseModel):
    """A part of the field."""

    model_config = ConfigDict(extra="forbid")
    id: str
    title: Name
    groups: list[Group]


def load(path: Path, file: str) -> tuple[list[Area], list[Finding]]:
    """Read the map. Returns no areas and the findings when the file is bad or absent."""
    if not path.is_file():
        return [], []
    text = path.read_text(encoding="utf-8")
    areas, findings = schema.load_model(list[Area], text, file, "map", "the map")
    return areas or [], findings


def _first_note(group: Group, notes: Catalogue, language: str) -> Note | None:
    """Return the page that best stands for a group: its topic page, else its first note."""
    for name in group.notes:
        for note_id in (f"{name}/index", name):
            note = notes.in_language(note_id, language)
            if note is not None:
                return note
    return None


def as_map(areas: list[Area], notes: Catalogue, language: str, *, prefix: str = "") -> str:
    """Return the map as a nested Markdown list in a box."""
    lines = []
    for area in areas:
        index = notes.in_language(f"{area.id}/index", language)
        name = area.title.get(language)
        lines.append(f"- {contents.link(index, prefix, text=name) if index else name}")
        for group in area.groups:
            note = _first_note(group, notes, language)
            title = group.title.get(language)
            if note is not None:
                lines.append(f"    - {contents.link(note, prefix, text=title)}")
            else:
                roadmap = notes.in_language("roadmap", language)
                plan = posixpath.join(prefix, roadmap.path) if roadmap else ""
                mark = f'<small class="planned">{_PLANNED[language]}</small>'
                anchor = github_slug(name)
                text = f"[{contents.escape(title)}]({plan}#{anchor})" if plan else title
                lines.append(f"    - {text} {mark}")
    body = "\n".join(lines)
    label = _MIND_MAP[language]
    opening = f'<div class="topic-map" role="group" aria-label="{label}" markdown="1">'
    return f"{opening}\n\n{body}\n\n</div>"
