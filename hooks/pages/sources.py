"""One page that lists every source of the data: what it is, when it was read, what rests on it.

The sources stand in `docs/data/sources/*.yml`, which are one bibliography. Each entry has an
anchor, to which the lists of sources below tables lead.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from hooks.links import page_address
from hooks.pages.citations import anchor, page_of
from hooks.pages.footnotes import mark
from hooks.pages.html import render as render_line
from hooks.pages.html import way
from hooks.pages.words import words_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hooks.data import FactBase, Source
    from hooks.notes import Note

_OWN_GROUP = 3
"""A publisher of at least so many sources is a group of its own."""


def render(base: FactBase, users: Mapping[str, Sequence[Note]], language: str) -> str:
    """Return the list as Markdown: a heading for each group, the entries as HTML.

    Arguments:
        base: Sources and families.
        users: The notes of this language that rest on a source, by its key.
        language: `zh` or `en`.
    """
    words = words_of("sources", language)
    families = _families(base)
    groups: dict[str, list[str]] = {}
    for key, source in base.sources.items():
        groups.setdefault(source.publisher.in_language(language), []).append(key)
    large = [name for name, keys in groups.items() if len(keys) >= _OWN_GROUP]
    large.sort(key=lambda name: (-len(groups[name]), _order(name)))
    small = sorted((name for name in groups if name not in large), key=_order)
    primary = sum(source.kind == "primary" for source in base.sources.values())
    cells = sum(len(row.cells) for family in base.families.values() for row in family.rows.values())
    counts = (len(base.sources), primary, len(base.sources) - primary, len(base.families), cells)
    parts = [words["total"].format(*counts)]
    for title, names in [*((name, [name]) for name in large), (words["others"], small)]:
        keys = [key for name in names for key in sorted(groups[name])]
        if keys:
            items = "\n".join(
                _entry(key, base, families, users.get(key, ()), language) for key in keys
            )
            parts.append(f"## {title}")
            parts.append(f'<ul class="sources" data-search-exclude>\n{items}\n</ul>')
    return "\n\n".join(parts)


def _order(name: str) -> str:
    return name.casefold()


def _families(base: FactBase) -> dict[str, list[str]]:
    """Return the families that use a source, by its key."""
    found: dict[str, list[str]] = {}
    for name, family in base.families.items():
        used = {cell.source for row in family.rows.values() for cell in row.cells.values()}
        for key in used:
            found.setdefault(key, []).append(name)
    return found


def _entry(
    key: str,
    base: FactBase,
    families: Mapping[str, Sequence[str]],
    users: Sequence[Note],
    language: str,
) -> str:
    here = posixpath.dirname(page_of(language))
    source: Source = base.sources[key]
    return render_line(
        "source.html",
        words=words_of("sources", language),
        anchor=anchor(key),
        source=source,
        language=language,
        mark=mark(words_of("sources", language)[source.kind]),
        data=[
            (way(f"data/{name}.csv", here), base.families[name].title.in_language(language))
            for name in families.get(key, ())
        ],
        notes=[(way(page_address(note.id, language), here), note.title) for note in users],
    )
