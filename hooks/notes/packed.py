"""A parse as a line of JSON: short to keep, and taken apart only when somebody asks for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hooks.findings import Finding
from hooks.markdown import Anchor, Comment, Fence, Heading, HtmlTag, Link, LinkKind, Raw, Source
from hooks.notes.note import Note

if TYPE_CHECKING:
    from hooks.notes.fields import FrontMatter

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


def pack(source: Source) -> bytes:
    """Return a parse as one line of JSON."""
    rows = []
    for name in _FIELDS:
        found = getattr(source, name)
        if name in _LINKS:
            rows.append([[one.kind.value, *one[1:]] for one in found])
        elif name == "broken_fences":
            rows.append([list(one) for one in found])
        else:
            rows.append([_values(one) for one in found])
    return dumped(rows)


def pack_finding(one: Finding) -> list[Any]:
    """Return a finding as JSON holds it."""
    return [
        one.file, one.line, one.column, one.rule, one.message, one.target, one.suggestion,
        one.severity,
    ]  # fmt: skip


def dumped(data: object) -> bytes:
    """Return data as one line of JSON; names that are not Unicode survive."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def loaded(line: bytes) -> Any:
    """Return the data of a line of JSON."""
    return json.loads(line.decode("utf-8", "surrogatepass"))


def unpack(line: bytes) -> Source:
    """Return the parse that `pack` has packed.

    Raises:
        ValueError, TypeError, KeyError: The line is something else.
    """
    found: dict[str, Any] = {}
    rows = loaded(line)
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


class Packed(Source):
    """A parse that is unpacked at the first question."""

    __slots__ = ("_found", "_line", "_parse")

    def __init__(self, line: bytes, parse: Callable[[], Source]) -> None:
        """Keep the line; `parse` is asked where it does not hold a parse after all."""
        object.__setattr__(self, "_line", line)
        object.__setattr__(self, "_parse", parse)
        object.__setattr__(self, "_found", None)

    def unpacked(self) -> Source:
        """Return the parse as a plain record."""
        found: Source | None = object.__getattribute__(self, "_found")
        if found is None:
            try:
                found = unpack(object.__getattribute__(self, "_line"))
            except (ValueError, TypeError, KeyError, IndexError):
                parse: Callable[[], Source] = object.__getattribute__(self, "_parse")
                found = parse()
            object.__setattr__(self, "_found", found)
        return found


_set = object.__setattr__
"""Records are frozen."""


class Recalled(Note):
    """A note whose text is decoded at the first question: few checks that know it ask again."""

    __slots__ = ("_data", "_may_include")

    def __init__(
        self,
        path: str,
        file: str,
        language: str,
        text: str | bytes,
        source: Source,
        meta: FrontMatter | None,
    ) -> None:
        """Keep the bytes; a text is kept too, for `dataclasses.replace`."""
        _set(self, "path", path)
        _set(self, "file", file)
        _set(self, "language", language)
        _set(self, "source", source)
        _set(self, "meta", meta)
        _set(self, "_data", text)
        _set(self, "_may_include", None)

    @property
    def text(self) -> str:
        """The text, as `hooks.catalogue` decodes it."""
        data: str | bytes = object.__getattribute__(self, "_data")
        if isinstance(data, str):
            return data
        text = decoded(data)
        object.__setattr__(self, "_data", text)
        return text

    @property
    def may_include(self) -> bool:
        """Whether the text holds the marks of includes."""
        known: bool | None = object.__getattribute__(self, "_may_include")
        if known is None:
            data: str | bytes = object.__getattribute__(self, "_data")
            known = "8<" in data if isinstance(data, str) else b"8<" in data
            _set(self, "_may_include", known)
        return known


def decoded(data: bytes) -> str:
    """Return the text of a file: UTF-8, line breaks as `\n`, what is invalid replaced."""
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace")
    return text.replace("\r\n", "\n").replace("\r", "\n") if b"\r" in data else text


def _asked(name: str) -> property:
    return property(lambda self: getattr(self.unpacked(), name))


for _name in _FIELDS:
    setattr(Packed, _name, _asked(_name))
