"""Measured results as records: what `docs/**/measured/*.json` may hold, and where it is wrong.

A record says what was measured, on which machine, with which command and program, and what the
specification promised. `hooks.measured_table` draws it.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from hooks import measured_table
from hooks.data_blocks import BlockError as MeasuredError
from hooks.data_blocks import pick, read_options
from hooks.findings import Finding, nearest
from hooks.quantities import Direction, Text
from hooks.yaml_places import Document, YamlError, read

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MeasuredError", "Record", "check_record", "render_measured"]

RATIO_TOLERANCE = 0.01
"""How far a printed ratio may lie from value / specification, relative: rounding to 1 %."""


Number = int | float
"""A whole number stays whole, so that it is printed without decimals."""


def _day(value: object) -> object:
    if isinstance(value, str):
        value = datetime.date.fromisoformat(value[:10])
    # One day of grace: the machine that measured may be east of the one that checks.
    today = datetime.datetime.now(tz=datetime.UTC).date()
    if isinstance(value, datetime.date) and value > today + datetime.timedelta(days=1):
        raise ValueError(f"lies in the future: {value.isoformat()}")
    return value


def _lines(value: object) -> object:
    return "\n".join(value) if isinstance(value, list) else value


class _Record(BaseModel):
    # Whoever measures may keep more than is shown.
    model_config = ConfigDict(extra="allow", frozen=True, str_strip_whitespace=True)


class Program(_Record):
    """A source file the result rests on, as it was when it ran."""

    path: str
    """From the repository root."""
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    """Of the file as it ran."""
    same: list[str] = Field(default_factory=list)
    """Hashes of later versions that do the same: only their layout changed."""


class Machine(_Record):
    """Where it ran; further fields are free."""

    description: Text | None = None
    gpu: str | None = None
    gpu_count: int | None = None
    driver: str | None = None
    cuda: str | None = None
    nccl: str | None = None


class Specification(_Record):
    """What was promised."""

    id: str
    title: Text | None = None
    value: Number
    unit: str
    direction: Direction | None = None
    per: Text | None = None
    source: str | None = None


class Axis(_Record):
    """What varies between the points of a result."""

    name: str
    title: Text | None = None
    unit: str | None = None


def _axis(value: object) -> object:
    if isinstance(value, str):
        return {"name": value}
    if isinstance(value, dict) and "name" not in value and "id" in value:
        return {**value, "name": value["id"]}
    return value


class Result(_Record):
    """A series of points of one quantity."""

    id: str
    title: Text
    unit: str
    direction: Direction | None = None
    per: Text | None = None
    statistic: Text | None = None
    n: int | None = None
    axes: list[Annotated[Axis, BeforeValidator(_axis)]] = Field(default_factory=list)
    points: list[dict[str, Any]] = Field(min_length=1)
    """Each holds a field per axis, `value`, and often `p5` and `p95`."""
    spec: str | None = None


class Spread(_Record):
    """Smallest and largest value behind a summary."""

    min: Number
    max: Number


class Ratio(_Record):
    """A value as a share of a specification."""

    spec: str
    ratio: float


class Summary(_Record):
    """One line that a reader takes away."""

    title: Text
    value: Number
    unit: str
    direction: Direction | None = None
    per: Text | None = None
    ratio_to: Ratio | None = None
    statistic: Text | None = None
    spread: Spread | None = None
    result: str | None = None
    """The result it sums up, for blocks that choose results."""


class Record(_Record):
    """One measurement, as its program wrote it."""

    schema_version: Literal[1] = Field(alias="schema")
    id: str
    title: Text
    date: Annotated[datetime.date, BeforeValidator(_day)]
    machine: Machine
    program: Program | None = None
    programs: list[Program] = Field(default_factory=list)
    command: Annotated[str, BeforeValidator(_lines)]
    notes: Text | None = None
    specification: list[Specification] = Field(default_factory=list)
    results: list[Result] = Field(default_factory=list)
    summary: list[Summary] = Field(default_factory=list)

    @property
    def all_programs(self) -> list[Program]:
        """Every program named, the main one first."""
        return ([self.program] if self.program else []) + self.programs


def parse_record(text: str) -> Record:
    """Return a record.

    Raises:
        json.JSONDecodeError: The text is not JSON.
        ValidationError: It is no record.
    """
    return Record.model_validate(json.loads(text))


def load_record(file: str, docs_dir: Path) -> Record:
    """Return the record at a path below the folder of notes.

    Raises:
        MeasuredError: There is none, or it is invalid; the nearest path is offered.
    """
    path = docs_dir / file
    try:
        return parse_record(path.read_text(encoding="utf-8"))
    except OSError as error:
        known = [p.relative_to(docs_dir).as_posix() for p in docs_dir.glob("**/measured/*.json")]
        hint = nearest(file, known)
        end = f"; did you mean '{hint}'?" if hint else ""
        raise MeasuredError(f"there is no record 'docs/{file}'{end}") from error
    except ValueError as error:  # JSONDecodeError and ValidationError alike
        raise MeasuredError(f"'docs/{file}' is no valid record; the checks say where") from error


def stale_programs(record: Record, root: Path) -> list[str]:
    """Return the paths of programs that are gone or differ from what was run."""
    stale = []
    for program in record.all_programs:
        path = root / program.path
        if not path.is_file() or _sha256(path) not in (program.sha256, *program.same):
            stale.append(program.path)
    return stale


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def render_measured(
    spec: str, *, docs_dir: Path, root: Path, language: str, page_dir: str = ""
) -> str:
    """Return the HTML for a `measured` fence.

    Arguments:
        spec: YAML with `file` (below docs_dir) and, optionally, `results` (ids, which choose
            and order) and `view`: summary (default), points or heatmap.
        docs_dir: The folder of the notes.
        root: The repository root, which programs are named from.
        language: `zh` or `en`.
        page_dir: Folder of the page in the site, such as `en/link/topo`; links start there.

    Raises:
        MeasuredError: The fence names what does not exist, or the record is invalid.
    """
    options = read_options(spec, ("file", "results", "view"), "measured")
    file = options.get("file")
    if not isinstance(file, str):
        raise MeasuredError("a measured block needs a line 'file: TOPIC/measured/NAME.json'")
    view = str(options.get("view", "summary"))
    pick([view], dict.fromkeys(measured_table.VIEWS), "view")
    record = load_record(file, docs_dir)
    return measured_table.render(
        record,
        options,
        measured_table.Place(
            file=file,
            page_dir=page_dir,
            docs=docs_dir.resolve().relative_to(root.resolve()).as_posix(),
            stale=stale_programs(record, root),
        ),
        language,
    )


def check_record(path: Path, root: Path) -> list[Finding]:
    """Return what is wrong with a record.

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
        document = _document(text)
        return [_field_finding(item, file, document) for item in error.errors(include_url=False)]
    problems = [
        *_references(record),
        *_specified(record, root),
        *_ratios(record),
        *_points(record),
        *_stale(record, root),
    ]
    if not problems:
        return []
    document = _document(text)
    return [
        Finding(file, *document.place(at), rule, message, _severity(rule), target, hint)
        for rule, at, message, target, hint in problems
    ]


