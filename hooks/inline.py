"""Find links, footnote marks, ids and HTML tags in a run of inline Markdown, with their places.

A small scanner rather than a full inline parser, because parsers throw away the columns that a
contributor needs. Escapes, code and formulas come first, then tags and autolinks, then links.
Each character is visited a bounded number of times, whatever the text.

Where the two readings differ: in CommonMark an inner link wins over the one around it and a bare
target holds no blanks; Python-Markdown takes the outer link (now and then both) and allows blanks.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from hooks import destinations, tags
from hooks.records import LinkKind

_SPECIAL = re.compile(r"[\\`$<!\[\]{]")
_EMPHASIS_END = re.compile(r"[^\s*_^][*_^]{1,3}\Z")
# Python-Markdown's list, with what its extensions add: `\<` is not in it.
_ESCAPED = frozenset("\\`*_{}[]()>#+-.!$|^~=")
_TICKS = re.compile(r"`+")
_COMMENT_END = re.compile(r"--!?>")
_AUTOLINK = re.compile(r"<(?P<target>[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*)>")
_SITE_AUTOLINK = re.compile(r"<(?P<target>[A-Za-z][A-Za-z0-9+.-]{0,31}://[^<>]{0,2000})>")
_LABEL = re.compile(r"\[(?P<label>(?:[^\[\]\\]|\\.){0,999})\]", re.DOTALL)
_FOOTNOTE = re.compile(r"\[\^(?P<id>[^\]\n]{1,999})\]")
_MATH = re.compile(r"\$(?!\s)(?:\\.|[^\\$])+?(?<!\s)\$", re.DOTALL)
_PLAIN_MATH = re.compile(r"\$(?![\s$])(?:[^$\\\n]|\\.)+?(?<!\s)\$(?!\d)")
_ATTRIBUTE_LIST = re.compile(r"\{:?[ ]*(?P<words>[^}\n ][^\n}]*)\}")
_ID_WORD = re.compile(r"(?:\A|(?<= ))#(?P<id>[^ =}]+)(?= |\Z)")


@dataclass(frozen=True, slots=True)
class InlineLink:
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


@dataclass(frozen=True, slots=True)
class InlineTag:
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
    lists: list[tuple[int, int, str]] = field(default_factory=list)
    """Start and end of attribute lists, and the label each depends on, as below."""
    comments: list[tuple[int, str]] = field(default_factory=list)
    """Offset and text of HTML comments."""
    ids: list[tuple[str, int, str]] = field(default_factory=list)
    """Ids that attribute lists give to a link, an image, code or emphasis, with offsets; and the
    label on which it depends whether there is such a link."""


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


def formulas(text: str) -> Iterator[re.Match[str]]:
    """Yield the formulas between dollar signs."""
    return _MATH.finditer(text)


def id_of_list(words: str) -> tuple[str, int] | None:
    """Return the id that the words of an attribute list give, with its offset in them."""
    match = _ID_WORD.search(words)
    return (match["id"], match.start("id")) if match else None


def scan(
    text: str, *, commonmark: bool = False, math: bool = True, plain_math: bool = False
) -> Inline:
    """Return what an inline run holds, in order.

    Args:
        text: The run.
        commonmark: Read as GitHub does.
        math: Whether formulas between dollar signs are known.
        plain_math: Whether a digit behind the second sign makes both of them money, as on GitHub.
    """
    scanner = _Scanner(text, commonmark, math, plain_math)
    scanner.run()
    return scanner.found


class _Scanner:
    def __init__(self, text: str, commonmark: bool, math: bool, plain_math: bool) -> None:
        self.text = text
        self.commonmark = commonmark
        formula = _PLAIN_MATH if commonmark or plain_math else _MATH
        self.math = formula if math else None
        self.found = Inline()
        self.open: list[tuple[int, bool]] = []  # (offset of "[", is an image)
        self.ticks: list[tuple[int, int]] | None = None
        self.comment_searched = False
        self.round_math = math and not commonmark
        self.budget = destinations.Budget(len(text))
        self.last_link_start = -1

    def run(self) -> None:
        text, position = self.text, 0
        while match := _SPECIAL.search(text, position):
            at = match.start()
            position = self.step(text[at], at)
        self.found.links.sort(key=lambda link: link.offset)

    def step(self, char: str, at: int) -> int:
        text = self.text
        if char == "{":
            if _EMPHASIS_END.search(text[max(at - 4, 0) : at]):
                self.after_element(at)
            return at + 1
        if char == "\\":
            if self.round_math and text.startswith("\\(", at):
                end = text.find("\\)", at + 2)
                if end > at + 2:
                    return end + 2
                self.round_math = end >= 0
            is_escape = self.commonmark or text[at + 1 : at + 2] in _ESCAPED
            return at + 2 if is_escape else at + 1
        if char == "`":
            return self.code(at)
        if char == "$":
            match = self.math.match(text, at) if self.math is not None else None
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
            self.longest = _longest_after(self.ticks)
        match = _TICKS.match(self.text, at)
        assert match is not None
        size, end = match.end() - at, match.end()
        starts = self.sizes.get(size, [])
        index = bisect.bisect_left(starts, end)
        if index < len(starts):
            return self.after_element(starts[index] + size)
        if not self.commonmark:
            # Python-Markdown then pairs as many ticks as the longest later run has.
            following = bisect.bisect_left(self.ticks, (end, 0))
            longest = self.longest[following] if following < len(self.ticks) else (0, 0)
            if 0 < longest[0] < size:
                return self.after_element(longest[1] + longest[0])
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
        autolink = (_AUTOLINK if self.commonmark else _SITE_AUTOLINK).match(text, at)
        if autolink:
            target = autolink["target"]
            self.found.links.append(
                InlineLink(LinkKind.AUTOLINK, target, at + 1, target, at, autolink.end())
            )
            return self.after_element(autolink.end())
        end_tag = tags.end_tag(text, at)
        if end_tag:
            return end_tag.end()
        tag = tags.start_tag(text, at)
        if tag is None:
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
        if self.commonmark and not is_image and start < self.last_link_start:
            return end + 1
        label_text = text[start + 1 : end]
        target = destinations.match(text, end + 1, self.budget)
        if target is not None and (not target.has_spaces or self.accepts(target)):
            kind = LinkKind.IMAGE if is_image else LinkKind.INLINE
            self.add(
                InlineLink(
                    kind, target.text, target.offset, label_text, start, target.end,
                    is_image, target.has_spaces,
                )
            )  # fmt: skip
            return self.after_element(target.end)
        label = _LABEL.match(text, end + 1)
        if label and not label["label"].startswith("^"):
            after = destinations.match(text, label.end(), self.budget)
            if after is None:
                name = label["label"] or label_text
                # No text at all is how a bare `[label]` is told: here a blank stands for none.
                offset = label.start("label") if label["label"] else start + 1
                self.add(
                    InlineLink(
                        LinkKind.REFERENCE,
                        name,
                        offset,
                        label_text or " ",
                        start,
                        label.end(),
                        is_image,
                    )
                )
                return self.after_element(label.end(), name)
        if label_text and "[" not in label_text:
            # `[label]` alone is a link only when the label is defined: the caller decides.
            self.found.links.append(
                InlineLink(LinkKind.REFERENCE, label_text, start + 1, "", start, end + 1, is_image)
            )
            return self.after_element(end + 1, label_text)
        return end + 1

    def accepts(self, target: destinations.Destination) -> bool:
        """Tell whether a target with blanks is one: on the site always, else if it is a path."""
        return not self.commonmark or destinations.looks_like_path(target.text)

    def add(self, link: InlineLink) -> None:
        self.found.links.append(link)
        if not link.is_image:
            self.last_link_start = link.start

    def after_element(self, end: int, label: str = "") -> int:
        """Note the id that an attribute list right behind an element gives."""
        if not self.commonmark and self.text.startswith("{", end):
            match = _ATTRIBUTE_LIST.match(self.text, end)
            found = id_of_list(match["words"]) if match else None
            if match:
                self.found.lists.append((*match.span(), label))
            if match and found:
                self.found.ids.append((found[0], match.start("words") + found[1], label))
        return end


def _longest_after(ticks: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return, for each run, the size and start of the first longest run from there on."""
    result: list[tuple[int, int]] = [(0, 0)] * len(ticks)
    best = (0, 0)
    for index in range(len(ticks) - 1, -1, -1):
        start, end = ticks[index]
        if end - start >= best[0]:
            best = (end - start, start)
        result[index] = best
    return result
