"""Read every note under a docs folder once, and say what cannot be read."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from hooks import cache
from hooks.findings import Finding
from hooks.markdown import read_all, split
from hooks.notes import fields
from hooks.notes.note import Catalogue, Note, language_of

# Line separators that editors do not show: str.splitlines() in other tools breaks there.
_ODD_SEPARATORS = {"\u2028": "U+2028", "\u2029": "U+2029", "\u0085": "U+0085", "\x0c": "U+000C"}


def read_note(
    path: str, data: bytes, docs: Path, prefix: str = "docs"
) -> tuple[Note, list[Finding]]:
    """Read one note.

    Args:
        path: Path below the docs folder, with forward slashes.
        data: The file's bytes.
        docs: The docs folder, which includes begin in.
        prefix: Its path from the repository root, for messages.

    Returns:
        The note (with `meta` None when its front matter is bad) and what is wrong with it.
    """
    notes, findings = _read({path: data}, docs, prefix, cache.Cache())
    return notes[path], findings


def _read(
    files: dict[str, bytes], docs: Path, prefix: str, kept: cache.Cache
) -> tuple[dict[str, Note], list[Finding]]:
    findings: list[Finding] = []
    parts = {}
    for path, data in files.items():
        file = f"{prefix}/{path}"
        text, problems = _decode(data, file)
        split_text = split(text)
        meta, bad_fields = fields.parse(split_text.yaml_text, file)
        findings += problems + bad_fields
        parts[path] = (file, text, split_text.body, meta)
    read = read_all([body for _, _, body, _ in parts.values()], docs, kept)
    notes = {
        path: Note(path, file, language_of(path), text, one, meta)
        for one, (path, (file, text, _, meta)) in zip(read, parts.items(), strict=True)
    }
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
        column = len(data[data.rfind(b"\n", 0, error.start) + 1 : error.start]) + 1
        message = f"byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8"
        findings.append(Finding(file, line, column, "encoding", message))
        text = data.decode("utf-8", errors="replace")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not any(char in text for char in _ODD_SEPARATORS):
        return text, findings
    for number, line_text in enumerate(text.split("\n"), start=1):
        for char, name in _ODD_SEPARATORS.items():
            if char in line_text:
                message = f"invisible line separator {name}; replace it by a line break or a space"
                column = line_text.index(char) + 1
                findings.append(Finding(file, number, column, "encoding", message))
    return text, findings


def _files(folder: Path) -> Iterator[str]:
    """Yield the paths of files below a folder; links are followed, hidden names left out."""
    seen: set[str] = set()
    waiting = [(os.fspath(folder), "")]
    while waiting:
        base, prefix = waiting.pop()
        real = os.path.realpath(base)
        if real in seen:  # a link that leads back up
            continue
        seen.add(real)
        try:
            entries = list(os.scandir(base))
        except OSError:
            continue
        for entry in entries:
            if entry.name[0] == ".":
                continue
            if entry.is_dir():
                if entry.name != "node_modules":
                    waiting.append((entry.path, f"{prefix}{entry.name}/"))
            elif entry.is_file():
                yield prefix + entry.name


def load(
    docs: Path, root: Path | None = None, kept: cache.Cache | None = None
) -> tuple[Catalogue, list[Finding]]:
    """Read all notes below a folder.

    Args:
        docs: The folder of notes.
        root: The repository root that messages are relative to; default: its parent.
        kept: What earlier runs have rendered.
    """
    prefix = Path(os.path.relpath(docs, root or docs.parent)).as_posix()
    paths = sorted(_files(docs))
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
        for note in notes[1:]:
            line = next(
                (n for n, text in enumerate(note.text.split("\n"), 1) if text.startswith("title:")),
                1,
            )
            message = f"title '{title}' is taken by {notes[0].file}; give one a title of its own"
            findings.append(Finding(note.file, line, 1, "duplicate-title", message, target=title))
    return findings


def tag_spellings(catalogue: Catalogue) -> list[Finding]:
    """Tags of one language that differ in letter case only share an id on the page of tags."""
    first: dict[tuple[str, str], tuple[str, Note]] = {}
    findings = []
    for note in sorted(catalogue.notes.values(), key=lambda note: note.file):
        for tag in note.meta.tags if note.meta is not None else []:
            known, where = first.setdefault((note.language, tag.lower()), (tag, note))
            if tag == known:
                continue
            lines = enumerate(note.text.split("\n"), 1)
            line = next((n for n, text in lines if text.startswith("tags:")), 1)
            message = f"tag '{tag}' is written '{known}' in {where.file}; write it the same way"
            findings.append(
                Finding(note.file, line, 1, "tag-spelling", message, target=tag, suggestion=known)
            )
    return findings
