"""Addresses that a release has published: which no longer answer, and where they lead now.

They read `link/topo/nvswitch` and `link/topo/nvswitch#实测`: a page answers to the ids of both
languages. `published.txt` lists them; `moved.yml` (`old: new`) maps those that are gone.
"""

from __future__ import annotations

import html
import itertools
import posixpath
import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote

from hooks.data import Layout
from hooks.findings import Finding, nearest, schema
from hooks.notes import DEFAULT_LANGUAGE, LANGUAGES, Catalogue

RULE = "address-lost"
_PAGE = """<!doctype html>
<html lang="{0}"><meta charset="utf-8"><title>页面已移动 / Page moved</title>
{1}<meta name="robots" content="noindex"><meta http-equiv="refresh" content="1; url={2}">
<script>location.replace("{2}" + location.hash)</script>
<p>这一页已移到 / This page has moved to: <a href="{2}">{2}</a></p>
"""


def page_address(note_id: str, language: str) -> str:
    """Return the address of a note's page below the site's root."""
    return f"{note_id}.html" if language == DEFAULT_LANGUAGE else f"{language}/{note_id}.html"


def current(notes: Catalogue) -> set[str]:
    """Return every page and heading that the site answers to."""
    headings = ((note, one) for note in notes.notes.values() for one in note.source.headings)
    return {*notes.ids(), *(f"{note.id}#{one.id}" for note, one in headings)}


def load(text: str, file: str, notes: Catalogue) -> tuple[dict[str, str], list[Finding]]:
    """Return what `moved.yml` maps, and each entry that is in use or leads to nothing."""
    document, findings = schema.load(text, file, RULE)
    if document is None or document.data is None:
        return {}, findings
    moved, mistakes = schema.validate(dict[str, str], document, RULE)
    now = current(notes)
    for old, new in (moved or {}).items():
        is_page = "#" not in old or old.partition("#")[0] == new.partition("#")[0]
        if old in now or new not in now or not is_page:
            message = f"'{old}' must be gone, and '{new}' there: of a heading, on the same page"
            mistakes.append(document.finding(RULE, (old,), message, new, nearest(new, now)))
    return moved or {}, findings + mistakes


def check(
    published: Iterable[str], file: str, notes: Catalogue, moved: Mapping[str, str]
) -> list[Finding]:
    """Report each published page or heading that nobody answers to any more."""
    now = current(notes) | moved.keys()
    findings = []
    for number, address in enumerate(published, start=1):
        page, _, fragment = address.partition("#")
        if address not in now and f"{moved.get(page, page)}#{fragment}" not in now:
            message = f"'{address}' was published; say in docs/data/moved.yml what took its place"
            hint = nearest(address, now)
            findings.append(Finding(file, number, 1, RULE, message, address, hint))
    return findings


def add_anchors(page_html: str, note_id: str, moved: Mapping[str, str]) -> str:
    """Let the headings of a page answer to their former ids too."""
    for old, new in moved.items():
        if old.startswith(f"{note_id}#"):
            now, former = (html.escape(one.partition("#")[2]) for one in (new, old))
            place = rf'(<(?:h[1-6]|span class="twin-alias")[^>]*? id="{re.escape(now)}"[^>]*>)'
            anchor = rf'\1<span class="twin-alias" id="{former}"></span>'
            page_html = re.sub(place, anchor, page_html, count=1)
    return page_html


def redirect_pages(moved: Mapping[str, str], site_url: str) -> dict[str, str]:
    """Return the pages at former addresses, which lead on without a server, fragment included."""
    made = {}
    pages = [(old, new) for old, new in moved.items() if "#" not in old]
    for language, (old, new) in itertools.product(LANGUAGES, pages):
        here, there = page_address(old, language), page_address(new, language)
        address = quote(posixpath.relpath(there, posixpath.dirname(here) or "."))
        link = f'<link rel="canonical" href="{html.escape(site_url + there)}">\n'
        made[here] = _PAGE.format(language, link if site_url else "", address)
    return made


def read(layout: Layout, notes: Catalogue) -> tuple[dict[str, str], list[Finding]]:
    """Return what has moved since a release, and which of its addresses no longer answer."""
    files = (layout.moved, layout.published)
    written, listed = (one.read_text(encoding="utf-8") if one.is_file() else "" for one in files)
    former, findings = load(written, layout.name(layout.moved), notes)
    findings += check(listed.splitlines(), layout.name(layout.published), notes, former)
    return former, findings


def publish(layout: Layout, notes: Catalogue, moved: Mapping[str, str]) -> bool:
    """Write down the pages and headings of a release; tell whether that changed the file."""
    path = layout.published
    fresh = "".join(f"{one}\n" for one in sorted(current(notes) | {*moved}))
    is_changed = not path.is_file() or path.read_text(encoding="utf-8") != fresh
    path.write_text(fresh, encoding="utf-8")
    return is_changed
