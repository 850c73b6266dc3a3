"""Draw a table of facts as HTML: every figure with its unit, terms and source."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from html import escape
from string import ascii_lowercase
from typing import TYPE_CHECKING

from hooks.data import Text, caption, read_options, select, terms
from hooks.data import downloads as facts_export
from hooks.pages.citations import _WORDS, anchor, cited, cited_source, downloads, page_of

if TYPE_CHECKING:
    from hooks.data import Cell, Column, FactBase, Row, Source

FIELDS = ("table", "columns", "rows", "where", "order", "caption")
"""The options of a `facts` fence."""


@dataclass(slots=True)
class _Marks:
    """Notes below a table; equal notes share a letter."""

    notes: list[str] = field(default_factory=list)

    def letter(self, note: str) -> str:
        if note not in self.notes:
            self.notes.append(note)
        number = self.notes.index(note)
        repeat, letter = divmod(number, 26)
        return (ascii_lowercase[repeat - 1] if repeat else "") + ascii_lowercase[letter]


def used_sources(spec: str, base: FactBase) -> list[str]:
    """Return the keys of the sources that a `facts` fence shows; BlockError as for `render`."""
    return select(read_options(spec, FIELDS, "facts"), base).sources


def render(spec: str, base: FactBase, language: str, page_dir: str = "") -> str:
    """Return the HTML for a `facts` fence.

    Arguments:
        spec: YAML with `table` and, optionally, `columns` and `rows` to choose and order, `where`
            (conditions such as `year >= 2020`) and `order` (a column, `-` before it for the
            largest first) instead, and `caption` (a text or {zh, en}) in place of the family's
            title.
        base: The data.
        language: `zh` or `en`.
        page_dir: Folder of the page in the site, such as `en/link/topo`; links start there.

    Raises:
        BlockError: The YAML is wrong, or names a table, column or row that does not exist.
    """
    options = read_options(spec, FIELDS, "facts")
    chosen = select(options, base)
    family, columns = chosen.family, chosen.columns
    title = caption(options.get("caption"), family.title, language)
    marks = _Marks()
    used: dict[str, set[str]] = {}
    words = _WORDS[language]
    head = "".join(_heading(column, language) for column in columns.values())
    body = "".join(_row(row, columns, base, language, marks, used) for row in chosen.rows.values())
    corner = escape(family.row_header.in_language(language))
    notes = [family.note.in_language(language)] if family.note else []
    return (
        '<div class="facts">'
        f'<div class="facts__scroll" role="region" tabindex="0" aria-label="{escape(title)}">'
        '<table class="facts__table facts__table--sortable">'
        f"<caption><span>{escape(title)}</span></caption>"
        f'<thead><tr><th scope="col">{corner}</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
        + "".join(f'<p class="facts__note">{escape(note)}</p>' for note in notes)
        + _notes(marks, words)
        + _sources(used, base, words, language, page_dir)
        + downloads(
            {kind.upper(): facts_export.path_of(chosen.name, kind) for kind in ("csv", "json")},
            words["data"] + words["colon"],
            page_dir,
        )
        + "</div>"
    )


def _heading(column: Column, language: str) -> str:
    unit = "" if column.unit in (None, "none") else str(column.unit)
    details = terms(language, direction=column.direction, density=column.density, per=column.per)
    parts = [
        f' <span class="facts__unit">{escape(unit)}</span>' if unit else "",
        f' <span class="facts__terms">{escape(" · ".join(details))}</span>' if details else "",
    ]
    return f'<th scope="col">{escape(column.title.in_language(language))}{"".join(parts)}</th>'


def _row(
    row: Row,
    columns: dict[str, Column],
    base: FactBase,
    language: str,
    marks: _Marks,
    used: dict[str, set[str]],
) -> str:
    words = _WORDS[language]
    head = escape(row.title.in_language(language))
    if row.status == "announced":
        head += f' <span class="facts__status">{words["announced"]}</span>'
    if row.note:
        head += _mark(marks.letter(row.note.in_language(language)), words)
    cells = ""
    for name in columns:
        cell = row.cells.get(name)
        if cell is None:
            cells += (
                '<td class="facts__none"><span aria-hidden="true">—</span>'
                f' <span class="facts__hidden">{words["none"]}</span></td>'
            )
            continue
        used.setdefault(cell.source, set()).add(cell.confidence)
        number = list(used).index(cell.source) + 1
        cells += _cell(cell, base.sources.get(cell.source), language, marks, number)
    return f'<tr><th scope="row">{head}</th>{cells}</tr>'


def _cell(cell: Cell, source: Source | None, language: str, marks: _Marks, number: int) -> str:
    words = _WORDS[language]
    is_text = isinstance(cell.value, Text)
    shown = cell.value.in_language(language) if isinstance(cell.value, Text) else str(cell.value)
    inside = escape(shown)
    if source is not None:
        title = cited(cell, source, language)
        kind = f"facts__value facts__value--{cell.confidence.lower()}"
        inside = (
            f'<a class="{kind}" href="{escape(source.url)}" title="{escape(title)}">{inside}</a>'
            # Printed only: which line of the list below.
            f'<span class="facts__ref" data-ref="{number}" aria-hidden="true"></span>'
        )
    if cell.note:
        inside += _mark(marks.letter(cell.note.in_language(language)), words)
    if cell.status == "announced":
        inside += f' <span class="facts__status">{words["announced"]}</span>'
    order = "" if is_text else f' data-sort="{cell.value}"'
    return f'<td class="facts__{"text" if is_text else "number"}"{order}>{inside}</td>'


def _mark(letter: str, words: dict[str, str]) -> str:
    hidden = f'<span class="facts__hidden"> {words["note"]} </span>'
    return f'<sup class="facts__mark">{hidden}{letter}</sup>'


def _notes(marks: _Marks, words: dict[str, str]) -> str:
    if not marks.notes:
        return ""
    items = "".join(
        f"<li><span>{marks.letter(note)}</span> {escape(note)}</li>" for note in marks.notes
    )
    return f'<ul class="facts__notes" aria-label="{words["note"]}">{items}</ul>'


def _sources(
    used: dict[str, set[str]], base: FactBase, words: dict[str, str], language: str, page_dir: str
) -> str:
    items = ""
    bibliography = posixpath.relpath(page_of(language), page_dir or ".")
    for key, grades in used.items():
        source = base.sources.get(key)
        if source is None:
            continue
        details = [
            words["read"].format(source.read.isoformat()),
            words["confidence"].format("/".join(sorted(grades))),
        ]
        if source.kind == "secondary":
            details.insert(0, words["secondary"])
        cited = escape(cited_source(source, language))
        items += (
            f'<li><a href="{escape(source.url)}">{cited}</a>'
            f"{words['semicolon']}{words['semicolon'].join(details)}"
            f'<span class="facts__entry">{words["semicolon"]}'
            f'<a href="{escape(bibliography)}#{anchor(key)}">{words["bibliography"]}</a>'
            "</span></li>"
        )
    if not items:
        return ""
    # Kept out of the search index: a title of a source is no hit for its subject.
    return (
        '<details class="facts__sources" data-search-exclude>'
        f"<summary>{words['sources']} ({items.count('<li>')})</summary>"
        f"<ol>{items}</ol><p>{words['legend']}</p></details>"
    )
