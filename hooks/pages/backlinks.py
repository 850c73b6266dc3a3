"""Which notes lead to a note: shown at its foot, so that a reader finds the way up."""

from __future__ import annotations

from collections import defaultdict

from hooks.links import resolve
from hooks.notes import Catalogue, Note


def backlinks(catalogue: Catalogue, language: str) -> dict[str, list[Note]]:
    """Map each note id to the notes of that language that link to it or require it.

    Pages of topics and of the site itself are left out: they link to everything.
    """
    found: dict[str, dict[str, Note]] = defaultdict(dict)
    for note in catalogue.notes.values():
        if note.language != language or note.is_index or not note.topic:
            continue
        for target_id in linked_ids(note, catalogue):
            if target_id != note.id:
                found[target_id][note.id] = note
    return {
        target_id: [sources[key] for key in sorted(sources)] for target_id, sources in found.items()
    }


def linked_ids(note: Note, catalogue: Catalogue) -> list[str]:
    """Return the ids of the notes that a note requires or links to, as often as it does."""
    ids = list(note.meta.prerequisites) if note.meta else []
    for link in note.source.links:
        if not link.is_image and not link.where:
            path = resolve(link.target, note.path).path
            if path is not None and path in catalogue.notes:
                ids.append(catalogue.notes[path].id)
    return ids
