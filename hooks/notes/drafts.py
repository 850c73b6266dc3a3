"""Drafts: notes that a preview shows and the site leaves out; and what a scaffold left behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hooks.findings import Finding
from hooks.notes.navigation import Entry
from hooks.notes.new_note import MARKS, hints
from hooks.notes.note import Catalogue

_NOTICE = {
    "zh": "草稿：只在预览里可见，不会出现在站点、目录与搜索里。",
    "en": "A draft: seen in a preview alone, not on the site, in its contents or in its search.",
}


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


def published_nav(nav: Sequence[Any], drafts: frozenset[str]) -> list[Any]:
    """Return the `nav` of MkDocs without drafts."""
    kept: list[Any] = []
    for item in nav:
        named = item.items() if isinstance(item, dict) else [("", item)]
        for title, value in named:
            if isinstance(value, list):
                kept.append({title: published_nav(value, drafts)})
            elif value.removesuffix(".md") not in drafts:
                kept.append(item)
    return kept


def check_drafts(catalogue: Catalogue) -> list[Finding]:
    """Report what a scaffold wrote and nobody replaced: in a draft as a reminder."""
    findings = []
    known = hints()
    for note in catalogue.notes.values():
        severity = "warning" if note.is_draft else ""
        for number, line in enumerate(note.text.split("\n"), 1):
            text = line.removeprefix("description:").strip()
            if text in known:
                message = f"replace the hint '{text}' by what it asks for, or drop its section"
            elif line.startswith("title:") and line.rstrip().endswith(MARKS):
                message = f"give the note a title of its own instead of '{text[6:].strip()}'"
            else:
                continue
            findings.append(Finding(note.file, number, 1, "scaffold", message, text, "", severity))
    return findings
