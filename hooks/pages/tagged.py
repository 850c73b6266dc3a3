"""What the handbook has under a tag beside notes: the term, resources, questions, calculators."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hooks.pages.items import Item, Said

MOST = 5
"""Of one kind, so that a tag of half the handbook stays a line."""
_KINDS = {
    "term": ("术语", "Term"),
    "resource": ("资源", "Resources"),
    "question": ("面试题", "Interview questions"),
    "calculator": ("计算器", "Calculators"),
    "figure": ("图表", "Figures and charts"),
}


@dataclass(frozen=True, slots=True)
class Group:
    """Items of one kind that a tag names."""

    label: str
    """The kind, in the language of the page."""
    links: tuple[tuple[str, str], ...]
    """Title and path in the site of each, at most `MOST`."""
    more: int
    """How many there are beside these."""


def groups(items: Iterable[Item], tag: str, language: str) -> list[Group]:
    """Return what a tag names, by kind: a term that goes by it, others that have it in their title.

    Args:
        items: All items.
        tag: The tag, in any language.
        language: The language of the page that shows them.
    """
    wanted = re.compile(rf"(?<![0-9A-Za-z]){re.escape(tag)}(?![0-9A-Za-z])", re.IGNORECASE)
    found: dict[str, list[tuple[str, str]]] = {kind: [] for kind in _KINDS}
    for item in items:
        said = item.said.get(language)
        if item.kind in found and said is not None and _is_named(item.kind, said, tag, wanted):
            found[item.kind].append((said.title, _path(item.note, language, said.anchor)))
    return [
        Group(_KINDS[kind][language == "en"], tuple(those[:MOST]), max(0, len(those) - MOST))
        for kind, those in found.items()
        if those
    ]


def _is_named(kind: str, said: Said, tag: str, wanted: re.Pattern[str]) -> bool:
    if kind == "term":
        return tag.casefold() in {name.casefold() for name in (said.title, *said.names)}
    # Every tag is looked for in all titles: most are told from it without the expression.
    return tag.casefold() in said.title.casefold() and wanted.search(said.title) is not None


def _path(note: str, language: str, anchor: str) -> str:
    return f"{'' if language == 'zh' else f'{language}/'}{note}.html" + (
        f"#{anchor}" if anchor else ""
    )
