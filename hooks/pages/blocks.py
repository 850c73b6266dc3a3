"""Ids of what notes show beside text: charts, tables of data, calculators, captioned figures.

An id is made from the source alone, so that links to it are checked without a build: a fence's from
the family, record or calculator that it names, a figure's from the number in its caption.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import yaml

from hooks.data import BlockError, caption, load_record
from hooks.findings import Fast
from hooks.markdown import Fence, plain_text
from hooks.notes import Catalogue, Note
from hooks.pages.view import Item, Said, areas_of

if TYPE_CHECKING:
    from hooks.pages.data import DataFences

NAMED_BY = {"chart": ("table", "file"), "facts": ("table",), "measured": ("file",)}
"""The fields of a fence that say what it shows."""
_CAPTION = re.compile(r"^(?:图|Figure) ?(?P<number>\d+) ?[：:] ?(?P<text>.+)$")
_COMMENT = re.compile(r"<!--.*?-->|\[\^[^\]]+\]")
_SHOWN = re.compile(r"<(?P<tag>figcaption|p)>(?:图|Figure) ?(?P<number>\d+) ?[：:]")
_FIGURE = '<figure class="figure'


def kind_of(fence: Fence) -> str:
    """Return the first word of a fence."""
    return fence.info.split(" ")[0]


def text_of(fence: Fence) -> str:
    """Return the text of a fence as Markdown hands it on."""
    return fence.text.removesuffix("\n")


def anchors(note: Note) -> dict[tuple[str, str], str]:
    """Return the id of each data fence of a note, by kind and text; the first of equal ones."""
    found: dict[tuple[str, str], str] = {}
    seen: Counter[str] = Counter()
    for key in dict.fromkeys((kind_of(one), text_of(one)) for one in note.source.fences):
        if name := _name(*key):
            seen[name] += 1
            found[key] = name + (f"-{seen[name]}" if seen[name] > 1 else "")
    return found


def _name(kind: str, text: str) -> str:
    if kind == "calc":
        return f"calc-{text.strip()}"
    if kind not in NAMED_BY:
        return ""
    given = _given(text)
    named = next((str(given[one]) for one in NAMED_BY[kind] if given.get(one)), "")
    return f"{kind}-{PurePosixPath(named).stem}" if named else ""


def _given(text: str) -> dict[str, Any]:
    """Return the fields of a fence; none where its own check says what is wrong."""
    try:
        options = yaml.load(text, Loader=Fast)
    except (yaml.YAMLError, ValueError):
        return {}
    return options if isinstance(options, dict) else {}


def with_id(html: str, anchor: str) -> str:
    """Return the HTML of a fence with an id at its outermost element."""
    return html.replace(" class=", f' id="{anchor}" class=', 1) if anchor else html


def number_figures(html: str) -> str:
    """Return a page with an id at each figure, or caption of a diagram, by its number."""
    seen: set[str] = set()
    parts, at = list[str](), 0
    for match in _SHOWN.finditer(html):
        place = match.start()
        if match["tag"] == "figcaption":  # of a figure that is open there: it has the id
            ended = max(at, html.rfind("</figure>", at, place))
            place = html.find(_FIGURE, ended, place)
        if place < 0 or match["number"] in seen:
            continue
        seen.add(match["number"])
        end = place + 2 if match["tag"] == "p" else html.index(">", place)
        parts += [html[at:end], f' id="fig-{match["number"]}"']
        at = end
    return "".join([*parts, html[at:]])


def items(notes: Catalogue, fences: DataFences) -> list[Item]:
    """Return the figures, charts and tables of data of all notes."""
    found: dict[tuple[str, str], dict[str, Said]] = {}
    for note in notes.notes.values():
        for title, anchor, line in (*_fences(note, fences), *_captions(note)):
            above = [one for one in note.source.headings if one.line < line]
            heading = above[-1].id if above and above[-1].level > 1 else ""
            said = Said(title, "", anchor, heading)
            found.setdefault((note.id, anchor), {}).setdefault(note.language, said)
    return [
        Item("figure", f"{note_id}#{anchor}", note_id, said, areas_of(note_id))
        for (note_id, anchor), said in found.items()
    ]


def _fences(note: Note, fences: DataFences) -> Iterator[tuple[str, str, int]]:
    """Yield title, id and line of the data fences of a note."""
    at = anchors(note)
    for fence in note.source.fences:
        kind, text = kind_of(fence), text_of(fence)
        anchor = at.pop((kind, text), "")
        if kind in NAMED_BY and anchor and (title := _title(kind, text, note.language, fences)):
            yield title, anchor, fence.line


def _title(kind: str, text: str, language: str, fences: DataFences) -> str:
    given = _given(text)
    try:
        if kind == "chart":
            return fences.chart(text, language).title
        if kind == "facts":
            family = fences.base.families[given["table"]]
            return caption(given.get("caption"), family.title, language)
        record = load_record(given["file"], fences.docs)
        return record.title.in_language(language)
    except (BlockError, KeyError, TypeError):
        return ""  # the fence's own check says so


def _captions(note: Note) -> Iterator[tuple[str, str, int]]:
    """Yield title, id and line of the figures whose captions a note holds outside code."""
    inside = lines_of_fences(note.source.fences)
    for number, line in enumerate(note.text.split("\n"), 1):
        match = _CAPTION.match(line)
        if match and number not in inside:
            yield plain_text(_COMMENT.sub("", match["text"])), f"fig-{match['number']}", number


def lines_of_fences(fences: tuple[Fence, ...]) -> set[int]:
    """Return the numbers of the lines that stand in fences."""
    return {
        number
        for fence in fences
        for number in range(fence.line - 1, fence.line + fence.text.count("\n") + 1)
    }
