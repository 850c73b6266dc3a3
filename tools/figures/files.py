"""Load the programs and records that drawings rest on."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def load_program(path: str) -> Any:
    """Return a program of a note as a module; `path` is the file's path below `docs/`.

    It finds its neighbours beside it; a program that a neighbour has brought already is that one.
    """
    file = ROOT / "docs" / path
    known = sys.modules.get(file.stem)
    if known is not None and known.__file__ == str(file):
        return known
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    sys.path.insert(0, str(file.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(file.parent))
    return module


def load_record(path: str) -> dict[str, list[dict[str, Any]]]:
    """Return the points of each result of a record; `path` is the file's path below `docs/`."""
    made = json.loads((ROOT / "docs" / path).read_text("utf-8"))
    return {one["id"]: one["points"] for one in made["results"]}
