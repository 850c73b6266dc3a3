"""What hides all markup inside it on the site: code, formulas, keys, and escaped characters.

Each function takes a text in which what comes before it in the renderer's order is blotted out.
Sources: pymdownx/inlinehilite.py, arithmatex.py and keys.py 13.1, markdown/inlinepatterns.py 3.11.
"""

from __future__ import annotations

import bisect
import html
import re
from collections.abc import Iterator
from typing import NamedTuple

_TICKS = re.compile(r"`+")
_CODE_START = re.compile(r"(?<!\\)((?:\\{2})+)(?=`)|(?<!\\)`+")
_DOLLARS = re.compile(r"(?<!\\)(?:\\\\)*(?P<math>\$(?!\s)(?:\\.|[^\\$\x03])+?(?<!\s)\$)", re.DOTALL)
_PLAIN_DOLLARS = re.compile(
    r"(?<!\\)(?:\\\\)*(?P<math>\$(?![\s$])(?:[^$\\\n\x03]|\\.)+?(?<!\s)\$(?!\d))"
)
_ROUND = re.compile(r"(?<!\\)(?:\\\\)*(?P<math>\\\((?:\\[^)]|[^\\\x03])+?\\\))")
_KEYS = re.compile(
    r"""(?<!\\)\+{2}
    (?:(?:[\w\-]+|"(?:\\.|[^\\"])+"|'(?:\\.|[^\\'])+')\+(?!\+))*?
    (?:[\w\-]+|"(?:\\.|[^\\"])+"|'(?:\\.|[^\\'])+')
    \+{2}""",
    re.VERBOSE | re.DOTALL,
)
# Python-Markdown's list, with what the site's extensions add.
_ESCAPED = frozenset("\\`*_{}[]()>#+-.!|$^ ")
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()>#+\-.!|$^ ])")
_LONGEST = 8192
"""A formula longer than this is none: nobody writes one, and hostile ones cost time."""


class Piece(NamedTuple):
    """A piece that hides what is in it."""

    start: int
    end: int
    words: str
    """What a reader sees of it."""
    is_element: bool = True
    """Whether an attribute list behind it belongs to it."""


def code(data: str) -> Iterator[Piece]:
    """Yield code spans, and backslashes before ticks."""
    if "``" not in data and "\\`" not in data:  # as nearly always: ticks in pairs
        begin = data.find("`")
        while begin >= 0 and (close := data.find("`", begin + 1)) >= 0:
            yield Piece(begin, close + 1, html.escape(data[begin + 1 : close].strip()))
            begin = data.find("`", close + 1)
        return
    runs = [match.span() for match in _TICKS.finditer(data)]
    sizes: dict[int, list[int]] = {}
    for start, end in runs:
        sizes.setdefault(end - start, []).append(start)
    longest: list[tuple[int, int]] = []
    has_escapes = "\\`" in data
    position = 0
    while True:
        if has_escapes:
            match = _CODE_START.search(data, position)
            if match is None:
                return
            if match[1]:  # backslashes, each escaped by the one before it
                yield Piece(*match.span(), "\\" * (len(match[1]) // 2), False)
                position = match.end()
                match = _TICKS.match(data, position)
                if match is None:
                    continue
            begin, position = match.span()
        else:
            index = bisect.bisect_left(runs, (position, 0))
            if index == len(runs):
                return
            begin, position = runs[index]
        size = position - begin
        starts = sizes.get(size, [])
        index = bisect.bisect_left(starts, position)
        if index < len(starts):
            close = starts[index]
        else:
            # Then as many ticks are paired as the longest later run has.
            following = bisect.bisect_left(runs, (position, 0))
            longest = longest or _longest_after(runs)
            later, close = longest[following] if following < len(runs) else (0, 0)
            if not 0 < later < size:
                continue
            size = later
        words = html.escape(data[begin + size : close].strip())
        position = close + size
        yield Piece(begin, position, words)


def _longest_after(runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return, for each run, the size and start of the first longest run from there on."""
    result: list[tuple[int, int]] = [(0, 0)] * len(runs)
    best = (0, 0)
    for index in range(len(runs) - 1, -1, -1):
        start, end = runs[index]
        if end - start >= best[0]:
            best = (end - start, start)
        result[index] = best
    return result


def formulas(data: str) -> Iterator[Piece]:
    """Yield formulas between dollar signs."""
    return _formulas(data, _DOLLARS, "$", "$")


def plain_formulas(data: str) -> Iterator[Piece]:
    """Yield formulas as GitHub has them: a digit behind the second sign makes both money."""
    return _formulas(data, _PLAIN_DOLLARS, "$", "$")


def round_formulas(data: str) -> Iterator[Piece]:
    r"""Yield formulas between `\(` and `\)`."""
    return _formulas(data, _ROUND, "\\(", "\\)")


def _formulas(data: str, pattern: re.Pattern[str], mark: str, close: str) -> Iterator[Piece]:
    position, width = 0, len(mark)
    while (at := data.find(mark, position)) >= 0 and data.find(close, at + width) >= 0:
        start = at
        while start > position and data[start - 1] == "\\":
            start -= 1
        match = pattern.match(data, start, min(len(data), at + _LONGEST))
        if match is None:
            position = at + width
            continue
        position = match.end()
        yield Piece(match.start("math"), position, match["math"][width:-width])


def keys(data: str) -> Iterator[Piece]:
    """Yield keys such as `++ctrl+c++`."""
    for match in _KEYS.finditer(data):
        yield Piece(*match.span(), match.group(0)[2:-2].replace('"', ""))


def escapes(data: str) -> Iterator[Piece]:
    """Yield escaped characters."""
    position = 0
    while (at := data.find("\\", position)) >= 0:
        if data[at + 1 : at + 2] in _ESCAPED and at + 1 < len(data):
            yield Piece(at, at + 2, data[at + 1], False)
        position = at + 2


def restored(text: str) -> str:
    """Return a text with its escapes undone."""
    return _ESCAPE.sub(r"\1", text) if "\\" in text else text
