"""Draw a measured record as HTML: what came out, on which machine, by which command."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import Any

from hooks import data
from hooks.pages.frame import Stock, fill_line, way, words_of

VIEWS = ("summary", "points", "heatmap")


def _words(file: str, language: str) -> dict[str, str]:
    """Return the words for a record; what a program computed was not measured on a machine."""
    words = words_of("measured", language)
    return words | words_of("simulated", language) if "/simulated/" in file else words


def render(spec: str, stock: Stock, language: str, page_dir: str = "") -> str:
    """Return the HTML for a `measured` fence; BlockError where it asks for what is not there.

    `spec` is YAML with `file` (below the notes) and, optionally, `results` (ids, which choose and
    order) and `view`: summary (default), points or heatmap. Links start at `page_dir`, a folder in
    the site such as `en/link/topo`.
    """
    options = data.read_options(spec, ("file", "results", "view"), "measured")
    file = options.get("file")
    if not isinstance(file, str):
        raise data.BlockError("a measured block needs a line 'file: TOPIC/measured/NAME.json'")
    view = str(options.get("view", "summary"))
    data.pick([view], dict.fromkeys(VIEWS), "view")
    record = stock.record(file)
    words = _words(file, language)
    docs = f"{stock.docs.resolve().relative_to(stock.root.resolve()).as_posix()}/"

    def program(path: str) -> tuple[str, str]:
        below = path.removeprefix(docs)
        return posixpath.basename(path), "" if below == path else way(below, page_dir)

    return fill_line(
        "measured.html",
        words=words,
        stale=data.stale_programs(record, stock.root),
        tables=_Tables(record, words, language).view(view, data.names(options, "results")),
        machine=machine(record, file, language),
        notes=record.notes.in_language(language) if record.notes else "",
        command=record.command,
        programs=[program(one.path) for one in record.all_programs],
        record=way(file, page_dir),
    )


def machine(record: data.Record, file: str, language: str) -> str:
    """Return where and when a record was measured (or computed), in one line."""
    words, machine = _words(file, language), record.machine
    parts = [machine.description.in_language(language) if machine.description else ""]
    if machine.gpu and machine.gpu not in parts[0]:
        parts.append(f"{machine.gpu_count} × {machine.gpu}" if machine.gpu_count else machine.gpu)
    versions = {words["driver"]: machine.driver, "CUDA": machine.cuda, "NCCL": machine.nccl}
    parts += [f"{name} {version}" for name, version in versions.items() if version]
    parts.append(f"{words['date']} {record.date.isoformat()}")
    return words["comma"].join(filter(None, parts))


@dataclass(frozen=True)
class _Tables:
    """The tables of a record, as the template has them."""

    record: data.Record
    words: dict[str, str]
    language: str

    def view(self, view: str, chosen: list[str] | None) -> list[dict[str, Any]]:
        """Return the tables of a view; BlockError where the record has nothing for it."""
        record = self.record
        known = {result.id: result for result in record.results}
        results = data.pick(chosen, known, "result").values()
        if view != "summary":
            made = self.heatmap if view == "heatmap" else self.points
            return [{"kind": view, "title": self.title(one), **made(one)} for one in results]
        lines = [line for line in record.summary if chosen is None or line.result in chosen]
        if not lines:
            raise data.BlockError(
                f"the record '{record.id}' has no summary for this; use 'view: points' or 'heatmap'"
            )
        rows = [self.line(line) for line in lines]
        # What no line has needs no column.
        every = ("what", "value", "statistic", "spread", "ratio")
        keys = [key for key in every if any(row[key] for row in rows)]
        head, title = [self.words[key] for key in keys], record.title.in_language(self.language)
        return [{"kind": view, "title": title, "head": head, "columns": keys, "rows": rows}]

    def spec(self, name: str | None) -> data.Specification | None:
        return next((one for one in self.record.specification if one.id == name), None)

    def terms(self, one: data.Summary | data.Result | data.Specification) -> list[str]:
        return data.terms(self.language, direction=one.direction, per=one.per)

    def line(self, line: data.Summary) -> dict[str, str]:
        ends = (line.spread.min, line.spread.max) if line.spread else ()
        row = {
            "what": line.title.in_language(self.language),
            "value": f"{data.number(line.value)} {line.unit}",
            "terms": " · ".join(self.terms(line)),
            "statistic": data.statistic(line.statistic, self.language) if line.statistic else "",
            "spread": "–".join(map(data.number, ends)),
            "ratio": "",
        }
        if line.ratio_to and (spec := self.spec(line.ratio_to.spec)):
            row["ratio"] = f"{line.ratio_to.ratio * 100:.1f}%"
            row["of"] = " · ".join([f"{data.number(spec.value)} {spec.unit}", *self.terms(spec)])
            source = spec.source or ""
            row["url"] = source if source.startswith(("https://", "http://")) else ""
        return row

    def title(self, result: data.Result) -> str:
        details = [result.unit, *self.terms(result)]
        details += [data.statistic(result.statistic, self.language)] if result.statistic else []
        details += [f"n = {result.n}"] if result.n else []
        said = self.words["comma"].join(details)
        return f"{result.title.in_language(self.language)}{self.words['colon']}{said}"

    def points(self, result: data.Result) -> dict[str, Any]:
        # A share needs the same quantity on both sides; the specification stands in the head.
        spec, words = self.spec(result.spec), self.words
        if spec and (spec.unit, spec.direction) != (result.unit, result.direction):
            spec = None
        extra = [key for key in ("p5", "p95") if any(key in point for point in result.points)]
        head = [data.axis_title(axis, self.language) for axis in result.axes]
        head += [f"{words['value']} ({result.unit})", *extra]
        head += [f"{words['ratio']} ({data.number(spec.value)} {spec.unit})"] if spec else []
        axes = [axis.name for axis in result.axes]
        rows = [
            {
                "places": [(point.get(axis), data.label(axis, point.get(axis))) for axis in axes],
                "figures": [(point.get(key), _shown(point.get(key))) for key in ("value", *extra)],
                "share": point["value"] / spec.value if spec and spec.value else None,
            }
            for point in result.points
        ]
        return {"head": head, "rows": rows}

    def heatmap(self, result: data.Result) -> dict[str, Any]:
        if len(result.axes) != 2:
            named = ", ".join(axis.name for axis in result.axes) or "none"
            raise data.BlockError(f"a heatmap needs two axes; the result '{result.id}' has {named}")
        down, across = result.axes
        values = {(point[down.name], point[across.name]): point["value"] for point in result.points}
        rows, columns = (list(dict.fromkeys(key[axis] for key in values)) for axis in (0, 1))
        if all(isinstance(place, int | float) for place in (*rows, *columns)):
            rows, columns = sorted(rows), sorted(columns)
        largest = max(map(abs, values.values())) or 1

        def cell(row: object, column: object) -> tuple[str, str] | None:
            value = values.get((row, column))
            return None if value is None else (f"{abs(value) / largest:.3f}", data.number(value))

        titles = [data.axis_title(axis, self.language) for axis in result.axes]
        return {
            "head": [
                f"{titles[0]} ↓ {titles[1]} →",
                *(data.label(across.name, place) for place in columns),
            ],
            "rows": [
                {"place": data.label(down.name, row), "cells": [cell(row, one) for one in columns]}
                for row in rows
            ],
        }


def _shown(value: object) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return data.number(value)
    return "—" if value is None else str(value)
