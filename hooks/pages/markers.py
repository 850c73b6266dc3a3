"""What a page gets at markers in its own text: lists, tables, boxes."""

from __future__ import annotations

import datetime
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from hooks.data import Glossary, LearningPath
from hooks.findings import rules
from hooks.links import external
from hooks.notes import Catalogue, Entry
from hooks.pages import catalogue, contents, glossary, paths, questions, topics
from hooks.pages.items import Item
from hooks.pages.words import words_of


@dataclass(frozen=True, slots=True)
class Page:
    """A page with markers, and all that they may show."""

    path: str
    """Below the docs folder."""
    language: str
    notes: Catalogue
    entries: Sequence[Entry] = ()
    added: Mapping[str, datetime.date] = field(default_factory=dict)
    """The day on which each file of a note was added."""
    areas: list[topics.Area] = field(default_factory=list)
    report: Path | None = None
    """What the last check of external links found."""
    sources: Callable[[str], str] = lambda _: ""
    """Returns the bibliography of the data in a language."""
    learning: Sequence[LearningPath] = ()
    resources: Callable[[str], str] = lambda _: ""
    """Returns the library of resources in a language."""
    terms: Glossary = field(default_factory=Glossary)
    items: Sequence[Item] = ()
    messages: Callable[[str], str] = lambda _: ""
    """Returns the messages of the product whose page it is, or the list of products."""
    uses: Callable[[str], glossary.Uses] | None = None
    """Returns the sections that use each term in a language."""

    @property
    def prefix(self) -> str:
        """The way from the page to the docs folder."""
        return posixpath.relpath(".", posixpath.dirname(self.path) or ".")


def _contents(page: Page, depth: int = 3) -> str:
    return contents.contents(
        page.entries, page.notes, page.language, depth=depth, prefix=page.prefix
    )


def _listing(page: Page) -> str:
    entry = contents.topic_entry(page.entries, page.path.replace(".en.md", ".md"))
    if entry is None:
        return ""
    return contents.topic_listing(entry, page.notes, page.language, prefix=page.prefix)


def _glossary(page: Page) -> str:
    uses = page.uses(page.language) if page.uses else None
    return glossary.render(page.terms, page.notes, page.language, uses)


def _external_links(page: Page) -> str:
    return external.render(page.report, page.language) if page.report else ""


_SHOWN: Final[dict[str, Callable[[Page], str]]] = {
    "contents": _contents,  # every topic, note and heading; `depth=1` leaves headings out
    "notes": _listing,  # the notes of the topic whose index page this is
    "newest": lambda page: contents.newest(
        page.notes, page.language, page.added, prefix=page.prefix
    ),
    "verified": lambda page: contents.last_verified(page.notes, page.language, prefix=page.prefix),
    "map": lambda page: topics.boxes(page.areas, page.notes, page.language, prefix=page.prefix),
    "paths": lambda page: paths.render(
        page.learning, page.notes, page.language, prefix=page.prefix
    ),
    "path-cards": lambda page: paths.cards(
        page.learning, page.notes, page.language, prefix=page.prefix
    ),
    "counts": lambda page: catalogue.counts(page.items, page.language, page.prefix),
    "questions": lambda page: questions.listing(page.notes, page.language, prefix=page.prefix),
    "resources": lambda page: page.resources(page.language),
    "sources": lambda page: page.sources(page.language),
    "glossary": _glossary,
    "vendor-terms": lambda page: glossary.vendor_table(page.terms, page.language),
    "messages": lambda page: page.messages(page.language),
    "check-rules": lambda page: rules_table(page.language),
    "external-links": _external_links,
}
"""Each marker `<!-- name -->`, and what stands in its place."""
_MARKER = re.compile(
    rf"^<!-- (?P<name>{'|'.join(_SHOWN)})(?: depth=(?P<depth>\d))? -->[ \t]*$", re.MULTILINE
)


def are_in(markdown: str) -> bool:
    """Tell whether a page has markers."""
    return _MARKER.search(markdown) is not None


def fill_markers(markdown: str, page: Page) -> str:
    """Replace each marker line by what it names (`_SHOWN`)."""

    def block(match: re.Match[str]) -> str:
        if match["depth"]:
            return _contents(page, int(match["depth"]))
        return _SHOWN[match["name"]](page)

    return _MARKER.sub(block, markdown)


def rules_table(language: str) -> str:
    """Return every rule as a table: its name, what is reported, how to mend it."""
    words = words_of("rules", language)
    lines = [f"| {words['head']} |", "| --- | --- | --- |"]
    for rule in rules.all_rules():
        said = rule.words[language]
        lines.append(f"| `{rule.name}` | {_cell(said.what)} | {_cell(said.mend)} |")
    return "\n".join(lines)


def _cell(text: str) -> str:
    """Return text that a cell of a table shows as it is."""
    text = re.sub(r"([\\`*_\[\]|{}$~])", r"\\\1", text)
    return text.replace("<", "&lt;").replace(">", "&gt;")
