"""One list of all that the handbook holds: gathered from the rooms that know each kind, checked.

Links are checked against it, search finds what is in it, lists and counts are made from it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from hooks.findings import Finding
from hooks.pages import answers, blocks, calculator, glossary, questions, resources
from hooks.pages.items import Item, Said, area_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hooks.calc import Engine
    from hooks.data import Glossary, Library
    from hooks.notes import Catalogue, Note
    from hooks.pages.fences import DataFences

RULE = "catalogue"


def gather(
    notes: Catalogue,
    terms: Glossary,
    library: Library,
    fences: DataFences,
    calculators: Engine,
) -> tuple[Item, ...]:
    """Return every item, of every kind, whose page exists."""
    shown = blocks.shown_in(notes, "calc")
    found = [
        *_notes(notes),
        *questions.items(notes),
        *glossary.items(terms),
        *resources.items(library),
        *calculator.items(calculators, shown),
        *blocks.items(notes, fences),
        *answers.items(notes),
    ]
    pages = set(notes.ids())
    return tuple(item for item in found if item.note in pages)


def _notes(notes: Catalogue) -> Iterable[Item]:
    for note_id in notes.ids():
        said = {
            note.language: Said(note.title, note.meta.description)
            for note in (notes.in_language(note_id, one) for one in ("zh", "en"))
            if note is not None and note.meta is not None
        }
        area = area_of(note_id)
        yield Item("note", note_id, note_id, said, (area,) if area else ())


def by_page(items: Iterable[Item]) -> dict[tuple[str, str], list[tuple[Item, Said]]]:
    """Return the items that have ids, by the note's id and the language of their page."""
    found: dict[tuple[str, str], list[tuple[Item, Said]]] = defaultdict(list)
    for item in items:
        for language, said in item.said.items():
            if said.anchor:
                found[item.note, language].append((item, said))
    return dict(found)


def check(items: Iterable[Item], notes: Catalogue) -> list[Finding]:
    """Tell which ids stand twice on a page: two items, or an item and a heading that is another."""
    findings = []
    for (note_id, language), those in by_page(items).items():
        note = notes.in_language(note_id, language)
        if note is None or note.language != language:
            continue
        headings = {one.id: one.line for one in note.source.headings}
        owner: dict[str, Item] = {}
        for item, said in those:
            first = owner.setdefault(said.anchor, item)
            if first is not item:
                what = f"the {first.kind} '{first.key}' and the {item.kind} '{item.key}'"
                findings.append(_doubled(note, 0, said.anchor, what))
            elif said.anchor in headings and item.kind != "question":
                what = f"a heading and the {item.kind} '{item.key}'"
                findings.append(_doubled(note, headings[said.anchor], said.anchor, what))
    return findings


def _doubled(note: Note, line: int, anchor: str, what: str) -> Finding:
    message = f"{what} have the id '{anchor}' on one page"
    return Finding(note.file, line, 0, RULE, message, anchor)


def unplaced(those: Sequence[tuple[Item, Said]], html: str, file: str) -> list[Finding]:
    """Tell which items of a page have no place in it, as rendered."""
    return [
        Finding(
            file,
            0,
            0,
            RULE,
            f"the {item.kind} '{item.key}' has no place on its page: no id '{said.anchor}'",
            said.anchor,
        )
        for item, said in those
        if f'id="{said.anchor}"' not in html
    ]


def ids(those: Mapping[tuple[str, str], Sequence[tuple[Item, Said]]], note: Note) -> frozenset[str]:
    """Return the ids of the items on a note's page."""
    return frozenset(said.anchor for _, said in those.get((note.id, note.language), ()))
