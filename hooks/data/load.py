"""Read and check the files of facts and of sources, each finding at its place."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path, PurePosixPath

from hooks.data import equations, units
from hooks.data.facts import FactBase, Family, Source
from hooks.data.layout import Layout
from hooks.findings import Document, Finding, load, nearest, validate

_UNITLESS = ("year", "count")
"""Columns of these names, or ending in them, are numbers that need no unit."""


def load_facts(data_dir: Path) -> tuple[FactBase, list[Finding]]:
    """Read every family and source below the folder of data: `facts/*.yml`, `sources/*.yml`.

    Returns what is valid, and findings of the rules `facts-yaml`, `facts-field`, `facts-unit`,
    `facts-source`, `facts-column`, `facts-check` (errors) and `facts-unused-source` (warning).
    The files of sources make one bibliography: a key stands in one of them only. Files in
    findings are named `docs/data/…`: the folder of data and the one above it.
    """
    base = FactBase()
    findings: list[Finding] = []
    families: list[tuple[Document, Family]] = []
    declared: dict[str, tuple[str, int, int]] = {}
    layout = Layout(data_dir.parent)

    def read(path: Path) -> Document | None:
        document, problems = load(path.read_text(encoding="utf-8"), layout.name(path), "facts-yaml")
        findings.extend(problems)
        return document

    for path in sorted(layout.sources.glob("*.yml")):
        document = read(path)
        if document is not None:
            findings += _load_sources(document, base, declared)
    for path in sorted(layout.facts.glob("*.yml")):
        document = read(path)
        if document is None:
            continue
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
                message = f"no source '{cell.source}' in docs/data/sources/*.yml"
                hint = nearest(cell.source, sources)
                say("facts-source", message, (*path, "source"), cell.source, hint)
    return findings + equations.check_family(document, family)


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
