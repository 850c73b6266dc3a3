"""Trees of any size from this handbook's own notes, in both languages, with their links.

A tree holds whole volumes of notes; when all are in it, they come again under new ids (`ccl` as
`ccl-2`) with titles of their own. Links lead to the same copy where that note is in the tree, else
to the first; where no copy is, home. The same size gives the same tree on every machine.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from hooks.links import resolve, uses
from hooks.markdown import split
from hooks.notes import Note, catalogue, navigation

VOLUMES = ("chip", "hpc", "link", "ccl", "train", "infer")
"""The topmost folders whose notes are taken, in this order of the navigation."""
_HOME = "index"
_SOURCES = "about/sources"
"""The page that every number of the notes links to."""
_SUFFIXES = ("", ".en")
_TILE = re.compile(r"(?<=^```calc\n)([\w-]+):.*$", re.MULTILINE)
"""A calculator as a tile, which links to its page; the tree has none, so it is shown whole."""
_FRONT = """\
---
title: Benchmark
description: Notes of the handbook, as many as are wanted.
kind: reference
verified: 2026-11-24
---

# Benchmark

Notes.
"""


@dataclass(frozen=True, slots=True)
class Copy:
    """A note of the handbook, as the tree holds it."""

    origin: str
    """The id in the handbook."""
    number: int
    """1 for the first time it stands in the tree."""

    @property
    def id(self) -> str:
        """The id in the tree."""
        if self.number == 1:
            return self.origin
        volume, _, rest = self.origin.partition("/")
        return f"{volume}-{self.number}/{rest}"


def chosen(order: Iterable[str], size: int) -> list[Copy]:
    """Return the notes of a tree of about `size` pages: ids in their order, as often as needed.

    A note is two pages; the home page and that of the sources are among them.
    """
    notes = [one for one in order if one.partition("/")[0] in VOLUMES]
    wanted = size // 2 - 2
    copies = [
        Copy(notes[number % len(notes)], number // len(notes) + 1) for number in range(wanted)
    ]
    return [Copy(_HOME, 1), Copy(_SOURCES, 1), *copies]


def order(root: Path) -> list[str]:
    """Return the ids of the handbook's notes, in the order of its navigation."""
    entries = navigation.read_navigation(root / "mkdocs.yml")
    return [page.path.removesuffix(".md") for one in entries for page in one.pages()]


def write(root: Path, source: Path, size: int) -> list[Copy]:
    """Write the notes of a tree below `root/docs` from those of `source`; return what it holds."""
    notes, _ = catalogue.load(source / "docs", source)
    copies = [one for one in chosen(order(source), size) if f"{one.origin}.md" in notes.notes]
    held = {(one.origin, one.number): one.id for one in copies}
    for suffix in _SUFFIXES:
        home = root / "docs" / f"{_HOME}{suffix}.md"
        home.parent.mkdir(parents=True, exist_ok=True)
        home.write_text(_FRONT, encoding="utf-8")
    for one in copies[1:]:
        for suffix in _SUFFIXES:
            note = notes.notes.get(f"{one.origin}{suffix}.md")
            if note is not None:
                file = root / "docs" / f"{one.id}{suffix}.md"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text(note, one, held), encoding="utf-8")
    return copies


def text(note: Note, copy: Copy, held: Mapping[tuple[str, int], str]) -> str:
    """Return the text of a note under the id of a copy, its links leading on within the tree."""
    lines = note.text.split("\n")
    links = sorted(
        set(uses.of_text(note.source, note.text)), key=lambda one: (one.line, one.column)
    )
    for link in reversed(links):
        line = lines[link.line - 1]
        start = link.column - 1
        if line[start:].startswith(link.target):
            fresh = _target(link.target, note.path, copy, held)
            lines[link.line - 1] = line[:start] + fresh + line[start + len(link.target) :]
    parts = split(_TILE.sub(r"\1", "\n".join(lines)))
    fields = yaml.safe_load(parts.yaml_text or "") or {}
    title = fields["title"]
    if copy.number > 1:
        fields["title"] = f"{title} {copy.number}"
    wanted = [_found(one, copy, held) for one in fields.pop("prerequisites", [])]
    if any(wanted):
        fields["prerequisites"] = [one for one in wanted if one]
    head = yaml.safe_dump(fields, allow_unicode=True, sort_keys=False, width=1000)
    heading = f"# {fields['title']}"
    body = parts.body.lstrip("\n")
    body = re.sub(r"^# .*$", lambda _: heading, body, count=1, flags=re.MULTILINE)
    if copy.number > 1:  # a chart of its own, as another note has
        body = re.sub(r"(?<=^title: \{zh: )(?=\w)", f"{copy.number} ", body, flags=re.MULTILINE)
    return f"---\n{head}---\n\n{body}"


def _found(origin: str, copy: Copy, held: Mapping[tuple[str, int], str]) -> str:
    return held.get((origin, copy.number)) or held.get((origin, 1), "")


def _target(target: str, holder: str, copy: Copy, held: Mapping[tuple[str, int], str]) -> str:
    """Return where a link leads from a copy of the note that holds it."""
    found = resolve(target, holder)
    if found.path is None or target.startswith("#") or found.escapes:
        return target
    folder = posixpath.dirname(copy.id)
    mark = re.search(r"[#?].*", target)
    rest = mark.group(0) if mark else ""
    if not found.path.endswith(".md"):
        return posixpath.relpath(found.path.rstrip("/"), folder or ".") + rest
    suffix = ".en" if found.path.endswith(".en.md") else ""
    new = _found(found.path.removesuffix(".md").removesuffix(".en"), copy, held)
    if not new:
        return posixpath.relpath(f"{_HOME}{suffix}.md", folder or ".")
    return posixpath.relpath(f"{new}{suffix}.md", folder or ".") + rest
