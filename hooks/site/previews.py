"""What a link of the handbook leads to, in a sentence: data for the previews beside links.

One file a language, loaded when a reader first rests on a link: of each page its title and
takeaway, of each of its sections the first sentence. It is a script that hands the data over,
because pages in a folder on a disk cannot ask for anything else.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hooks.notes import is_takeaway
from hooks.search import sections

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST = 200
"""Characters of a takeaway."""
MOST_OF_SECTION = 160
_ENDS = "。！？"
_LATIN_ENDS = ".!?"
_SHORT = ("e.g.", "i.e.", "vs.", "cf.", "Fig.", "No.", "approx.")
"""Words that end with a point and no sentence."""
_SIGNS = str.maketrans("", "", sections.CODE_OPEN + sections.CODE_CLOSE)


def path_of(language: str) -> str:
    """Return where the data of a language lie in the site."""
    return f"previews/{language}.js"


def files(pages: Iterable[sections.Page]) -> dict[str, str]:
    """Return the data of each language as a script, by path in the site."""
    found: dict[str, dict[str, Any]] = {}
    for page in pages:
        entry = found.setdefault(page.language, {})
        prefix = "" if page.language == "zh" else f"{page.language}/"
        entry[page.location.removeprefix(prefix)] = preview(page)
    return {
        path_of(language): "window.__previews="
        + json.dumps(entries, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
        + ";\n"
        for language, entries in found.items()
    }


def preview(page: sections.Page) -> list[Any]:
    """Return title, takeaway, and the first sentences of sections by id."""
    takeaway = next((one for one in page.sections if is_takeaway(one.title)), None)
    said = cut(" ".join(_lines(takeaway)), MOST) if takeaway else ""
    said = said or cut(page.description, MOST)
    sections = {
        one.anchor: text
        for one in page.sections
        if one.anchor and one is not takeaway and (text := _first(one))
    }
    return [page.title, said, sections] if sections else [page.title, said]


def _lines(section: sections.Section) -> list[str]:
    """Return the lines of prose: no rows of tables, listings, notes or entries of lists."""
    return [
        line.translate(_SIGNS)
        for line in section.text.split("\n")
        if line
        and not line.startswith(sections.NOTE)
        and "\t" not in line
        and not (
            line.startswith(sections.CODE_OPEN) and line.find(sections.CODE_CLOSE) == len(line) - 1
        )
    ]


def _first(section: sections.Section) -> str:
    lines = _lines(section)
    return cut(sentence(lines[0]), MOST_OF_SECTION) if lines else ""


def sentence(text: str) -> str:
    """Return the first sentence of a text; all of it, where none ends."""
    for at, sign in enumerate(text):
        if sign in _ENDS:
            return text[: at + 1]
        if sign in _LATIN_ENDS and text[at + 1 : at + 2] == " ":
            so_far = text[: at + 1]
            if not so_far.endswith(_SHORT):
                return so_far
    return text


def cut(text: str, most: int) -> str:
    """Return a text of at most so many characters, cut at a blank or between Han characters."""
    if len(text) <= most:
        return text
    kept = text[: most - 1]
    before, blank, last = kept.rpartition(" ")
    if blank and last.isascii() and len(last) < most // 4:
        kept = before
    return kept.rstrip(" ，、,;；:：") + "…"
