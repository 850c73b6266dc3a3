"""HTML by templates: those of `hooks/pages/templates`, filled and escaped by Jinja2."""

from __future__ import annotations

import functools

from jinja2 import Environment, PackageLoader, StrictUndefined


@functools.cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("hooks.pages"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )


def fill(template: str, **values: object) -> str:
    """Return a template of `hooks/pages/templates` filled with values, which are escaped."""
    return _environment().get_template(template).render(values)
