"""Measured results as records: what `docs/**/measured/*.json` may hold, and where it is wrong.

A record says what was measured, on which machine, with which command and program, and what the
specification promised. `pages.measured_table` draws it.
"""

from __future__ import annotations

import datetime
import functools
import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from hooks.data.options import BlockError
from hooks.data.wording import Direction, Text
from hooks.findings import nearest, past_day

Number = int | float
"""A whole number stays whole, so that it is printed without decimals."""


def _day(value: object) -> object:
    return past_day(datetime.date.fromisoformat(value[:10]) if isinstance(value, str) else value)


def _axis(value: object) -> object:
    return {"name": value} if isinstance(value, str) else value


Written = Annotated[datetime.date, BeforeValidator(_day)]
"""A day that has been, as JSON writes it."""


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


class _Quantity(_Record):
    unit: str
    direction: Direction | None = None
    per: Text | None = None


class Specification(_Quantity):
    """What was promised."""

    id: str
    title: Text | None = None
    value: Number
    source: str | None = None


class Axis(_Record):
    """What varies between the points of a result."""

    name: str
    title: Text | None = None
    unit: str | None = None


class Result(_Quantity):
    """A series of points of one quantity."""

    id: str
    title: Text
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


class Summary(_Quantity):
    """One line that a reader takes away."""

    title: Text
    value: Number
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
    date: Written
    machine: Machine
    program: Program | None = None
    programs: list[Program] = Field(default_factory=list)
    command: str
    notes: Text | None = None
    specification: list[Specification] = Field(default_factory=list)
    results: list[Result] = Field(default_factory=list)
    summary: list[Summary] = Field(default_factory=list)

    @property
    def all_programs(self) -> list[Program]:
        """Every program named, the main one first."""
        return ([self.program] if self.program else []) + self.programs


@functools.lru_cache(maxsize=512)  # checks, tables and charts of one build read the same ones
def parse_record(text: str) -> Record:
    """Return a record. ValueError if it is none."""
    return Record.model_validate(json.loads(text))


def load_record(file: str, docs_dir: Path) -> Record:
    """Return the record at a path below the notes; BlockError if there is none, or a bad one."""
    try:
        return parse_record((docs_dir / file).read_text(encoding="utf-8"))
    except OSError as error:
        there = [p.relative_to(docs_dir).as_posix() for p in docs_dir.glob("**/measured/*.json")]
        hint = nearest(file, there)
        end = f"; did you mean '{hint}'?" if hint else ""
        raise BlockError(f"there is no record 'docs/{file}'{end}") from error
    except ValueError as error:  # JSONDecodeError and ValidationError alike
        raise BlockError(f"'docs/{file}' is no valid record; the checks say where") from error


def stale_programs(record: Record, root: Path) -> list[str]:
    """Return the paths of programs that are gone or differ from what was run."""
    stale = []
    for program in record.all_programs:
        path = root / program.path
        if not path.is_file() or sha256(path) not in (program.sha256, *program.same):
            stale.append(program.path)
    return stale


def sha256(path: Path) -> str:
    """Return the hash of a file, as records name it."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


_AXES = {
    "src": {"zh": "源 GPU", "en": "source GPU"},
    "dst": {"zh": "目的 GPU", "en": "destination GPU"},
    "gpu": {"zh": "GPU", "en": "GPU"},
    "bytes": {"zh": "大小", "en": "size"},
}


def axis_title(axis: Axis, language: str) -> str:
    """Return what varies along an axis, with its unit."""
    title = axis.title.in_language(language) if axis.title else axis.name
    title = _AXES.get(title, {}).get(language, title)
    return f"{title} ({axis.unit})" if axis.unit else title
