"""Read HTML tags in text: the start tag at a place, its attributes, and where a value stands."""

from __future__ import annotations

import re

from hooks.markdown.source import HtmlTag
from hooks.markdown.text import decoded

# Browsers end a tag at the first `>` outside quotes; back-ticks end what Markdown takes for one.
_START = re.compile(
    r"""<(?P<name>[A-Za-z][^\s/>`<\x00-\x03]*)
    (?P<attributes>(?:[^"'<>`\x00-\x03]|"[^"]*"|'[^']*')*+)>""",
    re.VERBOSE,
)
_ATTRIBUTE = re.compile(
    r"""(?P<name>[^\s"'>/=][^\s>/=]*)(?:\s*=+\s*(?P<value>"[^"]*"|'[^']*'|[^\s"'>][^\s>]*))?"""
)
_CANDIDATE = re.compile(r"[\s,]*([^\s,]\S*)([^,]*)(?:,|\Z)")
_CLOSED_AT_ONCE = re.compile(r"\s{0,99}</")
_LONGEST = 8192
# A tag longer than this is none: the bound keeps hostile text (`<a "` a thousand times) linear.


def start_tag(text: str, offset: int) -> re.Match[str] | None:
    """Match a start tag at `offset`; groups `name` and `attributes`."""
    return _START.match(text, offset, offset + _LONGEST)


def is_closed_at_once(text: str, offset: int) -> bool:
    """Tell whether nothing but blanks stands between `offset` and an end tag."""
    return _CLOSED_AT_ONCE.match(text, offset) is not None


def attributes(tag: str) -> tuple[tuple[str, str | None], ...]:
    """Return names (lower case) and values (references decoded) of a start tag, in order."""
    return tuple((name, value) for name, value, _, _ in spans(tag))


def spans(tag: str) -> list[tuple[str, str | None, int, int]]:
    """Return names, values, and where the value as written begins and ends in a start tag."""
    begin = re.match(r"<[^\s/>]*", tag)
    found: list[tuple[str, str | None, int, int]] = []
    position = begin.end() if begin else 0
    for match in _ATTRIBUTE.finditer(tag, position, len(tag) - tag.endswith(">")):
        value = match["value"]
        start, end = match.span() if value is None else match.span("value")
        if value is not None:
            if value[0] in "\"'":
                value, start, end = value[1:-1], start + 1, end - 1
            value = decoded(value, in_attribute=True)
        found.append((match["name"].lower(), value, start, end))
    return found


def place_of(tag: HtmlTag, name: str) -> tuple[int, int]:
    """Return line and column (1-based) of an attribute's value, or of the tag when unknown."""
    for known, _, offset, _ in spans(tag.text):
        if known == name:
            before = tag.text[:offset]
            row = before.count("\n")
            column = offset - before.rfind("\n") if row else tag.column + offset
            return tag.line + row, column
    return tag.line, tag.column


def srcset(value: str) -> list[str]:
    """Return the addresses of a `srcset` value; commas inside an address are kept."""
    # An address ends at white space; what follows up to the next comma is its descriptor.
    return [match[1].rstrip(",") for match in _CANDIDATE.finditer(value)]
