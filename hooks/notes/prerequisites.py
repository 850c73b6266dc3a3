"""What a note says must be read first: alike in both languages, and without circles."""

from __future__ import annotations

from hooks.findings import Finding
from hooks.notes.note import Catalogue, Note

RULE = "prerequisites"


def needed(catalogue: Catalogue) -> dict[str, tuple[str, ...]]:
    """Map the id of each note to the ids it names as `prerequisites`, by the Chinese file."""
    notes = {one: catalogue.in_language(one, "zh") for one in catalogue.ids()}
    return {
        one: tuple(note.meta.prerequisites) if note and note.meta else ()
        for one, note in notes.items()
    }


def check_prerequisites(catalogue: Catalogue) -> list[Finding]:
    """Report circles of prerequisites, each once, and twins that name different ones."""
    by_id = needed(catalogue)
    findings = []
    told: set[str] = set()
    for note_id in by_id:
        circle = _circle(note_id, by_id) if note_id not in told else []
        note = catalogue.in_language(note_id, "zh")
        if circle and note is not None:
            told.update(circle)
            way = " needs ".join(circle)
            message = f"prerequisites in a circle: {way}; one must not need the next"
            findings.append(_finding(note, message, circle[1]))
    for note in catalogue.notes.values():
        twin = catalogue.twin(note, "en") if note.language == "zh" else None
        if twin is None or note.meta is None or twin.meta is None:
            continue
        ours, theirs = note.meta.prerequisites, twin.meta.prerequisites
        if ours != theirs:
            message = f"prerequisites {theirs} differ from those of {note.file}: {ours}"
            findings.append(_finding(twin, message, ", ".join(theirs)))
    return findings


def _circle(start: str, by_id: dict[str, tuple[str, ...]]) -> list[str]:
    """Return the shortest way from a note back to itself, both ends named; empty if none."""
    ways, seen = [[start]], set()
    for way in ways:  # it grows
        for wanted in by_id.get(way[-1], ()):
            if wanted == start:
                return [*way, start]
            if wanted not in seen:
                seen.add(wanted)
                ways.append([*way, wanted])
    return []


def _finding(note: Note, message: str, target: str) -> Finding:
    return Finding(note.file, note.line_of("prerequisites"), 1, RULE, message, target=target)
