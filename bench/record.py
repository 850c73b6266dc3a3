"""Records of measurements: JSON below bench/results/, with machine, versions and date."""

from __future__ import annotations

import datetime
import json
import os
import platform
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = Path("bench/results")


def processor() -> str:
    """Return what the processor is called."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in text.splitlines() if "model name" in line]
    return names[0] if names else platform.machine()


def write(part: str, found: Mapping[str, Any], root: Path = ROOT) -> Path:
    """Write what a part found; return the file."""
    data = {
        "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        "command": f"python -m bench {part} --record",
        "machine": {"processor": processor(), "cores": os.cpu_count()},
        "versions": {
            "Python": platform.python_version(),
            "mkdocs-material": metadata.version("mkdocs-material"),
        },
        **found,
    }
    file = root / RESULTS / f"{part}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return file


def read(part: str, root: Path = ROOT) -> dict[str, Any] | None:
    """Return the record of a part; None when there is none."""
    try:
        data: dict[str, Any] = json.loads((root / RESULTS / f"{part}.json").read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return data
