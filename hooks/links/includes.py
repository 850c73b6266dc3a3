"""Put included files into a note as the site does, remembering where each line came from.

Only what is included outside fences is put in: inside a fence it is code. What is wrong with the
include itself is reported here too.
Source: pymdownx/snippets.py 13.1.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from hooks.findings import Finding, nearest
from hooks.notes import Note

_INCLUDE = re.compile(
    r"""(?P<space>[ \t]*)-+8<-+[ \t]+"""
    r"""(?:"(?P<double>(?:\\"|[^"])+)"|'(?P<single>(?:\\'|[^'])+)')[ \t]*\Z"""
)
_BLOCK = re.compile(r"(?P<space>[ \t]*)-+8<-+[ \t]*\Z")
_BARE = re.compile(r"[ \t]*-+8<-+[ \t]+(?P<path>[^\s\"'\[]\S*)[ \t]*\Z")
_SECTION_MARK = re.compile(r"-+8<-+[ \t]+\[[ \t]*(?P<type>start|end)[ \t]*:[ \t]*(?P<name>[\w-]+)")
_SELECTION = re.compile(
    r":(?P<name>[A-Za-z_][\w-]*)\Z|(?P<ranges>(?::-?\d*){1,2}(?:,-?\d*:?-?\d*)*)\Z"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_DEEPEST = 20

Origin = tuple[str, int]
"""Path below the docs folder, and 1-based line."""


@dataclass(frozen=True, slots=True)
class Include:
    """An include as a note writes it."""

    path: str
    """The file, without the selection."""
    selection: str
    """`:name`, `:3:9` or nothing."""
    line: int
    column: int
    space: str
    path_written: str = ""
    """The path as it stands in the note, where that is another."""

    @property
    def written(self) -> str:
        """Path and selection, as they stand in the note."""
        return (self.path_written or self.path) + self.selection


@dataclass(frozen=True, slots=True)
class Expanded:
    """A text with its includes put in."""

    text: str
    origins: list[Origin]
    """Where each line came from."""


_LARGEST = 5_000_000
"""Bytes; a larger file is nothing that a note includes."""


class Texts(Mapping[str, str]):
    """The texts of files below a folder, read when they are asked for."""

    def __init__(self, docs: Path, paths: Collection[str]) -> None:
        """Know the folder and the paths of its files."""
        self.docs = docs
        self.paths = paths

    def __getitem__(self, path: str) -> str:
        """Return a file's text; of one too large for an include, nothing."""
        if path not in self:
            raise KeyError(path)
        file = self.docs / path
        if file.stat().st_size > _LARGEST:
            return ""
        return file.read_text(encoding="utf-8", errors="replace")

    def __contains__(self, path: object) -> bool:
        """Tell whether there is such a file."""
        return path in self.paths

    def __iter__(self) -> Iterator[str]:
        """Yield the paths."""
        return iter(self.paths)

    def __len__(self) -> int:
        """Count the files."""
        return len(self.paths)


def located(text: str) -> Iterator[Include]:
    """Yield the includes of a text with the paths that they mean."""
    for one in includes(text):
        if _SCHEME.match(one.path) or one.path.startswith("/"):
            yield one
        else:
            leaves = posixpath.normpath(one.path).startswith("..")
            yield replace(one, path="" if leaves else one.path, path_written=one.path)


def includes(text: str) -> Iterator[Include]:
    """Yield the includes of a text, line by line."""
    if "8<" not in text:
        return
    in_block = False
    space = ""
    for number, line in enumerate(text.split("\n"), start=1):
        if in_block:
            if _BLOCK.match(line):
                in_block = False
            elif line.strip() and not line.lstrip().startswith(";"):
                written = line.strip()
                yield _include(written, number, line.index(written) + 1, space)
            continue
        if "8<" not in line:
            continue
        match = _INCLUDE.match(line)
        bare = None if match else _BARE.match(line)
        if match:
            group = "double" if match["double"] else "single"
            yield _include(match[group], number, match.start(group) + 1, match["space"])
        elif bare:
            yield _include(bare["path"], number, bare.start("path") + 1, "")
        elif block := _BLOCK.match(line):
            in_block, space = True, block["space"]


def _include(written: str, line: int, column: int, space: str) -> Include:
    selection = _SELECTION.search(written)
    at = selection.start() if selection else len(written)
    return Include(written[:at].strip(), written[at:], line, column, space)


def select(text: str, selection: str) -> list[tuple[int, str]] | None:
    """Return the (1-based number, text) of the lines an include takes; None: no such section."""
    lines = list(enumerate(text.split("\n"), start=1))
    match = _SELECTION.match(selection) if selection else None
    if match and match["name"]:
        return _section(lines, match["name"])
    if match:
        chosen: list[tuple[int, str]] = []
        for part in selection[1:].split(","):
            first, _, last = part.partition(":")
            start = int(first) - 1 if first.isdigit() and int(first) else None
            start = int(first) if first.startswith("-") and first[1:].isdigit() else start
            end = int(last) if last.lstrip("-").isdigit() else None
            chosen += lines[slice(start, end)]
        return chosen
    return [line for line in lines if "8<" not in line[1] or not _SECTION_MARK.search(line[1])]


def _section(lines: list[tuple[int, str]], name: str) -> list[tuple[int, str]] | None:
    chosen: list[tuple[int, str]] = []
    inside = found = False
    for number, line in lines:
        mark = _SECTION_MARK.search(line) if "8<" in line else None
        if mark and mark["name"] == name:
            if mark["type"] == "end":
                if inside:
                    break
            else:
                inside = found = True
        elif inside and mark is None:
            chosen.append((number, line))
    return chosen if found else None


def expand(note: Note, read: Mapping[str, str]) -> Expanded | None:
    """Return a note's text with its includes put in; None when there are none outside fences."""
    if not any(not _in_fence(note, one.line) for one in includes(note.text)):
        return None
    lines: list[str] = []
    origins: list[Origin] = []

    def put(path: str, numbered: list[tuple[int, str]], space: str, seen: tuple[str, ...]) -> None:
        text = "\n".join(line for _, line in numbered)
        found = {one.line: one for one in located(text)}
        for row, (number, line) in enumerate(numbered, start=1):
            one = found.get(row)
            if one is None or (path == note.path and _in_fence(note, number)):
                lines.append(space + line if line else line)
                origins.append((path, number))
                continue
            source = read.get(one.path) if one.path not in seen and len(seen) < _DEEPEST else None
            chosen = select(source, one.selection) if source is not None else None
            put(one.path, chosen or [], space + one.space, (*seen, one.path))

    put(note.path, list(enumerate(note.text.split("\n"), start=1)), "", (note.path,))
    return Expanded("\n".join(lines), origins)


def put_in(line: str, read: Mapping[str, str]) -> str | None:
    """Return the text that a line with an include puts in its place; None for another line."""
    one = next(located(line), None)
    if one is None or one.path not in read:
        return None
    chosen = select(read[one.path], one.selection) or []
    return "\n".join((one.space + text).rstrip() for _, text in chosen)


def _in_fence(note: Note, line: int) -> bool:
    return any(
        fence.line <= line < fence.line + fence.text.count("\n") for fence in note.source.fences
    )


def check(
    note: Note,
    read: Mapping[str, str],
    known: list[str],
    notes: Mapping[str, Note],
) -> Iterator[Finding]:
    """Yield what is wrong with the includes of a note.

    Args:
        note: The note.
        read: Texts by path below the docs folder; a path that is absent does not exist.
        known: Every path below the docs folder.
        notes: Every note, to see one that includes itself.
    """
    for one in located(note.text):
        message, hint = "", ""
        if _SCHEME.match(one.path):
            message = f"include '{one.written}' is an address; only files below docs/ are"
        elif one.path.startswith("/") or _leaves(one, read):
            message = f"include '{one.written}' leaves docs/, which is refused"
        elif one.path not in read:
            message = f"include '{one.path_written or one.path}' does not exist below docs/"
            hint = nearest(one.path_written or one.path, known, 0.7)
        elif one.path in notes and _leads_back(one.path, note.path, notes):
            message = f"include '{one.path}' leads back to itself"
        elif one.selection and select(read.get(one.path) or "", one.selection) is None:
            name = one.selection[1:]
            message = f"'{one.path}' has no section '{name}' (a line with '--8<-- [start:{name}]')"
        if message:
            yield Finding(note.file, one.line, one.column, "include", message, one.written, hint)


def _leaves(one: Include, read: Mapping[str, str]) -> bool:
    return ".." in (one.path_written or one.path).split("/") and one.path not in read


def _leads_back(path: str, start: str, notes: Mapping[str, Note]) -> bool:
    seen: set[str] = set()
    waiting = [path]
    while waiting:
        current = waiting.pop()
        if current == start:
            return True
        if current not in seen and current in notes:
            seen.add(current)
            waiting += [one.path for one in located(notes[current].text)]
    return False
