"""`python -m hooks search`: the handbook's search in a terminal, with the browser's ranking."""

from __future__ import annotations

import html
import json
import os
import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from hooks.data import Layout
from hooks.search.install import FOLDER, PART, TABLES, TITLES

if TYPE_CHECKING:
    from hooks.search.engine import Hit
    from hooks.search.index import Index

ROOT = Path(__file__).resolve().parent.parent.parent
_TAG = re.compile(r"<[^>]*>")
_SCRIPT = re.compile(r"\A\w+\((?P<json>.*)\);\s*\Z", re.DOTALL)
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


def read_site(site: Path) -> Index | None:
    """Return the index of a built site, or None when it has none that this version reads."""
    from hooks.search.index import FORMAT, Index

    def data(path: Path) -> Any:
        match = _SCRIPT.match(path.read_text(encoding="utf-8"))
        return json.loads(match["json"]) if match else None

    tables = site / TABLES
    if not tables.is_file():
        return None
    index = Index(data(tables))
    for path in sorted((site / FOLDER).glob(TITLES.format(language="*").rpartition("/")[2])):
        for number, part in enumerate(data(path) or ()):
            language = part["language"]
            texts = site / PART.format(language=language, number=number)
            if part["format"] != FORMAT or not texts.is_file():
                return None
            part["text"] = data(texts)[1]
            index.parts.setdefault(language, []).append(part)
    return index if index.parts else None


def link_of(hit: Hit, root: Path, *, is_built: bool) -> str:
    """Return what opens a hit: the built page, or the note's file and heading."""
    page, _, anchor = hit.location.partition("#")
    if is_built:
        link = (root / "site" / page).as_uri()
        return f"{link}#{quote(anchor)}" if anchor else link
    note = root / "docs" / page.removeprefix("en/").removesuffix(".html")
    suffix = ".en.md" if page.startswith("en/") else ".md"
    return f"{note.as_posix()}{suffix}" + (f"#{anchor}" if anchor else "")


def _plain(excerpt: str, *, colour: bool) -> str:
    if colour:
        excerpt = excerpt.replace("<mark>", "\x00").replace("</mark>", "\x01")
    text = html.unescape(_TAG.sub("", excerpt))
    text = "".join(char for char in text if char in "\x00\x01" or not _CONTROL.match(char))
    return text.replace("\x00", "\x1b[1;33m").replace("\x01", "\x1b[0m")


def as_text(number: int, hit: Hit, link: str, *, colour: bool = False) -> str:
    """Return a hit as lines for a person."""
    title = hit.title if hit.title == hit.page_title else f"{hit.page_title} › {hit.title}"
    weak = "≈ " if hit.weak else ""
    head = f"{number}. {weak}{title}"
    lines = [click.style(head, bold=True) if colour else head]
    excerpt = _plain(hit.excerpt_html, colour=colour)
    if excerpt:
        lines.append(f"   {excerpt}")
    return "\n".join([*lines, f"   {link}"])


@click.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--language", type=click.Choice(["zh", "en"]), default="zh", show_default=True)
@click.option("--limit", type=click.IntRange(1, 100), default=8, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print a list of objects.")
def search(words: tuple[str, ...], language: str, limit: int, as_json: bool) -> None:
    """Find the sections that answer WORDS, as the site's search does: of the built site, else of
    the notes.

    Also: kind:paper, tag:NVLink, "exact words", !word. Exit status: 0 found, 1 nothing found.
    """
    from hooks.search.engine import build_index, open_engine

    built = read_site(ROOT / "site")
    docs = ROOT / "docs"
    with open_engine(built or build_index(docs, Layout(docs).terms)) as engine:
        hits = engine.search(" ".join(words), language, limit)
    links = [link_of(hit, ROOT, is_built=built is not None) for hit in hits]
    if as_json:
        found = [asdict(hit) | {"link": link} for hit, link in zip(hits, links, strict=True)]
        click.echo(json.dumps(found, ensure_ascii=not _takes_unicode(), indent=1))
    else:
        colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        for number, (hit, link) in enumerate(zip(hits, links, strict=True), start=1):
            click.echo(as_text(number, hit, link, colour=colour), color=colour)
        if not hits:
            click.echo("search: nothing found", err=True)
    sys.exit(0 if hits else 1)


def _takes_unicode() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
