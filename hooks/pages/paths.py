"""Learning paths as readers see them: all of them on one page, and as cards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hooks.data import paths as learning
from hooks.findings import nearest
from hooks.notes import all_needed, minutes, needed
from hooks.pages import contents
from hooks.pages.words import words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.data import Layout, LearningPath
    from hooks.findings import Document, Finding
    from hooks.notes import Catalogue

PAGE = "learn/index"
"""The note that shows them all."""


def check(paths: Sequence[LearningPath], document: Document, notes: Catalogue) -> list[Finding]:
    """Tell which steps name no note, or stand before one they need; the rule is `paths`."""
    findings = []
    by_id = needed(notes)
    for number, path in enumerate(paths):
        ids = [step.note for step in path.notes]
        for at, one in enumerate(ids):
            place = ("paths", number, "notes", at)
            if one not in by_id:
                message = f"path '{path.id}' names the note '{one}', which does not exist"
                hint = nearest(one, by_id)
                findings.append(document.finding("paths", place, message, one, hint))
                continue
            late = sorted(
                all_needed(one, by_id) & set(ids[at + 1 :]) - set(ids[:at]), key=ids.index
            )
            if late:
                message = (
                    f"path '{path.id}' puts '{one}' before '{late[0]}', which it needs; "
                    "change their order, or the prerequisites of the notes"
                )
                findings.append(document.finding("paths", place, message, one))
    return findings


def render(
    paths: Sequence[LearningPath], notes: Catalogue, language: str, *, prefix: str = ""
) -> str:
    """Return every path as Markdown: for whom, how long, and a numbered list."""
    return "\n\n".join(_path(path, notes, language, prefix) for path in paths)


def _path(path: LearningPath, notes: Catalogue, language: str, prefix: str) -> str:
    words = words_of("paths", language)
    on_it = {step.note for step in path.notes}
    lines, total = [], 0
    for step in path.notes:
        note = notes.in_language(step.note, language)
        assert note is not None
        total += minutes(note)
        shown = words["minutes"].format(minutes(note))
        mark = f'<span class="path__note" data-done="{note.id}" data-minutes="{minutes(note)}">'
        line = f"1. {mark}{contents.link(note, prefix)}</span> <small>{shown}</small>"
        if step.why:
            line += words["colon"] + contents.escape(step.why.in_language(language))
        wanted = [
            other
            for one in (note.meta.prerequisites if note.meta else [])
            if one not in on_it and (other := notes.in_language(one, language)) is not None
        ]
        if wanted:
            links = words["and"].join(contents.link(other, prefix) for other in wanted)
            said = words["needs"].format(links)
            line += f"<br><small>{said} ({words['other']})</small>"
        lines.append(line)
    head = f"## {contents.escape(path.title.in_language(language))} {{: #{path.id} }}"
    reader = contents.escape(path.reader.in_language(language))
    count = words["sum"].format(len(path.notes), total)
    body = "\n".join(lines)
    return (
        f'{head}\n\n{reader}\n\n<div class="path" data-path="{path.id}" markdown="1">\n\n'
        f'<p class="path__sum">{count}</p>\n\n{body}\n\n</div>'
    )


def cards(
    paths: Sequence[LearningPath], notes: Catalogue, language: str, *, prefix: str = ""
) -> str:
    """Return every path as a card in Markdown: how long, for whom, and where it starts."""
    words, page = words_of("paths", language), notes.in_language(PAGE, language)
    lines = []
    for path in paths:
        read = [note for step in path.notes if (note := notes.in_language(step.note, language))]
        title = contents.escape(path.title.in_language(language))
        if page is not None:
            title = contents.link(page, prefix, path.id, path.title.in_language(language))
        hours = max(1, round(sum(minutes(note) for note in read) / 60))
        lines.append(
            f"- **{title}**<br><small>{words['hours'].format(len(read), hours)}</small><br>"
            f"{contents.escape(path.reader.in_language(language))}<br>"
            f"<small>{words['start'].format(contents.link(read[0], prefix))}</small>"
        )
    body = "\n".join(lines)
    return f'<div class="path-cards" markdown="1">\n\n{body}\n\n</div>'


def load(layout: Layout, notes: Catalogue) -> tuple[tuple[LearningPath, ...], list[Finding]]:
    """Return the learning paths, none where one is bad, and what is wrong with them."""
    found, document, findings = learning.load_paths(layout.paths, layout.name(layout.paths))
    if found and document is not None:
        findings += check(found, document, notes)
    return (() if findings else found), findings
