"""Take raw HTML blocks out of a text as Python-Markdown with md_in_html does.

A block-level tag at the start of a line opens a raw block that lasts to its end tag, whatever
stands between, blank lines included. Only elements with a `markdown` attribute have their content
read. (On GitHub a blank line ends raw HTML: `unread` tells where the two differ.)
Sources: markdown/htmlparser.py and markdown/extensions/md_in_html.py 3.11.
"""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass, field
from typing import TypeAlias

from hooks.markdown import html_tags as tags
from hooks.markdown.reader.lines import MARK_CLOSE, MARK_OPEN, Line

_BLOCK_TAGS = frozenset(
    "address article aside blockquote body canvas center colgroup dd details div dl dt fieldset"
    " figcaption figure footer form group h1 h2 h3 h4 h5 h6 header hgroup hr html iframe legend li"
    " main map math menu nav noscript object ol option output p pre progress script section style"
    " summary table tbody td textarea tfoot th thead tr ul video".split()
)
_SPAN_TAGS = frozenset("address dd dt h1 h2 h3 h4 h5 h6 legend li p summary td th".split())
_RAW_TAGS = frozenset("canvas math option pre script style textarea".split())
_MAY_START = re.compile(r"^ {0,3}<[A-Za-z!?/]", re.MULTILINE)
_BLANK_LINE = re.compile(r"(?:[ ]*\n){2}|[ ]*\n?\Z")
_DECLARATION = re.compile(
    r"<!doctype[^>]*>|<!\[CDATA\[.*?\]\]>|<\?.*?\?>", re.DOTALL | re.IGNORECASE
)
_NEXT_BLANK = re.compile(r"\n *\n")
_COMMENT_END = re.compile(r"--!?>")
MARK = re.compile(rf"{MARK_OPEN}(?P<kind>[er])(?P<number>\d+){MARK_CLOSE}")


Piece: TypeAlias = "tuple[int, int] | Element | None"
"""A range of the text, an element, or the place of a raw block."""


@dataclass(slots=True)
class Element:
    """An element whose content is Markdown (`block`, `span`) or stays as it is (`off`)."""

    tag: str
    state: str
    pieces: list[Piece] = field(default_factory=list)
    is_fresh: bool = True
    """No text has followed the start tag yet."""


@dataclass(slots=True)
class Found:
    """What is left for the block parser, and what was taken out."""

    lines: list[Line]
    elements: list[Element] = field(default_factory=list)
    tags: list[tuple[str, str, Line, bool]] = field(default_factory=list)
    """Name, text and place of each start tag taken out, and whether its end tag follows at once."""
    raw: list[list[Line]] = field(default_factory=list)
    """Lines of the raw blocks, which the site does not read as Markdown."""
    unread_tags: list[tuple[str, Line]] = field(default_factory=list)
    """Start tags whose `markdown` attribute is not looked at, and their places."""
    source: _Source | None = None

    def content(self, element: Element) -> list[Line]:
        """Return an element's own lines; child elements stand in them as marks."""
        assert self.source is not None
        return self.source.lines(element.pieces, self.elements)


class _Source:
    def __init__(self, lines: list[Line]) -> None:
        self.text = "\n".join(line[0] for line in lines) + "\n\n"
        self.starts = [0]
        for line in lines:
            self.starts.append(self.starts[-1] + len(line[0]) + 1)
        self.places = [*lines, ("", len(lines), 0)]

    def at(self, offset: int) -> Line:
        index = bisect.bisect_right(self.starts, offset) - 1
        _, number, column = self.places[min(index, len(self.places) - 1)]
        return ("", number, column + offset - self.starts[index])

    def lines(self, pieces: list[Piece], elements: list[Element]) -> list[Line]:
        result: list[Line] = []
        merged: list[Piece] = []
        for piece in pieces:
            last = merged[-1] if merged else None
            if isinstance(piece, tuple) and isinstance(last, tuple) and last[1] == piece[0]:
                merged[-1] = (last[0], piece[1])
            else:
                merged.append(piece)
        for piece in merged:
            if not isinstance(piece, tuple):
                mark = f"{MARK_OPEN}r0{MARK_CLOSE}"
                if piece is not None:
                    elements.append(piece)
                    mark = f"{MARK_OPEN}e{len(elements) - 1}{MARK_CLOSE}"
                result += [("", 0, 0), (mark, 0, 0), ("", 0, 0)]
                continue
            offset = piece[0]
            for part in self.text[piece[0] : piece[1]].split("\n"):
                _, number, column = self.at(offset)
                result.append((part if part.strip() else "", number, column))
                offset += len(part) + 1
        return result


