"""`python -m hooks search`: the handbook's search in a terminal, with the browser's ranking."""

from __future__ import annotations

import html
import json
import os
import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click

from hooks.data import Layout
from hooks.search.engine import Engine, Hit
from hooks.search.index import FORMAT, Index, build_index
from hooks.search.install import FOLDER, PART, TABLES, TITLES

_TAG = re.compile(r"<[^>]*>")
_SCRIPT = re.compile(r"\A\w+\((?P<json>.*)\);\s*\Z", re.DOTALL)
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


def read_site(site: Path) -> Index | None:
    """Return the index of a built site, or None when it has none that this version reads."""

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


def _link(hit: Hit, root: Path, *, is_built: bool) -> str:
    """Return what opens a hit: the built page, or the note's file and heading."""
    page, mark, anchor = hit.location.partition("#")
    if is_built:
        return (root / "site" / page).as_uri() + mark + quote(anchor)
    note = root / "docs" / page.removeprefix("en/").removesuffix(".html")
    suffix = ".en.md" if page.startswith("en/") else ".md"
    return f"{note.as_posix()}{suffix}{mark}{anchor}"


def _excerpt(hit: Hit, *, colour: bool) -> str:
    marked = hit.excerpt_html.replace("<mark>", "\ue000").replace("</mark>", "\ue001")
    text = _CONTROL.sub("", html.unescape(_TAG.sub("", marked)))
    before, after = ("\x1b[1;33m", "\x1b[0m") if colour else ("", "")
    return text.replace("\ue000", before).replace("\ue001", after)


def _as_text(number: int, hit: Hit, link: str, *, colour: bool) -> str:
    title = hit.title if hit.title == hit.page_title else f"{hit.page_title} › {hit.title}"
    head = f"{number}. {'≈ ' if hit.weak else ''}{title}"
    lines = [click.style(head, bold=True) if colour else head]
    lines += [f"   {one}" for one in (_excerpt(hit, colour=colour), link) if one]
    return "\n".join(lines)


def answer(root: Path, query: str, language: str, limit: int, *, as_json: bool) -> bool:
    """Print the sections that answer a query, of the built site or else of the notes.

    Returns whether there are any.
    """
    built, docs = read_site(root / "site"), root / "docs"
    with Engine(built or build_index(docs, Layout(docs).terms)) as engine:
        hits = engine.search(query, language, limit)
    found = [(hit, _link(hit, root, is_built=built is not None)) for hit in hits]
    if as_json:
        listed = [asdict(hit) | {"link": link} for hit, link in found]
        click.echo(json.dumps(listed, ensure_ascii=False, indent=1))
        return bool(hits)
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    for number, (hit, link) in enumerate(found, start=1):
        click.echo(_as_text(number, hit, link, colour=colour), color=colour)
    if not hits:
        click.echo("search: nothing found", err=True)
    return bool(hits)
