"""Put a chart into the page: the drawing, what it shows in words, its data as table and file."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape

from hooks.data import downloads, number, stale_programs
from hooks.drawings import Chart, Point
from hooks.drawings.charts import grammar, svg
from hooks.pages import measured_table
from hooks.pages import sources as bibliography
from hooks.pages.frame import Stock, fill_line, words_of

_ROOT = re.compile(r"\A<svg(?P<attributes>[^>]*)>")
_SIZE = re.compile(r' (?:width|height|version)="[^"]*"')
_BOX = re.compile(r'viewBox="\S+ \S+ (?P<width>\S+) \S+"')


@dataclass(frozen=True, slots=True)
class Drawn:
    """A chart as HTML, and the files it leads to, by their paths in the site."""

    html: str
    files: dict[str, str] = field(default_factory=dict)


def draw(chart: Chart, spec: str, stock: Stock, language: str, page_dir: str = "") -> Drawn:
    """Return the HTML for a chart that has been read; `spec` is the text of its fence, which names
    the file to download, and links start at `page_dir`, the page's folder in the site.
    """
    drawing = svg.draw(grammar.specification(chart), stock.cache)
    name = f"{chart.name}-{hashlib.sha256(spec.encode()).hexdigest()[:8]}.csv"
    path = f"{downloads.FOLDER}/charts/{language}/{name}"
    words = words_of("chart", language)
    record = stock.record(chart.record) if chart.record else None
    files = {"CSV": path} | ({words["record"]: chart.record} if chart.record else {})
    sources, (heads, rows) = stock.base.sources, _table(chart, words)
    cited = [sources[key] for key in chart.sources if key in sources]
    html = fill_line(
        "chart.html",
        chart=chart,
        words=words,
        is_stale=record is not None and bool(stale_programs(record, stock.root)),
        drawing=_named(drawing, chart),
        machine=measured_table.machine(record, chart.record or "", language) if record else "",
        summary=words["table"].format(len(chart.points)),
        columns=heads,
        rows=rows,
        sources=[(one.url, bibliography.cited_source(one, language)) for one in cited],
        downloads=bibliography.downloads(files, words["data"], page_dir),
    )
    return Drawn(html, {path: _csv(chart)})


def _named(drawing: str, chart: Chart) -> str:
    """Give the drawing its name and words, and let it scale to the page."""
    match = _ROOT.match(drawing)
    assert match is not None
    box = _BOX.search(match["attributes"])
    width = f"{float(box['width']):g}px" if box else "100%"
    desc, words = escape(chart.description), escape(f"{chart.title}. {chart.description}")
    return (
        f'<svg class="figure__svg chart__svg" role="img" aria-label="{words}"'
        f"{_SIZE.sub('', match['attributes'])}"
        f' style="--fig-width:{width};max-width:{width}" data-search-exclude="">'
        f"<desc>{desc}</desc>{drawing[match.end() :]}"
    )


def _table(chart: Chart, words: dict[str, str]) -> tuple[list[str], list[list[str]]]:
    """Return the heads and the rows of the table of a chart's data."""
    # Points have names besides their places: rows drawn along a column.
    is_named = bool(chart.sources) and chart.x_is_number
    unit = f" ({chart.unit})" if chart.unit else ""
    columns: list[tuple[str, Callable[[Point], str]]] = [
        (words["row"] if is_named else chart.x_title, lambda point: point.x_label)
    ]
    if is_named:
        columns.append(
            (chart.x_title, lambda point: point.x if isinstance(point.x, str) else f"{point.x:g}")
        )
    if chart.series:
        columns.append((words["series"], lambda point: point.series))
    columns.append((f"{words['value']}{unit}", lambda point: point.written or f"{point.y:g}"))
    if any(point.low is not None for point in chart.points):
        columns.append((words["range"], _range))
    # Figures are a share of something where there is one line, of the same direction.
    if len(chart.lines) == 1 and chart.lines[0].direction == chart.direction:
        whole = chart.lines[0].value
        title = words["share"].format(chart.lines[0].label)
        columns.append((title, lambda point: f"{point.y / whole:.1%}" if whole else ""))
    heads = [title for title, _ in columns]
    return heads, [[said(point) for _, said in columns] for point in chart.points]


def _range(point: Point) -> str:
    ends = (point.low, point.high)
    return "–".join(number(end) for end in ends if end is not None)


def _csv(chart: Chart) -> str:
    rows = [
        [
            "" if isinstance(point.x, str) else point.x,
            *(point.x_label, point.series, point.written or point.y),
            *("" if value is None else value for value in (point.low, point.high)),
            chart.unit,
        ]
        for point in chart.points
    ]
    return downloads.as_csv(("x", "label", "series", "value", "low", "high", "unit"), rows)
