"""Take a link target apart and find what it names below the docs folder."""

from __future__ import annotations

import posixpath
import re
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")

_NORMAL = re.compile(r"(?![./])(?:[^/]|/(?![./]))*+(?<!/)\Z")
"""A path that `normpath` leaves as it is: no empty part and none that begins with a dot."""


class Target(NamedTuple):
    """A link target, resolved against the file that holds it."""

    path: str | None
    """Path from the same root as the holding file; None for addresses of other sites."""
    fragment: str
    """The part behind `#`, percent-decoded; empty when there is none."""
    scheme: str = ""
    """`https`, `mailto`, …; empty for paths."""
    is_absolute: bool = False
    """Whether the target begins with a slash."""
    escapes: bool = False
    """Whether the path leaves the root by `..`."""


def resolve(target: str, holder: str) -> Target:
    """Resolve a target written in the file `holder` (a path with forward slashes).

    An empty path means the holder itself. Percent-encoding is decoded in path and fragment, as
    browsers and GitHub do.
    """
    if target.startswith("//"):
        return Target(None, "", scheme="//")
    match = _SCHEME.match(target) if ":" in target else None
    if match:
        fragment = "" if not target.startswith("http") else unquote(_fragment(target))
        return Target(None, fragment, scheme=match.group(0)[:-1].lower())
    path, _, fragment = target.partition("#")
    path = path.partition("?")[0]
    if "%" in target:
        path, fragment = unquote(path), unquote(fragment)
    if not path:
        return Target(holder, fragment)
    if path.startswith("/"):
        return Target(posixpath.normpath(path.lstrip("/")), fragment, is_absolute=True)
    folder, slash, _ = holder.rpartition("/")
    joined = f"{folder}{slash}{path}"
    if _NORMAL.match(joined) is None:
        joined = posixpath.normpath(joined) + ("/" if path.endswith("/") else "")
    return Target(joined, fragment, escapes=joined.startswith("../"))


def _fragment(target: str) -> str:
    try:
        return urlsplit(target).fragment
    except ValueError:
        return ""
