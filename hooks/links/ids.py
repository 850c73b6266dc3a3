"""The ids that a note answers to: on the site, and where GitHub shows the file.

Both make a heading's id by one rule. They part where an attribute list gives the id (GitHub shows
it as text), where a heading stands inside something GitHub does not know, and in included text.
"""

from __future__ import annotations

import re

from hooks.markdown import Source, github, split
from hooks.notes import Note

_ATX = re.compile(r" {0,3}#{1,6}(?:[ \t]|\Z)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*\Z")
_CODE_SPAN = re.compile(r"(`+)(?!`)[^\n]{0,300}?(?<!`)\1(?!`)")
_FENCE = re.compile(r"[> \t]*(?:```|~~~)")


def on_site(source: Source) -> frozenset[str]:
    """Return the ids of the page that the site makes of a text (includes put in)."""
    ids = {heading.id for heading in source.headings}
    ids.update(anchor.id for anchor in source.anchors)
    for mark in source.footnote_definitions:
        ids.add(f"fn:{mark.target}")
    ids.update(f"fnref:{mark.target}" for mark in source.footnote_uses)
    return frozenset(ids - {""})


def on_github(note: Note) -> frozenset[str]:
    """Return the ids that GitHub's view of a note has."""
    source = note.source
    if not _reads_alike(note):
        source = github.parse(split(note.text).body, explicit_ids=False)
    ids = {heading.id for heading in source.headings}
    ids.update(anchor.id for anchor in source.anchors if anchor.is_html)
    return frozenset(ids - {""})


def _reads_alike(note: Note) -> bool:
    """Tell whether the headings of a note are plainly the same in both views."""
    if note.source.broken_fences or any(one.is_explicit for one in note.source.headings):
        return False
    headings = {heading.line for heading in note.source.headings}
    inside = {
        number
        for fence in note.source.fences
        for number in range(fence.line - 1, fence.line + fence.text.count("\n") + 1)
    }
    before = ""
    for number, line in enumerate(split(note.text).body.split("\n"), start=1):
        if number not in inside:
            is_heading = line.startswith("#") and _ATX.match(line) is not None
            if is_heading != (number in headings) or "  " in (line.strip() if is_heading else ""):
                return False
            if before.strip() and line[:4].strip()[:1] in ("=", "-") and _UNDERLINE.match(line):
                return False
        before = line
    return True


def is_only_quoted(note: Note, name: str) -> bool:
    """Tell whether the code of a note holds what elsewhere would give this id."""
    code = [fence.text for fence in note.source.fences]
    code += [match.group() for match in _CODE_SPAN.finditer(split(note.text).body)]
    given = re.compile(
        rf"""(?:id|name)\s*=\s*["']?{re.escape(name)}(?![\w-])|\{{[^}}\n]*#{re.escape(name)}(?![\w-])"""
    )
    words = re.escape(name).replace("\\-", "[ -]")
    heading = re.compile(rf"^\s*#+ +{words}\s*$", re.MULTILINE | re.IGNORECASE)
    return any(given.search(text) or heading.search(text) for text in code)
