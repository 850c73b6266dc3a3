"""What a build depends on beside the notes, as hashes: files, packages, plain values."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date
from enum import Enum
from functools import partial
from pathlib import Path, PurePath
from types import FunctionType
from typing import Any, Final

_DEEPEST: Final = 40
_LEFT_OUT: Final = frozenset({"__pycache__", ".git", ".DS_Store"})


class UnknownValueError(TypeError):
    """A value whose content cannot be told: what depends on it is not kept."""


def digest(*parts: object) -> str:
    """Return a hash of texts, bytes and plain values, in their order."""
    mark = hashlib.blake2b(digest_size=20)
    for part in parts:
        if isinstance(part, bytes):
            kind, data = b"b", part
        elif isinstance(part, str):
            kind, data = b"s", part.encode("utf-8", "surrogatepass")
        else:
            kind, data = b"v", repr(plain(part)).encode("utf-8", "surrogatepass")
        mark.update(kind + str(len(data)).encode() + b":")
        mark.update(data)
    return mark.hexdigest()


def plain(value: Any, depth: int = 0) -> Any:
    """Return a value as tuples of texts and numbers: equal values alike, whatever their order.

    Functions and objects count by their names and fields, paths by their last parts: where a folder
    lies changes nothing. Raises UnknownValueError for what has no fields to read.
    """
    if depth > _DEEPEST:
        raise UnknownValueError(f"{type(value)!r} lies too deep")
    inner = partial(plain, depth=depth + 1)
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return value if type(value) in _PLAIN else (type(value).__qualname__, str(value))
    if isinstance(value, Mapping):
        pairs = [(inner(key), inner(one)) for key, one in value.items()]
        return ("map", *sorted(pairs, key=repr))
    if isinstance(value, AbstractSet):
        return ("set", *sorted(map(inner, value), key=repr))
    if isinstance(value, Sequence):
        return ("list", *map(inner, value))
    if isinstance(value, Enum):
        return (type(value).__qualname__, value.name)
    if isinstance(value, date):
        return (type(value).__qualname__, value.isoformat())
    if isinstance(value, PurePath):
        return ("path", value.name)
    if isinstance(value, partial):
        return ("partial", inner(value.func), inner(value.args), inner(value.keywords))
    if isinstance(value, (FunctionType, type)):
        return ("named", value.__module__, value.__qualname__)
    if hasattr(value, "__dict__"):
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        return (kind, inner(vars(value)))
    raise UnknownValueError(f"{type(value)!r} has no fields")


_PLAIN: Final = frozenset({type(None), bool, int, float, str, bytes})


def of_files(paths: Iterable[Path], start: Path) -> str:
    """Return a hash of the names and contents of files, and of all files below folders.

    A path that is not there counts as such.
    """
    mark = hashlib.blake2b(digest_size=20)
    for file in sorted({one for path in paths for one in _below(path)}):
        name = file.relative_to(start) if file.is_relative_to(start) else file.name
        try:
            inside = hashlib.blake2b(file.read_bytes(), digest_size=20).hexdigest()
        except OSError:
            inside = "none"
        mark.update(f"{name}\0{inside}\n".encode("utf-8", "surrogatepass"))
    return mark.hexdigest()


def _below(path: Path) -> Iterable[Path]:
    if not path.is_dir():
        return [path]
    found: list[Path] = []
    for one in path.iterdir():
        if one.name in _LEFT_OUT or one.suffix == ".pyc":
            continue
        found += _below(one) if one.is_dir() else [one]
    return found


def packages() -> str:
    """Return a hash of the interpreter and of the names and versions of all that is installed."""
    found = [sys.version]
    for folder in map(Path, sys.path):
        if folder.is_dir():
            found += [one.name for one in folder.glob("*.dist-info")]
    return digest(sorted(found))
