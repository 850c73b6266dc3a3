"""Pair the headings of a note with those of its twin in the other language.

Twins have the same headings in the same order and on the same levels. So each page can answer to
the other's ids too, a link keeps working across languages, and the language switch keeps place.
"""

from __future__ import annotations

from hooks.findings import Finding
from hooks.notes.note import Catalogue, Note


def check_pairs(catalogue: Catalogue) -> list[Finding]:
    """Report the first heading at which twins differ, naming both lines."""
    findings = []
    for note in catalogue.notes.values():
        twin = catalogue.twin(note, "en") if note.language == "zh" else None
        if twin is not None:
            finding = _first_difference(note, twin)
            if finding is not None:
                findings.append(finding)
    return findings


def _first_difference(note: Note, twin: Note) -> Finding | None:
    ours, theirs = note.source.headings, twin.source.headings
    for mine, other in zip(ours, theirs, strict=False):
        if mine.level != other.level:
            message = (
                f"heading '{other.text}' has level {other.level}, but its twin "
                f"'{mine.text}' at {note.file}:{mine.line} has level {mine.level}"
            )
            return Finding(twin.file, other.line, 1, "twin-headings", message, target=other.text)
    if len(ours) > len(theirs):
        extra = ours[len(theirs)]
        last = theirs[-1].line if theirs else 1
        message = f"no heading pairs with '{extra.text}' at {note.file}:{extra.line}; translate it"
        return Finding(twin.file, last, 1, "twin-headings", message, target=extra.text)
    if len(theirs) > len(ours):
        extra = theirs[len(ours)]
        last = ours[-1].line if ours else 1
        message = (
            f"heading '{extra.text}' has no counterpart in {note.file} (which ends at line {last})"
        )
        return Finding(twin.file, extra.line, 1, "twin-headings", message, target=extra.text)
    return None


def twin_ids(note: Note, twin: Note) -> dict[str, str]:
    """Map each heading id of a note to its twin's id, where they differ and none is taken.

    An id that the note uses for a heading of its own is never given to another heading.
    """
    own = {heading.id for heading in note.source.headings}
    pairs = zip(note.source.headings, twin.source.headings, strict=False)
    aliases: dict[str, str] = {}
    for mine, other in pairs:
        if other.id not in own and other.id not in aliases.values():
            aliases[mine.id] = other.id
    return aliases
