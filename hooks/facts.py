"""Hardware facts as data: what `docs/data/*.yml` may hold, and where it is wrong.

A family is a table: columns that say unit, direction and density, rows, and cells that each name
their source. Sources live in `sources*.yml` beside them, which are read as one bibliography.
`hooks.facts_table` draws the tables, `hooks.fact_checks` tries the equations of a family.
"""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainValidator

from hooks import fact_checks, units
from hooks.data_blocks import BlockError as FactsError
from hooks.findings import Finding, nearest
from hooks.quantities import Text
from hooks.schema import Document, load, past_day, validate

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

__all__ = ["FactBase", "FactsError", "load_facts"]

_UNITLESS = ("year", "count")
"""Columns of these names, or ending in them, are numbers that need no unit."""


def _cell_value(value: object) -> int | float | Text:
    if isinstance(value, bool) or not isinstance(value, int | float | str | dict):
        raise ValueError("must be a number, a text in quotes, or {zh: …, en: …}")
    return value if isinstance(value, int | float) else Text.model_validate(value)


def _source_date(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | datetime.date):
        raise ValueError('must be a date as far as it is known: 2022, "2022-03" or 2022-03-22')
    return str(value)


Value = Annotated[int | float | Text, PlainValidator(_cell_value)]
Day = Annotated[datetime.date, PlainValidator(past_day)]
Confidence = Literal["A", "B"]
Status = Literal["announced", "shipping"]


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


class Column(_Record):
    """What every figure of a column counts."""

    title: Text
    unit: str | None = None
    """As printed, such as `GB/s`; `none` for a number that has no unit."""
    direction: Literal["uni", "bi", "none"] | None = None
    """`none` where bits have no direction to speak of, as between a GPU and its memory."""
    density: Literal["dense", "sparse", "none"] | None = None
    per: Text | None = None
    """What one of it counts for: lane, link, GPU, package, node; `none` says that nothing."""


class Cell(_Record):
    """One figure, and where it was read."""

    value: Value
    source: str
    read: Day
    confidence: Confidence
    """A: in the words or code of whoever made the thing. B: at second hand, or computed."""
    note: Text | None = None
    status: Status | None = None


class Row(_Record):
    """A thing, such as a GPU of one SKU."""

    title: Text
    cells: dict[str, Cell]
    status: Status | None = None
    note: Text | None = None


class Check(_Record):
    """An equation between columns, for every row that has all of them."""

    holds: str
    """Such as `link_count * link_rate = gpu_uni`; `hooks.fact_checks` has the grammar."""
    tolerance: str = "0%"
    """How far the sides may lie apart, for figures that were rounded: `0.5%`."""
    exempt: dict[str, Text] = Field(default_factory=dict, alias="except")
    """Rows for which it need not hold, and why."""


class Family(_Record):
    """A table of one kind of thing."""

    family: str
    title: Text
    row_header: Text = Text(zh="项目", en="Item")
    columns: dict[str, Column] = Field(min_length=1)
    rows: dict[str, Row] = Field(min_length=1)
    checks: dict[str, Check] = Field(default_factory=dict)
    note: Text | None = None


class Source(_Record):
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
    texts: dict[str, Any] = field(default_factory=dict)
    """What YAML makes of each family's file, by the file's text: read once for all who ask."""


def load_facts(data_dir: Path) -> tuple[FactBase, list[Finding]]:
    """Read every family and source below a folder.

    Returns what is valid, and findings of the rules `facts-yaml`, `facts-field`, `facts-unit`,
    `facts-source`, `facts-column`, `facts-check` (errors) and `facts-unused-source` (warning).
    The files `sources*.yml` make one bibliography: a key stands in one of them only. Files in
    findings are named `docs/data/…`: the folder itself and the one above it.
    """
    base = FactBase()
    findings: list[Finding] = []
    families: list[tuple[Document, Family]] = []
    declared: dict[str, tuple[str, int, int]] = {}
    for path in sorted(data_dir.glob("*.yml")):
        file = f"{data_dir.parent.name}/{data_dir.name}/{path.name}"
        text = path.read_text(encoding="utf-8")
        document, problems = load(text, file, "facts-yaml")
        findings += problems
        if document is None:
            continue
        if path.name.startswith("sources"):
            findings += _load_sources(document, base, declared)
            continue
        base.texts[text] = document.data
        family, problems = validate(Family, document, "facts-field")
        findings += problems
        if family is not None:
            families.append((document, family))
    for document, family in families:
        findings += _check_family(document, family, declared)
        base.families[family.family] = family
    if not any(finding.severity == "error" for finding in findings):
        findings += _unused(base, declared)  # while a family is invalid, its uses are unknown
    return base, sorted(findings)


