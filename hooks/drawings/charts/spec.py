"""What a `chart` fence asks for, as plain data: points, scales, series and reference lines.

A chart shows columns of a family of facts or results of a measured record. `grammar`
makes a drawing of it, `pages.chart` puts it into the page with its data as a table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hooks.data import (
    BlockError,
    Text,
    conditions,
    measured,
    names,
    pick,
    read_options,
    terms,
    units,
    wording,
)
from hooks.data import rows as the_rows
from hooks.drawings.charts import lines as chart_lines

if TYPE_CHECKING:
    from pathlib import Path

    from hooks.data import Cell, Column, FactBase, Known, Result

MARKS = ("bar", "line", "point", "range")
LARGEST = 400
"""Points; more belong into a table."""
_FIELDS = (
    *("table", "file", "mark", "x", "y", "rows", "where", "order", "results", "series"),
    *("log", "lines", "title", "description", "zero"),
)
_ONLY = {"table": ("rows", "order", "y"), "file": ("results", "series")}


@dataclass(frozen=True, slots=True)
class Point:
    """One figure of a chart."""

    x: float | str
    x_label: str
    y: float
    series: str = ""
    low: float | None = None
    high: float | None = None
    written: str = ""
    """The figure as its data write it."""


@dataclass(frozen=True, slots=True)
class Chart:
    """All that is drawn, in one language."""

    mark: str
    title: str
    description: str
    x_title: str
    y_title: str
    unit: str
    points: list[Point]
    lines: list[chart_lines.Line] = field(default_factory=list)
    log: tuple[str, ...] = ()
    """The axes with logarithmic scales."""
    x_is_bytes: bool = False
    includes_zero: bool = True
    sources: list[str] = field(default_factory=list)
    """Keys of the sources of facts."""
    record: str = ""
    """The measured record, below the folder of notes."""
    name: str = ""
    """Of the family or record, for the file to download."""
    direction: str | None = None

    @property
    def series(self) -> list[str]:
        """The names of the series, in order; empty where there is but one."""
        found = list(dict.fromkeys(point.series for point in self.points))
        return found if len(found) > 1 else []

    @property
    def x_is_number(self) -> bool:
        """Whether places on the horizontal axis are numbers."""
        return all(not isinstance(point.x, str) for point in self.points)


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
        chart = _of_facts(options, base, language)
    else:
        chart = _of_record(options, base, docs, language, known)
    if not chart.points:
        raise BlockError("there is nothing to draw: no row has the figures")
    if len(chart.points) > LARGEST:
        raise BlockError(f"{len(chart.points)} points are too many for a chart ({LARGEST})")
    _refuse_scales(chart)
    return chart


def _log(options: dict[str, Any]) -> tuple[str, ...]:
    given = options.get("log", [])
    axes = [str(axis) for axis in (given if isinstance(given, list) else [given])]
    return tuple(pick(axes, {"x": None, "y": None}, "axis for 'log'"))


def _refuse_scales(chart: Chart) -> None:
    if "x" in chart.log and not chart.x_is_number:
        raise BlockError("'log: x' needs numbers along x")
    values = [point.x for point in chart.points] if "x" in chart.log else []
    if "y" in chart.log:
        values += [point.y for point in chart.points]
        if chart.mark == "bar":
            message = "bars have lengths, which a logarithmic scale has not; use 'mark: point'"
            raise BlockError(message)
    if any(isinstance(value, float | int) and value <= 0 for value in values):
        raise BlockError("a logarithmic scale holds no zero and nothing below it")
    if chart.mark == "line" and not chart.x_is_number:
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
        **_asked(options, family.title, language),
        x_title=_along(along, family.row_header, language),
        y_title=_with_terms(y_title, [shown, *(details if is_one else [])], language),
        unit=shown,
        points=points,
        lines=chart_lines.read(options, base, None, unit, language),
        sources=list(dict.fromkeys(sources)),
        name=chosen.name,
        direction=first.direction if is_one else None,
    )


def _asked(options: dict[str, Any], title: Text, language: str) -> dict[str, Any]:
    """Return the fields of a chart that a fence says whatever it shows."""
    return {
        "mark": options["mark"],
        "title": chart_lines.words(options, "title", title, language),
        "description": chart_lines.words(options, "description", title, language),
        "log": _log(options),
        "includes_zero": options.get("zero", True) is not False,
    }


def _along(column: Column | None, rows: Text, language: str) -> str:
    """Return the title of the horizontal axis: a column's with its unit, or what rows are."""
    if column is None:
        return rows.in_language(language)
    unit = "" if column.unit in (None, units.NO_UNIT) else str(column.unit)
    return " ".join(
        filter(None, [column.title.in_language(language), chart_lines.bracketed([unit], language)])
    )


