"""What a `chart` fence asks for, as plain data: points, scales, series and reference lines.

A chart shows columns of a family of facts or results of a measured record. `grammar`
makes a drawing of it, `pages.chart` puts it into the page with its data as a table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hooks.data import (
    BlockError,
    Text,
    pick,
    read_options,
    terms,
    units,
)
from hooks.data import rows as the_rows
from hooks.drawings.charts import chart, of_record
from hooks.drawings.charts import lines as chart_lines
from hooks.drawings.charts.chart import Chart, Point

if TYPE_CHECKING:
    from pathlib import Path

    from hooks.data import Cell, Column, FactBase, Known

__all__ = ["Chart", "Point", "read"]

MARKS = ("bar", "line", "point", "range")
LARGEST = 400
"""Points; more belong into a table."""
_FIELDS = (
    *("table", "file", "mark", "x", "y", "rows", "where", "order", "results", "series"),
    *("log", "lines", "title", "description", "zero"),
)
_ONLY = {"table": ("rows", "order", "y"), "file": ("results", "series")}


def read(spec: str, base: FactBase, docs: Path, language: str, known: Known | None = None) -> Chart:
    """Return what a `chart` fence asks for.

    Arguments:
        spec: YAML. Either `table` (a family) with `y` (a column, or several of one unit), `x` (a
            column; default the rows' names), `rows`, `where`, `order`; or `file` (a measured
            record) with `results` (ids, of one unit), `x` (an axis; default the first), `series`
            (another axis) and `where` (conditions on axes). And `mark` (bar, line, point or
            range), `log` (x, y or both), `lines` (what to compare with: `spec`, `fact` or
            `value`), `zero: false`, `title` and, required, `description` in both languages.
        base: The facts.
        docs: The folder of the notes.
        language: `zh` or `en`.
        known: Measured records that have been read already.

    Raises:
        BlockError: The fence names what does not exist, or asks for what cannot be drawn.
    """
    options = read_options(spec, _FIELDS, "chart")
    if ("table" in options) == ("file" in options):
        raise BlockError("a chart block needs a line 'table: NAME' or 'file: TOPIC/measured/…'")
    kind = "table" if "table" in options else "file"
    for other, fields in _ONLY.items():
        for name in fields:
            if other != kind and name in options:
                raise BlockError(f"'{name}' goes with '{other}', not with '{kind}'")
    options["mark"] = str(options.get("mark", "bar"))
    pick([options["mark"]], dict.fromkeys(MARKS), "mark")
    if "description" not in options:
        message = "a chart needs 'description: {zh: …, en: …}': its point in words"
        raise BlockError(message)
    if kind == "table":
        found = _of_facts(options, base, language)
    else:
        found = of_record.read(options, base, docs, language, known)
    if not found.points:
        raise BlockError("there is nothing to draw: no row has the figures")
    if len(found.points) > LARGEST:
        raise BlockError(f"{len(found.points)} points are too many for a chart ({LARGEST})")
    _refuse_scales(found)
    return found


def _refuse_scales(found: Chart) -> None:
    if "x" in found.log and not found.x_is_number:
        raise BlockError("'log: x' needs numbers along x")
    values = [point.x for point in found.points] if "x" in found.log else []
    if "y" in found.log:
        values += [point.y for point in found.points]
        if found.mark == "bar":
            message = "bars have lengths, which a logarithmic scale has not; use 'mark: point'"
            raise BlockError(message)
    if any(isinstance(value, float | int) and value <= 0 for value in values):
        raise BlockError("a logarithmic scale holds no zero and nothing below it")
    if found.mark == "line" and not found.x_is_number:
        raise BlockError("'mark: line' needs numbers along x; use 'mark: bar' or 'point'")


def _of_facts(options: dict[str, Any], base: FactBase, language: str) -> Chart:
    chosen = the_rows.select({**options, "columns": None}, base)
    family, is_range = chosen.family, options["mark"] == "range"
    given = options.get("y")
    wanted = given if isinstance(given, list) else [given] if given else []
    if not wanted:
        raise BlockError("a chart of a table needs 'y: COLUMN' or 'y: [COLUMN, COLUMN]'")
    columns = pick([str(name) for name in wanted], family.columns, "column")
    first = next(iter(columns.values()))
    unit = first.unit or ""
    if is_range and len(columns) != 2:
        raise BlockError("'mark: range' needs two columns, 'y: [LOW, HIGH]'")
    x = str(options["x"]) if options.get("x") is not None else None
    along = pick([x], family.columns, "column")[x] if x is not None else None
    points: list[Point] = []
    sources: list[str] = []
    for row in chosen.rows.values():
        title = row.title.in_language(language)
        place: float | str = title
        if x is not None:
            if x not in row.cells:
                continue
            at = row.cells[x].value
            place = at.in_language(language) if isinstance(at, Text) else at
            sources.append(row.cells[x].source)
        values = {
            name: value
            for name, column in columns.items()
            if (value := _number(row.cells.get(name), column, unit)) is not None
        }
        sources += [row.cells[name].source for name in values]
        if is_range:
            if len(values) == 2:
                low, high = map(float, values.values())
                points.append(Point(place, str(place), high, "", low, high, f"{low:g}–{high:g}"))
            continue
        for name, value in values.items():
            series = _series(columns[name], columns, language)
            written = str(row.cells[name].value) if columns[name].unit == unit else ""
            points.append(Point(place, title, value, series, None, None, written))
    is_one = len(columns) == 1
    details = terms(language, direction=first.direction, density=first.density, per=first.per)
    shown = "" if unit == units.NO_UNIT else unit
    y_title = first.title.in_language(language) if is_one else ""
    return Chart(
        **chart.asked(options, family.title, language),
        x_title=_along(along, family.row_header, language),
        y_title=chart.with_terms(y_title, [shown, *(details if is_one else [])], language),
        unit=shown,
        points=points,
        lines=chart_lines.read(options, base, None, unit, language),
        sources=list(dict.fromkeys(sources)),
        name=chosen.name,
        direction=first.direction if is_one else None,
    )


def _along(column: Column | None, rows: Text, language: str) -> str:
    """Return the title of the horizontal axis: a column's with its unit, or what rows are."""
    if column is None:
        return rows.in_language(language)
    unit = "" if column.unit in (None, units.NO_UNIT) else str(column.unit)
    return " ".join(
        filter(None, [column.title.in_language(language), chart_lines.bracketed([unit], language)])
    )


def _number(cell: Cell | None, column: Column, unit: str) -> float | None:
    if cell is None or isinstance(cell.value, Text):
        return None
    try:
        return units.convert(cell.value, column.unit or "", unit)
    except units.UnitError as error:
        message = f"columns in {unit or 'bare numbers'} and {column.unit} have no common axis"
        raise BlockError(message) from error


def _series(column: Column, columns: dict[str, Column], language: str) -> str:
    """Return what tells a column from the others: its title, else its terms."""
    if len(columns) == 1:
        return ""
    title = column.title.in_language(language)
    details = terms(language, direction=column.direction, density=column.density, per=column.per)
    titles = [other.title.in_language(language) for other in columns.values()]
    return (
        title if titles.count(title) == 1 else f"{title} {chart_lines.bracketed(details, language)}"
    )
