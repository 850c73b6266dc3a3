"""What the handbook holds, and how a page shows it: in its language, with links that start there.

An item is one thing that readers may look for, whatever its kind: a note, a term, a chart, a
question. Each module that shows things of a kind lists them as items; `catalogue` gathers them.
Links, search, lists and counts read these.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from hooks.notes import LANGUAGES, Catalogue, Note
from hooks.pages.frame import words_of

_SPECIAL = re.compile(r"([\\`*_\[\]<>$|])")


def escape(text: str) -> str:
    """Return text with the characters escaped that Markdown would read as markup."""
    return _SPECIAL.sub(r"\\\1", text)


@dataclass(frozen=True)
class View:
    """The notes as a page sees them."""

    notes: Catalogue
    language: str
    prefix: str = ""
    """The way from the page to the docs folder."""

    def note(self, name: str) -> Note | None:
        """Return the note shown for an id, or for the path of a Chinese file."""
        return self.notes.in_language(name.removesuffix(".md"), self.language)

    def shown(self) -> Iterator[Note]:
        """Yield the note shown for each id; of another language where there is no twin."""
        yield from filter(None, map(self.note, self.notes.ids()))

    def words(self, section: str) -> dict[str, str]:
        """Return the words of a section of `words.yml`."""
        return words_of(section, self.language)

    def link(self, note: Note, fragment: str = "", text: str = "") -> str:
        """Return a Markdown link to a note or one of its headings."""
        target = posixpath.join(self.prefix, note.path) + (f"#{fragment}" if fragment else "")
        return f"[{escape(text or note.title)}]({target})"


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
