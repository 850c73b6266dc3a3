"""The structure of one text: headings, links, anchors, tags, comments, fences."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


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
class Raw:
    """Markup that is no such thing on the site, so that readers see it as it is written."""

    kind: str
    """`link`: parentheses that make none; `container`: of a kind that the site does not know;
    `tag`: its `markdown` attribute is not looked at."""
    text: str
    line: int
    column: int
    repair: str = ""


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
    shown_raw: tuple[Raw, ...] = ()
