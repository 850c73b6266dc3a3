"""Find links, footnote marks and HTML tags in a run of inline Markdown as GitHub reads it.

A small scanner rather than a full inline parser, because parsers throw away the columns that a
contributor needs. Escapes, code and formulas come first, then tags and autolinks, then links.
Each character is visited a bounded number of times, whatever the text. The site's reading, which
differs, is `hooks.site_inline`; both yield the records defined here.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from hooks.markdown import destinations
from hooks.markdown import html_tags as tags
from hooks.markdown.source import LinkKind
from hooks.markdown.text import normal_label

_SPECIAL = re.compile(r"[\\`$<!\[\]]")
_TICKS = re.compile(r"`+")
_COMMENT_END = re.compile(r"--!?>")
_AUTOLINK = re.compile(r"<(?P<target>[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*)>")
_TAG = re.compile(
    r"""<[A-Za-z][A-Za-z0-9-]*+
    (?:\s+[A-Za-z_:@#][^\s"'=<>/]*+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'=<>`]++))?+)*+\s*+/?>""",
    re.VERBOSE,
)
_TITLE = re.compile(r"(?P<target>\S+)\s+\([^()]*\)")
_LABEL = re.compile(r"\[(?P<label>(?:[^\[\]\\]|\\.){0,999})\]", re.DOTALL)
_FOOTNOTE = re.compile(r"\[\^(?P<id>[^\]\n]{1,999})\]")
_MATH = re.compile(r"\$(?![\s$])(?:[^$\\\n]|\\.)+?(?<!\s)\$(?!\d)")


class InlineLink(NamedTuple):
    """A link in an inline run; offsets count characters from its start."""

    kind: LinkKind
    target: str
    offset: int
    """Where the target stands (for a reference: where its label stands)."""
    text: str
    start: int = 0
    end: int = 0
    is_image: bool = False
    has_spaces: bool = False
    is_unread: bool = False


class InlineTag(NamedTuple):
    """An HTML start tag in an inline run."""

    name: str
    text: str
    offset: int
    is_empty: bool = False

    @property
    def attributes(self) -> tuple[tuple[str, str | None], ...]:
        """Names and values, in order."""
        return tags.attributes(self.text)


@dataclass(slots=True)
class Inline:
    """What an inline run holds."""

    links: list[InlineLink] = field(default_factory=list)
    footnotes: list[InlineLink] = field(default_factory=list)
    tags: list[InlineTag] = field(default_factory=list)
    comments: list[tuple[int, str]] = field(default_factory=list)
    """Offset and text of HTML comments."""
    raw: list[tuple[int, str, str]] = field(default_factory=list)
    """Offset, text and repair of what looks like a link and is none."""
    ids: list[tuple[str, int]] = field(default_factory=list)
    """Ids that attribute lists give to a link, an image, code or emphasis, with their offsets."""
    head: int = -1
    """Where the first element begins, if there is one."""
    tail: int = 0
    """Where the last element ends: an attribute list of the block can stand behind it only."""


def html_tags(text: str) -> Iterator[InlineTag]:
    """Yield the start tags of a piece of raw HTML, comments left out."""
    bare = _without_comments(text)
    position = 0
    while (position := bare.find("<", position)) >= 0:
        match = tags.start_tag(bare, position)
        if match is None:
            position += 1
            continue
        yield InlineTag(
            match["name"].lower(),
            match.group(0),
            position,
            tags.is_closed_at_once(bare, match.end()),
        )
        position = match.end()


def _without_comments(text: str) -> str:
    """Return text with comments blanked out, line breaks kept."""
    parts, position = [], 0
    while (start := text.find("<!--", position)) >= 0:
        end = _COMMENT_END.search(text, start + 4)
        if end is None:
            break
        blank = re.sub(r"[^\n]", " ", text[start : end.end()])
        parts += [text[position:start], blank]
        position = end.end()
    return "".join([*parts, text[position:]]) if parts else text


def scan(text: str, labels: Collection[str] = ()) -> Inline:
    """Return what an inline run holds, in order, as GitHub reads it.

    Args:
        text: The run.
        labels: The labels of link definitions, normalised: without one, `[label]` is text.
    """
    scanner = _Scanner(text, labels)
    scanner.run()
    return scanner.found


def _without_title(target: destinations.Destination) -> destinations.Destination:
    """Return a target without the title in parentheses that CommonMark allows behind it."""
    match = _TITLE.fullmatch(target.text) if target.has_spaces else None
    if match is None:
        return target
    return destinations.Destination(match["target"], target.offset, target.end)


def _is_target(target: destinations.Destination, run: str) -> bool:
    """Tell whether GitHub takes it too: parentheses in pairs, and blanks only in what is a path."""
    text = target.text
    has_escapes = "\\" in run[target.offset : target.end]
    if not has_escapes and text.count("(") != text.count(")"):
        return False
    return not target.has_spaces or destinations.looks_like_path(text)


class _Scanner:
    def __init__(self, text: str, labels: Collection[str]) -> None:
        self.text = text
        self.labels = labels
        self.found = Inline()
        self.undefined: list[InlineLink] = []
        self.open: list[tuple[int, bool]] = []  # (offset of "[", is an image)
        self.ticks: list[tuple[int, int]] | None = None
        self.comment_searched = False
        self.budget = destinations.Budget(len(text))
        self.last_link_start = -1

    def run(self) -> None:
        text, position = self.text, 0
        while match := _SPECIAL.search(text, position):
            at = match.start()
            position = self.step(text[at], at)
        starts = sorted(link.start for link in self.found.links)
        for one in self.undefined:
            # `[x][nowhere](y.md)` is a link behind a text in brackets.
            label = one.offset - 1
            index = bisect.bisect_left(starts, label)
            if index == len(starts) or starts[index] != label:
                self.found.links.append(one)
        self.found.links.sort(key=lambda link: link.offset)

    def step(self, char: str, at: int) -> int:
        text = self.text
        if char == "\\":
            return at + 2
        if char == "`":
            return self.code(at)
        if char == "$":
            match = _MATH.match(text, at)
            return match.end() if match else at + 1
        if char == "<":
            return self.angle(at)
        if char == "!":
            if text.startswith("![", at):
                self.open.append((at + 1, True))
                return at + 2
            return at + 1
        if char == "[":
            mark = _FOOTNOTE.match(text, at)
            if mark and not text.startswith("(", mark.end()):
                self.found.footnotes.append(
                    InlineLink(LinkKind.REFERENCE, mark["id"], at, mark.group(0))
                )
                return mark.end()
            self.open.append((at, False))
            return at + 1
        if self.open:
            start, is_image = self.open.pop()
            return self.close(start, at, is_image)
        return at + 1

    def code(self, at: int) -> int:
        """Return the end of the code span that begins at `at`, or of its ticks if none does."""
        if self.ticks is None:
            self.ticks = [match.span() for match in _TICKS.finditer(self.text)]
            self.sizes: dict[int, list[int]] = {}
            for start, end in self.ticks:
                self.sizes.setdefault(end - start, []).append(start)
        match = _TICKS.match(self.text, at)
        assert match is not None
        size, end = match.end() - at, match.end()
        starts = self.sizes.get(size, [])
        index = bisect.bisect_left(starts, end)
        if index < len(starts):
            return starts[index] + size
        return end

    def angle(self, at: int) -> int:
        text = self.text
        if text.startswith("<!--", at):
            match = None if self.comment_searched else _COMMENT_END.search(text, at + 4)
            if match:
                self.found.comments.append((at, text[at + 4 : match.start()]))
                return match.end()
            self.comment_searched = True
            return at + 1
        autolink = _AUTOLINK.match(text, at)
        if autolink:
            target = autolink["target"]
            self.found.links.append(
                InlineLink(LinkKind.AUTOLINK, target, at + 1, target, at, autolink.end())
            )
            return autolink.end()
        end_tag = tags.end_tag(text, at)
        if end_tag:
            return end_tag.end()
        tag = tags.start_tag(text, at)
        if tag is None or _TAG.fullmatch(tag.group()) is None:
            return at + 1
        self.found.tags.append(
            InlineTag(
                tag["name"].lower(), tag.group(0), at, tags.is_closed_at_once(text, tag.end())
            )
        )
        return tag.end()

    def close(self, start: int, end: int, is_image: bool) -> int:
        """Handle the `]` at `end` that closes the `[` at `start`; return where to go on."""
        text = self.text
        # `[ [inner](x) ](y)`: in CommonMark the inner link stands, the outer is text.
        if not is_image and start < self.last_link_start:
            return end + 1
        label_text = text[start + 1 : end]
        target = destinations.match(text, end + 1, self.budget)
        if target is not None and "\\" not in text[target.offset : target.end]:
            target = _without_title(target)
        if target is not None and _is_target(target, text):
            kind = LinkKind.IMAGE if is_image else LinkKind.INLINE
            self.add(
                InlineLink(
                    kind, target.text, target.offset, label_text, start, target.end,
                    is_image, target.has_spaces,
                )
            )  # fmt: skip
            return target.end
        label = _LABEL.match(text, end + 1)
        if label and not label["label"].startswith("^"):
            name = label["label"] or label_text
            # No text at all is how a bare `[label]` is told: here a blank stands for none.
            offset = label.start("label") if label["label"] else start + 1
            link = InlineLink(
                LinkKind.REFERENCE, name, offset, label_text or " ", start, label.end(), is_image
            )
            if normal_label(name) in self.labels:
                self.add(link)
                return label.end()
            self.undefined.append(link)
        elif label_text and "[" not in label_text and normal_label(label_text) in self.labels:
            self.add(
                InlineLink(LinkKind.REFERENCE, label_text, start + 1, "", start, end + 1, is_image)
            )
        return end + 1

    def add(self, link: InlineLink) -> None:
        self.found.links.append(link)
        if not link.is_image:
            self.last_link_start = link.start
