"""Where a handbook keeps what belongs to its notes: the names of files and folders"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class Layout:
    """The files beside the notes, by the folder of notes."""

    def __init__(self, docs: Path) -> None:
        self.docs = docs
        self.data = docs / "data"
        """Nothing in it is published as it is."""
        self.facts = self.data / "facts"
        """A file for each family of facts."""
        self.sources = self.data / "sources"
        """The bibliography of the facts, in parts."""
        self.resources = self.data / "resources"
        """What is worth reading elsewhere, by topics."""
        self.terms = self.data / "terms"
        """The glossary, by subjects."""
        self.messages = self.data / "messages"
        """What programs print, by products."""
        self.topics = self.data / "topics.yml"
        """The map of topics: what exists, and what is planned."""
        self.published = self.data / "published.txt"
        """The pages and headings of the last release; absent before the first."""
        self.moved = self.data / "moved.yml"
        """What took the place of pages and headings that are gone; absent until needed."""

    def name(self, path: Path) -> str:
        """Return how findings name a file: with the folder of notes, without what is above."""
        return f"{self.docs.name}/{path.relative_to(self.docs).as_posix()}"
