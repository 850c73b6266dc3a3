"""Take a link target apart and find what it names below the docs folder."""

from __future__ import annotations

import posixpath
import re
from typing import NamedTuple
from urllib.parse import unquote

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


class Target(NamedTuple):
    """A link target, resolved against the file that holds it."""

    path: str | None
    """Path from the same root as the holding file; None for addresses of other sites."""
    fragment: str
    """The part behind `#`, percent-decoded; empty when there is none."""
    is_absolute: bool = False
    """Whether the target begins with a slash."""
    escapes: bool = False
    """Whether the path leaves the root by `..`."""


def resolve(target: str, holder: str) -> Target:
    """Resolve a target written in the file `holder` (a path with forward slashes).

    An empty path means the holder itself. Percent-encoding is decoded in path and fragment, as
    browsers and GitHub do.
    """
    if target.startswith("//") or _SCHEME.match(target):
        return Target(None, "")
    address, _, fragment = target.partition("#")
    path, fragment = unquote(address.partition("?")[0]), unquote(fragment)
    if not path:
        return Target(holder, fragment)
    if path.startswith("/"):
        return Target(posixpath.normpath(path.lstrip("/")), fragment, is_absolute=True)
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(holder), path))
    joined += "/" if path.endswith("/") else ""
    return Target(joined, fragment, escapes=joined.startswith("../"))
