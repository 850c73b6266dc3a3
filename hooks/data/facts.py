"""Hardware facts as data: what `docs/data/facts/*.yml` may hold, and where it is wrong.

A family is a table: columns that say unit, direction and density, rows, and cells that each name
their source. Sources live in `docs/data/sources/*.yml`, which are read as one bibliography.
`equations` tries the equations of a family.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, PlainValidator

from hooks.data.wording import Day, Strict, Text


def _cell_value(value: object) -> int | float | Text:
    if isinstance(value, bool) or not isinstance(value, int | float | str | dict):
        raise ValueError("must be a number, a text in quotes, or {zh: …, en: …}")
    return value if isinstance(value, int | float) else Text.model_validate(value)


def _percentage(value: str) -> str:
    try:
        float(value.removesuffix("%"))
    except ValueError:
        raise ValueError("must be a percentage such as 0.5%") from None
    return value


def _source_date(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | datetime.date):
        raise ValueError('must be a date as far as it is known: 2022, "2022-03" or 2022-03-22')
    return str(value)


Value = Annotated[int | float | Text, PlainValidator(_cell_value)]
Confidence = Literal["A", "B"]
Status = Literal["announced", "shipping"]


class Column(Strict):
    """What every figure of a column counts."""

    title: Text
    unit: str | None = None
    """As printed, such as `GB/s`; `none` for a number that has no unit."""
    direction: Literal["uni", "bi", "none"] | None = None
    """`none` where bits have no direction to speak of, as between a GPU and its memory."""
    density: Literal["dense", "sparse", "none"] | None = None
    per: Text | None = None
    """What one of it counts for: lane, link, GPU, package, node; `none` says that nothing."""


class Cell(Strict):
    """One figure, and where it was read."""

    value: Value
    source: str
    read: Day
    confidence: Confidence
    """A: in the words or code of whoever made the thing. B: at second hand, or computed."""
    note: Text | None = None
    status: Status | None = None


class Row(Strict):
    """A thing, such as a GPU of one SKU."""

    title: Text
    cells: dict[str, Cell]
    status: Status | None = None
    note: Text | None = None


class Check(Strict):
    """An equation between columns, for every row that has all of them."""

    holds: str
    """Such as `link_count * link_rate = gpu_uni`; `equations` has the grammar."""
    tolerance: Annotated[str, AfterValidator(_percentage)] = "0%"
    """How far the sides may lie apart, for figures that were rounded: `0.5%`."""
    exempt: dict[str, Text] = Field(default_factory=dict, alias="except")
    """Rows for which it need not hold, and why."""

    @property
    def share(self) -> float:
        """The tolerance as a number: 0.005 for `0.5%`."""
        return float(self.tolerance.removesuffix("%")) / 100


class Family(Strict):
    """A table of one kind of thing."""

    family: str
    title: Text
    row_header: Text = Text(zh="项目", en="Item")
    columns: dict[str, Column] = Field(min_length=1)
    rows: dict[str, Row] = Field(min_length=1)
    checks: dict[str, Check] = Field(default_factory=dict)
    note: Text | None = None


class Source(Strict):
    """A document in which figures were read."""

    title: Text
    publisher: Text
    url: str = Field(pattern=r'^https?://[^\s<>"]+$')
    date: Annotated[str, PlainValidator(_source_date)] = ""
    """Of the document, as far as it is known."""
    read: Day
    kind: Literal["primary", "secondary"]


@dataclass(frozen=True, slots=True)
class FactBase:
    """All families and sources, by name."""

    families: dict[str, Family] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)
