"""The map of all topics: what exists is a link, what is planned says so.

The map is lists and folds that a style sheet draws as boxes, so that it can be read by screen
readers, found by the browser's search, and needs neither script nor picture.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hooks.data import Text
from hooks.findings import Finding, schema
from hooks.markdown import github_slug
from hooks.notes import Catalogue, Note
from hooks.pages import contents

_PLANNED = {"zh": "计划中", "en": "planned"}
_ALL_PLANNED = {
    "zh": "还在计划中的 {areas} 个方向（{groups} 组）",
    "en": "{areas} more areas, planned ({groups} groups)",
}
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
    """Return the map as boxes in Markdown: an area with its groups, what is planned folded.

    Areas of which nothing exists come last, in one fold of their own.
    """
    boxes, planned = [], []
    for area in areas:
        index = notes.in_language(f"{area.id}/index", language)
        name = area.title.get(language)
        live, owed = [], []
        for group in area.groups:
            note = _first_note(group, notes, language)
            title = group.title.get(language)
            if note is not None:
                live.append(f"- {contents.link(note, prefix, text=title)}")
            else:
                owed.append(_plan_link(title, name, notes, language, prefix))
        if not live:
            planned.append((name, owed))
            continue
        head = contents.link(index, prefix, text=name) if index else contents.escape(name)
        parts = [f"**{head}**", "\n".join(live)]
        if owed:
            said = f"{_PLANNED[language]} · {len(owed)}"
            parts.append(_fold(said, "\n".join(f"- {one}" for one in owed)))
        boxes.append(_box("topic-map__area", "\n\n".join(parts)))
    body = _box("topic-map__areas", "\n\n".join(boxes))
    if planned:
        count = sum(len(owed) for _, owed in planned)
        said = _ALL_PLANNED[language].format(areas=len(planned), groups=count)
        lines = [f"- **{contents.escape(name)}** {' · '.join(owed)}" for name, owed in planned]
        body += "\n\n" + _fold(said, "\n".join(lines))
    head = f'<div class="topic-map" role="group" aria-label="{_MIND_MAP[language]}" markdown="1">'
    return f"{head}\n\n{body}\n\n</div>"


def _plan_link(title: str, area: str, notes: Catalogue, language: str, prefix: str) -> str:
    """Return a planned group's title, as a link to the plan of its area."""
    roadmap = notes.in_language("roadmap", language)
    if roadmap is None:
        return contents.escape(title)
    return contents.link(roadmap, prefix, github_slug(area), title)


def _box(name: str, body: str) -> str:
    return f'<div class="{name}" markdown="1">\n\n{body}\n\n</div>'


def _fold(said: str, body: str) -> str:
    return (
        f'<details class="topic-map__planned" markdown="1">\n<summary>{said}</summary>\n\n'
        f"{body}\n\n</details>"
    )
