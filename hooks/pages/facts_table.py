"""Draw a table of facts as HTML: every figure with its unit, terms and source."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from string import ascii_lowercase

from hooks import data
from hooks.links import page_address
from hooks.pages import sources as bibliography
from hooks.pages.frame import fill_line, way, words_of

FIELDS = ("table", "columns", "rows", "where", "order", "caption")
"""The options of a `facts` fence."""


def used_sources(spec: str, base: data.FactBase) -> list[str]:
    """Return the keys of the sources that a `facts` fence shows; BlockError as for `render`."""
    return data.select(data.read_options(spec, FIELDS, "facts"), base).sources


def render(spec: str, base: data.FactBase, language: str, page_dir: str = "") -> str:
    """Return the HTML for a `facts` fence; BlockError where it asks for what does not exist.

    `spec` is YAML with `table` and, optionally, `columns` and `rows` to choose and order, `where`
    (conditions such as `year >= 2020`) and `order` (a column, `-` before it for the largest first)
    instead, and `caption` (a text or {zh, en}) in place of the family's title. Links start at
    `page_dir`, a folder in the site such as `en/link/topo`.
    """
    options = data.read_options(spec, FIELDS, "facts")
    chosen = data.select(options, base)
    family, words = chosen.family, words_of("facts", language)
    table = _Table(base, language)
    rows = [table.row(row, chosen.columns) for row in chosen.rows.values()]
    files = {"CSV": f"{data.downloads.FOLDER}/{chosen.name}.csv"}
    every = way(page_address(bibliography.PAGE, language), page_dir)
    return fill_line(
        "facts.html",
        words=words,
        title=data.caption(options.get("caption"), family.title, language),
        corner=family.row_header.in_language(language),
        columns=[
            (one, data.terms(language, direction=one.direction, density=one.density, per=one.per))
            for one in chosen.columns.values()
        ],
        language=language,
        rows=rows,
        note=family.note.in_language(language) if family.note else "",
        notes=[(_letter(number), note) for number, note in enumerate(table.notes)],
        sources=[
            {
                "url": source.url,
                "cited": bibliography.cited_source(source, language),
                "details": [
                    *([words["secondary"]] if source.kind == "secondary" else []),
                    words["read"].format(source.read.isoformat()),
                    words["confidence"].format("/".join(sorted(grades))),
                ],
                "entry": f"{every}#{bibliography.anchor(key)}",
            }
            for key, grades in table.used.items()
            if (source := base.sources.get(key))
        ],
        downloads=bibliography.downloads(files, words["data"] + words["colon"], page_dir),
    )


def _letter(number: int) -> str:
    repeat, letter = divmod(number, 26)
    return (ascii_lowercase[repeat - 1] if repeat else "") + ascii_lowercase[letter]


@dataclass(slots=True)
class _Table:
    """A table while its cells are drawn: they add to what stands below it."""

    base: data.FactBase
    language: str
    notes: list[str] = field(default_factory=list)
    """Notes below it; equal ones share a letter."""
    used: dict[str, set[str]] = field(default_factory=dict)
    """The confidence of what is taken from each source, by its key."""

    def mark(self, note: data.Text | None) -> str:
        if note is None:
            return ""
        said = note.in_language(self.language)
        if said not in self.notes:
            self.notes.append(said)
        return _letter(self.notes.index(said))

    def row(self, row: data.Row, columns: Iterable[str]) -> dict[str, object]:
        return {
            "title": row.title.in_language(self.language),
            "announced": row.status == "announced",
            "mark": self.mark(row.note),
            "cells": [self.cell(row.cells[name]) if name in row.cells else {} for name in columns],
        }

    def cell(self, cell: data.Cell) -> dict[str, object]:
        value, source = cell.value, self.base.sources.get(cell.source)
        self.used.setdefault(cell.source, set()).add(cell.confidence)
        return {
            "is_text": isinstance(value, data.Text),
            "shown": value.in_language(self.language)
            if isinstance(value, data.Text)
            else str(value),
            "url": source.url if source else "",
            "cited": bibliography.cited(cell, source, self.language) if source else "",
            "grade": cell.confidence.lower(),
            "number": list(self.used).index(cell.source) + 1,
            "mark": self.mark(cell.note),
            "announced": cell.status == "announced",
        }
