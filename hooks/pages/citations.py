"""How a page names a source: link, date, whether it is at first hand."""

from __future__ import annotations

from html import escape

from hooks.data import Cell, Source
from hooks.pages.frame import way, words_of


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


PAGE = "about/sources"
"""The id of the page that holds the marker."""


def anchor(key: str) -> str:
    """Return the id of a source's entry on the page."""
    return f"source-{key}"
