"""The form in which the simulations of serving keep their results.

A record says what was computed, with which command and which program. `--check` of a simulation
compares the record that is committed with a fresh one, so that a chart never shows old numbers.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "docs/infer/simulated"
DATE = "2026-11-23"

Text = dict[str, str]
Points = list[dict[str, Any]]


def axis(name: str, zh: str, en: str) -> dict[str, Any]:
    """Return one axis of a result."""
    return {"name": name, "title": {"zh": zh, "en": en}}


def result(
    name: str, title: Text, unit: str, axes: list[dict[str, Any]], points: Points
) -> dict[str, Any]:
    """Return one result; each point has a field per axis and `value`."""
    return {
        "id": name,
        "title": title,
        "unit": unit,
        "statistic": {"zh": "模拟", "en": "simulated"},
        "axes": axes,
        "points": points,
    }


def record(program: str, title: Text, notes: Text, results: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a record of a simulation, in the form of the records of measurements."""
    path = f"docs/infer/code/{program}.py"
    return {
        "schema": 1,
        "id": program,
        "title": title,
        "date": DATE,
        "machine": {
            "description": {"zh": "模拟，没有硬件", "en": "a simulation, no hardware"},
        },
        "program": {
            "path": path,
            "sha256": hashlib.sha256((ROOT / path).read_bytes()).hexdigest(),
        },
        "command": f"python {path} --write",
        "notes": notes,
        "results": results,
    }


def keep(fresh: dict[str, Any], write: bool) -> None:
    """Write a record, or end with a message if the one that is kept differs from it."""
    path = FOLDER / f"{fresh['id']}.json"
    text = json.dumps(fresh, ensure_ascii=False, indent=1) + "\n"
    if write:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    elif not path.is_file() or path.read_text(encoding="utf-8") != text:
        sys.exit(f"{path.relative_to(ROOT)} is not what the program computes; run it with --write")
