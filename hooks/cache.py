"""Results of earlier runs, each looked up by a hash of all that it is made from: one file a key.

What is kept may be deleted at any time, and a folder that cannot be written costs only time.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import multiprocessing
import os
import pickle
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, Final, TypeVar

Key = TypeVar("Key")
Result = TypeVar("Result")

FOLDER: Final = ".cache/steps"
_DAY: Final = 86_400.0
_LARGEST: Final = 1_000_000_000  # bytes
_ENOUGH: Final = 8  # results for each process, which takes a second to start
_HERE, _MISSING = Path(__file__).resolve().parent, object()


def digest(*parts: object) -> str:
    """Return a hash of texts, bytes and numbers, and of tuples and lists of these."""
    mark = hashlib.blake2b(digest_size=20)
    for part in parts:
        text = digest(*part) if isinstance(part, (tuple, list)) else part
        data = text if isinstance(text, bytes) else str(text).encode("utf-8", "surrogatepass")
        mark.update(f"{type(part).__name__} {len(data)} ".encode() + data)
    return mark.hexdigest()


def of_files(paths: Iterable[Path], root: Path) -> str:
    """Return a hash of the names and contents of files, and of all files below folders."""
    files = {one for path in paths for one in (path.rglob("*") if path.is_dir() else [path])}
    shown = sorted(one for one in files if "__pycache__" not in one.parts and one.is_file())
    return digest(*((os.path.relpath(one, root), digest(one.read_bytes())) for one in shown))


@functools.cache
def code(*folders: str) -> str:
    """Return a hash of the code in hooks/, or in folders there, and of all packages.

    It is asked once: what is changed later is not what this process has loaded.
    """
    packages = sorted((one.name, one.version) for one in importlib.metadata.distributions())
    return digest(sys.version, packages, of_files((_HERE / one for one in folders or "."), _HERE))


class Cache:
    """What is kept in a folder, which need not exist; without one, nothing is.

    A result belongs to a step, a key (texts, bytes, numbers and tuples of these) and a stamp: what
    all results of the step depend on, which is all code in hooks/ where nothing else is said.
    """

    def __init__(self, folder: Path | None = None) -> None:
        """Take the folder."""
        self._folder = folder

    def recall(self, step: str, key: object, make: Callable[[], Result], stamp: str = "") -> Result:
        """Return a result, from an earlier run or by `make`."""
        file = self._file(step, key, stamp)
        result: Result = _read(file)
        if result is _MISSING:
            _write(file, result := make())
        return result

    def recall_all(
        self, step: str, keys: Sequence[Key], make: Callable[[Key], Result], stamp: str = ""
    ) -> list[Result]:
        """Return the results for many keys, in their order; what is missing is made on all cores.

        `make` is called with a key in a process that knows nothing of this one: it is a function
        of a module, or a `functools.partial` of one with plain values.
        """
        files = [self._file(step, key, stamp) for key in keys]
        found: list[Any] = [_read(file) for file in files]
        missing = [at for at, one in enumerate(found) if one is _MISSING]
        made = _spread(make, [keys[at] for at in missing])
        for at, found[at] in zip(missing, made, strict=True):
            _write(files[at], found[at])
        return found

    def _file(self, step: str, key: object, stamp: str) -> Path | None:
        return self._folder and self._folder / step / digest(stamp or code(), key)

    def prune(self) -> None:
        """Delete what was not used for thirty days, and the oldest of what is too much."""
        files = self._folder.glob("*/*") if self._folder else ()
        size, oldest = 0, time.time() - 30 * _DAY
        with contextlib.suppress(OSError):  # another process may prune too
            for used, file in sorted(((one.stat().st_mtime, one) for one in files), reverse=True):
                size += file.stat().st_size
                if size > _LARGEST or used < oldest:
                    file.unlink()


def _spread(make: Callable[[Key], Result], keys: Sequence[Key]) -> Iterator[Result]:
    workers, done = min(os.cpu_count() or 1, len(keys) // _ENOUGH), 0
    if workers > 1:
        # Begun anew, as on every system: threads and the engine of scripts survive no fork.
        context = multiprocessing.get_context("spawn")
        try:
            with ProcessPoolExecutor(workers, context) as pool:
                for one in pool.map(make, keys, chunksize=1 + len(keys) // workers // 16):
                    yield one
                    done += 1
        except (BrokenProcessPool, OSError):  # no process can be started, or memory ran out
            pass
    yield from map(make, keys[done:])


def _read(file: Path | None) -> Any:
    try:
        if file is None or not file.is_file():
            return _MISSING
        if time.time() - file.stat().st_mtime > _DAY:
            os.utime(file)  # still of use
        return pickle.loads(zlib.decompress(file.read_bytes()))
    except Exception:  # it is not whole, cannot be read, or is of another time
        return _MISSING


def _write(file: Path | None, result: object) -> None:
    """Put a file in place in one step."""
    with contextlib.suppress(OSError):
        if file is not None:
            fresh = file.with_name(f"{file.name}.{os.getpid()}")
            file.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_bytes(zlib.compress(pickle.dumps(result, protocol=5), 1))
            fresh.replace(file)
