"""Addresses once published keep working: a register of them, and redirects where notes moved.

The register lists every page and heading id that was ever published, one a line, such as
`link/topo/nvswitch.html#实测`. A note that is renamed names its former id in `aliases`; a heading
that is renamed leaves `<a id="former-id"></a>` above it. What is in neither way reachable any
more is an error, so that nobody's bookmark dies unseen.
"""

from __future__ import annotations

import html
import json
import posixpath
from collections.abc import Iterable
from urllib.parse import quote

from hooks.findings import Finding, nearest
from hooks.notes import DEFAULT_LANGUAGE, LANGUAGES, Catalogue, Note, twin_ids

RULE = "address-lost"
_WORDS = {"zh": ("页面已移动", "这一页已移到："), "en": ("Page moved", "This page has moved to:")}


def page_address(note_id: str, language: str) -> str:
    """Return the address of a note's page below the site's root."""
    return f"{note_id}.html" if language == DEFAULT_LANGUAGE else f"{language}/{note_id}.html"


def current(notes: Catalogue) -> list[str]:
    """Return every address that the site answers to, headings included, sorted.

    A page in a language that its note is not written in shows the other one: its headings have
    the ids of that note.
    """
    found: set[str] = set()
    for note_id in notes.ids():
        for language in LANGUAGES:
            note = notes.in_language(note_id, language)
            if note is not None:
                page = page_address(note_id, language)
                found.add(page)
                found.update(f"{page}#{name}" for name in _ids(note, notes))
    return sorted(found)


def _ids(note: Note, notes: Catalogue) -> set[str]:
    ids = {heading.id for heading in note.source.headings}
    ids.update(tag.get("id") or "" for tag in note.source.tags)
    twin = notes.twin(note, "en" if note.language == "zh" else "zh")
    if twin is not None:
        ids.update(twin_ids(note, twin).values())
    return ids - {""}


def redirects(notes: Catalogue) -> dict[str, str]:
    """Map each former address of a page to the address of the note that took its place."""
    found = {}
    for note in notes.notes.values():
        for alias in note.meta.aliases if note.meta else ():
            for language in LANGUAGES:
                found[page_address(alias, language)] = page_address(note.id, language)
    return found


def check_aliases(notes: Catalogue) -> list[Finding]:
    """Report former ids that are in use, or claimed by two notes."""
    findings = []
    taken: dict[str, str] = {}
    ids = set(notes.ids())
    for note in notes.notes.values():
        for alias in note.meta.aliases if note.meta else ():
            holder = taken.setdefault(alias, note.id)
            line = next((n for n, text in enumerate(note.text.split("\n"), 1) if alias in text), 1)
            if alias in ids:
                message = f"alias '{alias}' is the id of an existing note"
            elif holder != note.id:
                message = f"alias '{alias}' is claimed by '{holder}' too"
            else:
                continue
            findings.append(Finding(note.file, line, 1, "alias", message, target=alias))
    return findings


def check_register(lines: Iterable[str], notes: Catalogue, file: str) -> list[Finding]:
    """Report each registered address that leads nowhere any more, and how to mend it."""
    now = set(current(notes))
    moved = redirects(notes)
    findings = []
    for number, line in enumerate(lines, start=1):
        address = line.strip()
        if not address or address.startswith("#"):
            continue
        page, hash_sign, fragment = address.partition("#")
        target = moved.get(page, page)
        if f"{target}{hash_sign}{fragment}" in now:
            continue
        if target not in now:
            message = (
                f"'{page}' was published and is gone; add its id to 'aliases' of its successor"
            )
        else:
            message = (
                f"'{address}' was published; put '<a id=\"{fragment}\"></a>' above what replaced it"
            )
        same_page = [one for one in now if one.startswith(f"{target}#")]
        hint = nearest(f"{target}#{fragment}", same_page) if hash_sign else nearest(page, moved)
        findings.append(Finding(file, number, 1, RULE, message, address, hint))
    return findings


def merged(lines: Iterable[str], notes: Catalogue) -> str:
    """Return the register with the addresses of today added; none is ever dropped."""
    kept = {line.strip() for line in lines if line.strip() and not line.startswith("#")}
    head = "# Every address ever published. Written by: make register. Never delete a line.\n"
    return head + "".join(f"{address}\n" for address in sorted(kept | set(current(notes))))


def redirect_page(old: str, new: str, language: str, canonical: str = "") -> str:
    """Return the page that stands at a former address and leads on, fragment included.

    It needs no server, works from a folder, and without script too (then without fragment).
    """
    relative = posixpath.relpath(new, posixpath.dirname(old) or ".")
    address = quote(relative)
    title, text = _WORDS[language]
    link = f'<link rel="canonical" href="{html.escape(canonical)}">' if canonical else ""
    return (
        f'<!doctype html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{title}</title>\n{link}\n"
        f'<meta name="robots" content="noindex">\n'
        f"<script>location.replace({json.dumps(address)} + location.hash)</script>\n"
        f'<meta http-equiv="refresh" content="1; url={address}">\n</head>\n'
        f'<body><p>{text} <a href="{address}">{html.escape(relative)}</a></p></body>\n</html>\n'
    )
