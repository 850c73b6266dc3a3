"""What the handbook holds, whatever its kind, as one record: a note, a term, a chart, a question.

Each module that shows things of a kind lists them as items; `catalogue` gathers them. Links,
search, lists and counts read these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hooks.notes import LANGUAGES, Catalogue, Note


@dataclass(frozen=True, slots=True)
class Said:
    """An item in one language."""

    title: str
    summary: str = ""
    """What search finds it by beside its title: a sentence, names, synonyms."""
    anchor: str = ""
    """Its id on the page; empty where it is the page."""
    within: str = ""
    """The id of the heading that it stands below, where that is known."""
    names: tuple[str, ...] = ()
    """Every name that it goes by, in any language."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a reader may look for."""

    kind: str
    """`note`, `question`, `term`, `resource`, `calculator`, `figure`, `answer` or `symptom`."""
    key: str
    """Its name among those of its kind."""
    note: str
    """The id of the note on whose page it stands."""
    said: Mapping[str, Said] = field(default_factory=dict)
    """What it is in each language in which its page exists."""
    topics: tuple[str, ...] = ()
    """Ids of areas of the map."""


def versions(notes: Catalogue, note_id: str) -> dict[str, Note]:
    """Return the note of an id in each language in which it exists."""
    shown = (notes.in_language(note_id, language) for language in LANGUAGES)
    return {note.language: note for note in shown if note is not None}


def areas_of(note_id: str) -> tuple[str, ...]:
    """Return the area that a note lies in, its outermost folder; none for one at the root."""
    folder, slash, _ = note_id.partition("/")
    return (folder,) if slash else ()