def _severity(rule: str) -> str:
    """An old figure is still a figure: its page says that it is old, and so does the check."""
    return "warning" if rule == "measurement-stale" else "error"


_SOURCE = re.compile(r"docs/data/(?P<family>[\w-]+)\.yml: (?P<row>[\w-]+), (?P<column>[\w-]+)\Z")
"""How a specification names a cell of the facts."""

Problem = tuple[str, tuple[str | int, ...], str, str, str]
"""Rule, path into the record, message, target, suggestion."""


def _document(text: str) -> Document:
    """Return the places of a JSON text, which YAML reads as well; only needed when it is wrong."""
    try:
        return read(text)
    except YamlError:
        return Document(None, None)


def _field_finding(item: Any, file: str, document: Document) -> Finding:
    path = item["loc"]
    name = ".".join(str(part) for part in path)
    line, column = document.place(path)
    detail = str(item["msg"]).removeprefix("Value error, ")
    if item["type"] == "missing":
        message = f"field '{name}' is missing"
        return Finding(file, line, column, "measurement-field", message, target=name)
    shown = repr(item["input"])[:80]
    message = f"'{name}': {detail} (found {shown})"
    return Finding(file, line, column, "measurement-field", message, target=shown)


def _references(record: Record) -> Iterator[Problem]:
    known = [item.id for item in record.specification]
    rule = "measurement-reference"
    for n, result in enumerate(record.results):
        if result.spec is not None and result.spec not in known:
            message = f"result '{result.id}' names the specification '{result.spec}', not given"
            hint = nearest(result.spec, known)
            yield rule, ("results", n, "spec"), message, result.spec, hint
        if result.id in [other.id for other in record.results[:n]]:
            message = f"two results have the id '{result.id}'"
            yield rule, ("results", n, "id"), message, result.id, ""
    results = [result.id for result in record.results]
    for n, line in enumerate(record.summary):
        if line.ratio_to is not None and line.ratio_to.spec not in known:
            spec = line.ratio_to.spec
            message = f"a summary names the specification '{spec}', which is not given"
            at = ("summary", n, "ratio_to", "spec")
            yield rule, at, message, spec, nearest(spec, known)
        if line.result is not None and line.result not in results:
            message = f"a summary names the result '{line.result}', which is not there"
            hint = nearest(line.result, results)
            yield rule, ("summary", n, "result"), message, line.result, hint