def take(lines: list[Line], *, markdown_inside: bool = True, blank_ends: bool = False) -> Found:
    """Replace raw HTML blocks by blank lines, and Markdown elements by marks.

    Args:
        lines: The lines of the text, fences already taken out.
        markdown_inside: Whether the `markdown` attribute is honoured (extension md_in_html).
        blank_ends: Whether a blank line ends raw HTML, as on GitHub.
    """
    if not any(line[0][:4].lstrip(" ").startswith("<") for line in lines):
        return Found(lines)
    source = _Source(lines)
    if _MAY_START.search(source.text) is None:
        return Found(lines)
    return _Extractor(source, markdown_inside, blank_ends).run()


class _Extractor:
    """One pass over the text, from `<` to `<`; the names follow Python-Markdown's."""

    def __init__(self, source: _Source, markdown_inside: bool, blank_ends: bool) -> None:
        self.source = source
        self.markdown_inside = markdown_inside
        self.blank_ends = blank_ends
        self.text = source.text
        self.out: list[Piece] = []
        self.found = Found([], source=source)
        self.in_tail = False
        self.raw_stack: list[str] = []
        self.raw_start = -1
        self.frames: list[Element] = []
        self.line_start = 0
        self.comment_searched = False
        self.declared = True

    def run(self) -> Found:
        text, position, data = self.text, 0, 0
        while (at := text.find("<", position)) >= 0:
            newline = text.rfind("\n", position, at)
            if newline >= 0:
                self.line_start = newline + 1
            end = self.markup(at, data)
            if end > at:
                newline = text.rfind("\n", at, end)
                if newline >= 0:
                    self.line_start = newline + 1
                data = end
            position = max(end, at + 1)
        self.data(data, len(text))
        if self.raw_start >= 0:
            self.close_raw(len(text))
        if self.frames:
            self.close_frames(self.frames[0].tag)
        self.found.lines = self.source.lines(self.out, self.found.elements)
        return self.found

    def data(self, start: int, end: int) -> None:
        """Handle plain text."""
        if start >= end:
            return
        if self.in_tail and "\n" in self.text[start:end]:
            self.in_tail = False
        if self.raw_start < 0:
            self.emit((start, end))

    def emit(self, piece: tuple[int, int]) -> None:
        if self.frames:
            self.frames[-1].is_fresh = False
            self.frames[-1].pieces.append(piece)
        else:
            self.out.append(piece)

    def at_line_start(self, offset: int) -> bool:
        return offset - self.line_start <= 3 and not self.text[self.line_start : offset].strip()

    def markup(self, at: int, data: int) -> int:
        """Handle what begins with `<` at `at`; return its end, or `at` when it is plain text."""
        text = self.text
        if text.startswith("<!--", at):
            return self.comment(at, data)
        if text.startswith(("<!", "<?"), at):
            if not self.declared or text.find(">", at) < 0:
                self.declared = False  # none behind this one either
                return at
            declaration = _DECLARATION.match(text, at, at + 2048)
            end = declaration.end() if declaration else 0
            if end and (self.at_line_start(at) or self.in_tail):
                self.data(data, at)
                self.empty(at, end, is_block=True)
                return end
            return at
        if text.startswith("</", at):
            match = tags.end_tag(text, at)
            if match is None:
                return at
            self.data(data, at)
            self.end(match["name"].lower(), at, match.end())
            return match.end()
        match = tags.start_tag(text, at)
        if match is None:
            return at
        self.data(data, at)
        name = match["name"].lower()
        if match["attributes"].endswith("/") or name == "hr":
            is_block = name in _BLOCK_TAGS
            if self.raw_start >= 0 or (is_block and (self.at_line_start(at) or self.in_tail)):
                self.keep_tag(name, at, match.end())
            self.empty(at, match.end(), is_block=is_block)
            return match.end()
        return self.start(name, at, match.end())

    def keep_tag(self, name: str, at: int, end: int) -> None:
        is_empty = tags.is_closed_at_once(self.text, end)
        self.found.tags.append((name, self.text[at:end], self.source.at(at), is_empty))

    def note_unread(self, at: int, end: int) -> None:
        text = self.text[at:end]
        if "markdown" in text and dict(tags.attributes(text)).get("markdown", "0") != "0":
            self.found.unread_tags.append((text, self.source.at(at)))

    def comment(self, at: int, data: int) -> int:
        match = None if self.comment_searched else _COMMENT_END.search(self.text, at + 4)
        if match is None:
            self.comment_searched = True  # none behind this one either
            return at
        self.data(data, at)
        self.empty(at, match.end(), is_block=True)
        return match.end()

    def empty(self, at: int, end: int, *, is_block: bool) -> None:
        """Handle a tag without content, a comment or a declaration."""
        if self.raw_start >= 0:
            return
        if is_block and (self.at_line_start(at) or (self.in_tail and not self.frames)):
            self.cut()
            if not self.frames and not _BLANK_LINE.match(self.text, end):
                self.in_tail = True
        else:
            self.emit((at, end))

    def cut(self) -> None:
        """Leave a mark where something was taken out: it parts what stands around it."""
        (self.frames[-1].pieces if self.frames else self.out).append(None)

    def start(self, name: str, at: int, end: int) -> int:
        is_block = name in _BLOCK_TAGS
        fresh = bool(self.frames) and self.frames[-1].is_fresh
        if is_block and (self.at_line_start(at) or self.in_tail or fresh):
            state = self.state(name, at, end)
            if self.raw_start < 0 and (state != "off" or self.frames):
                if any(frame.tag == "p" for frame in self.frames):
                    self.close_frames("p")
                self.keep_tag(name, at, end)
                if not self.frames and not self.in_tail and at > self.line_start:
                    state = "off"  # blanks before it keep the site from reading what is inside
                self.frames.append(Element(name, state))
                if state == "off":
                    self.note_unread(at, end)
                return end
        if self.raw_start < 0:
            if not (is_block and (self.at_line_start(at) or self.in_tail)):
                self.emit((at, end))
                return end
            if self.blank_ends and name not in _RAW_TAGS:
                return self.until_blank(at)
            self.raw_start = at
        self.raw_stack.append(name)
        self.keep_tag(name, at, end)
        self.note_unread(at, end)
        if name in ("script", "style"):
            close = re.compile(rf"</{name}\b", re.IGNORECASE).search(self.text, end)
            return close.start() if close else len(self.text)
        return end

    def until_blank(self, at: int) -> int:
        """Take out the raw HTML from `at` to the next blank line; return its end."""
        blank = _NEXT_BLANK.search(self.text, at)
        end = blank.start() if blank else len(self.text)
        position = at
        while 0 <= (position := self.text.find("<", position)) < end:
            tag = tags.start_tag(self.text, position)
            if tag:
                self.keep_tag(tag["name"].lower(), position, tag.end())
            position = tag.end() if tag else position + 1
        self.cut()
        return end

    def state(self, name: str, at: int, end: int) -> str:
        """Return how an element's content is read: `block`, `span` or `off`."""
        attribute = dict(tags.attributes(self.text[at:end])).get("markdown", "0") or "1"
        attribute = "1" if attribute == "markdown" else attribute
        parent = self.frames[-1].state if self.frames else ""
        if parent == "off" or (parent == "span" and attribute != "0"):
            attribute = parent
        if name not in _RAW_TAGS and self.markdown_inside:
            if (attribute == "1" and name not in _SPAN_TAGS) or attribute == "block":
                return "block"
            if attribute in ("1", "span"):
                return "span"
        return "off"

    def end(self, name: str, at: int, end: int) -> None:
        if self.raw_start >= 0:
            if name in self.raw_stack:
                while self.raw_stack and self.raw_stack.pop() != name:
                    pass
            if not self.raw_stack:
                self.close_raw(end)
                self.in_tail = not _BLANK_LINE.match(self.text, end)
        elif name in _BLOCK_TAGS and any(frame.tag == name for frame in self.frames):
            self.close_frames(name)
            if not self.frames and not _BLANK_LINE.match(self.text, end):
                self.in_tail = True
        else:
            self.emit((at, end))

    def close_raw(self, end: int) -> None:
        start = self.raw_start
        self.raw_start = -1
        self.raw_stack = []
        self.found.raw.append(self.source.lines([(start, end)], []))
        self.cut()

    def close_frames(self, name: str) -> None:
        """End the innermost open element of that name, and all that it holds."""
        while self.frames:
            frame = self.frames.pop()
            (self.frames[-1].pieces if self.frames else self.out).append(frame)
            if frame.tag == name:
                break
