"""The sections of a folder of notes, found by the addresses that search engines answer with.

Engines answer with addresses of built pages (`en/link/topo/nvswitch.html#measured`); judgements
name Markdown files (`link/topo/nvswitch.md#实测`). Twins in two languages, whose headings pair by
order, are one section here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from hooks.cache import FOLDER, Cache
from hooks.notes import catalogue
from hooks.notes.note import DEFAULT_LANGUAGE, LANGUAGES, Note

_HTML_SUFFIX = re.compile(r"(?:(?:^|/)index)?\.html\Z|/\Z")
_FOOTNOTE = re.compile(r"^\[\^[^\]]+\]:.*(?:\n(?:[ \t]+.*|[ \t]*))*", re.MULTILINE)
_README = re.compile(r"(^|/)README\Z")  # MkDocs makes no index of `readme.md`


@dataclass(frozen=True, slots=True)
class Section:
    """The part of a note from one heading to the next."""

    key: str
    """`page.md#id`, or `page.md` for what comes before the first heading below the title."""
    page: str
    title: str
    text: str
    """Markdown, without the heading and without footnotes."""


class Sections:
    """The sections of a folder, twins folded."""

    def __init__(self, sections: list[Section], places: Mapping[tuple[str, str], str]) -> None:
        self._sections = {section.key: section for section in sections}
        self._places = dict(places)
        self._pages = {page for page, _ in places}

    def __iter__(self) -> Iterator[Section]:
        return iter(self._sections.values())

    def __len__(self) -> int:
        return len(self._sections)

    def __contains__(self, key: object) -> bool:
        return key in self._sections

    def key(self, location: str) -> str | None:
        """Return the section that an address of a built page leads to.

        The address is relative to the site; pages may be files or directories. An anchor that is
        no heading's leads to the page's opening part. None when there is no such page.
        """
        path, _, anchor = location.partition("#")
        path = unquote(path).removeprefix("./").lstrip("/")
        language = DEFAULT_LANGUAGE
        for other in LANGUAGES:
            if other != DEFAULT_LANGUAGE and path.startswith(f"{other}/"):
                language, path = other, path.removeprefix(f"{other}/")
                break
        stem = _HTML_SUFFIX.sub("", path)
        names = [f"{stem}/index", stem] if stem else ["index"]
        if path.endswith(".html") and not path.endswith("index.html"):
            names.reverse()
        if language != DEFAULT_LANGUAGE:  # a folder may have the name of a language
            names += [f"{language}/{name}" for name in names]
        page = next((name for name in names if name in self._pages), None)
        if page is None:
            return None
        return self._places.get((page, unquote(anchor))) or self._places[page, ""]

    def page(self, key: str) -> str:
        """Return the page of a section."""
        return key.partition("#")[0]


def _name(note: Note) -> str:
    return _README.sub(r"\1index", note.id)


def _bodies(note: Note) -> list[str]:
    """Return the texts below a note's headings, the first text before any heading left out."""
    lines = note.text.split("\n")
    starts = [heading.line for heading in note.source.headings]
    ends = [*(start - 1 for start in starts[1:]), len(lines)][: len(starts)]
    return [
        _FOOTNOTE.sub("", "\n".join(lines[start:end])).strip()
        for start, end in zip(starts, ends, strict=True)
    ]


def read(docs: Path) -> Sections:
    """Read every note below a folder.

    Files that cannot be read as notes are left out. Of twins, the one in the main language gives
    key, title and text; the other's headings lead to the same sections.
    """
    notes: dict[str, dict[str, Note]] = {}
    for note in catalogue.load(docs, kept=Cache(docs.parent / FOLDER))[0].notes.values():
        notes.setdefault(_name(note), {})[note.language] = note
    sections = []
    places: dict[tuple[str, str], str] = {}
    for name, versions in notes.items():
        main = versions.get(DEFAULT_LANGUAGE) or next(iter(versions.values()))
        keys = []
        bodies = _bodies(main)
        for index, (heading, body) in enumerate(zip(main.source.headings, bodies, strict=True)):
            opening = index == 0 and heading.level == 1
            keys.append(main.path if opening else f"{main.path}#{heading.id}")
            sections.append(Section(keys[-1], main.path, heading.text, body))
        if main.path not in keys:
            sections.append(Section(main.path, main.path, name, ""))
        places[name, ""] = main.path
        # A note's own ids win over those of its twin.
        for note in [main, *(other for other in versions.values() if other is not main)]:
            for key, heading in zip(keys, note.source.headings, strict=False):
                places.setdefault((name, heading.id), key)
    return Sections(sections, places)
