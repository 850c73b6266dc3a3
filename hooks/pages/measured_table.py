"""Draw a measured record as HTML: what came out, on which machine, by which command."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hooks.data import (
    BlockError,
    Known,
    axis_title,
    label,
    load_record,
    names,
    number,
    pick,
    read_options,
    stale_programs,
    statistic,
    terms,
)
from hooks.data import BlockError as MeasuredError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.data import Record, Result, Specification, Summary

VIEWS = ("summary", "points", "heatmap")
_WORDS = {
    "zh": {
        "what": "项目",
        "value": "实测值",
        "statistic": "统计量",
        "spread": "最小–最大",
        "ratio": "占比",
        "none": "无",
        "no_pair": "无此组合",
        "machine": "机器",
        "driver": "驱动",
        "date": "测于",
        "program": "程序",
        "record": "全部数据（JSON）",
        "stale": "程序在这次测量之后改过，下面的数字属于旧版程序：",
        "colon": "：",
        "comma": "，",
        "of": "对",
    },
    "en": {
        "what": "What",
        "value": "Measured",
        "statistic": "Statistic",
        "spread": "Min–max",
        "ratio": "Share",
        "none": "none",
        "no_pair": "no such pair",
        "machine": "Machine",
        "driver": "driver",
        "date": "measured on",
        "program": "Program",
        "record": "All data (JSON)",
        "stale": "The program has changed since; the figures belong to its former version: ",
        "colon": ": ",
        "comma": ", ",
        "of": "of",
    },
}
# What a program computed was not measured on a machine: such records lie in folders of this name.
SIMULATED = "simulated"
_SIMULATED_WORDS = {
    "zh": {"value": "模拟值", "date": "算于", "machine": "来源"},
    "en": {"value": "Simulated", "date": "computed on", "machine": "From"},
}


def _words(file: str, language: str) -> dict[str, str]:
    more = _SIMULATED_WORDS[language] if f"/{SIMULATED}/" in file else {}
    return _WORDS[language] | more


@dataclass(frozen=True, slots=True)
class Place:
    """Where the block stands and what it can link to."""

    file: str
    """The record, below the folder of notes."""
    page_dir: str
    """Folder of the page in the site."""
    docs: str
    """The folder of notes, from the repository root."""
    stale: Sequence[str] = ()
    """Programs that changed since they ran."""

    def href(self, path: str) -> str:
        """Return the link to a path below the folder of notes."""
        return posixpath.relpath(path, self.page_dir or ".")


def render(record: Record, options: dict[str, Any], place: Place, language: str) -> str:
    """Return the HTML of a record; `options` as in `hooks.measured.render_measured`.

    Raises:
        BlockError: A result or view is asked for that the record does not have.
    """
    view = options.get("view", "summary")
    chosen = names(options, "results")
    if view == "summary":
        tables = _summary(record, chosen, place, language)
    else:
        results = pick(chosen, {result.id: result for result in record.results}, "result")
        specs = {item.id: item for item in record.specification}
        tables = "".join(
            _heatmap(result, language)
            if view == "heatmap"
            else _points(result, specs.get(result.spec or ""), place, language)
            for result in results.values()
        )
    return (
        f'<div class="measured">{_stale(place, language)}{tables}'
        f"{_provenance(record, place, language)}</div>"
    )


def _table(title: str, head: str, body: str, kind: str) -> str:
    sortable = " facts__table--sortable" if kind == "points" else ""
    return (
        f'<div class="facts__scroll" role="region" tabindex="0" aria-label="{escape(title)}">'
        f'<table class="facts__table{sortable} measured__{kind}">'
        f"<caption><span>{escape(title)}</span></caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _heads(*titles: str) -> str:
    return "".join(f'<th scope="col">{escape(title)}</th>' for title in titles)


def _summary(record: Record, chosen: list[str] | None, place: Place, language: str) -> str:
    words = _words(place.file, language)
    lines = record.summary
    if chosen is not None:
        pick(chosen, {result.id: result for result in record.results}, "result")
        lines = [line for line in lines if line.result in chosen]
    if not lines:
        raise BlockError(
            f"the record '{record.id}' has no summary for this; use 'view: points' or 'heatmap'"
        )
    specs = {item.id: item for item in record.specification}
    rows = [_summary_cells(line, specs, language) for line in lines]
    # What no line has needs no column.
    keys = [key for key in rows[0] if any(row[key] for row in rows)]
    head = _heads(*(words[key] for key in keys))
    body = "".join(
        f"<tr>{''.join(row[key] or _empty(words['none']) for key in keys)}</tr>" for row in rows
    )
    return _table(record.title.in_language(language), head, body, "summary")


def _summary_cells(line: Summary, specs: dict[str, Specification], language: str) -> dict[str, str]:
    words = _WORDS[language]
    spread = line.spread and f"{number(line.spread.min)}–{number(line.spread.max)}"
    ratio = ""
    spec = specs.get(line.ratio_to.spec) if line.ratio_to else None
    if line.ratio_to and spec:
        ratio = (
            f'<span class="facts__value">{line.ratio_to.ratio * 100:.1f}%</span>'
            f' <span class="facts__terms">{words["of"]} {_specified(spec, language)}</span>'
        )
    details = terms(language, direction=line.direction, per=line.per)
    value = f'<span class="facts__value">{number(line.value)} {escape(line.unit)}</span>'
    if details:
        value += f' <span class="facts__terms">{escape(" · ".join(details))}</span>'
    taken = escape(statistic(line.statistic, language)) if line.statistic else ""
    return {
        "what": f'<th scope="row">{escape(line.title.in_language(language))}</th>',
        "value": f"<td>{value}</td>",
        "statistic": taken and f"<td>{taken}</td>",
        "spread": f'<td><span class="facts__value">{escape(spread)}</span></td>' if spread else "",
        "ratio": ratio and f"<td>{ratio}</td>",
    }


def _specified(spec: Specification, language: str) -> str:
    details = terms(language, direction=spec.direction, per=spec.per)
    text = escape(" · ".join([f"{number(spec.value)} {spec.unit}", *details]))
    if spec.source and spec.source.startswith(("https://", "http://")):
        return f'<a href="{escape(spec.source)}">{text}</a>'
    return text


def _empty(text: str) -> str:
    return (
        '<td class="facts__none"><span aria-hidden="true">—</span>'
        f' <span class="facts__hidden">{text}</span></td>'
    )


def _result_title(result: Result, language: str) -> str:
    words = _WORDS[language]
    details = [result.unit, *terms(language, direction=result.direction, per=result.per)]
    if result.statistic:
        details.append(statistic(result.statistic, language))
    if result.n:
        details.append(f"n = {result.n}")
    return f"{result.title.in_language(language)}{words['colon']}{words['comma'].join(details)}"


def _points(result: Result, spec: Specification | None, place: Place, language: str) -> str:
    words = _words(place.file, language)
    # A share needs the same quantity on both sides; the specification stands in the head.
    if spec and (spec.unit, spec.direction) != (result.unit, result.direction):
        spec = None
    extra = [key for key in ("p5", "p95") if any(key in point for point in result.points)]
    titles = [axis_title(axis, language) for axis in result.axes]
    share = [f"{words['ratio']} ({number(spec.value)} {spec.unit})"] if spec else []
    head = _heads(*titles, f"{words['value']} ({result.unit})", *extra, *share)
    body = ""
    for point in result.points:
        axes = "".join(
            f'<th scope="row"{_order(point.get(axis.name))}>'
            f"{escape(label(axis.name, point.get(axis.name)))}</th>"
            for axis in result.axes
        )
        values = "".join(
            f"<td{_order(point.get(key))}>{_shown(point.get(key))}</td>"
            for key in ("value", *extra)
        )
        if spec and spec.value:
            ratio = point["value"] / spec.value
            values += f'<td data-sort="{ratio:.6g}">{ratio:.1%}</td>'
        body += f"<tr>{axes}{values}</tr>"
    return _table(_result_title(result, language), head, body, "points")


def _order(value: object) -> str:
    """Return what a cell is sorted by: the number behind `4 MiB`."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f' data-sort="{value}"' if is_number else ""


