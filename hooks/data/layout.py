"""Where a handbook keeps what belongs to its notes: the names of files and folders"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

DATA = "data"
"""Below the folder of notes; nothing in it is published as it is."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The files beside the notes, by the folder of notes."""

    docs: Path

    @property
    def data(self) -> Path:
        """The folder of everything here."""
        return self.docs / DATA

    @property
    def facts(self) -> Path:
        """A file for each family of facts."""
        return self.data / "facts"

    @property
    def sources(self) -> Path:
        """The bibliography of the facts, in parts."""
        return self.data / "sources"

    @property
    def resources(self) -> Path:
        """What is worth reading elsewhere, by topics."""
        return self.data / "resources"

    @property
    def terms(self) -> Path:
        """The glossary, by subjects."""
        return self.data / "terms"

    @property
    def topics(self) -> Path:
        """The map of topics: what exists, and what is planned."""
        return self.data / "topics.yml"

    @property
    def paths(self) -> Path:
        """Learning paths."""
        return self.data / "paths.yml"

    @property
    def published(self) -> Path:
        """The pages and headings of the last release; absent before the first."""
        return self.data / "published.txt"

    @property
    def moved(self) -> Path:
        """What took the place of pages and headings that are gone; absent until needed."""
        return self.data / "moved.yml"

    @property
    def report(self) -> Path:
        """What external addresses answered when they were last asked."""
        return self.data / "external" / "report.json"

    def name(self, path: Path) -> str:
        """Return how findings name a file: with the folder of notes, without what is above."""
        return f"{self.docs.name}/{path.relative_to(self.docs).as_posix()}"
