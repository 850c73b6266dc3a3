"""What a page gets at markers in its own text: lists, tables, boxes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hooks.data import Layout, LearningPath
from hooks.findings import rules
from hooks.links import external
from hooks.notes import Entry
from hooks.pages import (
    catalogue,
    contents,
    glossary,
    messages,
    paths,
    questions,
    records,
    resources,
    sources,
    topics,
)
from hooks.pages.term_marks import Marks
from hooks.pages.view import View

if TYPE_CHECKING:
    import datetime

    from hooks.pages.data import Data


@dataclass(frozen=True, kw_only=True)
class Page(View):
    """A page with markers, and all that they may show."""

    path: str
    """Below the docs folder."""
    data: Data
    entries: Sequence[Entry] = ()
    areas: Sequence[topics.Area] = ()
    learning: Sequence[LearningPath] = ()
    added: Mapping[str, datetime.date] | None = None
    """The day on which each file of a note was added; None where dates and users do not matter."""


def _resources(page: Page) -> str:
    data, users = page.data, page.data.users(page.language)
    cited = resources.citing(data.library, page.notes, page.language, data.facts[0], users)
    return resources.render(data.library, page.areas, cited, page.language)


def _sources(page: Page) -> str:
    users = page.data.users(page.language)
    return sources.render(page.data.facts[0], users, page.language)


def _glossary(page: Page) -> str:
    terms, uses = page.data.glossary[0], None
    if page.added is not None:
        order = [one.path.removesuffix(".md") for entry in page.entries for one in entry.pages()]
        uses = Marks(terms).uses(page.notes, order, page.language)
    return glossary.render(page, terms, uses)


def _rules(view: View) -> str:
    """Return every rule as a table: its name, what is reported, how to mend it."""
    lines = [f"| {view.words('rules')['head']} |", "| --- | --- | --- |"]
    for rule in rules.all_rules():
        said = rule.words[view.language]
        lines.append(f"| `{rule.name}` | {_cell(said.what)} | {_cell(said.mend)} |")
    return "\n".join(lines)


def _cell(text: str) -> str:
    """Return text that a cell of a table shows as it is."""
    text = re.sub(r"([\\`*_\[\]|{}$~])", r"\\\1", text)
    return text.replace("<", "&lt;").replace(">", "&gt;")


_SHOWN: Final[dict[str, Callable[[Page], str]]] = {
    "contents": lambda page: contents.contents(page, page.entries),
    "notes": lambda page: contents.topic_listing(  # of the topic whose index page this is
        page, page.entries, page.path.replace(".en.md", ".md")
    ),
    "newest": lambda page: contents.newest(page, page.added or {}),
    "verified": contents.last_verified,
    "map": lambda page: topics.boxes(page, page.areas),
    "paths": lambda page: paths.render(page, page.learning),
    "path-cards": lambda page: paths.cards(page, page.learning),
    "counts": lambda page: catalogue.counts(page, page.data.items),
    "questions": questions.listing,
    "resources": _resources,
    "sources": _sources,
    "glossary": _glossary,
    "vendor-terms": lambda page: glossary.vendor_table(page.data.glossary[0], page.language),
    "messages": lambda page: messages.render(page, page.data.messages[0], page.path),
    "check-rules": _rules,
    "kit-files": records.downloads,
    "readers-records": records.render,
    "external-links": lambda page: external.render(Layout(page.data.docs).report, page.language),
}
"""Each marker `<!-- name -->`, and what stands in its place; `contents` may have a depth."""
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
            return contents.contents(page, page.entries, int(match["depth"]))
        return _SHOWN[match["name"]](page)

    return _MARKER.sub(block, markdown)
