"""Check where the notes lead, without building the site.

A link must work in both places where people read: on the site, and in GitHub's view of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hooks.findings import Finding, nearest
from hooks.links.judge import Judge
from hooks.links.settings import Settings
from hooks.notes import Catalogue, Note


def check_links(
    catalogue: Catalogue,
    settings: Settings | None = None,
    generated: Callable[[Note], frozenset[str]] = lambda _: frozenset(),
    only: Note | None = None,
) -> list[Finding]:
    """Check the addresses that every note, or one, names.

    Args:
        catalogue: The notes.
        settings: Where the handbook lies.
        generated: Gives the ids that a build adds to the page of a note.
        only: The note to check; default all.
    """
    judge = Judge(catalogue, settings or Settings(), generated)
    findings: set[Finding] = set()
    for note in [only] if only is not None else catalogue.notes.values():
        findings |= {*judge.of_note(note), *_prerequisites(note, catalogue)}
    return sorted(findings)


def _prerequisites(note: Note, catalogue: Catalogue) -> Iterator[Finding]:
    wanted = note.meta.prerequisites if note.meta is not None else []
    for one in wanted:
        if catalogue.in_language(one, note.language) is None:
            lines = enumerate(note.text.split("\n"), 1)
            line = next((number for number, words in lines if one in words), 1)
            message = f"prerequisite '{one}' does not exist"
            yield Finding(
                note.file, line, 1, "dead-link", message, one, nearest(one, catalogue.ids())
            )
