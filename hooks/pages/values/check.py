"""Sentence values in notes: each number is what its marker names, in both languages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hooks.findings import Finding
from hooks.pages.values.markers import (
    MarkerError,
    Truth,
    compare,
    context,
    is_marker,
    missing_terms,
    parse,
)

if TYPE_CHECKING:
    from hooks.notes import Catalogue, Note
    from hooks.pages.values.values import Resolver


def check_note(note: Note, notes: Catalogue, resolver: Resolver) -> list[Finding]:
    """Check every marker of a note, and that its twin has the same ones."""
    findings: list[Finding] = []
    if any(is_marker(comment.text) for comment in note.source.comments):
        findings += _check_note(note, resolver)
    twin = notes.twin(note, "en" if note.language == "zh" else "zh")
    if twin is not None:
        findings += _only_here(note, twin)
    return findings


def _check_note(note: Note, resolver: Resolver) -> list[Finding]:
    findings = []
    lines = note.text.split("\n")
    for comment in note.source.comments:
        if not is_marker(comment.text):
            continue
        before = lines[comment.line - 1][: comment.column - 1]
        try:
            if re.match(r"[ >]*#{1,6} ", lines[comment.line - 1]):
                raise MarkerError("a heading holds no values: its id would change with them")
            marker = parse(comment.text)
            truth = resolver.resolve(marker, note.language).truth
            compare(before, truth, marker, note.language)
            if not marker.skips_terms:
                sentence = context(lines, comment.line, comment.column)
                _require_terms(sentence, truth, note.language)
        except MarkerError as error:
            findings.append(
                Finding(
                    *(note.file, comment.line, comment.column, error.rule, str(error)),
                    error.target,
                    error.hint,
                )
            )
    return findings


def _require_terms(sentence: str, truth: Truth, language: str) -> None:
    lacking = missing_terms(sentence, truth, language)
    if lacking:
        message = (
            f"the sentence does not say '{' / '.join(lacking)}', which the figure is; "
            "or put terms=above at the end of the marker where it is said before"
        )
        raise MarkerError(message, rule="value-terms", target=lacking[0])


def _keys(note: Note) -> dict[str, list[tuple[int, int]]]:
    found: dict[str, list[tuple[int, int]]] = {}
    for comment in note.source.comments:
        if is_marker(comment.text):
            try:
                key = parse(comment.text).key
            except MarkerError:
                continue
            found.setdefault(key, []).append((comment.line, comment.column))
    return found


def _only_here(note: Note, twin: Note) -> list[Finding]:
    ours, theirs = _keys(note), _keys(twin)
    findings = []
    for key, places in ours.items():
        if len(places) > len(theirs.get(key, [])):
            message = f"the marker '{key}' is not in {twin.file} as often as here; add it there"
            findings.append(Finding(note.file, *places[-1], "value-twin", message, target=key))
    return findings


def sources_of(note: Note, resolver: Resolver) -> set[str]:
    """Return the keys of the sources that a note's markers lead to."""
    found = set()
    for comment in note.source.comments:
        if is_marker(comment.text):
            try:
                found.add(resolver.resolve(parse(comment.text), note.language).source)
            except MarkerError:
                continue
    return found - {""}
