"""What presets of calculators choose from: rows of `docs/data` in the form the scripts read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from hooks.calc import registry
from hooks.data import Text

if TYPE_CHECKING:
    from hooks.data import FactBase

EMPTY: dict[str, Any] = {"families": {}, "sources": {}}


def presets(base: FactBase, families: Iterable[str]) -> dict[str, Any]:
    """Return the rows of some families, with units and the sources of their cells.

    Cells are `[value, source key, day read]`. A family that the data lack is left out, so that
    its presets offer nothing but the reader's own numbers.
    """
    chosen: dict[str, Any] = {}
    used: set[str] = set()
    for name in families:
        if name not in base.families:
            continue
        family, rows = base.families[name], []
        for key, row in family.rows.items():
            cells = {}
            for column, cell in row.cells.items():
                value = cell.value.en if isinstance(cell.value, Text) else cell.value
                cells[column] = [value, cell.source, cell.read.isoformat()]
                used.add(cell.source)
            rows.append({"key": key, "title": row.title.model_dump(), "cells": cells})
        units = {name: column.unit or "" for name, column in family.columns.items()}
        chosen[name] = {"rows": rows, "units": units}
    sources = {
        key: {"title": source.title.model_dump(), "url": source.url}
        for key, source in sorted(base.sources.items())
        if key in used
    }
    return {"families": chosen, "sources": sources}


def script(data: dict[str, Any]) -> str:
    """Return the script that hands the rows to the page; safe inside a file of its own."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    # Line separators were not allowed in strings of old JavaScript.
    text = text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return f"calc.setData({text});\n"


def files(data: dict[str, Any]) -> dict[str, str]:
    """Return the script by its path in the site, beside the scripts that read it."""
    return {f"{registry.ADDRESS}/{registry.PRESETS}": script(data)}
