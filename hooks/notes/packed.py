"""A parse as JSON holds it, and back."""

from __future__ import annotations

from typing import Any

from hooks.markdown import Anchor, Comment, Fence, Heading, HtmlTag, Link, LinkKind, Raw, Source

_LINKS = ("links", "definitions", "footnote_uses", "footnote_definitions", "unread_links")
_FIELDS = tuple(Source.__dataclass_fields__)
_KINDS: dict[str, Any] = {
    "headings": Heading,
    "fences": Fence,
    "anchors": Anchor,
    "comments": Comment,
    "shown_raw": Raw,
}


def _values(record: Any) -> list[Any]:
    return [getattr(record, name) for name in record.__slots__]


def pack(source: Source) -> list[Any]:
    """Return a parse as lists."""
    rows = []
    for name in _FIELDS:
        found = getattr(source, name)
        if name in _LINKS:
            rows.append([[one.kind.value, *one[1:]] for one in found])
        elif name == "broken_fences":
            rows.append([list(one) for one in found])
        else:
            rows.append([_values(one) for one in found])
    return rows


def unpack(rows: list[Any]) -> Source:
    """Return the parse that `pack` has packed.

    Raises:
        ValueError, TypeError, KeyError: The lists are something else.
    """
    found: dict[str, Any] = {}
    for name, row in zip(_FIELDS, rows, strict=True):
        if name in _LINKS:
            found[name] = tuple(Link(LinkKind(one[0]), *one[1:]) for one in row)
        elif name == "broken_fences":
            found[name] = tuple((int(number), str(reason)) for number, reason in row)
        elif name == "tags":
            found[name] = tuple(
                HtmlTag(one[0], tuple((key, value) for key, value in one[1]), *one[2:])
                for one in row
            )
        else:
            found[name] = tuple(_KINDS[name](*one) for one in row)
    return Source(**found)
