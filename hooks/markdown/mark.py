"""Marks: every address that a text may hold becomes a token; what is rendered shows which is a link

A token in an `href` or `src` of the HTML is a link; anywhere else it is put back as it was. A guess
too many costs nothing. Fences are left alone, since a highlighter would cut a token in pieces.
"""

from __future__ import annotations

import html as html_lib
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from pymdownx.superfences import RE_NESTED_FENCE_START

from hooks.markdown import html_tags
from hooks.markdown.text import decoded, place_in

TOKEN = re.compile(r"x-link:(?P<number>\d+);")
ADDRESSES = frozenset({"href", "src", "srcset", "poster", "data", "xlink:href"})
"""Attributes that hold addresses."""
_INLINE = re.compile(
    r"\]\([ \t\n]*(?:<(?P<angled>(?:[^<>\\\n]|\\.)*)>"
    r"|(?P<bare>(?:[^ \t\r\n\f()\\]|\\.|\((?:[^ \t\r\n\f()\\]|\\.|\([^\s()]*\))*\))+))"
)
_DEFINITION = re.compile(
    r"^(?:[ >\t]|[\-*+][ \t])*\[(?!\^)(?P<label>(?:[^\]\\\n]|\\.)+)\]:[ \t]*(?:\n[ \t>]*)?"
    r"(?:<(?P<angled>[^<>\n]*)>|(?P<bare>[^\s<>]+))",
    re.MULTILINE,
)
_CODE = re.compile(
    r"(?<![`\\])(?P<ticks>`+)(?!`)(?:(?!\n[ \t]*\n).)*?(?<!`)(?P=ticks)(?!`)", re.DOTALL
)
_HEADING = re.compile(r"^[> \t]*#.*`.*$", re.MULTILINE)
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()>#+.!\-|~^ ])")
# What tokens stand in, in HTML: a comment, a tag, text.
_PIECE = re.compile(
    rf"""<!--.*?-->|(?P<tag></?[A-Za-z][^\s>]*(?:[^<>"']|"[^"]*"|'[^']*')*+>)|{TOKEN.pattern}""",
    re.DOTALL,
)
_ADDRESS = re.compile(
    rf"""(?P<before>\s(?:{"|".join(sorted(ADDRESSES))})\s*=\s*(?P<quote>["'])){TOKEN.pattern}"""
    r"""(?P<rest>[^"'<>]*)(?P=quote)"""
)
_QUOTED = str.maketrans({"<": "&lt;", ">": "&gt;", '"': "&quot;"})


class Mark(NamedTuple):
    """An address as a text has it, in whose place a token stands."""

    written: str
    line: int
    column: int
    kind: str
    """`link`, `definition`, or `html` for the attribute of a tag."""
    label: str = ""
    """The label of a definition, as CommonMark compares it: folded case, single spaces."""

    @property
    def target(self) -> str:
        """The address without escapes and character references."""
        if self.kind == "html":
            return decoded(self.written, in_attribute=True)
        return decoded(_ESCAPED.sub(r"\1", self.written))


class Fenced(NamedTuple):
    """A fenced block as the site sees it; one that it does not see has a reason."""

    line: int
    last: int
    reason: str = ""


class Marked(NamedTuple):
    """A text with its addresses marked."""

    text: str
    marks: tuple[Mark, ...]
    fences: tuple[Fenced, ...] = ()
    masked: str = ""
    """The text as it was written, with blanks in place of fences."""
    prose: str = ""
    """The same with blanks in place of spans of code too."""


def mark(text: str) -> Marked:
    """Return a text (no front matter, lines ended by `\\n`) with its addresses marked.

    Lines and columns of the marks are 1-based.
    """
    lines = text.split("\n")
    found = tuple(fences(text))
    for fence in found:
        if not fence.reason:
            for number in range(fence.line - 1, fence.last):
                lines[number] = " " * len(lines[number])
    masked = "\n".join(lines)
    # An id is made of a heading's text, code included: no token may stand there.
    searched = _HEADING.sub(lambda heading: _CODE.sub(blank, heading.group()), masked)
    marks: list[Mark] = []
    parts: list[str] = []
    position = 0
    for start, end, kind, label in sorted(set(_candidates(searched))):
        if position <= start < end:
            parts += [text[position:start], f"x-link:{len(marks)};"]
            marks.append(Mark(text[start:end], *place_in(text, start), kind, label))
            position = end
    marked = "".join([*parts, text[position:]])
    return Marked(marked, tuple(marks), found, masked, _CODE.sub(blank, masked))


def blank(match: re.Match[str]) -> str:
    """Return blanks, and the line breaks of a match."""
    return re.sub(r"[^\n]", " ", match.group())


def fences(text: str) -> Iterator[Fenced]:
    """Yield the fenced blocks of a text, by the rules of `pymdownx.superfences`."""
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        opening = RE_NESTED_FENCE_START.match(line, len(line) - len(line.lstrip("> \t")))
        if opening is None or "`" in (opening["unrecognized"] or ""):
            continue
        if opening["unrecognized"]:
            why = 'after the language only options such as title="…" may stand'
            yield Fenced(number, number, why)
            continue
        closing = re.compile(rf"[> \t]*{opening['fence']}[ \t]*\Z")
        end = next((at for at in range(number, len(lines)) if closing.match(lines[at])), None)
        width = opening.start("fence")
        if end is None:
            yield Fenced(number, number, "it is never closed")
        elif any(one.strip() and one[:width].strip("> \t") for one in lines[number:end]):
            yield Fenced(number, number, "a line inside it is indented less than the fence")
        else:
            yield Fenced(number, end + 1)
            number = end + 1


def _candidates(text: str) -> Iterator[tuple[int, int, str, str]]:
    """Yield start and end, kind and label of what may be an address."""
    for kind, pattern in (("link", _INLINE), ("definition", _DEFINITION)):
        for match in pattern.finditer(text):
            label = " ".join(match["label"].split()).casefold() if kind == "definition" else ""
            yield *match.span("bare" if match["angled"] is None else "angled"), kind, label
    for tag in html_tags.start_tags(text):
        for name, value, start, end in html_tags.attributes(tag.group()):
            if name in ADDRESSES and value:
                yield tag.start() + start, tag.start() + end, "html", ""


def finish(html: str, marked: Marked, address: Callable[[str], str]) -> str:
    """Return HTML without tokens: in links of Markdown the final address, else what was written."""

    def in_attribute(match: re.Match[str]) -> str:
        one = marked.marks[int(match["number"])]
        if one.kind == "html":
            return match.group()
        final = address(one.target.strip() + plain(match["rest"], marked))
        final = re.sub(r"&(?!#?\w+;)", "&amp;", final).translate(_QUOTED)
        return f"{match['before']}{final}{match['quote']}"

    def in_piece(match: re.Match[str]) -> str:
        if match["number"]:
            return html_lib.escape(marked.marks[int(match["number"])].written, quote=False)
        piece = match.group()
        if "x-link:" not in piece:
            return piece
        return plain(_ADDRESS.sub(in_attribute, piece) if match["tag"] else piece, marked)

    return _PIECE.sub(in_piece, html)


def plain(text: str, marked: Marked) -> str:
    """Return a text with what was written in place of its tokens."""
    return TOKEN.sub(lambda token: marked.marks[int(token["number"])].written, text)
