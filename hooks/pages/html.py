"""HTML with more than a tag in it: Jinja2 templates beside this module, escaped by themselves."""

from __future__ import annotations

import functools
import posixpath
from pathlib import Path

import jinja2

_FOLDER = Path(__file__).with_name("templates")
_BREAK = "\0"
"""Stands for a line break of a value while the lines of its template are joined."""


@functools.cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: value.replace("\n", _BREAK) if type(value) is str else value,
    )


def fill(name: str, **values: object) -> str:
    """Return what a template of `templates/` makes of values, line breaks and all."""
    return _environment().get_template(name).render(**values).replace(_BREAK, "\n")


def render(name: str, **values: object) -> str:
    """Return what a template of `templates/` makes of values, as one line: Markdown keeps it."""
    made = _environment().get_template(name).render(**values)
    return "".join(line.strip() for line in made.splitlines()).replace(_BREAK, "\n")


def way(path: str, page_dir: str) -> str:
    """Return the address of a file of the site, from a page in a folder of it."""
    return posixpath.relpath(path, page_dir or ".")