def _with_terms(title: str, details: list[str], language: str) -> str:
    """Return `title (unit, direction)`, or the details alone where there is no one title."""
    bracketed = chart_lines.bracketed(details, language)
    return " ".join(filter(None, [title, bracketed])) if title else bracketed[1:-1]


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


def _of_record(
    options: dict[str, Any], base: FactBase, docs: Path, language: str, known: Known | None
) -> Chart:
    file = str(options["file"])
    record = measured.load_record(file, docs, known)
    results = {result.id: result for result in record.results}
    chosen = list(pick(names(options, "results"), results, "result").values())
    first = chosen[0]
    for other in chosen[1:]:
        if (other.unit, other.direction) != (first.unit, first.direction):
            message = f"'{other.id}' and '{first.id}' differ in unit or direction: two charts"
            raise BlockError(message)
    axes = {axis.name: axis for axis in first.axes}
    if not axes:
        raise BlockError(f"the result '{first.id}' has no axis to draw it along")
    x = str(options.get("x", next(iter(axes))))
    pick([x], axes, "axis")
    by = options.get("series")
    if by is not None:
        pick([str(by)], axes, "axis")
    points: list[Point] = []
    for result in chosen:
        points += _result_points(result, x, by and str(by), len(chosen) > 1, options, language)
    details = [first.unit, *terms(language, direction=first.direction, per=first.per)]
    if first.statistic:
        details.append(wording.statistic(first.statistic, language))
    title = first.title if len(chosen) == 1 else record.title
    numbers = all(not isinstance(point.x, str) for point in points)
    return Chart(
        **_asked(options, title, language),
        x_title=measured.axis_title(axes[x], language),
        y_title=_with_terms("", details, language),
        unit=first.unit,
        points=sorted(points, key=lambda point: point.x) if numbers else points,
        lines=chart_lines.read(options, base, record, first.unit, language),
        x_is_bytes=x == "bytes",
        record=file,
        name=record.id,
        direction=first.direction,
    )


def _result_points(
    result: Result,
    x: str,
    by: str | None,
    is_one_of_many: bool,
    options: dict[str, Any],
    language: str,
) -> list[Point]:
    axes = [axis.name for axis in result.axes]
    pick([name for name in (x, by) if name], dict.fromkeys(axes), f"axis of '{result.id}'")
    wanted = conditions(options.get("where"))
    pick([one.column for one in wanted], dict.fromkeys(axes), "axis")
    found: dict[tuple[Any, str], Point] = {}
    for point in result.points:
        if not all(_meets(one, point.get(one.column)) for one in wanted):
            continue
        parts = [result.title.in_language(language)] if is_one_of_many else []
        if by:
            parts.append(f"{by} = {point[by]}" if isinstance(point[by], int) else str(point[by]))
        series = " · ".join(parts)
        place = point[x]
        if (place, series) in found:
            others = [axis for axis in axes if axis not in (x, by)]
            message = f"several points share a place on '{x}'; choose by 'where' or 'series': "
            raise BlockError(message + ", ".join(others))
        found[(place, series)] = Point(
            place if isinstance(place, int | float) else str(place),
            wording.label(x, place),
            float(point["value"]),
            series,
            point.get("p5"),
            point.get("p95"),
            wording.number(point["value"]),
        )
    return list(found.values())


def _meets(condition: Any, value: object) -> bool:
    if isinstance(value, str):
        value = Text(zh=value, en=value)
    try:
        return bool(condition.holds(value))
    except ValueError:
        return False
