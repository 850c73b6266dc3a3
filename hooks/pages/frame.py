"""The frame of pages: what they draw on, their words in both languages, their templates.

The words are those of `words.yml`; the HTML is made by Jinja2 templates, escaped by themselves.
"""

from __future__ import annotations

import functools
import posixpath
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2
import yaml

from hooks.cache import Cache
from hooks.data import FactBase, Messages, Record, load_record
from hooks.notes import Catalogue

_HERE = Path(__file__).parent
_BREAK = "\0"
"""Stands for a line break of a value while the lines of its template are joined."""


@dataclass(eq=False)
class Stock:
    """What the figures on the pages of one build are taken from."""

    base: FactBase
    docs: Path
    root: Path
    notes: Catalogue = field(default_factory=Catalogue)
    messages: Messages = field(default_factory=dict)
    cache: Cache | None = None
    """Where drawings of charts are kept from build to build."""

    def record(self, file: str) -> Record:
        """Return a measured record; BlockError if there is none, or a bad one."""
        return load_record(file, self.docs)


@functools.cache
def _table() -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = yaml.safe_load((_HERE / "words.yml").read_text("utf-8"))
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


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: value.replace("\n", _BREAK) if type(value) is str else value,
    )
    environment.filters["say"] = say
    return environment


def fill(name: str, /, **values: object) -> str:
    """Return what a template of `templates/` makes of values, line breaks and all."""
    return _environment().get_template(name).render(**values).replace(_BREAK, "\n")


def fill_line(name: str, /, **values: object) -> str:
    """Return what a template makes of values, as one line: Markdown keeps it."""
    made = _environment().get_template(name).render(**values)
    return "".join(line.strip() for line in made.splitlines()).replace(_BREAK, "\n")


def way(path: str, page_dir: str) -> str:
    """Return the address of a file of the site, from a page in a folder of it."""
    return posixpath.relpath(path, page_dir or ".")