def _load_sources(
    document: Document, base: FactBase, declared: dict[str, tuple[str, int, int]]
) -> list[Finding]:
    if not isinstance(document.data, dict):
        message = "the file must hold 'key: {title: …, publisher: …, url: …}' entries"
        return [Finding(document.file, 1, 1, "facts-field", message)]
    findings: list[Finding] = []
    for key in document.data:
        source, problems = validate(Source, document, "facts-field", (key,))
        findings += problems
        name = str(key)
        if name in declared:
            other = declared[name]
            message = f"source '{name}' is also in {other[0]}:{other[1]}; keep one"
            findings.append(document.finding("facts-source", (key,), message, name))
        declared.setdefault(name, (document.file, *document.place((key,))))
        if source is not None:
            base.sources.setdefault(name, source)
    return findings


def _check_family(document: Document, family: Family, sources: Collection[str]) -> list[Finding]:
    findings: list[Finding] = []

    def say(rule: str, message: str, path: tuple[str, ...], target: str, hint: str = "") -> None:
        findings.append(document.finding(rule, path, message, target, hint))

    stem = PurePosixPath(document.file).stem
    if family.family != stem:
        message = f"family '{family.family}' must be named as its file, '{stem}'"
        say("facts-field", message, ("family",), family.family, stem)
    for name, column in family.columns.items():
        cells = [row.cells[name] for row in family.rows.values() if name in row.cells]
        numeric = any(isinstance(cell.value, int | float) for cell in cells)
        if numeric and not column.unit and not name.endswith(_UNITLESS):
            message = f"column '{name}' holds numbers but says no unit; add one, or 'unit: none'"
            say("facts-unit", message, ("columns", name), name)
        unit = column.unit or ""
        if part := units.unknown_part(unit):
            message = f"column '{name}': unit '{unit}' is not known ('{part}')"
            say("facts-unit", message, ("columns", name, "unit"), unit, units.suggestion(unit))
        for term, example in (("direction", "uni"), ("per", "link")):
            if numeric and units.is_data_rate(unit) and getattr(column, term) is None:
                message = (
                    f"column '{name}' is a data rate; add '{term}: {example}' or the like, "
                    f"or '{term}: none'"
                )
                say("facts-unit", message, ("columns", name), name)
        if re.search(r"FLOP|OPS", unit, re.IGNORECASE) and not column.density:
            message = f"column '{name}' is a compute rate; add 'density: dense' or 'sparse'"
            say("facts-unit", message, ("columns", name), name)
    for row_name, row in family.rows.items():
        for name, cell in row.cells.items():
            path = ("rows", row_name, "cells", name)
            if name not in family.columns:
                message = f"row '{row_name}' fills column '{name}', which the family lacks"
                say("facts-column", message, path, name, nearest(name, family.columns))
            if cell.source not in sources:
                message = f"no source '{cell.source}' in docs/data/sources*.yml"
                hint = nearest(cell.source, sources)
                say("facts-source", message, (*path, "source"), cell.source, hint)
    return findings + fact_checks.check_family(document, family)


def _unused(base: FactBase, declared: dict[str, tuple[str, int, int]]) -> list[Finding]:
    used = {
        cell.source
        for family in base.families.values()
        for row in family.rows.values()
        for cell in row.cells.values()
    }
    findings = []
    for key, (file, line, column) in declared.items():
        if key not in used:
            message = f"no cell names the source '{key}'; remove it or use it"
            findings.append(Finding(file, line, column, "facts-unused-source", message, key))
    return findings
