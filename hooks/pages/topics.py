"""The topics as boxes, on the home page and above the contents: what is planned is folded.

They are lists and folds that a style sheet draws as boxes, so that it can be read by screen
readers, found by the browser's search, and needs neither script nor picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from hooks.data import Text
from hooks.findings import Finding, schema
from hooks.links import page_address
from hooks.notes import Catalogue, Note
from hooks.pages.frame import fill
from hooks.pages.view import View, escape


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


def _first_note(group: Group, view: View) -> Note | None:
    """Return the page that best stands for a group: its topic page, else its first note."""
    those = (view.note(one) for name in group.notes for one in (f"{name}/index", name))
    return next(filter(None, those), None)


def boxes(view: View, areas: Sequence[Area]) -> str:
    """Return a box for each area in Markdown: its groups as links, what is planned in a fold."""
    found = []
    for area in areas:
        index, name = view.note(f"{area.id}/index"), area.title.in_language(view.language)
        live, owed = [], []
        for group in area.groups:
            note, title = _first_note(group, view), group.title.in_language(view.language)
            if note is not None:
                live.append(f"- {view.link(note, text=title)}")
            else:
                owed.append(f"- {escape(title)}")
        found.append((view.link(index, text=name) if index else escape(name), live, owed))
    return fill("topics.html", words=view.words("topics"), areas=found).rstrip("\n")


def offered(areas: Sequence[Area], notes: Catalogue, language: str) -> list[list[Any]]:
    """Return `[name, address, words]` of each group, for a search that finds nothing.

    The address is empty for what is planned. The words are what else it is about, in both
    languages.
    """
    found: list[list[Any]] = []
    other = "zh" if language == "en" else "en"
    for area in areas:
        for group in area.groups:
            note = _first_note(group, View(notes, language))
            words = (
                group.covers.in_language(language),
                group.title.in_language(other),
                area.title.in_language(language),
            )
            there = page_address(note.id, note.language) if note is not None else ""
            found.append([group.title.in_language(language), there, " ".join(words)])
    return found
