"""Tests of what pages show; `data` holds the tables of their cases."""

from pathlib import Path
from typing import Any

import yaml


def cases(name: str) -> Any:
    """Return what a file of `data` holds."""
    return yaml.safe_load((Path(__file__).parent / f"data/{name}.yml").read_text(encoding="utf-8"))
