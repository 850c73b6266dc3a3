"""The page that tells what the documents ask that the handbook grew from, and what answers it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from hooks.findings import nearest
from hooks.pages import contents, resources

if TYPE_CHECKING:
    from collections.abc import Collection

    from hooks.data import Coverage, Library, Origin, Question
    from hooks.findings import Document, Finding
    from hooks.notes import Catalogue, Note

_COUNTS = {
    "zh": ("文档", "作者", "条目", "已答", "欠着"),
    "en": ("Document", "Author", "Items", "Answered", "Owed"),
}
_ROWS = {"zh": ("条目", "回答在哪里"), "en": ("Item", "Where it is answered")}
_WORDS = {
    "zh": {
        "total": "合计",
        "unknown": "未署名",
        "lost": "（地址没有找到，{} 找过）",
        "summary": "{}：{} 条，已答 {}，欠 {}",
        "planned": "计划中",
        "heading": "：",
        "and": "；",
    },
    "en": {
        "total": "Together",
        "unknown": "unnamed",
        "lost": " (address not found, looked for on {})",
        "summary": "{}: {} items, {} answered, {} owed",
        "planned": "planned",
        "heading": ": ",
        "and": "; ",
    },
}


def check(
    coverage: Coverage, document: Document, notes: Catalogue, library: Library
) -> list[Finding]:
    """Tell which answers name a note, a heading or a resource that does not exist."""
    findings = []
    ids = notes.ids()
    for name, row in coverage.rows.items():
        if row.resource and row.resource not in library:
            message = f"row '{name}' names the resource '{row.resource}', which does not exist"
            hint = nearest(row.resource, library)
            place = ("rows", name, "resource")
            findings.append(document.finding("coverage", place, message, row.resource, hint))
        for number, answer in enumerate(row.answers):
            note_id, _, heading = answer.partition("#")
            path = ("rows", name, "answers", number)
            note = notes.in_language(note_id, "zh")
            if note is None:
                message = f"row '{name}' names the note '{note_id}', which does not exist"
                hint = nearest(note_id, ids)
                findings.append(document.finding("coverage", path, message, answer, hint))
            elif heading and heading not in (known := _headings(note)):
                message = (
                    f"row '{name}' names a heading that {note.file} does not have: '{heading}'"
                )
                hint = nearest(heading, known)
                findings.append(document.finding("coverage", path, message, answer, hint))
    return findings


def _headings(note: Note) -> list[str]:
    return [heading.id for heading in note.source.headings]


def render(
    coverage: Coverage, notes: Catalogue, library: Library, language: str, *, prefix: str = ""
) -> str:
    """Return a table of counts, and a folded table of rows for each document, as Markdown."""
    words = _WORDS[language]
    ids = frozenset(notes.ids())
    counts, folds = [], []
    sums = [0, 0, 0]
    for key, origin in coverage.documents.items():
        rows = coverage.of(key)
        answered = sum(row.is_answered(ids) for row in rows.values())
        numbers = [len(rows), answered, len(rows) - answered]
        sums = [one + other for one, other in zip(sums, numbers, strict=True)]
        author = contents.escape(origin.author or words["unknown"])
        counts.append(_line(_title(origin, language), author, *numbers))
        summary = words["summary"].format(origin.title.in_language(language), *numbers)
        lines = [_line(*_ROWS[language]), "| --- | --- |"]
        lines += [_row(row, notes, library, ids, language, prefix) for row in rows.values()]
        table = "\n".join(lines)
        # The words of others: a search must find the notes, not the list of what was asked.
        opening = (
            f'<details markdown="1" data-search-exclude="">\n<summary>{escape(summary)}</summary>'
        )
        folds.append(f"{opening}\n\n{table}\n\n</details>")
    head = [_line(*_COUNTS[language]), "| --- | --- | ---: | ---: | ---: |"]
    return "\n\n".join(["\n".join([*head, *counts, _line(words["total"], "", *sums)]), *folds])


def _line(*cells: object) -> str:
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def _title(origin: Origin, language: str) -> str:
    title = contents.escape(origin.title.in_language(language))
    if origin.url:
        return f"[{title}]({origin.url})"
    return title + _WORDS[language]["lost"].format(origin.sought)


def _row(
    row: Question,
    notes: Catalogue,
    library: Library,
    ids: Collection[str],
    language: str,
    prefix: str,
) -> str:
    words = _WORDS[language]
    what = contents.escape(row.what.in_language(language))
    links = [link(answer, notes, language, prefix) for answer in row.answered_by(ids)]
    if row.resource:
        links.append(_entry(row.resource, library, notes, language, prefix))
    if row.planned and row.planned not in ids:
        links.append(f'<small class="planned">{words["planned"]}</small> `{row.planned}`')
    return _line(what, words["and"].join(links))


def _entry(key: str, library: Library, notes: Catalogue, language: str, prefix: str) -> str:
    """Return a link to an entry of the page of resources, or to itself where that page is not."""
    title = library[key].title.in_language(language)
    page = notes.in_language(resources.PAGE, language)
    if page is None:
        return f"[{contents.escape(title)}]({library[key].url})"
    return contents.link(page, prefix, key, f"{page.title}{_WORDS[language]['heading']}{title}")


def link(answer: str, notes: Catalogue, language: str, prefix: str) -> str:
    """Return a link to a note or a heading, in the reader's language where it has a twin."""
    note_id, _, heading = answer.partition("#")
    chinese = notes.in_language(note_id, "zh")
    note = notes.in_language(note_id, language)
    assert chinese is not None and note is not None
    if not heading:
        return contents.link(note, prefix)
    at = _headings(chinese).index(heading)  # twins have the same headings in the same order
    shown = note.source.headings[at]
    text = f"{note.title}{_WORDS[language]['heading']}{shown.text}"
    return contents.link(note, prefix, shown.id, text)
