"""A chart that shows results of a measured record, and the specifications that it compares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hooks.data import BlockError, Text, conditions, measured, names, pick, terms, units, wording
from hooks.drawings.charts.chart import Chart, Line, Point, asked, with_terms, words

if TYPE_CHECKING:
    from pathlib import Path

    from hooks.data import Condition, Record, Result

_SPECIFICATION = Text(zh="规格", en="specification")


def read(options: dict[str, Any], docs: Path, language: str) -> Chart:
    """Return what a fence with `file` asks for; BlockError as for `spec.read`."""
    file = str(options["file"])
    record = measured.load_record(file, docs)
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
    by = None if options.get("series") is None else str(options["series"])
    pick([name for name in (x, by) if name], axes, "axis")
    points: list[Point] = []
    for result in chosen:
        points += _points(result, x, by, len(chosen) > 1, options.get("where"), language)
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
        lines=_lines(options.get("lines", []), record, first.unit, language),
        x_is_bytes=x == "bytes",
        record=file,
        name=record.id,
        direction=first.direction,
    )


def _points(
    result: Result, x: str, by: str | None, is_one_of_many: bool, where: object, language: str
) -> list[Point]:
    axes = dict.fromkeys(axis.name for axis in result.axes)
    pick([name for name in (x, by) if name], axes, f"axis of '{result.id}'")
    wanted = conditions(where)
    pick([one.column for one in wanted], axes, "axis")
    found: dict[tuple[Any, str], Point] = {}
    for point in result.points:
        if not all(_meets(one, point) for one in wanted):
            continue
        parts = [result.title.in_language(language)] if is_one_of_many else []
        if by:
            parts.append(f"{by} = {point[by]}" if isinstance(point[by], int) else str(point[by]))
        series, place = " · ".join(parts), point[x]
        if (place, series) in found:
            others = ", ".join(axis for axis in axes if axis not in (x, by))
            message = f"several points share a place on '{x}'; choose by 'where' or 'series': "
            raise BlockError(message + others)
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


def _meets(condition: Condition, point: dict[str, Any]) -> bool:
    try:
        return condition.holds(point.get(condition.column))
    except ValueError:  # an axis may hold both numbers and words
        return False


def _lines(given: object, record: Record, unit: str, language: str) -> list[Line]:
    """Return the specifications that a fence compares its points with."""
    if not isinstance(given, list):
        raise BlockError("'lines' must be a list such as [{spec: gpu_uni}]")
    specs = {one.id: one for one in record.specification}
    found = []
    for item in given:
        if isinstance(item, dict):
            pick([str(key) for key in item], {"spec": None, "title": None}, "field of a line")
        if not isinstance(item, dict) or "spec" not in item:
            raise BlockError("a line must be such as {spec: gpu_uni, title: {zh: …, en: …}}")
        name = str(item["spec"])
        one = pick([name], specs, "specification")[name]
        try:
            value = units.convert(one.value, one.unit, unit)
        except units.UnitError as error:
            raise BlockError(f"a line in {one.unit} has no place on an axis in {unit}") from error
        label = words(item, "title", one.title or _SPECIFICATION, language)
        text = " ".join(filter(None, [label, f"{value:g}", units.shown(unit)]))
        details = terms(language, direction=one.direction, per=one.per)
        found.append(Line(value, with_terms(text, details, language), one.direction))
    return found
