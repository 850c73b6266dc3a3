"""Marks: every address that a text may hold becomes a token; what is rendered shows which is a link

A token in an `href` or `src` of the HTML is a link; anywhere else it is put back as it was. A guess
too many costs nothing. Fences are left alone, since a highlighter would cut a token in pieces.
"""

from __future__ import annotations

import html as html_lib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from pymdownx.superfences import RE_NESTED_FENCE_START

from hooks.markdown import html_tags
from hooks.markdown.text import decoded, normal_label

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
_IN_TAG = re.compile(
    r"""(?P<comment><!--.*?-->)|<(?P<name>/?[A-Za-z][^\s>]*)(?:[^<>"']|"[^"]*"|'[^']*')*+>""",
    re.DOTALL,
)
_ADDRESS = re.compile(
    r"""(?P<before>\s(?P<name>href|src|srcset|poster|data|xlink:href)\s*=\s*)"""
    r"""(?P<quote>["'])(?P<value>[^"'<>]*)(?P=quote)"""
)


class Mark(NamedTuple):
    """An address as a text has it, in whose place a token stands."""

    written: str
    line: int
    column: int
    kind: str
    """`link`, `definition`, or `html` for the attribute of a tag."""
    label: str = ""
    """The label of a definition, normalised."""

    @property
    def target(self) -> str:
        """The address without escapes and character references."""
        if self.kind == "html":
            return decoded(self.written, in_attribute=True)
        return decoded(_ESCAPED.sub(r"\1", self.written))


@dataclass(frozen=True, slots=True)
class Fenced:
    """A fenced block as the site sees it; one that it does not see has a reason."""

    line: int
    last: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Marked:
    """A text with its addresses marked."""

    text: str
    marks: tuple[Mark, ...] = ()
    fences: tuple[Fenced, ...] = ()
    masked: str = ""
    """The text as it was written, with blanks in place of fences."""
    prose: str = field(default="", repr=False)
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
    prose = _CODE.sub(blank, masked)
    if "](" not in masked and "]:" not in masked and "<" not in masked:
        return Marked(text, (), found, masked, prose)
    # An id is made of a heading's text, code included: no token may stand there.
    searched = _HEADING.sub(lambda heading: _CODE.sub(blank, heading.group()), masked)
    marks: list[Mark] = []
    parts: list[str] = []
    position = 0
    line, line_start = 1, 0
    for start, end, kind, label in sorted(set(_candidates(searched))):
        if start < position or start == end:
            continue
        line += text.count("\n", line_start, start)
        line_start = text.rfind("\n", 0, start) + 1
        parts += [text[position:start], f"x-link:{len(marks)};"]
        marks.append(Mark(text[start:end], line, start - line_start + 1, kind, label))
        position = end
    return Marked("".join([*parts, text[position:]]), tuple(marks), found, masked, prose)


def blank(match: re.Match[str]) -> str:
    """Return blanks, and the line breaks of a match."""
    return re.sub(r"[^\n]", " ", match.group())


def fences(text: str) -> Iterator[Fenced]:
    """Yield the fenced blocks of a text, by the rules of `pymdownx.superfences`."""
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        line = lines[number]
        opening = None
        if "```" in line or "~~~" in line:
            opening = RE_NESTED_FENCE_START.match(line, len(line) - len(line.lstrip("> \t")))
        number += 1
        if opening is None:
            continue
        if opening["unrecognized"]:
            if "`" not in opening["unrecognized"]:
                why = 'after the language only options such as title="…" may stand'
                yield Fenced(number, number, why)
            continue
        closing = re.compile(rf"[> \t]*{opening['fence']}[ \t]*\Z")
        ends = (at for at in range(number, len(lines)) if closing.match(lines[at]))
        end = next(ends, None)
        width = opening.start("fence")
        inside = lines[number:end]
        if end is None:
            yield Fenced(number, number, "it is never closed")
        elif any(one.strip() and one[:width].strip("> \t") for one in inside):
            yield Fenced(number, number, "a line inside it is indented less than the fence")
        else:
            yield Fenced(number, end + 1)
            number = end + 1


def _candidates(text: str) -> Iterator[tuple[int, int, str, str]]:
    for match in _INLINE.finditer(text):
        yield *match.span("bare" if match["angled"] is None else "angled"), "link", ""
    for match in _DEFINITION.finditer(text):
        span = match.span("bare" if match["angled"] is None else "angled")
        yield *span, "definition", normal_label(match["label"])
    at = text.find("<")
    while at >= 0:
        tag = html_tags.start_tag(text, at)
        if tag is not None:
            for name, value, start, end in html_tags.spans(tag.group()):
                if name in ADDRESSES and value:
                    yield at + start, at + end, "html", ""
        at = text.find("<", at + 1)


def finish(html: str, marked: Marked, address: Callable[[str], str] | None = None) -> str:
    """Return HTML without tokens: addresses in links, elsewhere the text as it was.

    Args:
        html: What the renderer made of the marked text.
        marked: The marked text.
        address: Gives the final address of a link in Markdown; raw HTML stays as it is written.
    """
    if not marked.marks and address is None:
        return html

    def in_tag(match: re.Match[str]) -> str:
        if match["comment"] or "=" not in match.group():
            return plain(match.group(), marked)
        return plain(_ADDRESS.sub(in_attribute, match.group()), marked)

    def in_attribute(match: re.Match[str]) -> str:
        token = TOKEN.match(match["value"])
        if token is None:
            return match.group()
        one = marked.marks[int(token["number"])]
        if one.kind == "html":
            return match.group()
        rest = plain(match["value"][token.end() :], marked)
        if address is None:
            value = _ESCAPED.sub(r"\1", one.written.strip()) + rest
        else:
            value = address(one.target.strip() + rest)
        value = _escaped(value)
        return f"{match['before']}{match['quote']}{value}{match['quote']}"

    parts, position = [], 0
    for match in _IN_TAG.finditer(html):
        between = html[position : match.start()]
        parts += [plain(between, marked, quote=_escaped_text), in_tag(match)]
        position = match.end()
    return "".join([*parts, plain(html[position:], marked, quote=_escaped_text)])


def plain(text: str, marked: Marked, quote: Callable[[str], str] = lambda written: written) -> str:
    """Return a text with what was written in place of its tokens."""
    if "x-link:" not in text:
        return text
    return TOKEN.sub(lambda token: quote(marked.marks[int(token["number"])].written), text)


def _escaped(address: str) -> str:
    bare = re.sub(r"&(?!#?\w+;)", "&amp;", address)
    return bare.replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _escaped_text(written: str) -> str:
    return html_lib.escape(written, quote=False)
