"""Take out of a finished site what no page asks for: source maps, unused scripts, other engines.

Found by what is named: a file stays when its name stands in a page, or in a script or style sheet
that stays. Only files that pages load are judged (`assets/` and `search/`); what readers fetch by
themselves, such as data and programs, is what links lead to, and none of this.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

import ahocorasick

from hooks.cache import Cache, digest

if TYPE_CHECKING:
    from pathlib import Path

_FOLDERS: Final = ("assets", "search")
_READ: Final = frozenset({".js", ".css", ".json"})
"""Files that name others."""
_KEPT: Final = ("LICENSE", "search_index.js", "search_index.json")
"""Licences, and what Material's page script asks for by a name put together from parts."""


def unasked(site: Path, *, cache: Cache | None = None) -> list[str]:
    """Return the addresses of the files that no page asks for.

    Args:
        site: A complete site.
        cache: Knows what files named that were read before.
    """
    cache = cache or Cache()
    judged = {
        path.relative_to(site).as_posix(): path
        for folder in _FOLDERS
        for path in (site / folder).rglob("*")
        if path.is_file()
    }
    maps = [path.relative_to(site).as_posix() for path in site.rglob("*.map")]
    left = {
        address
        for address, path in judged.items()
        if path.suffix != ".map" and path.name not in _KEPT
    }
    if not left:
        return maps
    names: dict[str, set[str]] = {}
    for address in left:
        # With its folder: Material's page script names a `mermaid.min.js` of another host.
        names.setdefault("/".join(address.split("/")[-2:]), set()).add(address)
    finder = ahocorasick.Automaton()
    for name in names:
        finder.add_word(name, name)
    finder.make_automaton()
    seed = digest(sorted(names))
    todo = [*site.rglob("*.html"), *(path for one, path in judged.items() if one not in left)]
    while todo:
        path = todo.pop()
        if path.suffix not in _READ and path.suffix != ".html":
            continue
        data = path.read_bytes()
        make = functools.partial(_names, data, finder)
        for name in cache.recall("names", (seed, data), make):
            for address in names[name] & left:
                left.discard(address)
                todo.append(judged[address])
    return sorted({*left, *maps})


def _names(data: bytes, finder: ahocorasick.Automaton) -> tuple[str, ...]:
    text = data.decode("utf-8", "replace")
    return tuple(sorted({name for _, name in finder.iter(text)}))


def prune(site: Path, *, cache: Cache | None = None) -> list[str]:
    """Delete what no page asks for; return the addresses of what was deleted."""
    gone = unasked(site, cache=cache)
    for address in gone:
        (site / address).unlink()
    for folder in sorted((site / "assets").rglob("*"), reverse=True):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
    return gone
