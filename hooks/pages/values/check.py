"""Sentence values in notes: each number is what its marker names, in both languages."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Iterator

from hooks.findings import Finding
from hooks.markdown import Comment
from hooks.notes import Catalogue, Note
from hooks.pages.values import markers
from hooks.pages.values.values import Resolver

_HEADING = re.compile(r"[ >]*#{1,6} ")


def check_note(note: Note, notes: Catalogue, resolver: Resolver) -> list[Finding]:
    """Check every marker of a note, and that its twin has the same ones."""
    findings: list[Finding] = []
    ours: dict[str, list[Comment]] = {}
    for comment, marker in _markers(note):
        try:
            if isinstance(marker, markers.MarkerError):
                raise marker
            ours.setdefault(marker.key, []).append(comment)
            _check(comment, marker, note, resolver)
        except markers.MarkerError as error:
            place = (note.file, comment.line, comment.column)
            findings.append(Finding(*place, error.rule, str(error), error.target, error.hint))
    twin = notes.twin(note)
    if twin is not None and ours:
        there = Counter(one.key for _, one in _markers(twin) if isinstance(one, markers.Marker))
        for key, comments in ours.items():
            if len(comments) > there[key]:
                message = f"the marker '{key}' is not in {twin.file} as often as here; add it there"
                place = (note.file, comments[-1].line, comments[-1].column)
                findings.append(Finding(*place, "value-twin", message, target=key))
    return findings


def _markers(note: Note) -> Iterator[tuple[Comment, markers.Marker | markers.MarkerError]]:
    """Yield the markers of a note, and what is wrong with those that cannot be read."""
    for comment in note.source.comments:
        if markers.is_marker(comment.text):
            try:
                yield comment, markers.parse(comment.text)
            except markers.MarkerError as error:
                yield comment, error


def _check(comment: Comment, marker: markers.Marker, note: Note, resolver: Resolver) -> None:
    lines, language = note.text.split("\n"), note.language
    line = lines[comment.line - 1]
    if _HEADING.match(line):
        raise markers.MarkerError("a heading holds no values: its id would change with them")
    truth = resolver.resolve(marker, language)
    markers.compare(line[: comment.column - 1], truth, marker, language)
    if marker.skips_terms:
        return
    said = markers.context(lines, comment.line, comment.column)
    lacking = markers.missing_terms(said, truth, language)
    if lacking:
        message = (
            f"the sentence does not say '{' / '.join(lacking)}', which the figure is; "
            "or put terms=above at the end of the marker where it is said before"
        )
        raise markers.MarkerError(message, rule="value-terms", target=lacking[0])


def sources_of(note: Note, resolver: Resolver) -> set[str]:
    """Return the keys of the sources that a note's markers lead to."""
    found = set()
    for _, marker in _markers(note):
        if isinstance(marker, markers.Marker):
            with contextlib.suppress(markers.MarkerError):
                found.add(resolver.resolve(marker, note.language).source)
    return found - {""}
