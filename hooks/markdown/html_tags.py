"""Read HTML tags in text: the start tag at a place, its attributes, and where a value stands."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
_LONGEST = 8192
# A tag longer than this is none: the bound keeps hostile text (`<a "` a thousand times) linear.


def start_tags(text: str) -> Iterator[re.Match[str]]:
    """Yield the start tags of a text; groups `name` and `attributes`."""
    at = text.find("<")
    while at >= 0:
        if tag := _START.match(text, at, at + _LONGEST):
            yield tag
        at = text.find("<", at + 1)


def attributes(tag: str) -> Iterator[tuple[str, str | None, int, int]]:
    """Yield the attributes of a start tag: name (lower case), value (references decoded), and
    where the value as written begins and ends.
    """
    begin = re.match(r"<[^\s/>]*", tag)
    for match in _ATTRIBUTE.finditer(tag, begin.end() if begin else 0, len(tag) - 1):
        value = match["value"]
        start, end = match.span("value" if value else 0)
        if value is not None:
            if value[0] in "\"'":
                value, start, end = value[1:-1], start + 1, end - 1
            value = decoded(value, in_attribute=True)
        yield match["name"].lower(), value, start, end


def srcset(value: str) -> list[str]:
    """Return the addresses of a `srcset` value; commas inside an address are kept."""
    # An address ends at white space; what follows up to the next comma is its descriptor.
    return [match[1].rstrip(",") for match in _CANDIDATE.finditer(value)]
