"""Read every note under a docs folder once, and say what cannot be read."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from pathlib import Path

from hooks import cache
from hooks.findings import Finding
from hooks.markdown import place_in, read_all, split
from hooks.notes import fields
from hooks.notes.note import Catalogue, Note, language_of

# Line separators that editors do not show: str.splitlines() in other tools breaks there.
_ODD_SEPARATOR = re.compile("[\u2028\u2029\u0085\x0c]")


def read_note(
    path: str, data: bytes, docs: Path, prefix: str = "docs"
) -> tuple[Note, list[Finding]]:
    """Return one note, without `meta` when its front matter is bad, and what is wrong with it."""
    notes, findings = _read({path: data}, docs, prefix, cache.Cache())
    return notes[path], findings


def _read(
    files: dict[str, bytes], docs: Path, prefix: str, kept: cache.Cache
) -> tuple[dict[str, Note], list[Finding]]:
    findings: list[Finding] = []
    texts = {}
    for path, data in files.items():
        texts[path], problems = _decode(data, f"{prefix}/{path}")
        findings += problems
    read = read_all([split(text).body for text in texts.values()], docs, kept)
    notes = {}
    for (path, text), rendered in zip(texts.items(), read, strict=True):
        file = f"{prefix}/{path}"
        meta, problems = fields.parse(split(text).yaml_text, file)
        findings += problems
        notes[path] = Note(path, file, language_of(path), text, rendered, meta)
    return notes, findings


def _decode(data: bytes, file: str) -> tuple[str, list[Finding]]:
    findings = []
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
        message = "the file begins with a byte-order mark; save it as UTF-8 without one"
        findings.append(Finding(file, 1, 1, "encoding", message))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        message = f"byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8"
        findings.append(Finding(file, line, column, "encoding", message))
        text = data.decode("utf-8", errors="replace")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for match in _ODD_SEPARATOR.finditer(text):
        name = f"U+{ord(match.group()):04X}"
        message = f"invisible line separator {name}; replace it by a line break or a space"
        findings.append(Finding(file, *place_in(text, match.start()), "encoding", message))
    return text, findings


def _files(docs: Path) -> list[str]:
    """Return the paths of all files, sorted; links are followed, hidden names left out."""
    found: list[Path] = []
    for folder, names, files in os.walk(docs, followlinks=True):
        names[:] = [one for one in names if one[0] != "."]
        found += [Path(folder, one) for one in files if one[0] != "."]
    return sorted(path.relative_to(docs).as_posix() for path in found if path.is_file())


def load(
    docs: Path, root: Path | None = None, kept: cache.Cache | None = None
) -> tuple[Catalogue, list[Finding]]:
    """Read all notes below a folder; messages are relative to `root`, by default its parent."""
    prefix = Path(os.path.relpath(docs, root or docs.parent)).as_posix()
    paths = _files(docs)
    texts = {path: (docs / path).read_bytes() for path in paths if path.endswith(".md")}
    notes, findings = _read(texts, docs, prefix, kept or cache.Cache())
    catalogue = Catalogue(notes, frozenset(path for path in paths if path not in texts))
    return catalogue, findings + duplicate_titles(catalogue) + tag_spellings(catalogue)


def duplicate_titles(catalogue: Catalogue) -> list[Finding]:
    """Two notes of one language with one title cannot be told apart in search results."""
    by_title: dict[tuple[str, str], list[Note]] = defaultdict(list)
    for note in catalogue.notes.values():
        if note.meta is not None:
            by_title[note.language, note.title].append(note)
    findings = []
    for (_, title), notes in by_title.items():
        message = f"title '{title}' is taken by {notes[0].file}; give one a title of its own"
        findings += [
            Finding(one.file, one.line_of("title:"), 1, "duplicate-title", message, target=title)
            for one in notes[1:]
        ]
    return findings


def tag_spellings(catalogue: Catalogue) -> list[Finding]:
    """Tags of one language that differ in letter case only share an id on the page of tags."""
    first: dict[tuple[str, str], tuple[str, Note]] = {}
    findings = []
    for note in sorted(catalogue.notes.values(), key=lambda note: note.file):
        for tag in note.meta.tags if note.meta is not None else []:
            known, where = first.setdefault((note.language, tag.lower()), (tag, note))
            if tag != known:
                message = f"tag '{tag}' is written '{known}' in {where.file}; write it the same way"
                place = (note.file, note.line_of("tags:"), 1)
                findings.append(Finding(*place, "tag-spelling", message, tag, known))
    return findings
