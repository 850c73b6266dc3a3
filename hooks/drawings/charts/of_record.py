"""The points of a chart that shows results of a measured record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hooks.data import (
    BlockError,
    Text,
    conditions,
    measured,
    names,
    pick,
    terms,
    wording,
)
from hooks.drawings.charts import lines as chart_lines
from hooks.drawings.charts.chart import Chart, Point, asked, with_terms

if TYPE_CHECKING:
    from pathlib import Path

    from hooks.data import FactBase, Known, Result


def read(
    options: dict[str, Any], base: FactBase, docs: Path, language: str, known: Known | None
) -> Chart:
    """Return what a fence with `file` asks for; BlockError as for `spec.read`."""
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
        **asked(options, title, language),
        x_title=measured.axis_title(axes[x], language),
        y_title=with_terms("", details, language),
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