def _shown(value: object) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number(value)
    return "—" if value is None else escape(str(value))


def _heatmap(result: Result, language: str) -> str:
    if len(result.axes) != 2:
        named = ", ".join(axis.name for axis in result.axes) or "none"
        raise BlockError(f"a heatmap needs two axes; the result '{result.id}' has {named}")
    words = _WORDS[language]
    down, across = result.axes
    values = {(point[down.name], point[across.name]): point["value"] for point in result.points}
    rows = list(dict.fromkeys(key[0] for key in values))
    columns = list(dict.fromkeys(key[1] for key in values))
    if all(isinstance(place, int | float) for place in (*rows, *columns)):
        rows, columns = sorted(rows), sorted(columns)
    largest = max(map(abs, values.values())) or 1
    corner = f"{axis_title(down, language)} ↓ {axis_title(across, language)} →"
    head = _heads(corner, *(label(across.name, place) for place in columns))
    body = ""
    for row in rows:
        cells = ""
        for column in columns:
            value = values.get((row, column))
            if value is None:
                cells += _empty(words["no_pair"])
                continue
            share = abs(value) / largest
            cells += f'<td style="--share:{share:.3f}">{number(value)}</td>'
        body += f'<tr><th scope="row">{escape(label(down.name, row))}</th>{cells}</tr>'
    return _table(_result_title(result, language), head, body, "heatmap")


