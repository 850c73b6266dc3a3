"""Read and check the files of facts and of sources, each finding at its place."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath

from hooks.data import equations, units
from hooks.data.facts import FactBase, Family, Source
from hooks.data.layout import Layout
from hooks.findings import Document, Finding, has_errors, load, nearest, validate

_UNITLESS = ("year", "count")
"""Columns of these names, or ending in them, are numbers that need no unit."""


def load_facts(data_dir: Path) -> tuple[FactBase, list[Finding]]:
    """Read what is valid below the folder of data: `facts/*.yml`, `sources/*.yml`.

    The files of sources make one bibliography: a key stands in one of them only. Findings of the
    rules `facts-*` name files `docs/data/…`: the folder of data and the one above it.
    """
    base = FactBase()
    findings: list[Finding] = []
    families: list[tuple[Document, Family]] = []
    declared: dict[str, Finding] = {}
    layout = Layout(data_dir.parent)

    def read(folder: Path) -> Iterator[Document]:
        for path in sorted(folder.glob("*.yml")):
            text = path.read_text(encoding="utf-8")
            document, problems = load(text, layout.name(path), "facts-yaml")
            findings.extend(problems)
            if document is not None:
                yield document

    for document in read(layout.sources):
        findings += _load_sources(document, base, declared)
    for document in read(layout.facts):
        family, problems = validate(Family, document, "facts-field")
        findings += problems
        if family is not None:
            families.append((document, family))
            base.families[family.family] = family
    for document, family in families:
        findings += _check_family(document, family, declared)
    if not has_errors(findings):  # while a family is invalid, its uses are unknown
        rows = (row for family in base.families.values() for row in family.rows.values())
        used = {cell.source for row in rows for cell in row.cells.values()}
        findings += [unused for key, unused in declared.items() if key not in used]
    return base, sorted(findings)


def _load_sources(
    document: Document, base: FactBase, declared: dict[str, Finding]
) -> list[Finding]:
    """Read a file of sources; `declared` has what is said of each where no cell names it."""
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
            message = f"source '{name}' is also in {other.file}:{other.line}; keep one"
            findings.append(document.finding("facts-source", (key,), message, name))
        message = f"no cell names the source '{name}'; remove it or use it"
        unused = document.finding("facts-unused-source", (key,), message, name)
        declared.setdefault(name, unused)
        if source is not None:
            base.sources.setdefault(name, source)
    return findings


def _check_family(
    document: Document, family: Family, sources: Collection[str]
) -> Iterator[Finding]:
    stem = PurePosixPath(document.file).stem
    if family.family != stem:
        message = f"family '{family.family}' must be named as its file, '{stem}'"
        yield document.finding("facts-field", ("family",), message, family.family, stem)
    for name, column in family.columns.items():
        at, rule = ("columns", name), "facts-unit"
        cells = [row.cells[name] for row in family.rows.values() if name in row.cells]
        numeric = any(isinstance(cell.value, int | float) for cell in cells)
        if numeric and not column.unit and not name.endswith(_UNITLESS):
            message = f"column '{name}' holds numbers but says no unit; add one, or 'unit: none'"
            yield document.finding(rule, at, message, name)
        unit = column.unit or ""
        if part := units.unknown_part(unit):
            message = f"column '{name}': unit '{unit}' is not known ('{part}')"
            hint = units.suggestion(unit)
            yield document.finding(rule, (*at, "unit"), message, unit, hint)
        for term, example in (("direction", "uni"), ("per", "link")):
            if numeric and units.is_data_rate(unit) and getattr(column, term) is None:
                message = (
                    f"column '{name}' is a data rate; add '{term}: {example}' or the like, "
                    f"or '{term}: none'"
                )
                yield document.finding(rule, at, message, name)
        if re.search(r"FLOP|OPS", unit, re.IGNORECASE) and not column.density:
            message = f"column '{name}' is a compute rate; add 'density: dense' or 'sparse'"
            yield document.finding(rule, at, message, name)
    for row_name, row in family.rows.items():
        for name, cell in row.cells.items():
            path = ("rows", row_name, "cells", name)
            if name not in family.columns:
                message = f"row '{row_name}' fills column '{name}', which the family lacks"
                hint = nearest(name, family.columns)
                yield document.finding("facts-column", path, message, name, hint)
            if cell.source not in sources:
                message = f"no source '{cell.source}' in docs/data/sources/*.yml"
                hint = nearest(cell.source, sources)
                yield document.finding(
                    "facts-source", (*path, "source"), message, cell.source, hint
                )
    for name, check in family.checks.items():
        yield from equations.find(document, family, name, check)
