"""Read every note under a docs folder once, and say what cannot be read."""

from __future__ import annotations

import os
import re
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
    texts = [_decode(data, f"{prefix}/{path}", findings) for path, data in files.items()]
    read = read_all([split(text).body for text in texts], docs, kept)
    notes = {}
    for path, text, rendered in zip(files, texts, read, strict=True):
        file = f"{prefix}/{path}"
        meta, problems = fields.parse(split(text).yaml_text, file)
        findings += problems
        notes[path] = Note(path, file, language_of(path), text, rendered, meta)
    return notes, findings


def _decode(data: bytes, file: str, findings: list[Finding]) -> str:
    """Return the text of a file; what is wrong with its bytes is added to the findings."""
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
        message = "the file begins with a byte-order mark; save it as UTF-8 without one"
        findings.append(Finding(file, 1, 1, "encoding", message))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        place = place_in(data.decode("latin-1"), error.start)
        message = f"byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8"
        findings.append(Finding(file, *place, "encoding", message))
        text = data.decode("utf-8", errors="replace")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for match in _ODD_SEPARATOR.finditer(text):
        name = f"U+{ord(match.group()):04X}"
        message = f"invisible line separator {name}; replace it by a line break or a space"
        findings.append(Finding(file, *place_in(text, match.start()), "encoding", message))
    return text


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
    return catalogue, findings + _shared_names(catalogue)


def _shared_names(catalogue: Catalogue) -> list[Finding]:
    """Report, by language, notes with one title and tags that differ in letter case only.

    Such notes look alike in search results, and such tags share an id on the page of tags.
    """
    titles: dict[tuple[str, str], Note] = {}
    tags: dict[tuple[str, str], tuple[str, Note]] = {}
    findings = []
    for note in sorted(catalogue.notes.values(), key=lambda note: note.file):
        if note.meta is None:
            continue
        first = titles.setdefault((note.language, note.title), note)
        if first is not note:
            message = f"title '{note.title}' is taken by {first.file}; give one a title of its own"
            place = (note.file, note.line_of("title:"), 1)
            findings.append(Finding(*place, "duplicate-title", message, note.title))
        for tag in note.meta.tags:
            known, where = tags.setdefault((note.language, tag.lower()), (tag, note))
            if tag != known:
                message = f"tag '{tag}' is written '{known}' in {where.file}; write it the same way"
                place = (note.file, note.line_of("tags:"), 1)
                findings.append(Finding(*place, "tag-spelling", message, tag, known))
    return findings
