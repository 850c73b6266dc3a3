"""A text as the site renders it, by the extensions of mkdocs.yml; kept by content."""

from __future__ import annotations

import functools
import html as html_lib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import markdown
import yaml
from selectolax.lexbor import LexborHTMLParser

from hooks import cache
from hooks.markdown import includes
from hooks.markdown.heading_ids import HeadingIdsExtension
from hooks.markdown.mark import TOKEN, Marked, mark
from hooks.markdown.reading import ids_in, read
from hooks.markdown.source import Html, Odd, Source
from hooks.markdown.text import place_in

CONFIG = Path(__file__).resolve().parents[2] / "mkdocs.yml"
_DATA_FENCES = ("facts", "measured", "chart", "calc")
PLACE = re.compile(r'<div data-fence="(?P<number>\d+)"></div>')
"""Where the HTML lacks a fence that shows data."""


class Text(NamedTuple):
    """All that the reading of a text depends on."""

    body: str
    """Without front matter, whose lines are blank; lines end by `\\n`."""
    docs: str
    """The folder that includes begin in."""
    included: str
    """A hash of the files that it includes."""


@dataclass(frozen=True, slots=True, eq=False)
class Rendered:
    """A text as read and rendered."""

    marked: Marked
    html: Html
    source: Source


class _Loader(yaml.SafeLoader):
    """Reads mkdocs.yml without acting on the tags of MkDocs."""


_Loader.add_multi_constructor("", lambda loader, suffix, node: None)


@functools.cache
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


@functools.cache
def _renderer(docs: Path) -> Any:
    names, settings = _extensions()
    snippets = settings["pymdownx.snippets"] | {"base_path": [str(docs)]}
    settings = settings | {"pymdownx.snippets": snippets}
    return markdown.Markdown(extensions=names, extension_configs=settings)


def render(text: str, docs: Path) -> Html:
    """Return what the extensions of mkdocs.yml make of a text; its includes begin in a folder."""
    renderer = _renderer(docs).reset()
    renderer.data_fences = []
    html = renderer.convert(text)
    return Html(html, tuple(renderer.toc_tokens), tuple(renderer.data_fences))


def text_of(body: str, docs: Path) -> Text:
    """Return what the reading of a text depends on."""
    files = includes.check(body, docs)[2]
    return Text(body, docs.as_posix(), cache.of_files(files, docs) if files else "")


def rendered(text: Text, *, is_generated: bool = False) -> Rendered:
    """Read and render a text; of what is generated nobody asks more than its ids."""
    body, odd, _ = includes.check(text.body, Path(text.docs))
    if TOKEN.search(body):
        why = "'x-link:' stands for addresses while a page is built; write it another way"
        line, _ = place_in(body, body.index("x-link:"))
        odd.append(Odd("link-syntax", "x-link:", line, 1, why))
        body = body.replace("x-link:", "x-link ")
    marked = mark(body)
    html = render(marked.text, Path(text.docs))
    ids = frozenset(ids_in(LexborHTMLParser(html.html))) if is_generated else frozenset()
    source = Source(ids=ids) if is_generated else read(marked, html)
    return Rendered(Marked("", marked.marks), html, source._replace(odd=(*odd, *source.odd)))


generated = functools.lru_cache(1 << 8)(functools.partial(rendered, is_generated=True))


def read_all(bodies: list[str], docs: Path, kept: cache.Cache) -> list[Rendered]:
    """Return texts as read and rendered, in order; those that are not kept on all cores."""
    stamp = cache.digest(cache.code("markdown"), cache.of_files([CONFIG], CONFIG.parent))
    return kept.recall_all("rendered", [text_of(one, docs) for one in bodies], rendered, stamp)
