"""Lists of notes as a page shows them: in its language, with links that start at it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass

from hooks.notes import Catalogue, Note
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
