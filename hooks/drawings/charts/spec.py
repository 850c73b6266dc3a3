"""What a `chart` fence asks for, as plain data: points, scales, series and reference lines.

A chart shows columns of a family of facts or results of a measured record. `grammar`
makes a drawing of it, `pages.chart` puts it into the page with its data as a table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hooks.data import BlockError, Text, pick, read_options, select, terms, units
from hooks.drawings.charts import of_record
from hooks.drawings.charts.chart import Chart, Point, asked, with_terms

if TYPE_CHECKING:
    from pathlib import Path

    from hooks.data import Column, FactBase

MARKS = ("bar", "line", "point")
LARGEST = 400
"""Points; more belong into a table."""
_FIELDS = (
    *("table", "file", "mark", "x", "y", "rows", "where", "order", "results", "series"),
    *("log", "lines", "title", "description", "zero"),
)
_ONLY = {"table": ("rows", "order", "y"), "file": ("results", "series", "lines")}


def read(spec: str, base: FactBase, docs: Path, language: str) -> Chart:
    """Return what a `chart` fence asks for; BlockError if that is not there, or cannot be drawn.

    Either `table` (a family) with `y` (a column, or several of one unit), `x` (a column; default
    the rows' names), `rows`, `where`, `order`; or `file` (a measured record) with `results` (ids,
    of one unit), `x` (an axis; default the first), `series` (another axis), `where` (conditions
    on axes) and `lines` (specifications to compare with). And `mark` (bar, line or point), `log`
    (x, y or both), `zero: false`, `title` and, required, `description` in both languages.
    """
    options = read_options(spec, _FIELDS, "chart")
    if ("table" in options) == ("file" in options):
        raise BlockError("a chart block needs a line 'table: NAME' or 'file: TOPIC/measured/…'")
    kind, other = ("table", "file") if "table" in options else ("file", "table")
    for name in _ONLY[other]:
        if name in options:
            raise BlockError(f"'{name}' goes with '{other}', not with '{kind}'")
    options["mark"] = str(options.get("mark", "bar"))
    pick([options["mark"]], dict.fromkeys(MARKS), "mark")
    if "description" not in options:
        raise BlockError("a chart needs 'description: {zh: …, en: …}': its point in words")
    if kind == "table":
        found = _of_facts(options, base, language)
    else:
        found = of_record.read(options, docs, language)
    if not found.points:
        raise BlockError("there is nothing to draw: no row has the figures")
    if len(found.points) > LARGEST:
        raise BlockError(f"{len(found.points)} points are too many for a chart ({LARGEST})")
    _refuse_scales(found)
    return found


def _refuse_scales(found: Chart) -> None:
    if "x" in found.log and not found.x_is_number:
        raise BlockError("'log: x' needs numbers along x")
    if "y" in found.log and found.mark == "bar":
        raise BlockError("bars have lengths, which a logarithmic scale has not; use 'mark: point'")
    values = [getattr(point, axis) for point in found.points for axis in found.log]
    if any(value <= 0 for value in values):
        raise BlockError("a logarithmic scale holds no zero and nothing below it")
    if found.mark == "line" and not found.x_is_number:
        raise BlockError("'mark: line' needs numbers along x; use 'mark: bar' or 'point'")


def _of_facts(options: dict[str, Any], base: FactBase, language: str) -> Chart:
    chosen = select({**options, "columns": None}, base)
    known, y, x = chosen.family.columns, options.get("y"), options.get("x")
    if not y:
        raise BlockError("a chart of a table needs 'y: COLUMN' or 'y: [COLUMN, COLUMN]'")
    columns = pick([str(name) for name in (y if isinstance(y, list) else [y])], known, "column")
    along = pick([] if x is None else [str(x)], known, "column")
    first = next(iter(columns.values()))
    points: list[Point] = []
    sources: list[str] = []
    for row in chosen.rows.values():
        title = row.title.in_language(language)
        place: float | str = title
        if along.keys() - row.cells.keys():
            continue
        for name in along:
            at = row.cells[name].value
            place = at.in_language(language) if isinstance(at, Text) else at
            sources.append(row.cells[name].source)
        for name, column in columns.items():
            cell = row.cells.get(name)
            if cell is None or isinstance(cell.value, Text):
                continue
            series = _series(column, columns, language)
            written = str(cell.value) if column.unit == first.unit else ""
            value = _converted(cell.value, column, first)
            points.append(Point(place, title, value, series, written=written))
            sources.append(cell.source)
    x_titles = [
        with_terms(one.title.in_language(language), [units.shown(one.unit)], language)
        for one in along.values()
    ]
    details, y_title = [units.shown(first.unit)], ""
    if len(columns) == 1:
        y_title = first.title.in_language(language)
        details += _terms(first, language)
    return Chart(
        **asked(options, chosen.family.title, language),
        x_title=(x_titles or [chosen.family.row_header.in_language(language)])[0],
        y_title=with_terms(y_title, details, language),
        unit=units.shown(first.unit),
        points=points,
        sources=list(dict.fromkeys(sources)),
        name=chosen.name,
        direction=first.direction if len(columns) == 1 else None,
    )


def _converted(value: float, column: Column, first: Column) -> float:
    try:
        return units.convert(value, column.unit or "", first.unit or "")
    except units.UnitError as error:
        message = f"columns in {first.unit or 'bare numbers'} and {column.unit} have no common axis"
        raise BlockError(message) from error


def _series(column: Column, columns: dict[str, Column], language: str) -> str:
    """Return what tells a column from the others: its title, else its terms."""
    if len(columns) == 1:
        return ""
    title = column.title.in_language(language)
    alike = [one for one in columns.values() if one.title.in_language(language) == title]
    return with_terms(title, _terms(column, language) if len(alike) > 1 else [], language)


def _terms(column: Column, language: str) -> list[str]:
    return terms(language, direction=column.direction, density=column.density, per=column.per)
