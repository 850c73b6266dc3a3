"""Draw a table of facts as HTML: every figure with its unit, terms and source."""

from __future__ import annotations

from dataclasses import dataclass, field
from string import ascii_lowercase
from typing import TYPE_CHECKING

from hooks.data import Text, caption, downloads, read_options, select, terms
from hooks.pages import citations, html
from hooks.pages.words import words_of

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
    marks, used = _Marks(), dict[str, set[str]]()
    words = words_of("facts", language)
    rows = [_row(row, columns, base, language, marks, used) for row in chosen.rows.values()]
    files = {kind.upper(): downloads.path_of(chosen.name, kind) for kind in ("csv", "json")}
    return html.render(
        "facts.html",
        words=words,
        title=caption(options.get("caption"), family.title, language),
        corner=family.row_header.in_language(language),
        columns=[_heading(column, language) for column in columns.values()],
        rows=rows,
        note=family.note.in_language(language) if family.note else "",
        notes=[(marks.letter(note), note) for note in marks.notes],
        sources=[
            _source(key, grades, base.sources[key], language, page_dir)
            for key, grades in used.items()
            if key in base.sources
        ],
        downloads=citations.downloads(files, words["data"] + words["colon"], page_dir),
    )


def _heading(column: Column, language: str) -> tuple[str, str, str]:
    """Return title, unit and terms of a column."""
    unit = "" if column.unit in (None, "none") else str(column.unit)
    details = terms(language, direction=column.direction, density=column.density, per=column.per)
    return column.title.in_language(language), unit, " · ".join(details)


def _row(
    row: Row,
    columns: dict[str, Column],
    base: FactBase,
    language: str,
    marks: _Marks,
    used: dict[str, set[str]],
) -> dict[str, object]:
    mark = marks.letter(row.note.in_language(language)) if row.note else ""
    cells = []
    for cell in map(row.cells.get, columns):
        if cell is not None:
            used.setdefault(cell.source, set()).add(cell.confidence)
            number = list(used).index(cell.source) + 1
            source = base.sources.get(cell.source)
            cells.append(_cell(cell, source, language, marks, number))
        else:
            cells.append({})
    announced = row.status == "announced"
    title = row.title.in_language(language)
    return {"title": title, "announced": announced, "mark": mark, "cells": cells}


def _cell(
    cell: Cell, source: Source | None, language: str, marks: _Marks, number: int
) -> dict[str, object]:
    is_text = isinstance(cell.value, Text)
    shown = cell.value.in_language(language) if isinstance(cell.value, Text) else str(cell.value)
    return {
        "is_text": is_text,
        "shown": shown,
        "url": source.url if source else "",
        "cited": citations.cited(cell, source, language) if source else "",
        "grade": cell.confidence.lower(),
        "number": number,
        "mark": marks.letter(cell.note.in_language(language)) if cell.note else "",
        "announced": cell.status == "announced",
    }


def _source(
    key: str, grades: set[str], source: Source, language: str, page_dir: str
) -> dict[str, object]:
    words = words_of("facts", language)
    bibliography = html.way(citations.page_of(language), page_dir)
    return {
        "url": source.url,
        "cited": citations.cited_source(source, language),
        "details": [
            *([words["secondary"]] if source.kind == "secondary" else []),
            words["read"].format(source.read.isoformat()),
            words["confidence"].format("/".join(sorted(grades))),
        ],
        "entry": f"{bibliography}#{citations.anchor(key)}",
    }
