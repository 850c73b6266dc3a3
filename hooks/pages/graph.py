"""Notes and the links between them: the neighbours of one at its foot, all of them as a graph.

The graph is drawn in the browser, from a file written here, when a reader asks for it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from hooks.pages import contents
from hooks.pages.backlinks import linked_ids

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hooks.notes import Catalogue, Note
    from hooks.pages.topic_map import Area

PAGE = "maps/index"
FILE = "notes.js"
"""Beside the page, in each language."""
_MOST = 15
"""Notes in the table of those with the most links."""
_WORDS = {
    "zh": {
        "title": "邻近的笔记",
        "both": "互相提到",
        "in": "提到本文",
        "out": "本文提到",
        "whole": "在全图中看",
        "counts": "{} 篇笔记，{} 对相连；另有 {} 篇与谁都不相连，不画。连得最多的：",
        "head": "| 笔记 | 连到几篇 |",
    },
    "en": {
        "title": "Notes nearby",
        "both": "Linked both ways",
        "in": "Link here",
        "out": "Linked from here",
        "whole": "see it in the graph",
        "counts": "{} notes, {} pairs linked; {} more, linked with none, are not drawn. The most:",
        "head": "| Note | Linked with |",
    },
}


def nodes(catalogue: Catalogue, language: str) -> list[Note]:
    """Return the notes of the graph: no pages of topics, none about the handbook."""
    shown = (catalogue.in_language(one, language) for one in catalogue.ids())
    return [
        note for note in shown if note and note.topic not in ("", "about") and not note.is_index
    ]


def pairs(catalogue: Catalogue, language: str) -> list[tuple[str, str]]:
    """Return each pair of notes of which one links to the other or requires it, sorted, once."""
    shown = {note.id: note for note in nodes(catalogue, language)}
    found = {
        (min(note.id, other), max(note.id, other))
        for note in shown.values()
        for other in linked_ids(note, catalogue)
        if other in shown and other != note.id
    }
    return sorted(found)


@dataclass(frozen=True, slots=True)
class Shown:
    """The notes of the graph in a language, found once for all pages."""

    notes: dict[str, Note]
    linked: dict[str, frozenset[str]]
    """The notes of the graph that a note links to or requires."""


def shown(catalogue: Catalogue, language: str) -> Shown:
    """Return the notes of the graph in a language, and where each leads."""
    notes = {note.id: note for note in nodes(catalogue, language)}
    linked = {
        note.id: frozenset(one for one in linked_ids(note, catalogue) if one in notes)
        for note in notes.values()
    }
    return Shown(notes, linked)


def foot(
    note_id: str,
    sources: Sequence[Note],
    nearby: Shown,
    language: str,
    url_of: Callable[[str], str | None],
) -> str:
    """Return the box of a page's neighbours; empty when there are none.

    Args:
        note_id: The note of the page.
        sources: The notes that lead to it.
        nearby: The notes of the graph (`shown`).
        language: The language of the page's frame.
        url_of: Gives the address of a note, from the page; None if it has none.
    """
    words = _WORDS[language]
    note = nearby.notes.get(note_id)
    out = nearby.linked.get(note_id, frozenset()) - {note_id}
    into = {one.id: one for one in sources}
    sides = (
        ("both", sorted(set(into) & out)),
        ("in", sorted(set(into) - out)),
        ("out", sorted(out - set(into))),
    )
    parts = []
    for side, ids in sides:
        items = "".join(_item(into.get(one) or nearby.notes[one], url_of) for one in ids)
        if items:
            parts.append(f"<div><p>{words[side]}</p><ul>{items}</ul></div>")
    if not parts:
        return ""
    page = url_of(PAGE)
    whole = f' <a href="{escape(page)}?note={note_id}#graph">{words["whole"]}</a>' if page else ""
    return (
        f'<aside class="backlinks" aria-label="{words["title"]}" data-search-exclude>'
        f'<p class="backlinks__title">{words["title"]}{whole if note else ""}</p>'
        f'<div class="backlinks__sides">{"".join(parts)}</div></aside>'
    )


def _item(note: Note, url_of: Callable[[str], str | None]) -> str:
    url = url_of(note.id)
    return f'<li><a href="{escape(url)}">{escape(note.title)}</a></li>' if url else ""


def place(catalogue: Catalogue, language: str, *, prefix: str = "") -> str:
    """Return the place of the graph, and what it says without script: the notes linked most."""
    words = _WORDS[language]
    found = pairs(catalogue, language)
    degree: dict[str, int] = {}
    for pair in found:
        for one in pair:
            degree[one] = degree.get(one, 0) + 1
    shown = {note.id: note for note in nodes(catalogue, language)}
    first = sorted(degree, key=lambda one: (-degree[one], one))[:_MOST]
    rows = [f"| {contents.link(shown[one], prefix)} | {degree[one]} |" for one in first]
    table = "\n".join([words["head"], "| --- | ---: |", *rows])
    counts = words["counts"].format(len(degree), len(found), len(shown) - len(degree))
    return f'<div class="graph" data-notes="{FILE}"></div>\n\n{counts}\n\n{table}'


def files(catalogue: Catalogue, areas: Sequence[Area]) -> dict[str, str]:
    """Return the graph's data in each language, by its path in the site, where it is shown."""
    if catalogue.in_language(PAGE, "zh") is None:
        return {}
    return {
        f"{'' if language == 'zh' else 'en/'}maps/{FILE}": data(catalogue, areas, language)
        for language in ("zh", "en")
    }


def data(catalogue: Catalogue, areas: Sequence[Area], language: str) -> str:
    """Return a script that hands over areas, linked notes with their area's number, and pairs."""
    linked = pairs(catalogue, language)
    some = {one for pair in linked for one in pair}
    shown = [note for note in nodes(catalogue, language) if note.id in some]
    names = {area.id: area.title.get(language) for area in areas}
    used = list(dict.fromkeys(note.id.partition("/")[0] for note in shown))
    used.sort(key=lambda one: ([*names, one].index(one), one))
    for one in used:
        index = catalogue.in_language(f"{one}/index", language)
        names.setdefault(one, index.title if index else one)
    at = {note.id: number for number, note in enumerate(shown)}
    graph = {
        "areas": [names[one] for one in used],
        "notes": [[one.id, one.title, used.index(one.id.partition("/")[0])] for one in shown],
        "pairs": [[at[one], at[other]] for one, other in linked],
    }
    text = json.dumps(graph, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return f"window.handbookGraph={text};\n"
