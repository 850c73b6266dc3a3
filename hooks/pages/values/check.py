"""Sentence values in notes: each number is what its marker names, in both languages."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Iterator

from hooks.data import Layout
from hooks.findings import Finding
from hooks.markdown import Comment
from hooks.notes import Catalogue, Note
from hooks.pages.values.markers import (
    Marker,
    MarkerError,
    compare,
    context,
    is_marker,
    missing_terms,
    parse,
)
from hooks.pages.values.values import Resolver

_DOUBTS = ("value-differs", "value-unit")
_HEADING = re.compile(r"[ >]*#{1,6} ")


def check_note(note: Note, notes: Catalogue, resolver: Resolver) -> list[Finding]:
    """Check every marker of a note, and that its twin has the same ones."""
    findings: list[Finding] = []
    ours: dict[str, list[Comment]] = {}
    for comment, marker in _markers(note):
        try:
            if isinstance(marker, MarkerError):
                raise marker
            ours.setdefault(marker.key, []).append(comment)
            _check(comment, marker, note, resolver)
        except MarkerError as error:
            place = (note.file, comment.line, comment.column)
            findings.append(Finding(*place, error.rule, str(error), error.target, error.hint))
            if error.rule in _DOUBTS and isinstance(marker, Marker) and marker.kind == "fact":
                findings += _doubted(marker.parts, Layout(resolver.stock.docs))
    twin = notes.twin(note)
    if twin is not None and ours:
        there = Counter(one.key for _, one in _markers(twin) if isinstance(one, Marker))
        for key, comments in ours.items():
            if len(comments) > there[key]:
                message = f"the marker '{key}' is not in {twin.file} as often as here; add it there"
                place = (note.file, comments[-1].line, comments[-1].column)
                findings.append(Finding(*place, "value-twin", message, target=key))
    return findings


def _doubted(parts: dict[str, str], layout: Layout) -> Iterator[Finding]:
    """Say at a figure, once, that a note says otherwise: the figure or its unit may be wrong."""
    path = layout.facts / f"{parts['family']}.yml"
    if not path.is_file():
        return
    text = path.read_text(encoding="utf-8")
    cell = text.find(f"{parts['column']}:", text.find(f"  {parts['row']}:"))
    message = "a note says otherwise; is this figure wrong, or the unit of its column?"
    place = (layout.name(path), text.count("\n", 0, cell) + 1, 1)
    yield Finding(*place, "value-differs", message, parts["column"], severity="warning")


def _markers(note: Note) -> Iterator[tuple[Comment, Marker | MarkerError]]:
    """Yield the markers of a note, and what is wrong with those that cannot be read."""
    for comment in note.source.comments:
        if is_marker(comment.text):
            try:
                yield comment, parse(comment.text)
            except MarkerError as error:
                yield comment, error


def _check(comment: Comment, marker: Marker, note: Note, resolver: Resolver) -> None:
    lines, language = note.text.split("\n"), note.language
    line = lines[comment.line - 1]
    if _HEADING.match(line):
        raise MarkerError("a heading holds no values: its id would change with them")
    truth = resolver.resolve(marker, language)
    compare(line[: comment.column - 1], truth, marker, language)
    if marker.skips_terms:
        return
    lacking = missing_terms(context(lines, comment.line, comment.column), truth, language)
    if lacking:
        message = (
            f"the sentence does not say '{' / '.join(lacking)}', which the figure is; "
            "or put terms=above at the end of the marker where it is said before"
        )
        raise MarkerError(message, rule="value-terms", target=lacking[0])


def sources_of(note: Note, resolver: Resolver) -> set[str]:
    """Return the keys of the sources that a note's markers lead to."""
    found = set()
    for _, marker in _markers(note):
        if isinstance(marker, Marker):
            with contextlib.suppress(MarkerError):
                found.add(resolver.resolve(marker, note.language).source)
    return found - {""}
