"""Rules about a note by itself: its references, footnotes, headings and ids."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hooks.findings import Finding, nearest
from hooks.markdown import Label, mark, place_in, split
from hooks.notes import Note

# `[^a-z]` and the like are regular expressions, not footnotes that someone forgot to write.
_ODD_IN_LABEL = re.compile(r"[^\w.:\- ]")
_RANGES = re.compile(r"(?:\w-\w)+\w?\Z")
_CODE_SPAN = re.compile(r"(`+)(?!`)[^\n]{0,300}?(?<!`)\1(?!`)")
_NO_TARGETS = frozenset({"#", "<>", ""})


def check(note: Note) -> Iterator[Finding]:
    """Yield every finding about a note's text by itself."""
    for where in (_odd, _definitions, _footnotes, _headings, _repeated_ids, _words, _title):
        for said in where(note):
            yield Finding(note.file, *said)


_Said = tuple[int, int, str, str, str, str]
"""Line, column, rule, message, target, suggestion."""


def _odd(note: Note) -> Iterator[_Said]:
    labels = [label.name for label in note.source.definitions]
    for one in note.source.odd:
        hint = nearest(one.text, labels) if one.rule == "undefined-reference" else one.repair
        yield one.line, one.column, one.rule, one.why, one.text, hint


def _definitions(note: Note) -> Iterator[_Said]:
    """Yield link definitions that nothing rests on, and doubled ones."""
    source, first = note.source, dict[str, Label]()
    for one in source.definitions:
        known = first.setdefault(one.name, one)
        if known is not one and one.target not in _NO_TARGETS:
            message = f"'[{one.name}]' is defined at line {known.line} already"
            if known.target != one.target:
                message += f"; GitHub leads to '{known.target}', the site to '{one.target}'"
            yield one.line, 1, "shadowed-definition", message, one.target, ""
    only_github = {one.text for one in source.odd if one.rule == "view-difference"}
    for name, one in first.items():
        # `[//]: # (words)` is how comments are written.
        is_comment = name in ("//", "comment") or one.target in _NO_TARGETS
        if name in source.unused - only_github and not is_comment:
            message = f"link definition '[{name}]' is used nowhere"
            yield one.line, 1, "unused-definition", message, name, ""


def _footnotes(note: Note) -> Iterator[_Said]:
    """Yield footnotes without a definition, without a use, and defined twice."""
    source, defined = note.source, dict[str, Label]()
    for one in source.footnote_definitions:
        first = defined.setdefault(one.name, one)
        if first is not one:
            message = f"footnote '[^{one.name}]' is defined at line {first.line} already"
            yield one.line, one.column, "footnote", message, one.name, ""
    for one in source.footnote_uses:
        is_class = _ODD_IN_LABEL.search(one.name) or _RANGES.match(one.name)
        if one.name not in defined and not is_class:
            message = f"footnote '[^{one.name}]' is not defined"
            yield one.line, one.column, "footnote", message, one.name, nearest(one.name, defined)
    used = {one.name for one in source.footnote_uses}
    for name, one in defined.items():
        if name not in used:
            message = f"footnote '[^{name}]' is used nowhere"
            yield one.line, one.column, "footnote", message, name, ""


def _headings(note: Note) -> Iterator[_Said]:
    """Yield headings alike, and levels that jump."""
    seen: dict[str, int] = {}
    before = 0
    for one in note.source.headings:
        if one.text in seen and not one.is_explicit:
            message = f"heading '{one.text}' stands already at line {seen[one.text]}"
            yield one.line, 1, "duplicate-heading", message, one.text, ""
        seen.setdefault(one.text, one.line)
        message = ""
        if one.level == 1 and before:
            message = f"second heading of level 1: '{one.text}'"
        elif before and one.level > before + 1:
            message = f"heading '{one.text}' jumps from level {before} to {one.level}"
        if message:
            yield one.line, 1, "heading-level", message, one.text, ""
        before = one.level


def _repeated_ids(note: Note) -> Iterator[_Said]:
    """Yield ids that stand on a page more than once, at the second place that gives them."""
    for name in note.source.repeated:
        places: dict[int, int] = {}
        prose = mark(note.text).prose
        for match in _giving(name).finditer(prose):
            places.setdefault(*place_in(prose, match.start(match.lastgroup or 0)))
        for one in note.source.headings:
            if one.id == name:
                places.setdefault(one.line, 1)
        (first, _), *others = sorted(places.items()) or [(1, 1)]
        for line, column in others or [(first, 1)]:
            message = f"id '{name}' stands already at line {first}"
            yield line, column, "duplicate-id", message, name, ""


def _giving(name: str) -> re.Pattern[str]:
    """Return what matches an attribute, or an attribute list, that gives an id."""
    return re.compile(
        rf"""\b(?:id|name)\s*=\s*["']?(?P<a>{re.escape(name)})(?![\w-])"""
        rf"""|\{{[^}}\n]*#(?P<b>{re.escape(name)})(?![\w-])"""
    )


def is_only_quoted(note: Note, name: str) -> bool:
    """Tell whether the code of a note holds what elsewhere would give this id."""
    code = [fence.text for fence in note.source.fences]
    code += [match.group() for match in _CODE_SPAN.finditer(split(note.text).body)]
    words = re.escape(name).replace("\\-", "[ -]")
    heading = re.compile(rf"^\s*#+ +{words}\s*$", re.MULTILINE | re.IGNORECASE)
    return any(_giving(name).search(text) or heading.search(text) for text in code)


def _words(note: Note) -> Iterator[_Said]:
    """Yield links and images without words, and those that lead nowhere."""
    for link in note.source.links:
        rule = "image-alt" if link.is_image else "empty-link"
        message = ""
        if not link.where and not link.text.strip():
            message = f"the link to '{link.target}' has no text"
            if link.is_image:
                message = f"image '{link.target}' has no alternative text"
        elif not link.target.strip():
            rule, words = "empty-link", f"<{link.text}>" if link.where else link.text
            message = f"the {'image' if link.is_image else 'link'} '{words}' leads nowhere"
        if message:
            yield link.line, link.column, rule, message, link.target.strip(), ""
    for tag in note.source.tags:
        if tag.name == "img" and tag.get("alt") is None:
            message = "image without alternative text; add alt, empty where it only decorates"
            yield tag.line, tag.column, "image-alt", message, tag.text, ""
        elif tag.name == "a" and tag.is_empty and tag.get("href"):
            message = f"the link to '{tag.get('href')}' has no text"
            yield tag.line, tag.column, "empty-link", message, tag.text, ""


def _title(note: Note) -> Iterator[_Said]:
    """Yield the first heading when it is not the note's title."""
    first = note.source.headings[0] if note.source.headings else None
    title = note.meta.title if note.meta is not None else None
    if title is not None and (first is None or first.level != 1 or first.text != title):
        message = f"the first heading must be '# {title}', as in the title field"
        line, text = (first.line, first.text) if first else (1, "")
        yield line, 1, "title-heading", message, text, ""
