"""Attribute lists such as `{ #id .class key="value" }`: where they stand, and the id they give.

Behind an inline element a list belongs to it; at the end of a heading, a table cell or a term, and
on the last line of a paragraph, to that block. Anywhere else it is text.
Source: markdown/extensions/attr_list.py 3.11.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_BASE = r"\{:?[ ]*(?P<words>[^}\n ][^\n]*)\}"
_INLINE = re.compile(_BASE)
_AT_END = re.compile(r"(?<! )[ ]+" + _BASE + r"[ ]*$")
_ALONE = re.compile(r"\n[ ]*" + _BASE + r"[ ]*$")
_WORD = re.compile(
    r"""(?P<key>[^ =}]+)=(?:"(?P<double>.*?)"|'(?P<single>.*?)')
    |(?P<bare_key>[^ =}]+)=(?P<bare>[^ =}]+)|(?P<word>[^ =}]+)|[ ]""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class AttributeList:
    """A list: where it begins (with the blanks before it) and ends, and the id it gives."""

    start: int
    end: int
    id: str
    id_offset: int


def behind(text: str, start: int, stop: int) -> AttributeList | None:
    """Read the list at `start`, right behind an inline element; text ends at `stop`."""
    match = _INLINE.match(text, start, stop)
    if match is None:
        return None
    identifier, offset, end = _id_of(match["words"])
    # What follows a brace that closes early is text again.
    rest = match["words"].find("}", end)
    stop = match.end() if rest < 0 else match.start("words") + rest + 1
    return AttributeList(start, stop, identifier, match.start("words") + offset)


def of_block(text: str, head: int, tail: int, *, alone: bool) -> AttributeList | None:
    """Read the list that belongs to a block, if it has one.

    It ends the block, or, where an inline element does that, the text before the first element.

    Args:
        text: The text of the block.
        head: Where its first inline element begins; -1: it has none.
        tail: Where its last inline element ends.
        alone: Whether the list must have the last line for itself, as in paragraphs.
    """
    if tail < len(text) or head < 0:
        return _at_end(text, tail, alone)
    return _at_end(text[:head], 0, alone)


def _at_end(text: str, start: int, alone: bool) -> AttributeList | None:
    if not text.removesuffix("\n").rstrip(" ").endswith("}"):
        return None
    match = (_ALONE if alone else _AT_END).search(text, start)
    if match is None:
        return None
    identifier, offset, end = _id_of(match["words"])
    if "}" in match["words"][end:]:
        return None
    return AttributeList(match.start(), match.end(), identifier, match.start("words") + offset)


def _id_of(words: str) -> tuple[str, int, int]:
    """Return the last id that the words give, its offset, and where reading them stops."""
    identifier, offset, position = "", 0, 0
    while position < len(words) and (match := _WORD.match(words, position)):
        position = match.end()
        word = match["word"]
        if word is not None:
            if word.startswith("#") and len(word) > 1:
                identifier, offset = word[1:], match.start("word") + 1
        elif "id" in (match["key"], match["bare_key"]):
            for group in ("double", "single", "bare"):
                if match[group] is not None:
                    identifier, offset = match[group], match.start(group)
    return identifier, offset, position
