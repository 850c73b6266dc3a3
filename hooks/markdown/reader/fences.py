"""Find fenced blocks as pymdownx.superfences does: before anything else, at any indentation.

The rules differ from CommonMark's. A fence that is never closed, or whose header holds anything
but a language and `name="value"` options, is no fence on the site, though it is one on GitHub.
Source: pymdownx/superfences.py 13.1, `search_nested`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hooks.markdown.reader.lines import MARK_CLOSE, MARK_OPEN, Line
from hooks.markdown.source import Fence

_START = re.compile(
    r"""(?P<prefix>[> \t]*)(?P<fence>~{3,}|`{3,})
    (?:[ \t]*\.?(?P<lang>[\w#.+-]+)(?=[\t ]|$))?
    (?:[ \t]*\{(?P<attributes>[^\n]*)\}
      |(?P<options>(?:[ \t]*[a-zA-Z][a-zA-Z0-9_]*(?:=(?:"[^"]*"|'[^']*'))?(?=[\t ]|$))+)
      |(?P<unknown>(?:[ \t]*[^\s]+(?=[\t ]|$))+)
    )?[ \t]*$""",
    re.VERBOSE,
)
_OPTION = re.compile(r"""(?P<key>[a-zA-Z][a-zA-Z0-9_]*)(?:=(?P<quote>["'])(?P<value>.*?)\2)?""")
_CHECKED = {
    "hl_lines": re.compile(r"\d+(?:-\d+)?(?:[ \t]+\d+(?:-\d+)?)*\Z"),
    "linenums": re.compile(r"\d+"),
}
_IDENTIFIER = re.compile(r"#(?P<id>[^ =}]+)")
_PREFIX = frozenset("> ")
MARK = re.compile(rf"[> ]*{MARK_OPEN}f(?P<number>\d+){MARK_CLOSE}\Z")


@dataclass(slots=True)
class Found:
    """Fences, and the lines with a mark in place of each."""

    lines: list[Line]
    fences: list[Fence | None]
    """A fence that turns out to be inside an indented code block becomes None."""
    anchors: dict[int, tuple[str, int, int]]
    """Ids that headers give, by index of the fence: id, 0-based line, 0-based column."""
    originals: list[list[Line]]
    """The lines of each fence, for the case that it is none."""
    broken: list[tuple[int, str]]
    """0-based line and reason of what looks like a fence and is none on the site."""


@dataclass(slots=True)
class _Open:
    start: int
    prefix: str
    quotes: int
    marker: str
    info: str
    code: list[str]
    anchor: tuple[str, int, int] | None
    blank: int = 0


def take(lines: list[Line], *, strict_quotes: bool = True, relaxed: bool = False) -> Found:
    """Replace every fenced block by a mark at its place.

    Args:
        lines: The lines of the text.
        strict_quotes: As with pymdownx.quotes: each line of a fence has the same number of `>`.
        relaxed: As on GitHub: any header is good, and a fence never closed runs to the end.
    """
    found = Found([], [], {}, [], [])
    taken: list[tuple[int, int, _Open]] = []
    fence: _Open | None = None
    for index, (text, _, _) in enumerate(lines):
        if fence is None:
            if "```" in text or "~~~" in text:
                fence = _open(lines[index], index, found, relaxed)
            continue
        state = _read(fence, text, strict_quotes, relaxed)
        if state == "end":
            taken.append((fence.start, index, fence))
            fence = None
        elif state == "stop":
            found.broken.append((fence.start, "a line inside it is indented less than the fence"))
            fence = None
    if fence is not None:
        found.broken.append((fence.start, "it is never closed"))
        if relaxed:
            taken.append((fence.start, len(lines) - 1, fence))
    position = 0
    for start, end, block in taken:
        found.lines.extend(lines[position:start])
        number = len(found.fences)
        mark = f"{block.prefix}{MARK_OPEN}f{number}{MARK_CLOSE}"
        found.lines.append((mark, lines[start][1], lines[start][2]))
        text = "\n".join(line[len(block.prefix) :] for line in block.code)
        found.fences.append(Fence(block.info, text + "\n" if text else "", lines[start][1] + 2))
        found.originals.append(lines[start : end + 1])
        if block.anchor is not None:
            found.anchors[number] = block.anchor
        position = end + 1
    found.lines.extend(lines[position:])
    return found


def restore(found: Found, block: list[Line]) -> list[Line]:
    """Put back the fences of a block that begins as indented code: there they are none."""
    lines: list[Line] = []
    for line in block:
        mark = MARK.match(line[0])
        if mark is None:
            lines.append(line)
            continue
        number = int(mark["number"])
        found.fences[number] = None
        found.anchors.pop(number, None)
        cut_off = line[2]
        lines += [(text[cut_off:], row, cut_off) for text, row, _ in found.originals[number]]
    return lines


def _open(line: Line, index: int, found: Found, relaxed: bool) -> _Open | None:
    match = _START.match(line[0])
    if match is None:
        return None
    info = line[0][match.end("fence") :].strip()
    is_odd = match["unknown"] is not None or (match["options"] and not _options_pass(match))
    if is_odd and (not relaxed or "`" in info):
        if "`" not in info:
            reason = 'after the language only options such as title="…" may stand'
            found.broken.append((index, reason))
        return None
    anchor = None
    if match["attributes"]:
        identifier = _IDENTIFIER.search(match["attributes"])
        if identifier:
            column = match.start("attributes") + identifier.start("id")
            anchor = (identifier["id"], line[1], line[2] + column)
    prefix = match["prefix"]
    return _Open(index, prefix, prefix.count(">"), match["fence"], info, [], anchor)


def _options_pass(match: re.Match[str]) -> bool:
    for option in _OPTION.finditer(match["options"]):
        checked = _CHECKED.get(option["key"])
        if option["value"] is None or (
            checked.match(option["value"]) is None
            if checked
            else option["key"] not in ("title", "title_mode")
        ):
            return False
    return True


def _read(fence: _Open, text: str, strict_quotes: bool, relaxed: bool) -> str:
    """Take one more line into the fence; tell whether it goes on, ends or breaks."""
    width = len(fence.prefix)
    length = 0
    while length < len(text) and length < width and text[length] in _PREFIX:
        length += 1
    blanks, content = text[:length], text[length:]
    quotes = blanks.count(">")
    is_end = content.rstrip(" \t") == fence.marker
    if relaxed and not fence.quotes:
        bare = text.strip()
        is_end = bare.startswith(fence.marker) and not bare.strip(fence.marker[0])
        if is_end:
            return "end"
        fence.code.append(text)
        return ""
    if fence.quotes:
        different = quotes != fence.quotes if strict_quotes else quotes > fence.quotes
        if different or (content and (length < width or (fence.blank and quotes < fence.quotes))):
            return "stop"
    elif quotes or (content and length != width and text.strip()):
        return "stop"
    if content and is_end:
        return "end"
    fence.blank = fence.blank + 1 if not text.strip("> ") else 0
    fence.code.append(text)
    return ""
