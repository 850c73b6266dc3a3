"""The box at a note's foot: what to read first, what next, and which notes lead here."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hooks.links import resolve
from hooks.notes import Entry, needed
from hooks.pages.frame import fill
from hooks.pages.view import View

MOST = 8
"""Notes that are named as leading here."""


@dataclass(frozen=True, slots=True)
class Ways:
    """The ways between all notes of a language, found once; each by the id of a note."""

    view: View
    first: dict[str, tuple[str, ...]]
    """Its prerequisites."""
    linked: dict[str, list[str]] = field(default_factory=dict)
    """Notes that require it or link to it; pages of topics do so with everything and are none."""
    next_page: dict[str, str] = field(default_factory=dict)
    """The note that follows it in the navigation, within its topic."""


def ways(view: View, entries: Sequence[Entry]) -> Ways:
    """Return which notes come before and after each other; those that require one come first."""
    catalogue = view.notes
    found = Ways(view, needed(catalogue))
    for note_id in catalogue.ids():
        for one in found.first[note_id]:
            found.linked.setdefault(one, []).append(note_id)
    for note in view.shown():
        if note.language != view.language or note.is_index or not note.topic:
            continue
        links = (one for one in note.source.links if not one.is_image and not one.where)
        targets = (resolve(one.target, note.path).path for one in links)
        for one in (catalogue.notes[path].id for path in targets if path in catalogue.notes):
            if one != note.id and note.id not in found.linked.setdefault(one, []):
                found.linked[one].append(note.id)
    pages = [page.path.removesuffix(".md") for entry in entries for page in entry.pages()]
    for one, following in itertools.pairwise(pages):
        folder, _, name = following.rpartition("/")
        if folder and folder == one.rpartition("/")[0] and name != "index":
            found.next_page[one] = following
    return found


def foot(ways: Ways, note_id: str, url_of: Callable[[str], str | None]) -> str:
    """Return the box of a note; empty for a page of a topic or of the site, and without any way.

    `url_of` gives the address of a note from the page, None if it has none.
    """
    view = ways.view
    note = view.note(note_id)
    if note is None or note.meta is None or note.meta.kind == "map" or not note.topic:
        return ""
    words = view.words("foot")
    first = ways.first.get(note_id, ())
    following = [one for one in (ways.next_page.get(note_id),) if one]
    linked = [one for one in ways.linked.get(note_id, ()) if one not in {*first, *following}]

    def items(wanted: Sequence[str]) -> list[tuple[str, str]]:
        """Return address and title of each note that has a page."""
        return [
            (url, other.title)
            for one in wanted
            if (other := view.note(one)) is not None and (url := url_of(one)) is not None
        ]

    groups = {"first": first, "next": following, "linked": linked[:MOST]}
    rows = [(words[kind], those) for kind, wanted in groups.items() if (those := items(wanted))]
    return fill("foot.html", title=words["title"], rows=rows) if rows else ""
