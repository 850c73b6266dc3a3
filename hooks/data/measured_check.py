"""What is wrong with a measured record: its form, what it names, what its figures contradict."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from hooks.data.measured import Record, parse_record, sha256, stale_programs
from hooks.findings import Document, Finding, YamlError, nearest, read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hooks.data.facts import FactBase

RATIO_TOLERANCE = 0.01
"""How far a printed ratio may lie from value / specification, relative: rounding to 1 %."""


def check_record(path: Path, root: Path, base: FactBase) -> list[Finding]:
    """Return what is wrong with a record; findings and programs are named from `root`.

    Rules: `measurement-field` (form), `measurement-reference` (names what it lacks),
    `measurement-ratio` (a share that its own figures contradict), `measurement-stale` (a program
    has changed since it ran: a warning, as pages mark such figures).
    """
    file = path.resolve().relative_to(root.resolve()).as_posix()
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        record = parse_record(text)
    except json.JSONDecodeError as error:
        message = f"the record is not JSON: {error.msg}"
        return [Finding(file, error.lineno, error.colno, "measurement-field", message)]
    except ValidationError as error:
        return _document(text, file).explain(error, Record, "measurement-field")
    problems = [
        *_references(record),
        *_specified(record, base),
        *_ratios(record),
        *_points(record),
        *_stale(record, root),
    ]
    if not problems:
        return []
    document = _document(text, file)
    return [document.finding(*problem) for problem in problems]


_SOURCE = re.compile(
    r"docs/data/facts/(?P<family>[\w-]+)\.yml: (?P<row>[\w-]+), (?P<column>[\w-]+)\Z"
)
"""How a specification names a cell of the facts."""

Steps = tuple[str | int, ...]
Problem = tuple[str, Steps, str, str, str]
"""Rule, path into the record, message, target, suggestion."""


def _document(text: str, file: str) -> Document:
    """Return the places of a JSON text, which YAML reads as well; only needed when it is wrong."""
    try:
        return read(text, file, "the record")
    except YamlError:
        return Document(None, None, file)


def _references(record: Record) -> Iterator[Problem]:
    rule = "measurement-reference"
    specs = [item.id for item in record.specification]
    results = [result.id for result in record.results]
    for n, name in enumerate(results):
        if name in results[:n]:
            yield rule, ("results", n, "id"), f"two results have the id '{name}'", name, ""
    named: list[tuple[Steps, str, str | None, list[str]]] = []
    for n, result in enumerate(record.results):
        what = f"result '{result.id}' names the specification"
        named.append((("results", n, "spec"), what, result.spec, specs))
    for n, line in enumerate(record.summary):
        spec = line.ratio_to.spec if line.ratio_to else None
        at = ("summary", n)
        named.append(((*at, "ratio_to", "spec"), "a summary names the specification", spec, specs))
        named.append(((*at, "result"), "a summary names the result", line.result, results))
    for place, what, target, known in named:
        if target is not None and target not in known:
            message = f"{what} '{target}', which is not there"
            yield rule, place, message, target, nearest(target, known)


def _specified(record: Record, base: FactBase) -> Iterator[Problem]:
    """Compare specifications that name a cell of the facts with that cell."""
    rule = "measurement-reference"
    for n, item in enumerate(record.specification):
        match, at = _SOURCE.match(item.source or ""), ("specification", n)
        if match is None:
            continue
        try:
            row = base.families[match["family"]].rows[match["row"]]
            value = row.cells[match["column"]].value
        except KeyError:
            message = f"specification '{item.id}': there is no '{item.source}'"
            yield rule, (*at, "source"), message, str(item.source), ""
            continue
        if value != item.value:
            message = f"specification '{item.id}' is {item.value:g} here, {value} in {item.source}"
            yield rule, (*at, "value"), message, f"{item.value:g}", str(value)


def _ratios(record: Record) -> Iterator[Problem]:
    specs = {item.id: item for item in record.specification}
    for n, line in enumerate(record.summary):
        if line.ratio_to is None or line.ratio_to.spec not in specs:
            continue
        spec, ratio, at = specs[line.ratio_to.spec], line.ratio_to.ratio, ("summary", n, "ratio_to")
        true = line.value / spec.value if spec.value else 0.0
        for name in ("unit", "direction"):
            mine, theirs = getattr(line, name), getattr(spec, name)
            if mine != theirs:
                message = (
                    f"compares {name} {mine or 'none'} with {theirs or 'none'} of '{spec.id}'; "
                    "a share needs the same on both sides"
                )
                yield "measurement-ratio", at, message, spec.id, ""
                break
        else:
            if abs(ratio - true) > RATIO_TOLERANCE * max(abs(true), 1e-12):
                message = f"ratio {ratio:g} is not {line.value:g} / {spec.value:g} = {true:.4g}"
                yield "measurement-ratio", at, message, f"{ratio:g}", f"{true:.4g}"


def _points(record: Record) -> Iterator[Problem]:
    for n, result in enumerate(record.results):
        for name in ("statistic", "n"):
            if getattr(result, name) is None:
                message = f"result '{result.id}' lacks '{name}': which statistic, of how many runs"
                yield "measurement-field", ("results", n), message, result.id, ""
        for m, point in enumerate(result.points):
            lacking = [axis.name for axis in result.axes if axis.name not in point]
            value = point.get("value")
            if isinstance(value, bool) or not isinstance(value, int | float):
                lacking.append("value")
            if lacking:
                message = f"a point of '{result.id}' lacks {', '.join(lacking)}"
                yield "measurement-field", ("results", n, "points", m), message, result.id, ""


def _stale(record: Record, root: Path) -> Iterator[Problem]:
    for name in stale_programs(record, root):
        is_main = record.program is not None and record.program.path == name
        path, at = root / name, ("program" if is_main else "programs",)
        message = f"the program '{name}' is not in the repository"
        if path.is_file():
            was = next(one.sha256 for one in record.all_programs if one.path == name)
            message = (
                f"'{name}' has changed since it was measured; measure again "
                f"(recorded sha256 {was[:12]}…, now {sha256(path)[:12]}…)"
            )
        yield "measurement-stale", at, message, name, ""
