"""Learning paths as readers see them: all of them on one page, and as cards."""

from __future__ import annotations

from collections.abc import Sequence

from hooks.data import Layout, LearningPath
from hooks.data import paths as learning
from hooks.findings import Document, Finding, nearest
from hooks.notes import Catalogue, all_needed, minutes, needed
from hooks.pages.view import View, escape

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


def render(view: View, paths: Sequence[LearningPath]) -> str:
    """Return every path as Markdown: for whom, how long, and a numbered list."""
    return "\n\n".join(_path(view, path) for path in paths)


def _path(view: View, path: LearningPath) -> str:
    words, on_it = view.words("paths"), {step.note for step in path.notes}
    lines, total = [], 0
    for step in path.notes:
        note = view.note(step.note)
        assert note is not None
        time = minutes(note)
        total += time
        mark = f'<span class="path__note" data-done="{note.id}" data-minutes="{time}">'
        shown = words["minutes"].format(time)
        line = f"1. {mark}{view.link(note)}</span> <small>{shown}</small>"
        if step.why:
            line += words["colon"] + escape(step.why.in_language(view.language))
        needs = [one for one in (note.meta.prerequisites if note.meta else ()) if one not in on_it]
        if links := words["and"].join(map(view.link, filter(None, map(view.note, needs)))):
            line += f"<br><small>{words['needs'].format(links)} ({words['other']})</small>"
        lines.append(line)
    head = f"## {escape(path.title.in_language(view.language))} {{: #{path.id} }}"
    count = words["sum"].format(len(path.notes), total)
    body = "\n".join(lines)
    return (
        f"{head}\n\n{escape(path.reader.in_language(view.language))}\n\n"
        f'<div class="path" data-path="{path.id}" markdown="1">\n\n'
        f'<p class="path__sum">{count}</p>\n\n{body}\n\n</div>'
    )


def cards(view: View, paths: Sequence[LearningPath]) -> str:
    """Return every path as a card in Markdown: how long, for whom, and where it starts."""
    words, page, lines = view.words("paths"), view.note(PAGE), []
    for path in paths:
        read = [note for step in path.notes if (note := view.note(step.note))]
        name = path.title.in_language(view.language)
        title = view.link(page, path.id, name) if page is not None else escape(name)
        hours = max(1, round(sum(map(minutes, read)) / 60))
        lines.append(
            f"- **{title}**<br><small>{words['hours'].format(len(read), hours)}</small><br>"
            f"{escape(path.reader.in_language(view.language))}<br>"
            f"<small>{words['start'].format(view.link(read[0]))}</small>"
        )
    body = "\n".join(lines)
    return f'<div class="path-cards" markdown="1">\n\n{body}\n\n</div>'


def load(layout: Layout, notes: Catalogue) -> tuple[tuple[LearningPath, ...], list[Finding]]:
    """Return the learning paths, none where one is bad, and what is wrong with them."""
    found, document, findings = learning.load_paths(layout.paths, layout.name(layout.paths))
    if found and document is not None:
        findings += check(found, document, notes)
    return (() if findings else found), findings
