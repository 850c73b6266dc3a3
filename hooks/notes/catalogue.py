"""Read every note under a docs folder once, and say what cannot be read."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hooks.findings import Finding
from hooks.markdown import parse, split
from hooks.notes import fields
from hooks.notes.cache import ERRORS, Memory, pack_finding
from hooks.notes.note import Catalogue, Note, language_of
from hooks.notes.packed import pack, unpack

# Line separators that editors do not show: str.splitlines() in other tools breaks there.
_ODD_SEPARATORS = {"\u2028": "U+2028", "\u2029": "U+2029", "\u0085": "U+0085", "\x0c": "U+000C"}


def read_note(
    path: str,
    data: bytes,
    docs_prefix: str = "docs",
) -> tuple[Note, list[Finding]]:
    """Parse one note.

    Args:
        path: Path below the docs folder, with forward slashes.
        data: The file's bytes.
        docs_prefix: The docs folder's path from the repository root, for messages.

    Returns:
        The note (with `meta` None when its front matter is bad) and what is wrong with it.
    """
    file = f"{docs_prefix}/{path}"
    text, findings = _decode(data, file)
    meta, bad_fields = fields.parse(split(text).yaml_text, file)
    source = parse(split(text).body)
    return Note(path, file, language_of(path), text, source, meta), findings + bad_fields


def _recall(path: str, data: bytes, prefix: str, kept: Any) -> tuple[Note, list[Finding]]:
    """Return a note as `read_note` does, from what an earlier run has kept of it.

    Raises:
        ERRORS: It is something else.
    """
    fields_kept, rows, source = kept
    meta = None
    if fields_kept is not None:
        meta = fields.recall(fields_kept)
    file = f"{prefix}/{path}"
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    note = Note(path, file, language_of(path), text, unpack(source), meta)
    return note, [Finding(*row) for row in rows]


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
    docs_dir: Path,
    root: Path | None = None,
    *,
    memory: Memory | None = None,
) -> tuple[Catalogue, list[Finding]]:
    """Read all notes below `docs_dir`.

    Args:
        docs_dir: The folder of notes.
        root: The repository root that messages are relative to; default: its parent.
        memory: What earlier runs found; notes that it knows are not parsed again.
    """
    prefix = Path(os.path.relpath(docs_dir, root or docs_dir.parent)).as_posix()
    base = os.fspath(docs_dir)
    notes: dict[str, Note] = {}
    others: set[str] = set()
    findings: list[Finding] = []
    for relative in sorted(_files(docs_dir)):
        if relative.endswith(".md"):
            with open(f"{base}/{relative}", "rb") as stream:  # noqa: PTH123 (ten times as fast)
                data = stream.read()
            note, problems = _read(relative, data, prefix, memory)
            notes[relative] = note
            findings.extend(problems)
        else:
            others.add(relative)
    catalogue = Catalogue(notes, frozenset(others))
    return catalogue, findings + duplicate_titles(catalogue) + tag_spellings(catalogue)


def _read(path: str, data: bytes, prefix: str, memory: Memory | None) -> tuple[Note, list[Finding]]:
    """Recall a note, or else read it and remember it."""
    if memory is None:
        return read_note(path, data, prefix)
    key = memory.marks[path] = memory.key("note", path, data)
    kept = memory.kept(path, key)
    if kept is not None:
        try:
            return _recall(path, data, prefix, kept)
        except ERRORS:
            pass
    note, findings = read_note(path, data, prefix)
    if any(finding.rule == "front-matter" for finding in findings):
        memory.mark_anew(path)  # what front matter says of a date changes with the day
    else:
        meta = note.meta.model_dump(mode="json") if note.meta is not None else None
        memory.keep(path, key, [meta, [pack_finding(one) for one in findings], pack(note.source)])
    return note, findings


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
