"""A page and its sections, as search knows them, and what identifies them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from hooks.notes import FrontMatter, language_of

CODE_OPEN: Final = "\ue001"


CODE_CLOSE: Final = "\ue002"


NOTE: Final = "\ue003"


_PRIVATE = re.compile("[\ue000-\ue00f]")


_OTHERS: Final = r"\u00a0\u200b\ufeff\r\f\v"
# All runs of blanks but that of one space, which stays: texts are full of those.
_BLANKS = re.compile(rf" [ {_OTHERS}]+|[{_OTHERS}][ {_OTHERS}]*")


_HAN: Final = "\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff65"


# A line end inside a Chinese sentence is no space.
_HAN_BREAK = re.compile(rf"(?<=[{_HAN}])\s*\n\s*(?=[{_HAN}])")


@dataclass(slots=True)
class Section:
    """What stands below one heading, up to the next."""

    anchor: str
    """The heading's id; empty for what stands above the first heading below the title."""
    level: int
    title: str
    text: str = ""
    kind: str = ""
    """What it is besides a section: one of `entries.KINDS`."""
    names: tuple[str, ...] = ()
    """What a query that is nothing else asks for it by, flat."""
    key: str = ""
    """Of what has no heading: its name, which the page's versions in all languages share."""


@dataclass(slots=True)
class Page:
    """A page and its sections, the first of which is the page itself."""

    location: str
    """Address relative to the site, such as `link/topo/nvswitch.html`."""
    key: str
    """What the versions of a page in all languages share, such as `link/topo/nvswitch`."""
    language: str
    title: str
    sections: list[Section] = field(default_factory=list)
    trail: tuple[str, ...] = ()
    """Names of the navigation's sections above the page, outermost first."""
    description: str = ""
    kind: str = ""
    tags: tuple[str, ...] = ()
    is_draft: bool = False
    """Whether its author calls it unfinished: nothing of it is to be found."""
    fallback: str = ""
    """Where the page is shown among those of the other language, when it is not translated."""
    source: str = ""
    """Path of the Markdown file below the docs folder."""


def without_signs(text: str) -> str:
    """Return text without the characters that this package gives a meaning."""
    return _PRIVATE.sub("", text)


def clean(text: str) -> str:
    """Return text on one line, without blanks that say nothing."""
    if "\n" in text:
        text = _HAN_BREAK.sub("", text).replace("\n", " ")
    return _BLANKS.sub(" ", text).strip(" ")


def key_of(source: str) -> str:
    """Return what `a/b.md` and `a/b.en.md` share: `a/b`."""
    path = source.removesuffix(".md")
    language = language_of(source)
    return path.removesuffix(f".{language}")


def location_of(source: str) -> str:
    """Return the address at which a site without directory addresses shows a source file."""
    key = key_of(source)
    folder, _, name = key.rpartition("/")
    if name == "README":  # as MkDocs does: `readme.md` is a page like any other
        key = posixpath.join(folder, "index")
    prefix = "en/" if language_of(source) == "en" else ""
    return f"{prefix}{key}.html"


def with_meta(page: Page, meta: FrontMatter | Mapping[str, object] | None) -> Page:
    """Fill a page's fields from its front matter, whose values may be of any type."""
    if meta is None:
        return page
    fields = meta if not hasattr(meta, "model_dump") else meta.model_dump()

    def words(name: str) -> tuple[str, ...]:
        value = fields.get(name)
        items = value if isinstance(value, list | tuple) else [value] if value else []
        return tuple(clean(without_signs(str(item))) for item in items if str(item).strip())

    def word(name: str) -> str:
        value = fields.get(name)
        return clean(without_signs(value)) if isinstance(value, str) else ""

    page.description = word("description")
    page.kind = word("kind")
    page.is_draft = fields.get("draft") is True
    page.tags = words("tags")
    return page
