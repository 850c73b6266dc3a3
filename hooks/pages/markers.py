"""What a page gets at markers in its own text: lists, tables, boxes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hooks.findings import rules
from hooks.notes import Entry
from hooks.pages import (
    catalogue,
    contents,
    glossary,
    messages,
    questions,
    records,
    resources,
    sources,
    topics,
)
from hooks.pages.view import View

if TYPE_CHECKING:
    from hooks.pages.data import Data


@dataclass(frozen=True, kw_only=True)
class Page(View):
    """A page with markers, and all that they may show."""

    path: str
    """Below the docs folder."""
    data: Data
    entries: Sequence[Entry] = ()
    areas: Sequence[topics.Area] = ()


def _sources(page: Page) -> str:
    users = page.data.users(page.language)
    return sources.render(page.data.facts[0], users, page.language)


def _rules(view: View) -> str:
    """Return every rule as a table: its name, what is reported and why, how to mend it."""
    lines = [f"| {view.words('rules')['head']} |", "| --- | --- | --- | --- |"]
    for rule in rules.all_rules():
        said = rule.words[view.language]
        lines.append(f"| `{rule.name}` | {' | '.join(map(_cell, said))} |")
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
    "map": lambda page: topics.boxes(page, page.areas),
    "counts": lambda page: catalogue.counts(page, page.data.items),
    "questions": questions.listing,
    "resources": lambda page: resources.render(page.data.library, page.areas, page.language),
    "sources": _sources,
    "glossary": lambda page: glossary.render(page, page.data.glossary[0]),
    "messages": lambda page: messages.render(page, page.data.messages[0], page.path),
    "check-rules": _rules,
    "kit-files": records.downloads,
    "readers-records": records.render,
}
"""Each marker `<!-- name -->`, and what stands in its place; `contents` may have a depth."""
MARKER = re.compile(
    rf"^<!-- (?P<name>{'|'.join(_SHOWN)})(?: depth=(?P<depth>\d))? -->[ \t]*$", re.MULTILINE
)


def fill_markers(markdown: str, page: Page) -> str:
    """Replace each marker line by what it names (`_SHOWN`)."""

    def block(match: re.Match[str]) -> str:
        if match["depth"]:
            return contents.contents(page, page.entries, int(match["depth"]))
        return _SHOWN[match["name"]](page)

    return MARKER.sub(block, markdown)
