"""Short answers of the notes: the questions of the home page, rows of "If you see … do …".

Each has an id of its own on its page, made from its words.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from hooks.markdown import github_slug, plain_text
from hooks.pages.blocks import lines_of_fences
from hooks.pages.items import Item, Said, area_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hooks.notes import Catalogue, Note

HEADING = re.compile(r"看到什么，?做什么")
"""What the heading of a table of symptoms is called in Chinese; its twin is the one in order."""
_LIST = 'class="questions"'
_ASKED = re.compile(r"^[-*] \*\*(?P<question>.+?)\*\*(?:<br ?/?>)?(?P<answer>.*)$")
_LONGEST = 48
_COMMENT = re.compile(r"<!--.*?-->|\[\^[^\]]+\]|<[^>]+>")


def items(notes: Catalogue) -> list[Item]:
    """Return the questions of the home page, and the rows of all tables of symptoms."""
    found = _paired("answer", "index", _languages(notes, "index", _asked))
    for note_id in notes.ids():
        found += _paired("symptom", note_id, _languages(notes, note_id, symptoms))
    return found


def put_ids(html: str, note: Note, catalogue: Catalogue) -> str:
    """Return a page's HTML with the ids of its questions and of its rows of symptoms."""
    if note.id == "index":
        at = html.find(_LIST)
        html = _number(html, at, "<li", "</div>", [one.anchor for one in _asked(note, catalogue)])
    rows = symptoms(note, catalogue)
    if rows:
        at = html.find("<tbody", html.find(f'id="{rows[0].within}"'))
        html = _number(html, at, "<tr", "</tbody>", [one.anchor for one in rows])
    return html


def _number(html: str, at: int, tag: str, end: str, anchors: list[str]) -> str:
    """Put ids into the elements of a name that follow a place, in order."""
    if at < 0:
        return html
    stop = html.find(end, at)
    before, inside, after = html[:at], html[at:stop], html[stop:]
    pieces = re.split(rf"(?<={tag})(?=[\s>])", inside)
    if len(pieces) != len(anchors) + 1:
        return html  # not what the source says
    ids = [*(f' id="{one}"' for one in anchors), ""]
    return before + "".join(map("".join, zip(pieces, ids, strict=True))) + after


def _languages(
    notes: Catalogue, note_id: str, read: Callable[[Note, Catalogue], list[Said]]
) -> dict[str, list[Said]]:
    shown = {language: notes.in_language(note_id, language) for language in ("zh", "en")}
    return {
        language: read(note, notes)
        for language, note in shown.items()
        if note is not None and note.language == language
    }


def _paired(kind: str, note_id: str, said: Mapping[str, list[Said]]) -> list[Item]:
    """Return items of which the languages share one by order, where they have as many."""
    topics = (area_of(note_id),) if area_of(note_id) else ()
    counts = {len(those) for those in said.values()}
    if len(counts) == 1:
        rows = [dict(zip(said, row, strict=True)) for row in zip(*said.values(), strict=True)]
    else:
        rows = [{language: one} for language, those in said.items() for one in those]
    return [
        Item(kind, f"{note_id}#{next(iter(row.values())).anchor}", note_id, row, topics)
        for row in rows
    ]


def _asked(note: Note, notes: Catalogue) -> list[Said]:
    """Return the questions of a page, by the list that is marked as one of questions."""
    del notes  # as `symptoms` has it
    _, is_there, rest = note.text.partition(_LIST)
    if not is_there:
        return []
    line = note.text[: note.text.index(_LIST)].count("\n") + 1
    above = [one.id for one in note.source.headings if one.line < line and one.level > 1]
    found = []
    name = _Names("ask")
    for text in rest.partition("</div>")[0].split("\n"):
        if match := _ASKED.match(text):
            question = _plain(match["question"])
            answer = _plain(match["answer"])
            found.append(Said(question, answer, name(question), above[-1] if above else ""))
    return found


def symptoms(note: Note, notes: Catalogue) -> list[Said]:
    """Return the rows of a note's first table of symptoms: what is seen, then what to do."""
    heading = _heading(note, notes)
    if heading is None:
        return []
    line, identifier = heading
    lines = note.text.split("\n")
    inside = lines_of_fences(note.source.fences)
    after = [one.line for one in note.source.headings if one.line > line]
    end = after[0] - 1 if after else len(lines)
    kept = [text if number not in inside else "" for number, text in enumerate(lines, 1)]
    name = _Names("see")
    found = []
    for cells in _rows("\n".join(kept[line:end])):
        seen = cells[0]
        found.append(Said(seen, " · ".join(filter(None, cells[1:])), name(seen), identifier))
    return found


def _heading(note: Note, notes: Catalogue) -> tuple[int, str] | None:
    """Return the line and id of the heading above a note's table of symptoms."""
    chinese = note if note.language == "zh" else notes.twin(note, "zh")
    if chinese is None:
        return None
    pairs = zip(chinese.source.headings, note.source.headings, strict=False)
    for theirs, ours in pairs:
        if HEADING.fullmatch(theirs.text) and theirs.level == ours.level:
            return ours.line, ours.id
    return None


@functools.lru_cache(maxsize=4096)  # a page asks again for what the list of all items had
def _rows(text: str) -> list[list[str]]:
    """Return the cells of each row of the body of the first table in a text."""
    found: list[list[str]] = []
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    cells: list[str] = []
    is_body = False
    for before, token in itertools.pairwise(tokens):
        if token.type == "tbody_open":
            is_body = True
        elif token.type == "tbody_close":
            break
        elif is_body and token.type == "tr_open":
            cells = []
        elif is_body and token.type == "tr_close":
            found.append(cells)
        elif token.type == "inline" and before.type in ("td_open", "th_open"):
            cells.append(_plain(token.content))
    return found


class _Names:
    """Ids made from words, none twice."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.seen: Counter[str] = Counter()

    def __call__(self, words: str) -> str:
        name = f"{self.prefix}-{github_slug(words)[:_LONGEST].strip('-')}".rstrip("-")
        self.seen[name] += 1
        return name if self.seen[name] == 1 else f"{name}-{self.seen[name]}"


def _plain(markup: str) -> str:
    return plain_text(_COMMENT.sub("", markup)).strip()
