"""Small trees of notes for tests."""

from __future__ import annotations

from pathlib import Path

from hooks import catalogue
from hooks.findings import Finding
from hooks.records import Catalogue

HEAD = "---\ntitle: {title}\ndescription: d\nkind: note\nverified: 2026-01-02\n---\n\n# {title}\n\n"
FIRST_LINE = HEAD.count("\n") + 1
"""The line of a note's file on which the body of `note()` begins."""


def note(body: str, title: str = "T") -> str:
    """Return the text of a valid note with this body."""
    return HEAD.format(title=title) + body


def tree(tmp_path: Path, files: dict[str, str | bytes]) -> tuple[Catalogue, list[Finding]]:
    """Write files below `docs/` and read them back as a catalogue with its findings."""
    docs = tmp_path / "docs"
    for name, text in files.items():
        path = docs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return catalogue.load(docs, tmp_path)


def said(findings: list[Finding]) -> list[tuple[str, int, str, str]]:
    """Return (rule, line, target, suggestion) of each finding."""
    return [(one.rule, one.line, one.target, one.suggestion) for one in sorted(findings)]
