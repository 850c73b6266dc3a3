"""What a parse of the notes yields: plain records, shared by every other module."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from hooks.front_matter import FrontMatter

LANGUAGES = ("zh", "en")
DEFAULT_LANGUAGE = "zh"


def language_of(path: str) -> str:
    """Return the language of a file by its name: `x.en.md` is English, `x.md` Chinese."""
    stem = path.removesuffix(".md")
    suffix = stem.rpartition("/")[2].rpartition(".")[2]
    return suffix if suffix in LANGUAGES and "." in stem else DEFAULT_LANGUAGE


def note_id(path: str, language: str) -> str:
    """Return the name that both languages of a note share."""
    return path.removesuffix(".md").removesuffix(f".{language}")


class LinkKind(Enum):
    """How a link is written."""

    INLINE = "inline"  # [text](target)
    IMAGE = "image"  # ![alt](target)
    REFERENCE = "reference"  # [text][label]; the target is the label
    DEFINITION = "definition"  # [label]: target
    AUTOLINK = "autolink"  # <https://…>
    HTML = "html"  # <a href="target">, <img src="target">


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a note."""

    level: int
    text: str
    """Plain text, without markup."""
    id: str
    line: int
    is_explicit: bool = False
    """Whether an attribute list gives the id, which GitHub shows as text instead."""


class Link(NamedTuple):
    """A link as written, with the place of its target."""

    kind: LinkKind
    target: str
    line: int
    column: int
    text: str = ""
    is_image: bool = False
    """Whether `![…]` shows it as a picture."""
    has_spaces: bool = False
    """Whether the target holds bare spaces: a link on the site, plain text on GitHub."""
    is_unread: bool = False
    """Whether the label of a reference holds code or an escape: a link on GitHub, plain text on
    the site, which compares labels when such things are taken out already."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """An id given explicitly, by an attribute list, an HTML attribute or a fence's header."""

    id: str
    line: int
    column: int
    is_html: bool
    """Written in HTML, which GitHub honours too; attribute lists are the site's alone."""


@dataclass(frozen=True, slots=True)
class HtmlTag:
    """A start tag that a note holds as raw HTML."""

    name: str
    attributes: tuple[tuple[str, str | None], ...]
    line: int
    column: int
    text: str = ""
    """The tag as written."""
    is_empty: bool = False
    """Whether the end tag follows at once."""

    def get(self, name: str) -> str | None:
        """Return an attribute's value, or None when the tag has no such attribute."""
        return dict(self.attributes).get(name)


@dataclass(frozen=True, slots=True)
class Comment:
    """An HTML comment in running text; those that stand alone or in code are none of these."""

    text: str
    """What stands between the marks, without blanks around it."""
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced block."""

    info: str
    """The words after the opening fence."""
    text: str
    line: int
    """Line of the first line of the text."""


@dataclass(frozen=True, slots=True)
class Source:
    """The structure of one Markdown text."""

    headings: tuple[Heading, ...] = ()
    links: tuple[Link, ...] = ()
    definitions: tuple[Link, ...] = ()
    """Definitions of reference links; `text` is the label, normalised."""
    tags: tuple[HtmlTag, ...] = ()
    fences: tuple[Fence, ...] = ()
    comments: tuple[Comment, ...] = ()
    footnote_uses: tuple[Link, ...] = ()
    footnote_definitions: tuple[Link, ...] = ()
    anchors: tuple[Anchor, ...] = ()
    unread_links: tuple[Link, ...] = ()
    """Markdown links inside raw HTML: links on GitHub, plain text on the site."""
    broken_fences: tuple[tuple[int, str], ...] = ()
    """Line and text of fences that are no fence on the site: never closed, or oddly headed."""


@dataclass(frozen=True, slots=True)
class Note:
    """One Markdown file under `docs/`."""

    path: str
    """Path below `docs/`, with forward slashes, such as `link/topo/nvswitch.en.md`."""
    file: str
    """Path from the repository root."""
    language: str
    text: str
    source: Source
    meta: FrontMatter | None

    @property
    def id(self) -> str:
        """The name both languages share, such as `link/topo/nvswitch`."""
        return note_id(self.path, self.language)

    @property
    def may_include(self) -> bool:
        """Whether the text holds the marks of includes."""
        return "8<" in self.text

    @property
    def topic(self) -> str:
        """The folder of the note, such as `link/topo`; empty at the root."""
        return self.id.rpartition("/")[0]

    @property
    def is_index(self) -> bool:
        """Whether this is the page of a topic rather than a note in it."""
        return self.id.rpartition("/")[2] == "index"

    @property
    def title(self) -> str:
        """The title by front matter, else by the first heading, else the id."""
        if self.meta is not None:
            return self.meta.title
        return self.source.headings[0].text if self.source.headings else self.id


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Every note under `docs/`, by path, in sorted order."""

    notes: dict[str, Note] = field(default_factory=dict)
    other_files: frozenset[str] = frozenset()
    """Paths below `docs/` of files that are not notes."""

    def twin(self, note: Note, language: str) -> Note | None:
        """Return the note with the same id in the given language, if it exists."""
        suffix = "" if language == DEFAULT_LANGUAGE else f".{language}"
        return self.notes.get(f"{note.id}{suffix}.md")

    def in_language(self, note_id: str, language: str) -> Note | None:
        """Return the note shown for an id in a language: its own, or that of the other one."""
        for candidate in (language, *LANGUAGES):
            suffix = "" if candidate == DEFAULT_LANGUAGE else f".{candidate}"
            note = self.notes.get(f"{note_id}{suffix}.md")
            if note is not None:
                return note
        return None

    def ids(self) -> list[str]:
        """Every note id once, sorted."""
        return sorted({note.id for note in self.notes.values()})
