"""How a page names a source, and one page that lists them all, with what rests on each.

The sources stand in `docs/data/sources/*.yml`, which are one bibliography. Each entry has an
anchor, to which the lists of sources below tables lead.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Mapping, Sequence
from html import escape

from hooks.data import Cell, FactBase, Source
from hooks.links import page_address
from hooks.notes import Note
from hooks.pages.footnotes import mark
from hooks.pages.frame import fill_line, way, words_of

PAGE = "about/sources"
"""The id of the page that holds the marker."""
_OWN_GROUP = 3
"""A publisher of at least so many sources is a group of its own."""


def downloads(files: dict[str, str], before: str, page_dir: str) -> str:
    """Return a line of links to files of the site, by their names."""
    links = " · ".join(
        f'<a href="{escape(way(path, page_dir))}" download>{escape(name)}</a>'
        for name, path in files.items()
    )
    return f'<p class="facts__data">{escape(before)}{links}</p>'


def cited(cell: Cell, source: Source, language: str) -> str:
    """Return in one line where a figure was read, when, and with which confidence."""
    words = words_of("facts", language)
    confidence = words["confidence"].format(cell.confidence)
    read = words["read"].format(cell.read.isoformat())
    return words["semicolon"].join([cited_source(source, language), read, confidence])


def cited_source(source: Source, language: str) -> str:
    """Return publisher, title and date of a source in one line."""
    words = words_of("facts", language)
    title = source.title.in_language(language)
    cited = f"{source.publisher.in_language(language)}{words['colon']}{title}"
    return f"{cited}{words['comma']}{source.date}" if source.date else cited


def anchor(key: str) -> str:
    """Return the id of a source's entry on the page."""
    return f"source-{key}"


def render(base: FactBase, users: Mapping[str, Sequence[Note]], language: str) -> str:
    """Return the list as Markdown: a heading for each group, the entries as HTML.

    `users` are the notes of this language that rest on a source, by its key.
    """
    words, here = words_of("sources", language), posixpath.dirname(page_address(PAGE, language))
    families: dict[str, list[str]] = defaultdict(list)  # those that use a source
    for name, family in base.families.items():
        for key in {cell.source for row in family.rows.values() for cell in row.cells.values()}:
            families[key].append(name)

    def entry(key: str) -> str:
        source = base.sources[key]
        return fill_line(
            "source.html",
            words=words,
            anchor=anchor(key),
            source=source,
            language=language,
            mark=mark(words[source.kind]),
            data=[
                (way(f"data/{name}.csv", here), base.families[name].title.in_language(language))
                for name in families[key]
            ],
            notes=[
                (way(page_address(note.id, language), here), note.title)
                for note in users.get(key, ())
            ],
        )

    groups: dict[str, list[str]] = defaultdict(list)
    for key, source in base.sources.items():
        groups[source.publisher.in_language(language)].append(key)
    names = sorted(groups, key=str.casefold)
    large = [name for name in names if len(groups[name]) >= _OWN_GROUP]
    large.sort(key=lambda name: -len(groups[name]))
    small = [key for name in names if name not in large for key in sorted(groups[name])]
    shown = {name: sorted(groups[name]) for name in large} | {words["others"]: small}
    primary = sum(source.kind == "primary" for source in base.sources.values())
    cells = sum(len(row.cells) for family in base.families.values() for row in family.rows.values())
    counts = (len(base.sources), primary, len(base.sources) - primary, len(base.families), cells)
    parts = [words["total"].format(*counts)]
    for title, keys in shown.items():
        if keys:
            items = "\n".join(map(entry, keys))
            parts.append(f'## {title}\n\n<ul class="sources" data-search-exclude>\n{items}\n</ul>')
    return "\n\n".join(parts)
