"""What earlier runs found in the texts of notes, by the hash of everything that it depends on.

Kept below `.cache/`, which may be deleted at any time. What is there is used only if it was written
for the same text at the same path, by the same code and libraries, under the same settings, and
only if it is whole. Verdicts that depend on other files are no part of it.

Verdicts that depend on more than one text are kept under the hash of all that they depend on, as
whoever asks names it (`recall`); what is wrong is looked at anew each time.

A shard is a file of lines: the hash of all that follows; the paths, the keys and what the checks
keep of its notes; then for each note a line with its parse.
"""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hooks.findings import Finding, has_errors, rules
from hooks.notes.packed import dumped, loaded, pack_finding

FOLDER = ".cache/check"
"""Where the memories of all trees lie, below the root of this repository."""
_SHARDS = 16
_VERDICTS = "verdicts"
_FOLDERS = 8
"""How many trees and settings are remembered; of more, the ones used longest ago are dropped."""
_ERRORS = (ValueError, TypeError, KeyError, IndexError, AttributeError)


@dataclass(slots=True)
class Entry:
    """What is known of one note."""

    key: str
    brief: Any
    """JSON: what the caller keeps, whatever it is."""
    source: bytes
    """The packed parse."""


def fingerprint() -> bytes:
    """Return a hash of the checker: its code and rules, interpreter, installed libraries."""
    mark = hashlib.blake2b(sys.version.encode())
    here = Path(__file__).parents[1]
    for path in sorted(here.rglob("*.py")):
        mark.update(path.relative_to(here).as_posix().encode() + b"\0" + path.read_bytes())
    mark.update(rules.FILE.read_bytes())
    folder = Path(sysconfig.get_path("purelib"))
    libraries = sorted(path.name for path in folder.iterdir() if path.name.endswith("-info"))
    mark.update("\n".join(libraries).encode())
    return mark.digest()


class Memory:
    """The entries of one tree under one set of settings."""

    def __init__(self, folder: Path, seed: str) -> None:
        """Open the memory.

        Args:
            folder: Where the memories of all trees lie; need not exist.
            seed: Whatever the entries depend on beside path, text and checker.
        """
        self.seed = hashlib.blake2b(fingerprint() + seed.encode("utf-8", "surrogatepass")).digest()
        # One folder a tree and settings: code may change without leaving old files behind.
        name = hashlib.blake2b(seed.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
        self.folder = folder / name
        self.shards: dict[int, dict[str, tuple[str, Any, bytes]]] = {}
        self.used: dict[str, Entry] = {}
        self.stale: set[int] = set()
        self.verdicts: dict[str, list[Any]] | None = None
        self.given: dict[str, list[Any]] = {}
        self.is_new = False

    def mark(self, path: str, text: str) -> str:
        """Return what stands for a note's path and text, and for how it is read."""
        entry = self.used.get(path)
        return entry.key if entry is not None else self.key(path, text.encode("utf-8", "replace"))

    def recall(
        self, name: str, depends: Iterable[str], find: Callable[[], Iterable[Finding]]
    ) -> list[Finding]:
        """Return the findings of a check, from an earlier run where nothing has changed.

        Args:
            name: The name of the check.
            depends: Everything that its verdict depends on, or hashes of it; the checker's own
                code and the settings go without saying.
            find: The check.
        """
        if self.verdicts is None:
            self.verdicts = _read_verdicts(self.folder / _VERDICTS)
        key = self.key(name, "\0".join(depends).encode("utf-8", "surrogatepass"))
        rows = self.verdicts.get(key)
        if rows is None:
            found = list(find())
            if not has_errors(found):
                self.given[key] = [pack_finding(one) for one in found]
                self.is_new = True
            return found
        self.given[key] = rows
        return [Finding(*one) for one in rows]

    def key(self, path: str, data: bytes) -> str:
        """Return the key of a text at a path."""
        mark = hashlib.blake2b(self.seed, digest_size=20)
        mark.update(path.encode("utf-8", "surrogatepass") + b"\0")
        mark.update(data)
        return mark.hexdigest()

    def get(self, path: str, key: str) -> Entry | None:
        """Return what is known of a note, if it is known under this key."""
        found = self._shard(_shard_of(path)).get(path)
        if found is None or found[0] != key:
            return None
        entry = self.used[path] = Entry(key, found[1], found[2])
        return entry

    def put(self, path: str, entry: Entry) -> None:
        """Remember a note."""
        self.used[path] = entry
        self.stale.add(_shard_of(path))

    def forget(self, path: str) -> None:
        """Drop an entry that proves to be no use."""
        self.used.pop(path, None)
        self.stale.add(_shard_of(path))

    def _shard(self, number: int) -> dict[str, tuple[str, Any, bytes]]:
        if number not in self.shards:
            self.shards[number] = _read(self.folder / f"{number:02}")
        return self.shards[number]

    def save(self) -> None:
        """Write what is new; a folder that cannot be written costs only time."""
        for number in range(_SHARDS):
            gone = self.shards.get(number, {}).keys() - self.used.keys()
            if gone:
                self.stale.add(number)
        old = self.verdicts or {}
        if not self.stale and not self.is_new and len(self.given) == len(old):
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for number in sorted(self.stale):
                mine = [path for path in self.used if _shard_of(path) == number]
                _write(self.folder / f"{number:02}", ((path, self.used[path]) for path in mine))
            data = dumped(self.given)
            _put(self.folder / _VERDICTS, _hash(data) + b"\n" + data)
            os.utime(self.folder)
            _prune(self.folder.parent)
        except OSError:
            return
        self.stale.clear()
        self.is_new = False


def _shard_of(path: str) -> int:
    return zlib.crc32(path.encode("utf-8", "surrogatepass")) % _SHARDS


def _read(file: Path) -> dict[str, tuple[str, Any, bytes]]:
    """Return key, brief and parse by path; nothing of a file that is not whole."""
    try:
        mark, _, rest = file.read_bytes().partition(b"\n")
    except OSError:
        return {}
    if _hash(rest) != mark:
        return {}
    head, *sources = rest.split(b"\n")
    try:
        rows = zip(loaded(head), sources, strict=True)
        return {str(path): (key, brief, source) for (path, key, brief), source in rows}
    except _ERRORS:
        return {}


def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=20).hexdigest().encode()


def _write(file: Path, entries: Iterable[tuple[str, Entry]]) -> None:
    """Put a shard in place in one step."""
    known = list(entries)
    head = dumped([(path, entry.key, entry.brief) for path, entry in known])
    rest = b"\n".join([head, *(entry.source for _, entry in known)])
    _put(file, _hash(rest) + b"\n" + rest)


def _read_verdicts(file: Path) -> dict[str, list[Any]]:
    """Return findings by key; nothing of a file that is not whole."""
    try:
        mark, _, data = file.read_bytes().partition(b"\n")
        found = loaded(data) if _hash(data) == mark else {}
        for rows in found.values():
            for row in rows:
                Finding(*row)
    except (OSError, *_ERRORS):
        return {}
    return found if isinstance(found, dict) else {}


def _put(file: Path, data: bytes) -> None:
    """Put a file in place in one step."""
    fresh = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        fresh.write_bytes(data)
        fresh.replace(file)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise


def _prune(folder: Path) -> None:
    """Keep the memories that were used last."""
    ages = sorted((path.stat().st_mtime, path) for path in folder.iterdir() if path.is_dir())
    if len(ages) > _FOLDERS:
        import shutil  # slow to load, and seldom needed

        for _, path in ages[:-_FOLDERS]:
            shutil.rmtree(path, ignore_errors=True)
