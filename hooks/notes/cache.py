"""What earlier runs found, by the hash of everything that it depends on.

Kept below `.cache/`, which may be deleted at any time. What is there is used only if it was written
for the same texts at the same paths, by the same code and libraries, under the same settings, and
only if it is whole: a file holds the hash of all that follows, and is put in place in one step.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import sysconfig
import time
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from hooks.findings import Finding, has_errors

FOLDER = ".cache/check"
"""Where the memories of all trees lie, below the root of this repository."""
_SHARDS = 16
"""Files of one memory: after an edit only one is written."""
_FOLDERS = 8
"""How many trees and settings are remembered; of more, the ones used longest ago are dropped."""
_CODE = (".py", ".yml", ".txt", ".html")
ERRORS = (ValueError, TypeError, KeyError, IndexError, AttributeError)
"""What reading a value raises that is something else."""


def fingerprint() -> bytes:
    """Return a hash of the checker: its code, rules, words and units, interpreter, libraries."""
    mark = hashlib.blake2b(sys.version.encode())
    here = Path(__file__).parents[1]
    for path in sorted(one for one in here.rglob("*") if one.suffix in _CODE):
        mark.update(path.relative_to(here).as_posix().encode() + b"\0" + path.read_bytes())
    folder = Path(sysconfig.get_path("purelib"))
    libraries = sorted(path.name for path in folder.iterdir() if path.name.endswith("-info"))
    mark.update("\n".join(libraries).encode())
    return mark.digest()


class Memory:
    """The values of one tree under one set of settings."""

    def __init__(self, folder: Path, seed: str) -> None:
        """Open the memory.

        Args:
            folder: Where the memories of all trees lie; need not exist.
            seed: Whatever the values depend on beside texts and checker.
        """
        data = seed.encode("utf-8", "surrogatepass")
        self.seed = hashlib.blake2b(fingerprint() + data).digest()
        # One folder a tree and settings: code may change without leaving old files behind.
        self.folder = folder / hashlib.blake2b(data, digest_size=12).hexdigest()
        self.marks: dict[str, str] = {}
        """What stands for each note: its path, its text, how it is read."""
        self.shards: dict[int, dict[str, Any]] = {}
        self.used: dict[int, dict[str, Any]] = {number: {} for number in range(_SHARDS)}
        self.stale: set[int] = set()

    def key(self, *parts: str | bytes) -> str:
        """Return the key of what depends on these."""
        mark = hashlib.blake2b(self.seed, digest_size=20)
        for part in parts:
            data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
            mark.update(len(data).to_bytes(8, "little") + data)
        return mark.hexdigest()

    def mark_anew(self, path: str) -> None:
        """Let nothing that rests on a note be found: a verdict on it may change by itself."""
        self.marks[path] = f"{path} {time.time_ns()}"

    def kept(self, place: str, key: str) -> Any:
        """Return the value under a key, or None; `place` is the path that it belongs to."""
        number = _shard_of(place)
        if number not in self.shards:
            self.shards[number] = _read(self.folder / f"{number:02}")
        value = self.shards[number].get(key)
        if value is not None:
            self.used[number][key] = value
        return value

    def keep(self, place: str, key: str, value: Any) -> None:
        """Keep a value: JSON."""
        self.used[_shard_of(place)][key] = value
        self.stale.add(_shard_of(place))

    def recall(
        self, name: str, place: str, depends: Iterable[str], find: Callable[[], Iterable[Finding]]
    ) -> list[Finding]:
        """Return the findings of a check, from an earlier run where nothing has changed.

        Errors are looked for anew each time, since some end by themselves, as a date does that
        lies in the future.

        Args:
            name: The name of the check.
            place: The path of what is checked.
            depends: What its verdict depends on beside, or hashes of it; the checker's own code
                and the settings go without saying.
            find: The check.
        """
        key = self.key(name, place, *depends)
        rows = self.kept(place, key)
        if isinstance(rows, list):
            try:
                return [Finding(*row) for row in rows]
            except ERRORS:
                pass
        found = list(find())
        if not has_errors(found):
            self.keep(place, key, [pack_finding(one) for one in found])
        return found

    def save(self) -> None:
        """Write what is new; a folder that cannot be written costs only time."""
        for number, shard in self.shards.items():
            if shard.keys() != self.used[number].keys():
                self.stale.add(number)
        if not self.stale:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for number in sorted(self.stale):
                _write(self.folder / f"{number:02}", self.used[number])
            os.utime(self.folder)
            _prune(self.folder.parent)
        except OSError:
            return
        self.stale.clear()


def pack_finding(one: Finding) -> list[Any]:
    """Return a finding as JSON holds it."""
    return [getattr(one, name) for name in Finding.__slots__]


def _shard_of(place: str) -> int:
    return zlib.crc32(place.encode("utf-8", "surrogatepass")) % _SHARDS


def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=20).hexdigest().encode()


def _read(file: Path) -> dict[str, Any]:
    """Return values by key; nothing of a file that is not whole."""
    try:
        mark, _, data = file.read_bytes().partition(b"\n")
        found = json.loads(data.decode("utf-8", "surrogatepass")) if _hash(data) == mark else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(file: Path, values: dict[str, Any]) -> None:
    """Put a file in place in one step; names that are not Unicode survive."""
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    data = text.encode("utf-8", "surrogatepass")
    fresh = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        fresh.write_bytes(_hash(data) + b"\n" + data)
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
