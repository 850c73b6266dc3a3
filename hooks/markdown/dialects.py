"""Which Markdown a tree of notes is written in: what its renderer adds to the plain language."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a renderer reads. The defaults are those of this handbook's site."""

    is_commonmark: bool = False
    """Read as GitHub and most other generators do; then the rest does not matter."""
    abbreviations: bool = True
    admonitions: bool = False
    """`!!! note`, which this handbook does not use: GitHub shows it as code."""
    callouts: bool = True
    """`> [!NOTE]`, and quotes that do not join across blank lines."""
    definition_lists: bool = True
    details: bool = True
    footnotes: bool = True
    html_content: bool = True
    """The `markdown` attribute of HTML elements is honoured."""
    math: bool = True
    tabs: bool = True
    attribute_lists: bool = True
    is_relaxed: bool = False
    """Nobody knows the renderer: fences take any header and run to the end when never closed, a
    blank line ends raw HTML, as on GitHub; what only Python-Markdown has is read too."""


SITE = Dialect()
COMMONMARK = Dialect(is_commonmark=True)
ANY = Dialect(admonitions=True, is_relaxed=True)
"""For a folder of notes without a configuration beside it."""


def of_extensions(names: Collection[str]) -> Dialect:
    """Return the dialect of a MkDocs configuration that lists these Markdown extensions."""
    full = {name.removeprefix("markdown.extensions.") for name in names}
    extra = bool(full & {"extra", "pymdownx.extra"})
    return Dialect(
        abbreviations=extra or "abbr" in full,
        admonitions="admonition" in full,
        callouts="pymdownx.quotes" in full,
        definition_lists=extra or "def_list" in full,
        details="pymdownx.details" in full,
        footnotes=extra or "footnotes" in full,
        html_content=extra or "md_in_html" in full,
        math="pymdownx.arithmatex" in full,
        tabs="pymdownx.tabbed" in full,
        attribute_lists=extra or "attr_list" in full,
    )
