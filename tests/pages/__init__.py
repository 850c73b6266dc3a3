"""Tests of what pages show; `data` holds the tables of their cases."""

from pathlib import Path
from typing import Any

from tests.samples import read_yaml


def cases(name: str) -> Any:
    """Return what a file of `data` holds."""
    return read_yaml(Path(__file__).parent / f"data/{name}.yml")
