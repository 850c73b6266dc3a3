"""The index: texts of sections in a compact form, in parts, and tables for reading queries.

What is shipped holds no postings: the core makes them from the texts when they arrive, which
takes less time than loading them would and half the bytes (measured: bench/search/README.md).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from hooks.cache import FOLDER, Cache
from hooks.data import Term, load_terms
from hooks.notes import catalogue, published
from hooks.search import from_html
from hooks.search.entries import KINDS
from hooks.search.sections import QUESTION, Page, pair_sections
from hooks.search.words import characters, everyday

FORMAT: Final = 1
"""Number of the format; the core refuses any other."""

PART_BYTES: Final = 600_000
"""About how much text (UTF-8) a part holds; a larger handbook has more parts."""

SECTION_END: Final = "\ue000"


@dataclass(slots=True)
class Index:
    """What an engine is made of."""

    tables: dict[str, Any]
    parts: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Language -> its parts, in order."""


def _record(page: Page) -> list[Any]:
    """Return a page as the core reads it (Index.add in core/2_index.js)."""
    return [
        page.key,
        page.location,
        page.title,
        list(page.trail),
        page.kind,
        list(page.tags),
        f"{page.description}\n{page.key.rpartition('/')[2]}",
        page.fallback,
        len(page.sections),
    ]


def _part(
    language: str, pages: Sequence[Page], numbers: Mapping[tuple[str, str], list[int]]
) -> dict[str, Any]:
    sections = [section for page in pages for section in page.sections]
    return {
        "format": FORMAT,
        "language": language,
        "pages": [_record(page) for page in pages],
        "anchors": [section.anchor for section in sections],
        "levels": "".join(str(section.level) for section in sections),
        "titles": [section.title for section in sections],
        "numbers": [number for page in pages for number in numbers[page.key, page.language]],
        "kinds": {name: [kind.label(language), kind.worth] for name, kind in KINDS.items()},
        "entries": {at: section.kind for at, section in enumerate(sections) if section.kind},
        "text": SECTION_END.join(QUESTION.join([one.text, *one.asked]) for one in sections),
    }


def _cut(pages: Iterable[Page], most: int) -> list[list[Page]]:
    """Divide pages into lists of about `most` bytes of text each."""
    parts: list[list[Page]] = [[]]
    size = 0
    for page in pages:
        own = sum(len(section.text.encode()) for section in page.sections)
        if parts[-1] and size + own > most:
            parts.append([])
            size = 0
        parts[-1].append(page)
        size += own
    return parts


def make_index(
    pages: Sequence[Page],
    groups: Sequence[Term] = (),
    *,
    part_bytes: int = PART_BYTES,
    cache: Cache | None = None,
) -> Index:
    """Return the index of pages; `groups` are the terms that mean the same.

    `cache` knows how characters sound.
    """
    numbers = pair_sections(pages)
    texts = [text for page in pages for text in _texts(page)]
    forms = [form for group in groups for form in group.forms]
    han = characters.han_of(texts) | characters.han_of(forms)
    pairs = characters.regional(han, forms, texts)
    places, typed = _places(pages, numbers), characters.han_of(texts)
    tables = {
        "simple": characters.simple_pairs(han.union(*(old for old, _ in pairs))),
        "sounds": (cache or Cache()).recall(
            "sounds", sorted(typed), partial(characters.sounds, typed)
        ),
        # Forms, and the sections that define them.
        "groups": [
            [[*one.forms], [places[at] for at in (f"#term-{one.id}", one.defined) if at in places]]
            for one in groups
        ]
        + [[[old, new], []] for old, new in pairs],
        "everyday": everyday.table(),
    }
    index = Index(tables)
    for language in dict.fromkeys(page.language for page in pages):
        own = [page for page in pages if page.language == language]
        index.parts[language] = [_part(language, chunk, numbers) for chunk in _cut(own, part_bytes)]
    return index


def _places(pages: Iterable[Page], numbers: Mapping[tuple[str, str], list[int]]) -> dict[str, int]:
    """Return the numbers of sections by the addresses that terms name, and of glossary entries."""
    places: dict[str, int] = {}
    for page in pages:
        for section, number in zip(page.sections, numbers[page.key, page.language], strict=True):
            places.setdefault(f"{page.key}#{section.anchor}".rstrip("#"), number)
            if section.anchor.startswith("term-"):
                places.setdefault(f"#{section.anchor}", number)
    return places


def _texts(page: Page) -> Iterable[str]:
    yield from (page.title, page.description, *page.tags, *page.trail)
    for section in page.sections:
        yield from (section.title, section.text, *section.asked)


def build_index(docs: Path, terms: Path | None = None) -> Index:
    """Return the index of a folder of notes without what a build adds to their pages.

    Args:
        docs: The folder; what was rendered before is kept beside it.
        terms: The folder of terms that mean the same; None or a missing folder: none.
    """
    notes, _ = catalogue.load(docs, kept=Cache(docs.parent / FOLDER))
    pages = [from_html.read_note(note) for note in published(notes).notes.values()]
    return make_index(pages, load_terms(terms) if terms is not None else [])


def script(function: str, data: object) -> str:
    """Return a script that hands data to a function or, with `name = `, names it; UTF-8."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    text = text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return f"{function}({text});\n"
