"""The topics as boxes, on the home page and above the contents: what is planned is folded.

They are lists and folds that a style sheet draws as boxes, so that it can be read by screen
readers, found by the browser's search, and needs neither script nor picture.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from hooks.data import Text
from hooks.findings import Finding, schema
from hooks.links import page_address
from hooks.notes import Catalogue, Note
from hooks.pages import contents
from hooks.pages.words import words_of


class Group(BaseModel):
    """A family of notes within an area."""

    model_config = ConfigDict(extra="forbid")
    title: Text
    notes: list[str]
    covers: Text


class Area(BaseModel):
    """A part of the field."""

    model_config = ConfigDict(extra="forbid")
    id: str
    title: Text
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


def boxes(areas: list[Area], notes: Catalogue, language: str, *, prefix: str = "") -> str:
    """Return a box for each area in Markdown: its groups as links, what is planned in a fold."""
    words, found = words_of("topics", language), []
    for area in areas:
        index = notes.in_language(f"{area.id}/index", language)
        name = area.title.in_language(language)
        live, owed = [], []
        for group in area.groups:
            note = _first_note(group, notes, language)
            title = group.title.in_language(language)
            if note is not None:
                live.append(f"- {contents.link(note, prefix, text=title)}")
            else:
                owed.append(f"- {contents.escape(title)}")
        head = contents.link(index, prefix, text=name) if index else contents.escape(name)
        parts = [f"**{head}**", *(["\n".join(live)] if live else [])]
        if owed:
            said = f"{words['planned']} · {len(owed)}"
            lines = "\n".join(owed)
            parts.append(
                f'<details class="topic-map__planned" markdown="1">\n<summary>{said}</summary>\n\n'
                f"{lines}\n\n</details>"
            )
        found.append(_box("topic-map__area", "\n\n".join(parts)))
    body = _box("topic-map__areas", "\n\n".join(found))
    name = words["map"]
    head = f'<div class="topic-map" role="group" aria-label="{name}" markdown="1">'
    return f"{head}\n\n{body}\n\n</div>"


def _box(name: str, body: str) -> str:
    return f'<div class="{name}" markdown="1">\n\n{body}\n\n</div>'


def offered(areas: list[Area], notes: Catalogue, language: str) -> list[list[Any]]:
    """Return `[name, address, words]` of each group, for a search that finds nothing.

    The address is empty for what is planned. The words are what else it is about, in both
    languages.
    """
    found: list[list[Any]] = []
    other = "zh" if language == "en" else "en"
    for area in areas:
        for group in area.groups:
            note = _first_note(group, notes, language)
            words = [
                group.covers.in_language(language),
                group.title.in_language(other),
                area.title.in_language(language),
            ]
            there = page_address(note.id, note.language) if note is not None else ""
            found.append([group.title.in_language(language), there, " ".join(words)])
    return found