@lru_cache(maxsize=64)
def _rows(text: str) -> dict[str, Any]:
    """Return the rows of a family; by its text, so that what is remembered cannot be stale."""
    rows: dict[str, Any] = read(text).data["rows"]
    return rows


def _specified(record: Record, root: Path) -> Iterator[Problem]:
    """Compare specifications that name a cell of the facts with that cell."""
    for n, item in enumerate(record.specification):
        match = _SOURCE.match(item.source or "")
        if match is None:
            continue
        try:
            text = (root / f"docs/data/{match['family']}.yml").read_text(encoding="utf-8")
            value = _rows(text)[match["row"]]["cells"][match["column"]]["value"]
        except (OSError, YamlError, KeyError, TypeError):
            message = f"specification '{item.id}': there is no '{item.source}'"
            at = ("specification", n, "source")
            yield "measurement-reference", at, message, str(item.source), ""
            continue
        if value != item.value:
            message = f"specification '{item.id}' is {item.value:g} here, {value} in {item.source}"
            at = ("specification", n, "value")
            yield "measurement-reference", at, message, f"{item.value:g}", str(value)


def _ratios(record: Record) -> Iterator[Problem]:
    specs = {item.id: item for item in record.specification}
    for n, line in enumerate(record.summary):
        spec = specs.get(line.ratio_to.spec) if line.ratio_to else None
        if spec is None or line.ratio_to is None:
            continue
        at = ("summary", n, "ratio_to")
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
            true = line.value / spec.value if spec.value else 0.0
            if abs(line.ratio_to.ratio - true) > RATIO_TOLERANCE * max(abs(true), 1e-12):
                message = (
                    f"ratio {line.ratio_to.ratio:g} is not {line.value:g} / {spec.value:g} "
                    f"= {true:.4g}"
                )
                yield "measurement-ratio", at, message, f"{line.ratio_to.ratio:g}", f"{true:.4g}"


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
    stale = stale_programs(record, root)
    for n, program in enumerate(record.all_programs):
        if program.path not in stale:
            continue
        at = ("program",) if n == 0 and record.program else ("programs",)
        path = root / program.path
        if path.is_file():
            message = (
                f"'{program.path}' has changed since it was measured; measure again "
                f"(recorded sha256 {program.sha256[:12]}…, now {_sha256(path)[:12]}…)"
            )
        else:
            message = f"the program '{program.path}' is not in the repository"
        yield "measurement-stale", at, message, program.path, ""
