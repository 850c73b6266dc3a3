"""What a link of the handbook leads to, in a sentence: data for the previews beside links.

One file a language, loaded when a reader first rests on a link: of each page its title and
takeaway, of each of its sections the first sentence. It is a script that hands the data over,
because pages in a folder on a disk cannot ask for anything else.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from hooks.notes import is_takeaway
from hooks.search import sections

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST = 200
"""Characters of a takeaway."""
MOST_OF_SECTION = 160
_SHORT = ("e.g.", "i.e.", "vs.", "cf.", "Fig.", "No.", "approx.")
"""Words that end with a point and no sentence."""
_NO_END = "".join(f"(?<!{re.escape(word)})" for word in _SHORT)
_SENTENCE = re.compile(rf".*?(?:[。！？]|[.!?](?= ){_NO_END})", re.DOTALL)
_SIGNS = str.maketrans("", "", sections.CODE_OPEN + sections.CODE_CLOSE)


def files(pages: Iterable[sections.Page]) -> dict[str, str]:
    """Return the data of each language as a script, by path in the site."""
    found: dict[str, dict[str, Any]] = {}
    for page in pages:
        prefix = "" if page.language == "zh" else f"{page.language}/"
        location = page.location.removeprefix(prefix)
        found.setdefault(page.language, {})[location] = preview(page)
    return {
        f"previews/{language}.js": "window.__previews="
        + json.dumps(entries, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
        + ";\n"
        for language, entries in found.items()
    }


def preview(page: sections.Page) -> list[Any]:
    """Return title, takeaway, and the first sentences of sections by id."""
    takeaway = next((one for one in page.sections if is_takeaway(one.title)), None)
    said = cut(" ".join(_lines(takeaway)), MOST) if takeaway else ""
    found = {
        one.anchor: cut(sentence(lines[0]), MOST_OF_SECTION)
        for one in page.sections
        if one.anchor and one is not takeaway and (lines := _lines(one))
    }
    return [page.title, said or cut(page.description, MOST), *([found] if found else [])]


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


def sentence(text: str) -> str:
    """Return the first sentence of a text; all of it, where none ends."""
    match = _SENTENCE.match(text)
    return match[0] if match else text


def cut(text: str, most: int) -> str:
    """Return a text of at most so many characters, cut at a blank or between Han characters."""
    if len(text) <= most:
        return text
    kept = text[: most - 1]
    before, blank, last = kept.rpartition(" ")
    if blank and last.isascii() and len(last) < most // 4:
        kept = before
    return kept.rstrip(" ，、,;；:：") + "…"
