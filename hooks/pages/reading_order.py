"""What to read before and after a note: at its foot, by prerequisites, paths and navigation."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hooks.notes import needed
from hooks.pages import html

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hooks.data import LearningPath
    from hooks.notes import Catalogue, Entry

_WORDS = {
    "zh": {
        "title": "先读与接着读",
        "first": "先读",
        "next": "接着读",
        "after": "以本文为前提",
        "path": "路径：{}",
        "and": "、",
    },
    "en": {
        "title": "Before and after this note",
        "first": "Read first",
        "next": "Read next",
        "after": "Builds on this",
        "path": "on the path {}",
        "and": ", ",
    },
}


@dataclass(frozen=True, slots=True)
class Order:
    """The order of all notes, found once a build; each list by the id of a note."""

    first: dict[str, tuple[str, ...]]
    """Its prerequisites."""
    after: dict[str, list[str]] = field(default_factory=dict)
    """Notes that name it as a prerequisite."""
    next_page: dict[str, str] = field(default_factory=dict)
    """The note that follows it in the navigation, within its topic."""


def order(catalogue: Catalogue, entries: Sequence[Entry]) -> Order:
    """Return which notes come before and after each other."""
    found = Order(needed(catalogue))
    for note_id, wanted in found.first.items():
        for one in wanted:
            found.after.setdefault(one, []).append(note_id)
    pages = [page.path.removesuffix(".md") for entry in entries for page in entry.pages()]
    for one, following in itertools.pairwise(pages):
        folder, _, name = following.rpartition("/")
        if folder and folder == one.rpartition("/")[0] and name != "index":
            found.next_page[one] = following
    return found


def foot(
    order: Order,
    paths: Sequence[LearningPath],
    note_id: str,
    catalogue: Catalogue,
    language: str,
    url_of: Callable[[str], str | None],
) -> str:
    """Return the box with what to read first, what next, and what builds on it; else nothing.

    Args:
        order: The order of all notes.
        paths: All learning paths.
        note_id: The note at whose foot it stands.
        catalogue: All notes, for titles.
        language: The language of the page's frame.
        url_of: Gives the address of a note, from the page; None if it has none.
    """
    note = catalogue.in_language(note_id, language)
    if note is None or note.meta is None or note.meta.kind == "map" or not note.topic:
        return ""
    words = _WORDS[language]
    following = _following(order, paths, note_id, language)
    groups = (
        ("first", dict.fromkeys(order.first.get(note_id, ()), "")),
        ("next", {one: _named(names, words) for one, names in following.items()}),
        ("after", dict.fromkeys(sorted(set(order.after.get(note_id, ())) - set(following)), "")),
    )
    rows = [
        (words[kind], items)
        for kind, wanted in groups
        if (items := _items(wanted, catalogue, language, url_of))
    ]
    return html.fill("reading_order.html", title=words["title"], rows=rows) if rows else ""


def _named(names: Sequence[str], words: Mapping[str, str]) -> str:
    return words["path"].format(words["and"].join(names)) if names else ""


def _following(
    order: Order, paths: Sequence[LearningPath], note_id: str, language: str
) -> dict[str, list[str]]:
    """Return the next note of each path, with the paths' names; without any, the next page."""
    found: dict[str, list[str]] = {}
    for path in paths:
        at = path.place(note_id)
        if at is not None and at + 1 < len(path.notes):
            names = found.setdefault(path.notes[at + 1].note, [])
            names.append(path.title.in_language(language))
    if not found and note_id in order.next_page:
        found[order.next_page[note_id]] = []
    return found


def _items(
    wanted: Mapping[str, str],
    catalogue: Catalogue,
    language: str,
    url_of: Callable[[str], str | None],
) -> list[tuple[str, str, str]]:
    """Return address, title and remark of each note that has a page."""
    found = []
    for one, remark in wanted.items():
        note, url = catalogue.in_language(one, language), url_of(one)
        if note is not None and url is not None:
            found.append((url, note.title, remark))
    return found
