"""What a parse of the notes yields: plain records, shared by every other module."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from hooks.markdown import Heading, Rendered, Source
from hooks.notes.fields import FrontMatter

LANGUAGE_NAMES = {"zh": "Chinese", "en": "English"}
LANGUAGES = tuple(LANGUAGE_NAMES)
DEFAULT_LANGUAGE = "zh"
REFERENCES = ("references", "参考资料")
"""What the last section of a note is called."""


def language_of(path: str) -> str:
    """Return the language of a file by its name: `x.en.md` is English, `x.md` Chinese."""
    stem = path.removesuffix(".md")
    suffix = stem.rpartition("/")[2].rpartition(".")[2]
    return suffix if suffix in LANGUAGES and "." in stem else DEFAULT_LANGUAGE


@dataclass(frozen=True, slots=True)
class Note:
    """One Markdown file under `docs/`."""

    path: str
    """Path below `docs/`, with forward slashes, such as `link/topo/nvswitch.en.md`."""
    file: str
    """Path from the repository root."""
    language: str
    text: str
    rendered: Rendered
    meta: FrontMatter | None

    @property
    def source(self) -> Source:
        """The structure of the text."""
        return self.rendered.source

    @property
    def id(self) -> str:
        """The name both languages share, such as `link/topo/nvswitch`."""
        return self.path.removesuffix(".md").removesuffix(f".{self.language}")

    @property
    def topic(self) -> str:
        """The folder of the note, such as `link/topo`; empty at the root."""
        return self.id.rpartition("/")[0]

    @property
    def is_index(self) -> bool:
        """Whether this is the page of a topic rather than a note in it."""
        return self.id.rpartition("/")[2] == "index"

    @property
    def is_draft(self) -> bool:
        """Whether its front matter calls it a draft."""
        return self.meta is not None and self.meta.draft

    @property
    def title(self) -> str:
        """The title by front matter, else by the first heading, else the id."""
        if self.meta is not None:
            return self.meta.title
        return self.source.headings[0].text if self.source.headings else self.id

    def sections(self, level: int = 2) -> Iterator[tuple[Heading, str]]:
        """Yield the headings up to a level before the references, and what is below each."""
        lines = self.text.split("\n")
        starts = [one for one in self.source.headings if one.level <= level]
        ends = [*(one.line - 1 for one in starts[1:]), len(lines)]
        for heading, end in zip(starts, ends, strict=False):  # a note may have no heading
            if heading.text.lower() in REFERENCES:
                return
            yield heading, "\n".join(lines[heading.line : end])

    def line_of(self, pattern: str) -> int:
        """Return the first line that begins so, such as that of a field; 1 if none does."""
        match = re.search(f"^{pattern}", self.text, re.MULTILINE)
        return self.text.count("\n", 0, match.start()) + 1 if match else 1


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Every note under `docs/`, by path, in sorted order."""

    notes: dict[str, Note] = field(default_factory=dict)
    other_files: frozenset[str] = frozenset()
    """Paths below `docs/` of files that are not notes."""

    def twin(self, note: Note, language: str = "") -> Note | None:
        """Return the note with the same id in a language, or in the other one, if it exists."""
        return self._exactly(note.id, language or ("en" if note.language == "zh" else "zh"))

    def in_language(self, note_id: str, language: str) -> Note | None:
        """Return the note shown for an id in a language: its own, or that of the other one."""
        found = (self._exactly(note_id, candidate) for candidate in (language, *LANGUAGES))
        return next((note for note in found if note is not None), None)

    def _exactly(self, note_id: str, language: str) -> Note | None:
        suffix = "" if language == DEFAULT_LANGUAGE else f".{language}"
        return self.notes.get(f"{note_id}{suffix}.md")

    def ids(self) -> list[str]:
        """Every note id once, sorted."""
        return sorted({note.id for note in self.notes.values()})
