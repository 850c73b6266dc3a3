"""Put a chart into the page: the drawing, what it shows in words, its data as table and file."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

from hooks.data import downloads, measured, wording
from hooks.drawings.charts import svg, vega
from hooks.pages import citations, measured_table
from hooks.pages.html import render
from hooks.pages.words import words_of

if TYPE_CHECKING:
    from pathlib import Path

    from hooks.data import FactBase, Known
    from hooks.drawings import Chart, Point

_ROOT = re.compile(r"\A<svg(?P<attributes>[^>]*)>")
_SIZE = re.compile(r' (?:width|height|version)="[^"]*"')
_BOX = re.compile(r'viewBox="\S+ \S+ (?P<width>\S+) \S+"')


@dataclass(frozen=True, slots=True)
class Drawn:
    """A chart as HTML, and the files it leads to, by their paths in the site."""

    html: str
    files: dict[str, str] = field(default_factory=dict)


def draw(
    chart: Chart,
    spec: str,
    base: FactBase,
    *,
    docs: Path,
    root: Path,
    language: str,
    page_dir: str = "",
    cache: Path | None = None,
    known: Known | None = None,
) -> Drawn:
    """Return the HTML for a chart that has been read.

    Arguments:
        chart: What `hooks.charts.read` has made of the fence.
        spec: The text of the fence, which names the file to download.
        base: The facts.
        docs: The folder of the notes.
        root: The repository root, which measured programs are named from.
        language: `zh` or `en`.
        page_dir: Folder of the page in the site; links start there.
        cache: Where drawings are kept.
        known: Measured records that have been read already.
    """
    drawing = svg.draw(vega.specification(chart), cache)
    name = f"{chart.name}-{hashlib.sha256(spec.encode()).hexdigest()[:8]}.csv"
    path = f"{downloads.FOLDER}/charts/{language}/{name}"
    words = words_of("chart", language)
    record = measured.load_record(chart.record, docs, known) if chart.record else None
    files = {"CSV": path} | ({words["record"]: chart.record} if chart.record else {})
    cited = [base.sources[key] for key in chart.sources if key in base.sources]
    html = render(
        "chart.html",
        chart=chart,
        words=words,
        is_stale=record is not None and bool(measured.stale_programs(record, root)),
        drawing=_named(drawing, chart),
        machine=measured_table.machine(record, chart.record or "", language) if record else "",
        summary=words["table"].format(len(chart.points)),
        columns=_columns(chart, words),
        rows=_rows(chart),
        sources=[(one.url, citations.cited_source(one, language)) for one in cited],
        downloads=citations.downloads(files, words["data"], page_dir),
    )
    return Drawn(html, {path: _csv(chart)})


def _named(drawing: str, chart: Chart) -> str:
    """Give the drawing its name and words, and let it scale to the page."""
    match = _ROOT.match(drawing)
    assert match is not None
    box = _BOX.search(match["attributes"])
    width = f"{float(box['width']):g}px" if box else "100%"
    words = escape(f"{chart.title}. {chart.description}")
    attributes = (
        f'class="figure__svg chart__svg" role="img" aria-label="{words}"'
        f"{_SIZE.sub('', match['attributes'])}"
        f' style="--fig-width:{width};max-width:{width}" data-search-exclude=""'
    )
    desc = f"<desc>{escape(chart.description)}</desc>"
    return f"<svg {attributes}>{desc}{drawing[match.end() :]}"


def _share(chart: Chart, point: Point) -> str:
    """Return a point as a share of the one line it can be compared with."""
    line = chart.lines[0]
    return f"{point.y / line.value:.1%}" if line.value else ""


def _has_share(chart: Chart) -> bool:
    """Tell whether figures are a share of something: one line, of the same direction."""
    return len(chart.lines) == 1 and chart.lines[0].direction == chart.direction


def _columns(chart: Chart, words: dict[str, str]) -> list[str]:
    has_range = any(point.low is not None for point in chart.points)
    names_rows = _names_rows(chart)
    unit = f" ({chart.unit})" if chart.unit else ""
    return [
        *([chart.x_title] if not names_rows else [words["row"], chart.x_title]),
        *([words["series"]] if chart.series else []),
        f"{words['value']}{unit}",
        *([words["range"]] if has_range else []),
        *([words["share"].format(chart.lines[0].label)] if _has_share(chart) else []),
    ]


def _names_rows(chart: Chart) -> bool:
    """Whether points have names besides their places: rows drawn along a column."""
    return bool(chart.sources) and chart.x_is_number


def _rows(chart: Chart) -> list[list[str]]:
    has_range = any(point.low is not None for point in chart.points)
    names_rows = _names_rows(chart)
    rows = []
    for point in chart.points:
        row = [point.x_label]
        if names_rows:
            row.append(point.x if isinstance(point.x, str) else f"{point.x:g}")
        if chart.series:
            row.append(point.series)
        row.append(point.written or f"{point.y:g}")
        if has_range:
            ends = [wording.number(end) for end in (point.low, point.high) if end is not None]
            row.append("–".join(ends))
        if _has_share(chart):
            row.append(_share(chart, point))
        rows.append(row)
    return rows


def _csv(chart: Chart) -> str:
    rows = [
        [
            point.x if not isinstance(point.x, str) else "",
            point.x_label,
            point.series,
            point.written or point.y,
            *("" if value is None else value for value in (point.low, point.high)),
            chart.unit,
        ]
        for point in chart.points
    ]
    return downloads.as_csv(("x", "label", "series", "value", "low", "high", "unit"), rows)
