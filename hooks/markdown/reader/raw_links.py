"""Text that was meant as a link and is none: a blank before the target, full-width parentheses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hooks.markdown import destinations
from hooks.markdown.reader.lines import MARK_CLOSE as BLOT

Span = tuple[int, int]

_RAW_LINK = re.compile(
    r"(?<![\w)\]\\])(?P<words>!?\[(?!\^)(?P<inner>[^\[\]\n]{1,300})\])(?P<gap> ?)"
    r"(?P<open>[(（])(?P<target>[^\s()（）<>]{1,500})[)）]",
    re.ASCII,
)
_NO_WORDS = re.compile(r"\s*(?:[xX]|\d[\d,，、\s–-]*)?\s*")
"""A box to tick, or the numbers of citations, behind which parentheses are meant as such."""


def found(data: str, text: str, base: int) -> Iterator[tuple[int, str, str]]:
    """Yield the offset of each such text, the text itself, and the link that was meant.

    Args:
        data: What the passes of a renderer have left: what they took is blotted out.
        text: The whole text.
        base: Where `data` begins in it.
    """
    for match in _RAW_LINK.finditer(data):
        start, end = (base + place for place in match.span("target"))
        target = text[start:end]
        if destinations.looks_like_address(target) and not _NO_WORDS.fullmatch(match["inner"]):
            offset = base + match.start()
            words = text[offset : base + match.end("words")]
            yield offset, text[offset : base + match.end()], f"{words}({target})"


def blotted(data: str, spans: list[Span]) -> str:
    """Return text in which spans are blotted out, at the same length."""
    if len(spans) == 1:
        start, end = spans[0]
        return f"{data[:start]}{BLOT * (end - start)}{data[end:]}"
    parts, position = [], 0
    for start, end in sorted(spans):
        parts += [data[position:start], BLOT * (end - start)]
        position = end
    return "".join([*parts, data[position:]])
