"""One list of all that the handbook holds: gathered from the rooms that know each kind.

Links are checked against it, search finds what is in it, counts are made from it.
"""

from __future__ import annotations

import posixpath
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hooks.calc import Engine
from hooks.data import Glossary, Library
from hooks.notes import Catalogue, Note
from hooks.pages import answers, blocks, calculator, glossary, questions, resources
from hooks.pages.view import Item, Said, View, areas_of, versions

if TYPE_CHECKING:
    from hooks.pages.data import DataFences

_COUNTED = {
    "note": "maps/index",
    "question": "interview/index",
    "term": glossary.PAGE,
    "resource": resources.PAGE,
    "calculator": "calc/index",
    "figure": "",
}
"""What is counted, and the page with all of it."""


def gather(
    notes: Catalogue, terms: Glossary, library: Library, fences: DataFences, calculators: Engine
) -> tuple[Item, ...]:
    """Return every item, of every kind, whose page exists."""
    found = [
        *_notes(notes),
        *questions.items(notes),
        *glossary.items(terms),
        *resources.items(library),
        *calculator.items(calculators, notes),
        *blocks.items(notes, fences),
        *answers.items(notes),
    ]
    pages = set(notes.ids())
    return tuple(item for item in found if item.note in pages)


def _notes(notes: Catalogue) -> Iterator[Item]:
    for note_id in notes.ids():
        both = versions(notes, note_id)
        said = {
            one: Said(note.title, note.meta.description) for one, note in both.items() if note.meta
        }
        yield Item("note", note_id, note_id, said, areas_of(note_id))


def by_page(items: Iterable[Item]) -> dict[tuple[str, str], list[tuple[Item, Said]]]:
    """Return the items that have ids, by the note's id and the language of their page."""
    found: dict[tuple[str, str], list[tuple[Item, Said]]] = defaultdict(list)
    for item in items:
        for language, said in item.said.items():
            if said.anchor:
                found[item.note, language].append((item, said))
    return dict(found)


def ids(those: Mapping[tuple[str, str], Sequence[tuple[Item, Said]]], note: Note) -> frozenset[str]:
    """Return the ids of the items on a note's page."""
    return frozenset(said.anchor for _, said in those.get((note.id, note.language), ()))


def counts(view: View, items: Iterable[Item]) -> str:
    """Return one line of what there is of each kind, each with the way to all of it."""
    those = list(items)
    pages = {item.note for item in those}
    found = Counter(item.kind for item in those if not _is_about(item))
    parts = []
    for kind, page in _COUNTED.items():
        if not (count := found[kind]):
            continue
        forms = view.words("counts")[kind].split(" | ")
        said = forms[0 if count == 1 else -1].format(count)
        end = ".md" if view.language == "zh" else ".en.md"
        address = posixpath.join(view.prefix, page + end)
        parts.append(f"[{said}]({address})" if page in pages else said)
    return " · ".join(parts)


_NO_NOTES = ("about", "calc", "interview", "messages")
"""Folders of pages about the handbook, and of pages that are counted by what they hold."""


def _is_about(item: Item) -> bool:
    """Tell whether an item is a page, but no note."""
    folder, _, name = item.note.rpartition("/")
    return item.kind == "note" and (name == "index" or not folder or folder in _NO_NOTES)
