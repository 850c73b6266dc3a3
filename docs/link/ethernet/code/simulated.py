"""The form of a record of simulated figures, as the charts read it.

Not a program by itself: dcqcn.py, pfc.py and headroom.py write their records with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

Words = dict[str, str]
"""One text in Chinese (`zh`) and English (`en`)."""
Point = dict[str, object]


def axis(name: str, zh: str, en: str, unit: str | None = None) -> dict[str, object]:
    """Return an axis of a result."""
    return {"name": name, "title": {"zh": zh, "en": en}, **({"unit": unit} if unit else {})}


def result(
    name: str, title: Words, unit: str, axes: list[dict[str, object]], points: Iterable[Point]
) -> dict[str, object]:
    """Return one quantity and its points."""
    return {"id": name, "title": title, "unit": unit, "axes": axes, "points": list(points)}


def write(path: Path, name: str, title: Words, results: list[dict[str, object]]) -> None:
    """Write a record: simulated, so there is no machine."""
    record = {
        "schema": 1,
        "id": name,
        "title": title,
        "date": "2026-11-23",
        "machine": {"description": {"zh": "模拟，不是测量", "en": "simulated, not measured"}},
        "command": f"python docs/link/ethernet/code/{name}.py --json {path.name}",
        "results": results,
    }
    path.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
