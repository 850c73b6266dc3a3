"""The words of the frame of pages in both languages: `words.yml`, read once."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import yaml


@functools.cache
def _table() -> dict[str, dict[str, Any]]:
    text = Path(__file__).with_name("words.yml").read_text(encoding="utf-8")
    table: dict[str, dict[str, Any]] = yaml.safe_load(text)
    return table


@functools.cache
def words_of(section: str, language: str) -> dict[str, str]:
    """Return the words of a section, by their keys, and the marks that all sections share."""
    said = _table()["marks"] | _table()[section]
    return {key: one if isinstance(one, str) else one[language] for key, one in said.items()}
