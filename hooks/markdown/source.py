"""What one text holds, with places: headings, links, tags, comments, fences; and its HTML."""

from __future__ import annotations

from typing import Any, NamedTuple


class Heading(NamedTuple):
    """A heading of a note."""

    level: int
    text: str
    """Plain text, without markup."""
    id: str
    line: int
    is_explicit: bool = False
    """Whether an attribute list gives the id, which GitHub shows as text instead."""


class Link(NamedTuple):
    """An address that a text names, with its place."""

    target: str
    line: int
    column: int
    text: str = ""
    """The words of the link, or the description of the image."""
    is_image: bool = False
    """Shown as part of the page: an image, a film, its poster."""
    where: str = ""
    """`html` for a tag, `diagram` for mermaid; empty for Markdown."""
    has_spaces: bool = False
    """Whether the target holds bare spaces: a link on the site, plain text on GitHub."""


class Label(NamedTuple):
    """A name and its place: a footnote, or the label of a link definition with its target."""

    name: str
    line: int
    column: int
    target: str = ""


class HtmlTag(NamedTuple):
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


class Comment(NamedTuple):
    """An HTML comment in running text; those that stand alone or in code are none of these."""

    text: str
    """What stands between the marks, without blanks around it."""
    line: int
    column: int


class Fence(NamedTuple):
    """A fenced block."""

    info: str
    """The words after the opening fence."""
    text: str
    line: int
    """Line of the first line of the text."""


class Html(NamedTuple):
    """What the renderer makes of a text."""

    html: str
    contents: tuple[Any, ...]
    """The table of contents, as the `toc` extension has it."""
    places: tuple[tuple[str, str], ...]
    """Kind and text of each fence that shows data, by the number of its place."""


class Odd(NamedTuple):
    """What a reader would see raw, or in one view only."""

    rule: str
    text: str
    line: int
    column: int
    why: str
    repair: str = ""


class Source(NamedTuple):
    """The structure of one Markdown text."""

    headings: tuple[Heading, ...] = ()
    links: tuple[Link, ...] = ()
    """Every address that the page will hold, each once."""
    definitions: tuple[Label, ...] = ()
    """Definitions of reference links."""
    unused: frozenset[str] = frozenset()
    """The labels of those that no link rests on."""
    tags: tuple[HtmlTag, ...] = ()
    fences: tuple[Fence, ...] = ()
    comments: tuple[Comment, ...] = ()
    footnote_uses: tuple[Label, ...] = ()
    footnote_definitions: tuple[Label, ...] = ()
    ids: frozenset[str] = frozenset()
    """The ids of the page."""
    repeated: tuple[str, ...] = ()
    """Those that stand on it more than once."""
    github_ids: frozenset[str] = frozenset()
    """The ids of GitHub's view of the file."""
    odd: tuple[Odd, ...] = ()
