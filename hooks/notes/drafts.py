"""Drafts: how a note begins, what the site leaves out, and what a scaffold has left behind."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hooks.findings import Finding
from hooks.notes.fields import NOTE_ID
from hooks.notes.navigation import Entry, read_navigation
from hooks.notes.note import Catalogue

_NOTICE = {
    "zh": "草稿：只在预览里可见，不会出现在站点、目录与搜索里。",
    "en": "A draft: seen in a preview alone, not on the site, in its contents or in its search.",
}
_TWO_LETTERS = re.compile(r"(?:^|/)[a-z]{2}(?:/|$)")
_HINT = re.compile(r"^(?:description: )?(?P<hint>[^#\n:-][^\n:]*[.。])$", re.MULTILINE)
_SCAFFOLD = Path(__file__).with_name("scaffold")
_MARKS = ("（草稿）", " (draft)")  # how the title of a scaffold ends


class ScaffoldError(ValueError):
    """The note cannot be started; the message says why and what to do."""


def notice(language: str) -> str:
    """Return what the page of a draft says first, in a preview."""
    return f'<div class="admonition warning" data-search-exclude><p>{_NOTICE[language]}</p></div>'


def draft_ids(catalogue: Catalogue) -> frozenset[str]:
    """Return the ids of drafts; one language that is a draft holds the note back."""
    return frozenset(note.id for note in catalogue.notes.values() if note.is_draft)


def published(catalogue: Catalogue) -> Catalogue:
    """Return the notes that the site shows."""
    drafts = draft_ids(catalogue)
    if not drafts:
        return catalogue
    kept = {path: note for path, note in catalogue.notes.items() if note.id not in drafts}
    return replace(catalogue, notes=kept)


def published_entries(entries: Sequence[Entry], drafts: frozenset[str]) -> tuple[Entry, ...]:
    """Return the navigation without drafts."""
    return tuple(
        replace(entry, children=published_entries(entry.children, drafts))
        for entry in entries
        if entry.path.removesuffix(".md") not in drafts or not entry.path
    )


def new_note(root: Path, note_id: str) -> list[Path]:
    """Write `docs/<note_id>.md` and `.en.md` and add the note to the navigation.

    Returns the files written or changed.

    Raises:
        ScaffoldError: When the id is not valid, taken, or its topic has no index page.
    """
    if "/" not in note_id or not NOTE_ID.match(note_id):
        how = "write topic/name in lower case, such as link/topo/example"
        raise ScaffoldError(f"'{note_id}' is not a note id; {how}")
    if _TWO_LETTERS.search(note_id):
        why = "has a part of two letters, which would be read as a language; use a longer name"
        raise ScaffoldError(f"'{note_id}' {why}")
    topic, _, name = note_id.rpartition("/")
    if not (root / "docs" / topic / "index.md").is_file():
        raise ScaffoldError(f"topic '{topic}' has no docs/{topic}/index.md; write that page first")
    paths = {"zh": root / "docs" / f"{note_id}.md", "en": root / "docs" / f"{note_id}.en.md"}
    for path in paths.values():
        if path.exists():
            raise ScaffoldError(f"{path.relative_to(root)} exists already")
    _register(root / "mkdocs.yml", topic, note_id)
    for language, path in paths.items():
        text = (_SCAFFOLD / f"{language}.md").read_text(encoding="utf-8")
        title = name.replace("-", " ").capitalize()
        path.write_text(text.replace("{title}", title), encoding="utf-8")
    return [*paths.values(), root / "mkdocs.yml"]


def _register(config: Path, topic: str, note_id: str) -> None:
    """Add a note to the navigation, behind the last one of its topic."""
    pages = [page for entry in read_navigation(config) for page in entry.pages()]
    beside = [page.line for page in pages if page.path.rpartition("/")[0] == topic]
    if not beside:
        raise ScaffoldError(f"nav in mkdocs.yml lists nothing of topic '{topic}'; add its index")
    lines, last = config.read_text(encoding="utf-8").split("\n"), max(beside)
    lines.insert(last, f"{lines[last - 1].partition('-')[0]}- {note_id}.md")
    config.write_text("\n".join(lines), encoding="utf-8")


def check_drafts(catalogue: Catalogue) -> list[Finding]:
    """Report what a scaffold wrote and nobody replaced: in a draft as a reminder."""
    findings = []
    texts = (path.read_text(encoding="utf-8") for path in _SCAFFOLD.glob("*.md"))
    hints = {match["hint"] for text in texts for match in _HINT.finditer(text)}
    for note in catalogue.notes.values():
        severity = "warning" if note.is_draft else ""
        for number, line in enumerate(note.text.split("\n"), 1):
            text = line.removeprefix("description:").strip()
            if text in hints:
                message = f"replace the hint '{text}' by what it asks for, or drop its section"
            elif line.startswith("title:") and line.rstrip().endswith(_MARKS):
                message = f"give the note a title of its own instead of '{text[6:].strip()}'"
            else:
                continue
            findings.append(Finding(note.file, number, 1, "scaffold", message, text, "", severity))
    return findings
