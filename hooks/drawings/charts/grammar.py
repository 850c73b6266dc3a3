"""A chart in the grammar of graphics: what is drawn where, as a Vega-Lite specification.

Colours stand for roles; `svg` turns them into variables of the style sheet. Nothing
is told by colour alone: series differ in shape and dash, bars carry their figure and series.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.drawings.charts.chart import Chart

INK, MUTED, RULE, GRID = "#1f2328", "#57606a", "#8c959f", "#d8dee4"
SERIES = ("#0b62a8", "#b4480e", "#1b7f4d", "#7a3fb0", "#8a6d00", "#a3195b")
ROLES = {
    INK: "--fig-ink",
    MUTED: "--fig-muted",
    RULE: "--fig-line",
    GRID: "--fig-grid",
    **{colour: f"--fig-series-{number}" for number, colour in enumerate(SERIES, 1)},
}
"""Colour in the specification -> variable of the style sheet."""

MEASURE = "Handbook Measure"
"""The font that texts are measured with: `font/measure.ttf`, whatever fonts a machine has.

A Latin letter is as wide in it as in DejaVu Sans, any other below U+2E80 0.62 em, the rest 1 em.
"""
WIDTH = 516
"""Of a drawing, in CSS pixels: a phone shows two thirds of a text's size, 9 px in a fold."""
_HEIGHT, _BAR, _FONT = 300, 24, 14
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
_DASHES = ([1, 0], [8, 3], [2, 3], [9, 3, 2, 3], [4, 2], [12, 4])
_BYTES = (
    "datum.value >= 1073741824 ? datum.value / 1073741824 + ' GiB' : "
    "datum.value >= 1048576 ? datum.value / 1048576 + ' MiB' : "
    "datum.value >= 1024 ? datum.value / 1024 + ' KiB' : datum.value + ' B'"
)
_MOST_TICKS = 9

Spec = dict[str, Any]


def specification(chart: Chart) -> Spec:
    """Return the Vega-Lite specification of a chart."""
    layers = _bars(chart) if chart.mark == "bar" else _along(chart)
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "data": {"values": _values(chart)},
        "width": WIDTH,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "height": _height(chart),
        "padding": 6,
        # Along x a turned title would be longer than the axis: it stands above, as a line.
        **({} if chart.mark == "bar" else {"title": {"text": chart.y_title}}),
        "layer": [*layers, *_lines(chart)],
        "config": _config(),
    }


def _config() -> Spec:
    text = {
        **{"labelColor": INK, "labelFontSize": _FONT, "labelLimit": 500},
        **{"titleColor": INK, "titleFontSize": _FONT, "titleLimit": WIDTH},
        "titleFontWeight": "normal",
    }
    title = {"color": INK, "fontSize": _FONT, "fontWeight": "normal", "offset": 10}
    return {
        "background": None,
        "font": MEASURE,
        "view": {"stroke": None},
        "axis": {**text, "domainColor": RULE, "tickColor": RULE, "gridColor": GRID},
        "legend": {**text, "orient": "top", "title": None, "symbolSize": 90, "columns": 1},
        "title": {**title, "anchor": "start", "frame": "group"},
        "text": {"color": INK, "fontSize": _FONT},
    }


def _width(text: str) -> float:
    """Return how wide a text may be in the reader's font, which is not the one measured with."""
    return sum(1.0 if ord(char) > 0x2E80 else 0.62 for char in text) * _FONT


def _values(chart: Chart) -> list[Spec]:
    rows = []
    for number, point in enumerate(chart.points):
        row: Spec = {"x": point.x, "y": point.y, "series": point.series, "n": number}
        if chart.mark == "bar" or not chart.x_is_number:
            row["x"] = point.x_label if isinstance(point.x, str) else f"{point.x:g}"
        row["text"] = point.written or f"{point.y:g}"
        if chart.mark == "point" and chart.sources and chart.x_is_number:
            row["text"] = point.x_label
        if chart.series:
            row["text"] += f"  {point.series}"
        if point.low is not None and point.high is not None:
            row |= {"low": point.low, "high": point.high}
        rows.append(row)
    return rows


def _height(chart: Chart) -> int:
    places = len({row["x"] for row in _values(chart)})
    return places * (_BAR * max(len(chart.series), 1) + 8) if chart.mark == "bar" else _HEIGHT


def _by_series(chart: Chart, choices: Sequence[Any]) -> Spec:
    """Return a channel that tells series apart by choices, or holds the first of them."""
    if not chart.series:
        return {"value": choices[0]}
    chosen = [choices[number % len(choices)] for number in range(len(chart.series))]
    scale = {"domain": chart.series, "range": chosen}
    return {"field": "series", "type": "nominal", "sort": None, "scale": scale}


def _scale(chart: Chart, axis: str, base: int = 10) -> Spec:
    if axis in chart.log:
        return {"type": "log", "base": base}
    return {"zero": chart.includes_zero if axis == "y" else False}


