"""The form in which the simulations of this folder keep their results.

A record says what was computed, with which command and which program. `--check` of a simulation
compares the record that is committed with a fresh one, so that a chart never shows old numbers.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[4]
FOLDER = ROOT / "docs/link/infiniband/simulated"
DATE = "2026-11-23"

Text = dict[str, str]
Points = list[dict[str, float | str]]


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
    path = f"docs/link/infiniband/code/{program}.py"
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


def run(doc: str | None, report: Callable[[], str], made: Callable[[], dict[str, Any]]) -> None:
    """Print a report; with --write keep the record, with --check compare it with a fresh one."""
    parser = argparse.ArgumentParser(description=(doc or "").split("\n")[0])
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--write", action="store_true", help="write the record of the chart")
    group.add_argument("--check", action="store_true", help="compare the record with a fresh one")
    args = parser.parse_args()
    if not (args.write or args.check):
        print(report())
        return
    fresh = made()
    path = FOLDER / f"{fresh['id']}.json"
    text = json.dumps(fresh, ensure_ascii=False, indent=1) + "\n"
    if args.write:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    elif not path.is_file() or path.read_text(encoding="utf-8") != text:
        sys.exit(f"{path.relative_to(ROOT)} is not what the program computes; run it with --write")
