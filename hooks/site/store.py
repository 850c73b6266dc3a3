"""Results of earlier builds on disk, each by a hash of everything that it depends on.

An entry is written in one step and read only if it is whole, so that a build may be killed, and
the folder deleted, at any time.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import time
import zlib
from pathlib import Path
from typing import Any, Final

LARGEST: Final = 400_000_000
"""Bytes; beyond it, what was not used for the longest time goes."""
_DAY: Final = 86_400.0
_ERRORS: Final = (OSError, ValueError, EOFError, zlib.error, pickle.PickleError, AttributeError)


class Store:
    """A folder of results by key."""

    def __init__(self, folder: Path) -> None:
        """Take a folder, which need not exist."""
        self.folder = folder

    def _file(self, key: str) -> Path:
        return self.folder / key[:2] / key[2:]

    def __contains__(self, key: str) -> bool:
        """Tell whether there is an entry."""
        return self._file(key).is_file()

    def get(self, key: str) -> Any:
        """Return what was put in under a key; None if there is nothing, or nothing whole."""
        file = self._file(key)
        try:
            data = file.read_bytes()
            mark, body = data[:16], data[16:]
            if _mark(body) != mark:
                return None
            found = pickle.loads(zlib.decompress(body))
            if time.time() - file.stat().st_mtime > _DAY:
                os.utime(file)  # still of use
        except _ERRORS:
            return None
        return found

    def put(self, key: str, result: object) -> None:
        """Keep a result; a folder that cannot be written costs only time."""
        body = zlib.compress(pickle.dumps(result, protocol=5), 1)
        file = self._file(key)
        fresh = file.with_name(f"{file.name}.{os.getpid()}")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_bytes(_mark(body) + body)
            fresh.replace(file)
        except OSError:
            fresh.unlink(missing_ok=True)

    def prune(self, largest: int = LARGEST) -> None:
        """Let the folder grow to `largest` bytes, and no further."""
        files = []
        for path in self.folder.glob("??/*"):
            try:
                found = path.stat()
            except OSError:
                continue
            files.append((found.st_mtime, found.st_size, path))
        size = sum(one for _, one, _ in files)
        for _, one, path in sorted(files):
            if size <= largest:
                return
            path.unlink(missing_ok=True)
            size -= one


def _mark(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=16).digest()