def _bars(chart: Chart) -> list[Spec]:
    """Lying bars, so that names can be read; each with its figure at the end."""
    rows = _values(chart)
    # Room for the words at the ends of the bars.
    plot = max(WIDTH - max(_width(row["x"]) for row in rows) - 30, 270)
    ends = [row["y"] * plot / max(plot - _width(row["text"]) - 12, 80) for row in rows]
    largest = max([*ends, *(line.value * 1.05 for line in chart.lines), 0])
    smallest = min([*(point.y for point in chart.points), 0])
    names = {"ticks": False, "labelPadding": 6, "labelLimit": 240}
    place: Spec = {
        "y": {"field": "x", "type": "nominal", "sort": None, "title": None, "axis": names},
        "x": {
            "field": "y",
            "type": "quantitative",
            "title": chart.y_title,
            "scale": {"domain": [smallest, largest], "nice": False},
            "axis": {"tickCount": 6},
        },
    }
    colour = _by_series(chart, SERIES)
    if chart.series:
        place["yOffset"] = {"field": "series", "type": "nominal", "sort": chart.series}
        colour["legend"] = None  # the bars say it in words
    return [
        {"mark": {"type": "bar", "height": {"band": 0.82}}, "encoding": {**place, "color": colour}},
        {
            "mark": {"type": "text", "align": "left", "baseline": "middle", "dx": 5},
            "encoding": {**place, "text": {"field": "text", "type": "nominal"}},
        },
    ]


def _along(chart: Chart) -> list[Spec]:
    """Points and lines over a horizontal axis."""
    x: Spec = {"field": "x", "title": chart.x_title}
    if chart.x_is_number:
        scale = _scale(chart, "x", 2 if chart.x_is_bytes else 10)
        if "x" not in chart.log or chart.mark == "point":
            scale |= {"padding": 16, "nice": False}
        axis: Spec = {"grid": False}
        if chart.x_is_bytes:
            places = sorted({float(point.x) for point in chart.points})
            thinned = places[:: -(-len(places) // _MOST_TICKS)]
            axis |= {"values": thinned, "labelExpr": _BYTES}
        elif "x" not in chart.log and all(float(point.x).is_integer() for point in chart.points):
            axis |= {"format": "d", "tickMinStep": 1}  # years are not 2,016
        x |= {"type": "quantitative", "scale": scale, "axis": axis}
    else:
        x |= {"type": "nominal", "sort": None, "axis": {"labelAngle": -35, "grid": False}}
    scale = {**_scale(chart, "y"), **_ends(chart)}
    y: Spec = {"field": "y", "type": "quantitative", "title": None, "scale": scale}
    shared: Spec = {"x": x, "y": y, "color": _by_series(chart, SERIES)}
    layers: list[Spec] = []
    if any(point.low is not None and point.high is not None for point in chart.points):
        between = {**shared, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
        layers.append({"mark": {"type": "rule", "strokeWidth": 1.5}, "encoding": between})
    if chart.mark == "line":
        dashed = {**shared, "strokeDash": _by_series(chart, _DASHES)}
        layers.append({"mark": {"type": "line", "strokeWidth": 2}, "encoding": dashed})
    dot: Spec = {"type": "point", "filled": True, "size": 55, "opacity": 1}
    layers.append({"mark": dot, "encoding": {**shared, "shape": _by_series(chart, _SHAPES)}})
    if chart.mark == "point" and not chart.series and len(chart.points) <= 30:
        layers += _names(chart, x, y)
    return layers


def _ends(chart: Chart) -> Spec:
    """Return the ends of the vertical scale, where the grammar's own would waste or lack room."""
    lines = [line.value for line in chart.lines]
    highest = max([*lines, *(point.high or point.y for point in chart.points)])
    if "y" in chart.log:
        least = min([*lines, *(point.low or point.y for point in chart.points)])
        return {"domain": [least / 1.5, highest * 1.5], "nice": False}
    # Above the highest reference line stand its words.
    return {"domainMax": highest * 1.1} if lines else {}


def _names(chart: Chart, x: Spec, y: Spec) -> list[Spec]:
    """What each point is, beside it, where there are few of them; to the left in the right half."""
    if chart.x_is_bytes or not chart.x_is_number:
        return []
    places = [float(point.x) for point in chart.points]
    middle = (min(places) + max(places)) / 2
    if "x" in chart.log:
        middle = (min(places) * max(places)) ** 0.5
    return [
        {
            "transform": [{"filter": f"datum.x {sign} {middle}"}],
            "mark": {"type": "text", "align": align, "baseline": "middle", "dx": shift},
            "encoding": {"x": x, "y": y, "text": {"field": "text", "type": "nominal"}},
        }
        for sign, align, shift in (("<=", "left", 8), (">", "right", -8))
    ]


def _lines(chart: Chart) -> list[Spec]:
    """Reference values: dashed, with what they are in words."""
    along, across = ("x", "y") if chart.mark == "bar" else ("y", "x")
    end: Spec = {"align": "left", "dx": 6}
    if chart.mark == "bar":
        end = {"align": "right", "dx": -4}
    rule: Spec = {"type": "rule", "color": INK, "strokeDash": [6, 4], "strokeWidth": 1.5}
    layers: list[Spec] = []
    for line in chart.lines:
        at: Spec = {along: {"datum": line.value, "type": "quantitative"}}
        text = {"type": "text", "text": line.label, "baseline": "bottom", "dy": -4, **end}
        for mark, encoding in ((rule, at), (text, {**at, across: {"value": 0}})):
            layers.append({"data": {"values": [{}]}, "mark": mark, "encoding": encoding})
    return layers
