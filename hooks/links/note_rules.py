"""Rules about a note by itself: its references, footnotes, headings, ids and fences."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hooks.findings import Finding, nearest
from hooks.markdown import Heading, Link, LinkKind, Source, normal_label
from hooks.notes import Note

_CITATION = re.compile(r"\d+(?:\s*[-,–]\s*\d+)*\Z")
_SUBSCRIPT_BEFORE = re.compile(r"[A-Za-z0-9_)\]]\Z")
# `[^a-z]` and the like are regular expressions, not footnotes that someone forgot to write.
_ODD_IN_LABEL = re.compile(r"[^\w.:\- ]")
_RANGES = re.compile(r"(?:\w-\w)+\w?\Z")
_SHOWN_RAW = {
    "link": ("link-syntax", "a link needs '(' right behind ']', and ')', of half width"),
    "container": ("admonition", "this renderer has no such blocks; write '> [!NOTE]'"),
    "tag": (
        "markdown-in-html",
        'the tag around it needs markdown="1" too, at the start of its line',
    ),
}
"""The rule of each kind of markup that readers see, and what is wrong with it."""
_NO_TARGETS = frozenset({"#", "<>", ""})


def of_note(file: str, text: str, source: Source) -> Iterator[Finding]:
    """Yield every finding about a text by itself.

    Args:
        file: The path that findings name.
        text: The text, includes put in.
        source: Its parse.
    """
    lines = text.split("\n")
    yield from references(file, lines, source)
    yield from footnotes(file, source)
    yield from headings(file, source.headings)
    yield from repeated_ids(file, source)
    for number, reason in source.broken_fences:
        message = f"this is no fence on the site, though GitHub shows one: {reason}"
        yield Finding(file, number, 1, "fence", message, target=_line(lines, number).strip())
    for raw in source.shown_raw:
        rule, why = _SHOWN_RAW[raw.kind]
        message = f"'{raw.text}' is shown as it is written: {why}"
        yield Finding(file, raw.line, raw.column, rule, message, raw.text, raw.repair)
    for link in source.unread_links:
        message = (
            f"'[{link.text}]({link.target})' inside raw HTML stays plain text on the site, though "
            'GitHub makes a link of it; write markdown="1" into the tag at the start of a line'
        )
        yield Finding(file, link.line, link.column, "markdown-in-html", message, target=link.target)


def _line(lines: list[str], number: int) -> str:
    return lines[number - 1] if 0 < number <= len(lines) else ""


def references(file: str, lines: list[str], source: Source) -> Iterator[Finding]:
    """Yield references without a definition, definitions without a use, and doubled ones."""
    defined: dict[str, Link] = {}
    for link in source.definitions:
        first = defined.setdefault(link.text, link)
        if first is not link and link.target not in _NO_TARGETS:
            message = f"'[{link.text}]' is defined at line {first.line} already"
            if first.target != link.target:
                message += f"; GitHub leads to '{first.target}', the site to '{link.target}'"
            yield Finding(file, link.line, 1, "shadowed-definition", message, target=link.target)
    used = set()
    for link in source.links:
        if link.kind is not LinkKind.REFERENCE:
            continue
        label = normal_label(link.target)
        used.add(label)
        if link.text and not link.text.strip():
            rule = "image-alt" if link.is_image else "empty-link"
            message = f"the {'image' if link.is_image else 'link'} '[][{link.target}]' has no text"
            yield Finding(file, link.line, link.column, rule, message, target=link.target)
        if link.is_unread:
            message = (
                f"'[{link.target}]' is a link on GitHub alone: the site finds no definition for a "
                "label with code or an escape in it; write '[words][label]' with a plain label"
            )
            yield Finding(
                file, link.line, link.column, "view-difference", message, target=link.target
            )
            continue
        if label in defined or _is_prose(link, lines):
            continue
        bang = "!" if link.is_image else ""
        message = f"reference '{bang}[{link.text}][{link.target}]' is not defined"
        hint = nearest(label, defined)
        yield Finding(
            file, link.line, link.column, "undefined-reference", message, link.target, hint
        )
    for label, link in defined.items():
        # `[//]: # (words)` is how comments are written.
        if label not in used and link.target not in _NO_TARGETS and label not in ("//", "comment"):
            message = f"link definition '[{label}]' is used nowhere"
            yield Finding(file, link.line, 1, "unused-definition", message, target=label)


def _is_prose(link: Link, lines: list[str]) -> bool:
    """Tell whether brackets that follow each other are an array, citations or an empty box."""
    if _CITATION.match(link.text) and _CITATION.match(link.target):
        return True
    if not link.text.strip() and not link.target.strip():
        return True
    line = _line(lines, link.line)
    # The label's column, less the text and the brackets around both, is where the text begins.
    start = line.rfind(f"[{link.text}]", 0, link.column)
    return start > 0 and _SUBSCRIPT_BEFORE.search(line[:start]) is not None


def footnotes(file: str, source: Source) -> Iterator[Finding]:
    """Yield footnotes without a definition, without a use, and defined twice."""
    defined: dict[str, Link] = {}
    for mark in source.footnote_definitions:
        first = defined.setdefault(mark.target, mark)
        if first is not mark:
            message = f"footnote '[^{mark.target}]' is defined at line {first.line} already"
            yield Finding(file, mark.line, mark.column, "footnote", message, target=mark.target)
    used = {mark.target for mark in source.footnote_uses}
    for mark in source.footnote_uses:
        if mark.target not in defined and not _is_character_class(mark.target):
            message = f"footnote '[^{mark.target}]' is not defined"
            hint = nearest(mark.target, defined)
            yield Finding(file, mark.line, mark.column, "footnote", message, mark.target, hint)
    for name, mark in defined.items():
        if name not in used:
            message = f"footnote '[^{name}]' is used nowhere"
            yield Finding(file, mark.line, mark.column, "footnote", message, target=name)


def _is_character_class(label: str) -> bool:
    return _ODD_IN_LABEL.search(label) is not None or _RANGES.match(label) is not None


def headings(file: str, found: tuple[Heading, ...]) -> Iterator[Finding]:
    """Yield headings alike, and levels that jump."""
    seen: dict[str, int] = {}
    before = 0
    for heading in found:
        if heading.text in seen and not heading.is_explicit:
            message = f"heading '{heading.text}' stands already at line {seen[heading.text]}"
            yield Finding(file, heading.line, 1, "duplicate-heading", message, target=heading.text)
        seen.setdefault(heading.text, heading.line)
        if heading.level == 1 and before:
            message = f"second heading of level 1: '{heading.text}'"
            yield Finding(file, heading.line, 1, "heading-level", message, target=heading.text)
        elif before and heading.level > before + 1:
            message = f"heading '{heading.text}' jumps from level {before} to {heading.level}"
            yield Finding(file, heading.line, 1, "heading-level", message, target=heading.text)
        before = heading.level


def repeated_ids(file: str, source: Source) -> Iterator[Finding]:
    """Yield ids that stand on a page more than once: of headings, HTML and attribute lists."""
    found: list[tuple[int, int, str]] = [
        (heading.line, 1, heading.id) for heading in source.headings if not heading.is_explicit
    ]
    found += [(anchor.line, anchor.column, anchor.id) for anchor in source.anchors]
    first: dict[str, int] = {}
    for line, column, identifier in sorted(found):
        if identifier and identifier in first:
            message = f"id '{identifier}' stands already at line {first[identifier]}"
            yield Finding(file, line, column, "duplicate-id", message, target=identifier)
        elif identifier:
            first[identifier] = line


def of_tags(file: str, source: Source) -> Iterator[Finding]:
    """Yield HTML images without alternative text and HTML links without words."""
    for tag in source.tags:
        if tag.name == "img" and tag.get("alt") is None:
            message = "image without alternative text; add alt, empty where it only decorates"
            yield Finding(file, tag.line, tag.column, "image-alt", message, target=tag.text)
        elif tag.name == "a" and tag.is_empty and tag.get("href"):
            message = f"the link to '{tag.get('href')}' has no text"
            yield Finding(file, tag.line, tag.column, "empty-link", message, target=tag.text)


def title_heading(note: Note) -> Iterator[Finding]:
    """Yield the first heading when it is not the note's title."""
    if note.meta is None:
        return
    first = note.source.headings[0] if note.source.headings else None
    if first is None or first.level != 1 or first.text != note.meta.title:
        message = f"the first heading must be '# {note.meta.title}', as in the title field"
        line = first.line if first else 1
        target = first.text if first else ""
        yield Finding(note.file, line, 1, "title-heading", message, target=target)
