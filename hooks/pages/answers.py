"""The rows of "If you see … do …": each has an id of its own on its page, made from its words."""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter

from markdown_it import MarkdownIt

from hooks.markdown import github_slug, plain_text
from hooks.notes import Catalogue, Note
from hooks.pages.view import Item, Said, areas_of, versions

HEADING = re.compile(r"看到什么，?做什么")
"""What the heading of a table of symptoms is called in Chinese; its twin is the one in order."""
_LONGEST = 48
_TABLES = MarkdownIt("commonmark").enable("table")
_COMMENT = re.compile(r"<!--.*?-->|\[\^[^\]]+\]|<[^>]+>")


def items(notes: Catalogue) -> list[Item]:
    """Return the rows of all tables of symptoms; the languages share an item by order."""
    found = []
    for note_id in sorted(notes.ids()):
        said = {one: said_in(note, notes) for one, note in versions(notes, note_id).items()}
        for row in itertools.zip_longest(*said.values()):
            ours = {language: one for language, one in zip(said, row, strict=True) if one}
            key = f"{note_id}#{next(iter(ours.values())).anchor}"
            found.append(Item("symptom", key, note_id, ours, areas_of(note_id)))
    return found


def said_in(note: Note, notes: Catalogue) -> list[Said]:
    """Return the rows of a note's first table of symptoms: what is seen, then what to do."""
    within, rows = _symptoms(note, notes)
    seen: Counter[str] = Counter()
    found = []
    for first, *others in rows:
        name = f"see-{github_slug(first)[:_LONGEST].strip('-')}".rstrip("-")
        seen[name] += 1
        anchor = name if seen[name] == 1 else f"{name}-{seen[name]}"
        found.append(Said(first, " · ".join(filter(None, others)), anchor, within))
    return found


def _symptoms(note: Note, notes: Catalogue) -> tuple[str, list[list[str]]]:
    """Return the id of the heading above a note's table of symptoms, and the table's rows."""
    chinese = note if note.language == "zh" else notes.twin(note, "zh")
    ours = note.source.headings
    for number, theirs in enumerate(chinese.source.headings[: len(ours)] if chinese else ()):
        if HEADING.fullmatch(theirs.text) and theirs.level == ours[number].level:
            end = ours[number + 1].line - 1 if number + 1 < len(ours) else None
            lines = note.text.split("\n")[ours[number].line : end]
            return ours[number].id, _rows("\n".join(lines))
    return "", []


@functools.lru_cache(1 << 10)
def _rows(text: str) -> list[list[str]]:
    """Return the cells of each row of the body of the first table in a text."""
    rows: list[list[str]] = []
    tokens = iter(_TABLES.parse(text))
    body = itertools.dropwhile(lambda token: token.type != "tbody_open", tokens)
    for token in itertools.takewhile(lambda token: token.type != "tbody_close", body):
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(plain_text(_COMMENT.sub("", token.content)).strip())
    return rows


def put_ids(html: str, note: Note, notes: Catalogue) -> str:
    """Return a page's HTML with the ids of its rows of symptoms."""
    said = said_in(note, notes)
    start = html.find(f'id="{said[0].within}"') if said else -1
    at = html.find("<tbody", start) if start >= 0 else -1
    if at < 0:
        return html
    stop = html.find("</tbody>", at)
    pieces = re.split(r"(?<=<tr)(?=[\s>])", html[at:stop])
    if len(pieces) != len(said) + 1:
        return html  # not what the source says
    ids = [*(f' id="{one.anchor}"' for one in said), ""]
    return html[:at] + "".join(map("".join, zip(pieces, ids, strict=True))) + html[stop:]
