"""A text read once: what the renderer makes of it, and its structure; kept by content."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from hooks import cache
from hooks.markdown import includes
from hooks.markdown.mark import TOKEN, Marked, mark
from hooks.markdown.reading import read
from hooks.markdown.site import CONFIG, Html, render
from hooks.markdown.source import Odd, Source
from hooks.markdown.text import place_in


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


def text_of(body: str, docs: Path) -> Text:
    """Return what the reading of a text depends on."""
    files = includes.check(body, docs)[2]
    return Text(body, docs.as_posix(), cache.of_files(files, docs) if files else "")


def rendered(text: Text) -> Rendered:
    """Read and render a text."""
    body, odd, _ = includes.check(text.body, Path(text.docs))
    if TOKEN.search(body):
        why = "'x-link:' stands for addresses while a page is built; write it another way"
        line, _ = place_in(body, body.index("x-link:"))
        odd.append(Odd("link-syntax", "x-link:", line, 1, why))
        body = body.replace("x-link:", "x-link ")
    marked = mark(body)
    html = render(marked.text, Path(text.docs))
    source = read(marked, html)
    return Rendered(Marked("", marked.marks), html, source._replace(odd=(*odd, *source.odd)))


def read_all(bodies: list[str], docs: Path, kept: cache.Cache) -> list[Rendered]:
    """Return texts as read and rendered, in order; those that are not kept on all cores."""
    stamp = cache.digest(cache.code("markdown"), cache.of_files([CONFIG], CONFIG.parent))
    return kept.recall_all("rendered", [text_of(one, docs) for one in bodies], rendered, stamp)