def _stale(place: Place, language: str) -> str:
    if not place.stale:
        return ""
    listed = _WORDS[language]["comma"].join(f"<code>{escape(path)}</code>" for path in place.stale)
    return f'<p class="measured__stale" role="note">{_WORDS[language]["stale"]}{listed}</p>'


def _provenance(record: Record, place: Place, language: str) -> str:
    words = _words(place.file, language)
    colon = words["colon"]
    programs = " · ".join(_program(program.path, place) for program in record.all_programs)
    links = [f"{words['program']}{colon}{programs}"] if programs else []
    links.append(f'<a href="{escape(place.href(place.file))}">{words["record"]}</a>')
    notes = record.notes.in_language(language) if record.notes else ""
    return (
        f'<p class="measured__machine">{words["machine"]}{colon}'
        f"{escape(machine(record, place.file, language))}</p>"
        + (f'<p class="measured__notes">{escape(notes)}</p>' if notes else "")
        + f'<pre class="measured__command">'
        f"<code>{escape(record.command)}</code></pre>"
        f'<p class="measured__links">{" · ".join(links)}</p>'
    )


def machine(record: Record, file: str, language: str) -> str:
    """Return where and when a record was measured (or computed), in one line."""
    words = _words(file, language)
    machine = record.machine
    parts = [machine.description.in_language(language) if machine.description else ""]
    if machine.gpu and machine.gpu not in parts[0]:
        parts.append(f"{machine.gpu_count} × {machine.gpu}" if machine.gpu_count else machine.gpu)
    parts.append(f"{words['driver']} {machine.driver}" if machine.driver else "")
    parts.append(f"CUDA {machine.cuda}" if machine.cuda else "")
    parts.append(f"NCCL {machine.nccl}" if machine.nccl else "")
    parts.append(f"{words['date']} {record.date.isoformat()}")
    return words["comma"].join(part for part in parts if part)


def _program(path: str, place: Place) -> str:
    name = f"<code>{escape(posixpath.basename(path))}</code>"
    if path.startswith(f"{place.docs}/"):
        href = place.href(path.removeprefix(f"{place.docs}/"))
        return f'<a href="{escape(href)}">{name}</a>'
    return name


def render_measured(
    spec: str,
    *,
    docs_dir: Path,
    root: Path,
    language: str,
    page_dir: str = "",
    known: Known | None = None,
) -> str:
    """Return the HTML for a `measured` fence.

    Arguments:
        spec: YAML with `file` (below docs_dir) and, optionally, `results` (ids, which choose
            and order) and `view`: summary (default), points or heatmap.
        docs_dir: The folder of the notes.
        root: The repository root, which programs are named from.
        language: `zh` or `en`.
        page_dir: Folder of the page in the site, such as `en/link/topo`; links start there.
        known: Records that have been read already.

    Raises:
        MeasuredError: The fence names what does not exist, or the record is invalid.
    """
    options = read_options(spec, ("file", "results", "view"), "measured")
    file = options.get("file")
    if not isinstance(file, str):
        raise MeasuredError("a measured block needs a line 'file: TOPIC/measured/NAME.json'")
    view = str(options.get("view", "summary"))
    pick([view], dict.fromkeys(VIEWS), "view")
    record = load_record(file, docs_dir, known)
    return render(
        record,
        options,
        Place(
            file=file,
            page_dir=page_dir,
            docs=docs_dir.resolve().relative_to(root.resolve()).as_posix(),
            stale=stale_programs(record, root),
        ),
        language,
    )
