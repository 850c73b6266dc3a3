"""Parts of a record: results with their points, lines of the summary, commands."""

from __future__ import annotations

import difflib
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from tools.measure.topo.model import (
    Direction,
    Label,
    MeasureError,
    Number,
    Point,
    Program,
    Record,
    Result,
    Row,
    Series,
    Spec,
    Text,
)
from tools.measure.topo.stats import digits
from tools.measure.topo.wording import axis


@dataclass(frozen=True, slots=True)
class Draft:
    """A record without what all records of a run share."""

    id: str
    title: Text
    program: str
    """From the root of the repository; the record goes to `measured/` beside its folder."""
    command: str
    notes: Text
    results: list[Result]
    summary: list[Row]
    specification: list[Spec] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    """Libraries to name among the machine's versions."""


def finished(
    draft: Draft, *, date: str, machine: dict[str, Any], programs: Sequence[Program]
) -> Record:
    """Return a draft as a record, in the order of fields that records have.

    Arguments:
        draft: The draft.
        date: The day of the run, as YYYY-MM-DD.
        machine: What it ran on.
        programs: The program of the record, then those that it needs, with their hashes.
    """
    first, *others = programs
    record: Record = {
        "schema": 1,
        "id": draft.id,
        "title": draft.title,
        "date": date,
        "machine": machine,
        "program": first,
    }
    if others:
        record["programs"] = others
    record["command"] = draft.command
    record["notes"] = draft.notes
    record["specification"] = draft.specification
    record["results"] = draft.results
    record["summary"] = draft.summary
    return record


def build_and_run(program: str, arguments: str = "", libraries: str = "") -> str:
    """Return the command that builds a CUDA program, if it is one, and runs it from the root."""
    if program.endswith(".py"):
        return f"python3 {program}{arguments}"
    return f"{build(program, libraries)} && build/{PurePosixPath(program).stem}{arguments}"


def build(program: str, libraries: str = "") -> str:
    """Return the command that builds a CUDA program into build/."""
    name = PurePosixPath(program).stem
    return f"mkdir -p build && nvcc -O3 -std=c++17 -arch=sm_90 -o build/{name} {program}{libraries}"


def pick(series: Sequence[Series], name: str, **where: Label) -> list[Series]:
    """Return the series of one result whose labels are as said; at least one.

    Raises MeasureError, with the names nearest to it, when there is none.
    """
    found = [
        s
        for s in series
        if s.name == name and all(s.labels.get(key) == value for key, value in where.items())
    ]
    if not found:
        names = sorted({s.name for s in series})
        file = series[0].place.rpartition(":")[0] if series else "an empty file"
        near = difflib.get_close_matches(name, names, n=3) or names[:3]
        with_labels = f" with {where}" if where else ""
        raise MeasureError(
            f"{file}: no result {name!r}{with_labels}; near it are {', '.join(near) or 'none'}. "
            "Did the step end early? See steps.jsonl"
        )
    return found


def medians(series: Sequence[Series], name: str, **where: Label) -> list[Number]:
    """Return the medians of the series that `pick` returns."""
    return [s.median for s in pick(series, name, **where)]


def point(series: Series, axes: Sequence[str], extra: Sequence[str] = ()) -> Point:
    """Return the point of a series: its labels, its median as `value`, p5 and p95."""
    out: Point = {name: series.labels[name] for name in axes}
    out |= {
        "value": digits(series.median),
        "p5": digits(series.p5),
        "p95": digits(series.p95),
    }
    return out | {name: digits(series.extra[name]) for name in extra}


def result(
    series: Sequence[Series],
    name: str,
    title: Text,
    axes: Sequence[str],
    *,
    id: str = "",
    per: str | None = None,
    direction: Direction | None = None,
    spec: Spec | None = None,
    extra: Sequence[str] = (),
) -> Result:
    """Return one result of a program as points, under `id` (by default its own name).

    Raises MeasureError when the program did not print it.
    """
    chosen = pick(series, name)
    out: Result = {
        "id": id or name,
        "title": title,
        "unit": chosen[0].unit,
        "direction": direction,
        "per": per,
        "statistic": "median",
        "n": min(s.n for s in chosen),
        "axes": [axis(a) for a in axes],
        "points": [point(s, axes, extra) for s in chosen],
    }
    if spec:
        out["spec"] = spec["id"]
    return out


def reading(
    id: str,
    title: Text,
    unit: str,
    statistic: Text | str,
    axes: Sequence[str],
    points: list[Point],
    *,
    per: str | None = None,
    direction: Direction | None = None,
    spec: Spec | None = None,
) -> Result:
    """Return a result of single readings: a status, a counter, an attribute."""
    out: Result = {
        "id": id,
        "title": title,
        "unit": unit,
        "direction": direction,
        "per": per,
        "statistic": statistic,
        "n": 1,
        "axes": [axis(a) for a in axes],
        "points": points,
    }
    if spec:
        out["spec"] = spec["id"]
    return out


def row(
    title: Text,
    values: Sequence[Number],
    unit: str,
    statistic: Text | str,
    *,
    direction: Direction | None = None,
    per: str | None = None,
    spec: Spec | None = None,
    result: str = "",
    count: int = 4,
) -> Row:
    """Return a line of the summary: the median of `values`, and their range if there are several.

    With `spec`, also their median as a share of it, to four decimals. `count` is how many
    significant digits are kept. Raises statistics.StatisticsError for no values.
    """
    value = statistics.median(values)
    out: Row = {
        "title": title,
        "value": digits(value, count),
        "unit": unit,
        "direction": direction,
        "per": per,
    }
    if spec:
        out["ratio_to"] = {"spec": spec["id"], "ratio": round(value / spec["value"], 4)}
    out["statistic"] = statistic
    if result:
        out["result"] = result
    if len(values) > 1:
        out["spread"] = {"min": digits(min(values), count), "max": digits(max(values), count)}
    return out
