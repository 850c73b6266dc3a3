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


def row_of(section: str, key: str, language: str) -> list[str]:
    """Return a row of words."""
    return words_of(section, language)[key].split(" | ")


def say(text: Any, language: str) -> str:
    """Return a text of a calculator's record, which may have a form for each language."""
    return str(text[language]) if isinstance(text, dict) else str(text)
