"""Pages cut into sections: the records that an index is built from.

A section's text is plain, one block (paragraph, list item, table row, line of code) a line.
Code stands between `CODE_OPEN` and `CODE_CLOSE`, cells of a table row are divided by tabs, a line
that begins with `NOTE` is a footnote's, which counts less; behind, `QUESTION` opens a question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

CODE_OPEN: Final = "\ue001"
CODE_CLOSE: Final = "\ue002"
NOTE: Final = "\ue003"
QUESTION: Final = "\ue004"

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
    key: str = ""
    """Of what has no heading: its name, which the page's versions in all languages share."""
    asked: list[str] = field(default_factory=list)
    """How people ask for it: `<!-- asked: first | second -->` in the note."""


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
    fallback: str = ""
    """Where the page is shown among those of the other language, when it is not translated."""


def without_signs(text: str) -> str:
    """Return text without the characters that this package gives a meaning."""
    return _PRIVATE.sub("", text)


def clean(text: str) -> str:
    """Return text on one line, without blanks that say nothing."""
    if "\n" in text:
        text = _HAN_BREAK.sub("", text).replace("\n", " ")
    return _BLANKS.sub(" ", text).strip(" ")


def pair_sections(pages: Sequence[Page]) -> dict[tuple[str, str], list[int]]:
    """Number the sections of all pages; sections that say the same in two languages share one.

    Returns for (key, language) the number of each section in order. Twins pair by order as
    long as the levels of their headings agree (notes.twins reports where they do not);
    what has a key pairs by it.
    """
    numbers: dict[tuple[str, str], list[int]] = {}
    first: dict[str, Page] = {}
    count = 0
    for page in pages:
        known = first.setdefault(page.key, page)
        twin = numbers.get((known.key, known.language), []) if known is not page else []
        theirs = dict(zip(map(id, known.sections), twin, strict=False))
        headings = [section for section in known.sections if not section.key]
        named = {section.key: section for section in known.sections if section.key}
        own = []
        paired = bool(twin)
        order = 0
        for section in page.sections:
            other = named.get(section.key) if section.key else None
            if not section.key:
                same = order < len(headings) and headings[order].level == section.level
                paired = paired and same
                other = headings[order] if paired else None
                order += 1
            if twin and other is not None:
                own.append(theirs[id(other)])
            else:
                own.append(count)
                count += 1
        numbers[page.key, page.language] = own
    return numbers
