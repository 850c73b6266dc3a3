"""The shapes of what is read and of what is written; `hooks.measured` says what each field means.

The keys of a record are written in the order in which they are set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NotRequired, TypedDict

Direction = Literal["uni", "bi"]
Number = int | float
Label = int | float | str
"""What tells one point of a result from another: a GPU, a size, an algorithm."""
Json = dict[str, Any]
Point = dict[str, Label]


class MeasureError(ValueError):
    """A captured file does not hold what a record needs; the message says where and what to do."""


@dataclass(frozen=True, slots=True)
class Series:
    """One result of a program at one point: the distribution of `n` trials."""

    name: str
    labels: Mapping[str, Label]
    unit: str
    n: int
    median: Number
    p5: Number
    p95: Number
    place: str = ""
    """FILE:LINE, for messages."""
    extra: Mapping[str, Number] = field(default_factory=dict)
    """Further values of the same trials, such as `algbw`."""


class Text(TypedDict):
    """A text in both languages."""

    zh: str
    en: str


class Axis(TypedDict):
    """What varies between points, with a title where the site does not know the name."""

    name: str
    title: Text


class Spec(TypedDict):
    """What was promised, or computed beforehand; values are compared with it."""

    id: str
    value: Number
    unit: str
    direction: Direction | None
    per: str
    source: str


class Result(TypedDict):
    """A series of points of one quantity."""

    id: str
    title: Text
    unit: str
    direction: Direction | None
    per: str | None
    statistic: Text | str
    n: int
    axes: list[Axis | str]
    points: list[Point]
    spec: NotRequired[str]


class Ratio(TypedDict):
    """A value as a share of a specification."""

    spec: str
    ratio: float


class Spread(TypedDict):
    """Smallest and largest value behind a line of the summary."""

    min: Number
    max: Number


class Row(TypedDict, total=False):
    """One line of the summary; `ratio_to`, `result` and `spread` may be absent.

    Not total, so that keys can be set in the order in which they are written.
    """

    title: Text
    value: Number
    unit: str
    direction: Direction | None
    per: str | None
    ratio_to: Ratio
    statistic: Text | str
    result: str
    spread: Spread


class Program(TypedDict):
    """A source file, from the root of the repository, and its hash."""

    path: str
    sha256: str
    same: NotRequired[list[str]]
    """Hashes of later versions that differ in layout only."""


class Record(TypedDict, total=False):
    """A whole file `measured/ID.json`; only `programs` may be absent. Not total, as `Row`."""

    schema: int
    id: str
    title: Text
    date: str
    machine: dict[str, Any]
    program: Program
    programs: list[Program]
    command: str
    notes: Text
    specification: list[Spec]
    results: list[Result]
    summary: list[Row]
