"""A text as the site renders it: the extensions of mkdocs.yml, and places for data."""

from __future__ import annotations

import html as html_lib
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import markdown
import yaml

from hooks.markdown.heading_ids import HeadingIdsExtension

CONFIG = Path(__file__).resolve().parents[2] / "mkdocs.yml"
_DATA_FENCES = ("facts", "measured", "chart", "calc")
PLACE = re.compile(r'<div data-fence="(?P<number>\d+)"></div>')
"""Where the HTML lacks a fence that shows data."""


class Html(NamedTuple):
    """What the renderer makes of a text."""

    html: str
    contents: tuple[Any, ...]
    """The table of contents, as the `toc` extension has it."""
    places: tuple[tuple[str, str], ...]
    """Kind and text of each fence that shows data, by the number of its place."""


class _Loader(yaml.SafeLoader):
    """Reads mkdocs.yml without acting on the tags of MkDocs."""


_Loader.add_multi_constructor("", lambda loader, suffix, node: None)


@cache
def _extensions() -> tuple[list[Any], dict[str, Any]]:
    config = yaml.load(CONFIG.read_text(encoding="utf-8"), Loader=_Loader)
    settings: dict[str, Any] = {"toc": {}, "tables": {}, "fenced_code": {}}  # as in any MkDocs
    for entry in config["markdown_extensions"]:
        settings |= entry if isinstance(entry, dict) else {entry: {}}
    fences = [{"name": kind, "class": kind, "format": _place} for kind in _DATA_FENCES]
    diagram = {"name": "mermaid", "class": "mermaid", "format": _diagram}
    settings["pymdownx.superfences"] = {"custom_fences": [diagram, *fences]}
    return [*settings, HeadingIdsExtension()], settings


def _place(source: str, language: str, _class: str, _options: Any, md: Any, **_: Any) -> str:
    md.data_fences.append((language, source))
    return f'<div data-fence="{len(md.data_fences) - 1}"></div>'


def _diagram(source: str, *_: object, **__: object) -> str:
    """Return a diagram for Material's renderer, readable as text without script."""
    return f'<pre class="mermaid"><code>{html_lib.escape(source, quote=False)}\n</code></pre>'


def render(text: str, docs: Path) -> Html:
    """Return the HTML that the extensions of mkdocs.yml make of a text; includes begin in a folder.

    Raises:
        pymdownx.snippets.SnippetMissingError: There is no such file or section to include.
    """
    names, settings = _extensions()
    snippets = settings["pymdownx.snippets"] | {"base_path": [str(docs)]}
    settings = settings | {"pymdownx.snippets": snippets}
    renderer: Any = markdown.Markdown(extensions=names, extension_configs=settings)
    renderer.data_fences = []
    html = renderer.convert(text)
    return Html(html, tuple(renderer.toc_tokens), tuple(renderer.data_fences))
