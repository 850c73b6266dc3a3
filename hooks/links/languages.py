"""Trees that keep each language in a folder of its own, such as `zh/` beside `en/`.

Many generators do so. A folder counts as one of a language only if its sibling is there too and
most of the smaller one's notes have a twin of the same path: a lone `en/` may mean anything.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

_NAMES = re.compile(
    r"(?P<zh>zh(?:[-_](?:cn|sg|hans(?:[-_]cn)?|tw|hk|hant(?:[-_](?:tw|hk))?))?|chinese|cn)"
    r"|(?P<en>en(?:[-_](?:us|gb|uk))?|english)",
    re.IGNORECASE,
)
_MAY_BE = re.compile(r"(?:^|/)(?:zh|en|cn|chinese)", re.IGNORECASE)
_FEWEST = 2
"""Twins that there must be at least."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a note stands in such a tree."""

    above: str
    """The path of the folder that holds the folders of the languages, with a slash at its end."""
    folder: str
    language: str
    """`zh` or `en`."""
    rest: str
    """The path below the folder, the same in each language."""


def place(path: str) -> Place | None:
    """Return where a path stands, by its first folder with the name of a language."""
    parts = path.split("/")
    for number, name in enumerate(parts[:-1]):
        match = _NAMES.fullmatch(name)
        if match is not None:
            above = "".join(f"{part}/" for part in parts[:number])
            return Place(above, name, match.lastgroup or "", "/".join(parts[number + 1 :]))
    return None


def crosses(path: str, other: str) -> bool:
    """Tell whether two paths may be notes of two languages, and not each other's twins."""
    if path == other or _MAY_BE.search(path) is None:  # most paths, told at once
        return False
    mine = place(path)
    theirs = place(other) if mine is not None else None
    if mine is None or theirs is None or mine.above != theirs.above:
        return False
    return mine.language != theirs.language and mine.rest != theirs.rest


def folders(paths: Iterable[str]) -> frozenset[str]:
    """Return the paths of the folders that hold the notes of one language, slashes at their ends.

    Args:
        paths: The paths of all notes.
    """
    found: dict[str, dict[tuple[str, str], set[str]]] = defaultdict(lambda: defaultdict(set))
    for path in paths:
        one = place(path)
        if one is not None:
            found[one.above][one.language, one.folder].add(one.rest)
    known = set()
    for above, by_folder in found.items():
        chinese = [item for item in by_folder.items() if item[0][0] == "zh"]
        english = [item for item in by_folder.items() if item[0][0] == "en"]
        for (_, name), notes in chinese:
            for (_, other), others in english:
                twins = len(notes & others)
                if twins >= _FEWEST and 2 * twins >= min(len(notes), len(others)):
                    known |= {f"{above}{name}/", f"{above}{other}/"}
    return frozenset(known)


def twin_path(path: str, other: str, known: frozenset[str]) -> str:
    """Return the path, in the language of `path`, of the note that `other` is in another one.

    Args:
        path: The note that links.
        other: The note it links to.
        known: What `folders` returns.

    Returns:
        The path; empty where both are of one language, or each other's twins.
    """
    if not known or not crosses(path, other):
        return ""
    mine, theirs = place(path), place(other)
    if mine is None or theirs is None:
        return ""
    if {f"{one.above}{one.folder}/" for one in (mine, theirs)} <= known:
        return f"{mine.above}{mine.folder}/{theirs.rest}"
    return ""
