"""Which notes rest on which source: by tables, charts and the numbers in prose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hooks.data import BlockError
from hooks.drawings.charts import spec
from hooks.pages import facts_table
from hooks.pages.values import check as values

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hooks.data import FactBase
    from hooks.notes import Catalogue, Note
    from hooks.pages.values.values import Resolver


def users(
    notes: Catalogue, language: str, keys: Callable[[Note], list[str]]
) -> dict[str, list[Note]]:
    """Return the notes of a language that show figures of a source, by the source's key.

    Args:
        notes: All notes.
        language: Whose notes are wanted.
        keys: Gives what `of_note` does.
    """
    found: dict[str, list[Note]] = {}
    for note in notes.notes.values():
        if note.language == language:
            for key in keys(note):
                found.setdefault(key, []).append(note)
    return found


def of_note(note: Note, base: FactBase, resolver: Resolver) -> list[str]:
    """Return the keys of the sources of which a note shows figures."""
    keys = values.sources_of(note, resolver)
    for fence in note.source.fences:
        keys.update(_of_fence(fence.info.split(" ")[0], fence.text, base, resolver.docs))
    return sorted(keys)


def _of_fence(kind: str, text: str, base: FactBase, docs: Path) -> list[str]:
    try:
        if kind == "facts":
            return facts_table.used_sources(text, base)
        return spec.read(text, base, docs, "en").sources if kind == "chart" else []
    except BlockError:
        return []  # the checks say what is wrong
