"""The box at a note's foot: what to read first, what next, and which notes lead here."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hooks.links import resolve
from hooks.notes import needed
from hooks.pages import html
from hooks.pages.words import words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hooks.data import LearningPath
    from hooks.notes import Catalogue, Entry, Note

MOST = 8
"""Notes that are named as leading here."""


@dataclass(frozen=True, slots=True)
class Ways:
    """The ways between all notes of a language, found once; each by the id of a note."""

    first: dict[str, tuple[str, ...]]
    """Its prerequisites."""
    linked: dict[str, list[str]] = field(default_factory=dict)
    """Notes that require it or link to it; pages of topics do so with everything and are none."""
    next_page: dict[str, str] = field(default_factory=dict)
    """The note that follows it in the navigation, within its topic."""


def ways(catalogue: Catalogue, entries: Sequence[Entry], language: str) -> Ways:
    """Return which notes come before and after each other; those that require one come first."""
    found = Ways(needed(catalogue))
    for note_id in catalogue.ids():
        for one in found.first[note_id]:
            found.linked.setdefault(one, []).append(note_id)
    for note_id in catalogue.ids():
        note = catalogue.in_language(note_id, language)
        if note is None or note.language != language or note.is_index or not note.topic:
            continue
        for one in _linked_ids(note, catalogue):
            if one != note_id and note_id not in found.linked.setdefault(one, []):
                found.linked[one].append(note_id)
    pages = [page.path.removesuffix(".md") for entry in entries for page in entry.pages()]
    for one, following in itertools.pairwise(pages):
        folder, _, name = following.rpartition("/")
        if folder and folder == one.rpartition("/")[0] and name != "index":
            found.next_page[one] = following
    return found


def _linked_ids(note: Note, catalogue: Catalogue) -> list[str]:
    paths = (
        resolve(link.target, note.path).path
        for link in note.source.links
        if not link.is_image and not link.where
    )
    return [catalogue.notes[path].id for path in paths if path in catalogue.notes]


def foot(
    ways: Ways,
    paths: Sequence[LearningPath],
    note_id: str,
    catalogue: Catalogue,
    language: str,
    url_of: Callable[[str], str | None],
) -> str:
    """Return the box of a note; empty for a page of a topic or of the site, and without any way.

    Args:
        ways: The ways between all notes (`ways`).
        paths: All learning paths; a note on one can be ticked here (paths.js).
        note_id: The note at whose foot it stands.
        catalogue: All notes, for titles.
        language: The language of the page's frame.
        url_of: Gives the address of a note, from the page; None if it has none.
    """
    note = catalogue.in_language(note_id, language)
    if note is None or note.meta is None or note.meta.kind == "map" or not note.topic:
        return ""
    words = words_of("foot", language)
    first = dict.fromkeys(ways.first.get(note_id, ()), "")
    following = {
        one: words["path"].format(words["and"].join(names)) if names else ""
        for one, names in _following(ways, paths, note_id, language).items()
    }
    linked = [one for one in ways.linked.get(note_id, ()) if one not in {*first, *following}]
    groups = (("first", first), ("next", following), ("linked", dict.fromkeys(linked[:MOST], "")))
    rows = [
        (words[kind], items)
        for kind, wanted in groups
        if (items := _items(wanted, catalogue, language, url_of))
    ]
    done = note_id if any(path.place(note_id) is not None for path in paths) else ""
    return html.fill("foot.html", title=words["title"], rows=rows, done=done) if rows else ""


def _following(
    ways: Ways, paths: Sequence[LearningPath], note_id: str, language: str
) -> dict[str, list[str]]:
    """Return the next note of each path, with the paths' names; without any, the next page."""
    found: dict[str, list[str]] = {}
    for path in paths:
        at = path.place(note_id)
        if at is not None and at + 1 < len(path.notes):
            names = found.setdefault(path.notes[at + 1].note, [])
            names.append(path.title.in_language(language))
    if not found and note_id in ways.next_page:
        found[ways.next_page[note_id]] = []
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
