"""Images and documents below the docs folder that nothing refers to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from hooks.findings import Finding
from hooks.links.digest import _FILE_NAME, _KINDS, _shown
from hooks.links.settings import Settings
from hooks.notes import Catalogue

if TYPE_CHECKING:
    from hooks.links.digest import Digest

_TEXTS = re.compile(r"\.(?:css|scss|js|ts|mjs|json|html?|vue|jsx|tsx|mdx|ya?ml|toml|txt|xml|md)\Z")
# A folder with an extension is one document of some program, such as `drawing.graffle/`.
_NOT_OURS = re.compile(r"(?:\A|/)(?:vendor|code|measured|node_modules|[^/]+\.[a-z]{3,12})/")
_WELL_KNOWN = re.compile(r"(?:\A|/)(?:favicon|apple-touch-icon|logo)[\w-]*\.\w+\Z")
_LARGEST = 2_000_000
"""Bytes; a text larger than this names no assets by hand."""


def orphans(
    catalogue: Catalogue,
    docs: Path,
    digests: Mapping[str, Digest],
    settings: Settings,
    beside: Iterable[Path] = (),
) -> Iterator[Finding]:
    """Yield the assets that no note, style sheet, script, template or configuration names.

    Args:
        catalogue: The notes and the other files.
        docs: The docs folder.
        digests: What the notes name, by path.
        settings: Where the docs folder lies.
        beside: Files outside the docs folder that may name assets: configuration, templates.
    """
    left = {path for path in catalogue.other_files if _is_asset(path)}
    if not left:
        return
    for digest in digests.values():
        left.difference_update(digest.named())
        if not left:
            return
    # What is built by code names its files in many ways: a name anywhere counts as a use.
    texts = [docs / path for path in catalogue.other_files if _TEXTS.search(path)]
    texts = [path for path in (*texts, *beside) if "/vendor/" not in path.as_posix()]
    names: dict[str, list[str]] = {}
    for path in left:
        names.setdefault(path.rpartition("/")[2], []).append(path)
    spaced = [name for name in names if " " in name]
    for digest in digests.values():
        for name in digest.mentions:
            left.difference_update(names.get(name, ()))
    spaced = [name for name in spaced if not left.isdisjoint(names[name])]
    for text in (_shown(note) for note in catalogue.notes.values() if spaced):
        for name in (one for one in spaced if one in text):
            left.difference_update(names[name])
    for text in _contents(texts if left else ()):
        used = names.keys() & set(_FILE_NAME.findall(text))
        for name in (*used, *(one for one in spaced if one in text)):
            left.difference_update(names.get(name, ()))
        if not left:
            return
    for path in sorted(path for path in left if not _is_variant(path, left, catalogue)):
        file = f"{settings.docs_prefix}/{path}"
        message = f"nothing refers to '{path}'; use it or delete it"
        yield Finding(file, 0, 0, "orphan-asset", message, target=path)


def _is_variant(path: str, left: set[str], catalogue: Catalogue) -> bool:
    """Tell whether a file is a variant of one in use, such as `x.printable.svg` of `x.svg`."""
    folder, _, name = path.rpartition("/")
    first, *_, last = name.split(".")
    plain = f"{folder}/{first}.{last}" if folder else f"{first}.{last}"
    return plain != path and plain in catalogue.other_files and plain not in left


def _is_asset(path: str) -> bool:
    return (
        _KINDS.search(path) is not None
        and _NOT_OURS.search(path) is None
        and _WELL_KNOWN.search(path) is None
    )


def _contents(files: Iterable[Path]) -> Iterator[str]:
    """Yield the texts of files that are not too large."""
    for path in files:
        try:
            if path.stat().st_size <= _LARGEST:
                yield path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
