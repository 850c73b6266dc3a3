"""The form in which simulations keep their results for charts; the programs of all topics share it.

Not a program by itself. A record says what was computed, with which command and which program;
it lies in `simulated/` beside the program's folder. `--check` compares the record that is
committed with a fresh one, so that a chart never shows old numbers.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DATE = "2026-11-23"

Words = dict[str, str]
"""One text in Chinese (`zh`) and English (`en`)."""
Point = Mapping[str, object]


def axis(name: str, zh: str, en: str, unit: str | None = None) -> dict[str, Any]:
    """Return one axis of a result."""
    return {"name": name, "title": {"zh": zh, "en": en}} | ({"unit": unit} if unit else {})


def result(
    name: str, title: Words, unit: str, axes: list[dict[str, Any]], points: Iterable[Point]
) -> dict[str, Any]:
    """Return one quantity; each point has a field per axis and `value`."""
    return {
        "id": name,
        "title": title,
        "unit": unit,
        "statistic": {"zh": "模拟", "en": "simulated"},
        "axes": axes,
        "points": list(points),
    }


def record(
    program: str, title: Words, notes: Words | None, results: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return a record in the form of the records of measurements; program: its `__file__`."""
    file = Path(program).resolve()
    path = file.relative_to(ROOT).as_posix()
    return {
        "schema": 1,
        "id": file.stem,
        "title": title,
        "date": DATE,
        "machine": {"description": {"zh": "模拟，没有硬件", "en": "a simulation, no hardware"}},
        "program": {"path": path, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()},
        "command": f"python {path} --write",
        **({"notes": notes} if notes else {}),
        "results": results,
    }


def arguments(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser that knows --write and --check; a program may add its own options."""
    parser = argparse.ArgumentParser(description=(doc or "").split("\n")[0])
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--write", action="store_true", help="write the record of the charts")
    group.add_argument("--check", action="store_true", help="compare the record with a fresh one")
    return parser


def keep(fresh: dict[str, Any], write: bool) -> None:
    """Write a record, or end with a message if the one that is kept differs from it."""
    folder = (ROOT / fresh["program"]["path"]).parents[1] / "simulated"
    path = folder / f"{fresh['id']}.json"
    text = json.dumps(fresh, ensure_ascii=False, indent=1) + "\n"
    if write:
        folder.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    elif not path.is_file() or path.read_text(encoding="utf-8") != text:
        sys.exit(f"{path.relative_to(ROOT)} is not what the program computes; run it with --write")


def run(doc: str | None, report: Callable[[], str], made: Callable[[], dict[str, Any]]) -> None:
    """Print a report; with --write keep the record, with --check compare it with a fresh one."""
    said = arguments(doc).parse_args()
    if said.write or said.check:
        keep(made(), said.write)
    else:
        print(report())
