"""What a target names below the docs folder, by path or full address, and what lies there."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

from hooks.findings import nearest
from hooks.notes import Catalogue

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
GITHUB_ONLY = re.compile(
    r"https?://[^/]+/[^/]+/[^/]+/(?:edit|blame)/|[^#]*\?.|[^#]*#L\d+(?:C\d+)?(?:-L?\d+(?:C\d+)?)?\Z"
)
"""Addresses of what no page of a site shows: an editor, who wrote a line, lines."""


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


@dataclass(frozen=True)
class Settings:
    """Where the handbook lies, which links to itself are known by."""

    repo_url: str = ""
    """Address of the repository, such as `https://github.com/owner/name`; empty when unknown."""
    site_url: str = ""
    """Address the site is published at, with a slash at its end; empty when unknown."""
    root: Path | None = None
    """The repository root, to see what lies beside the docs folder; None: nothing is looked up."""
    docs: str = "docs"
    """Path of the docs folder from the repository root."""


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


def own_path(address: str, settings: Settings) -> tuple[str, str] | None:
    """Return path from the repository root, and fragment, of an address of this repository or site.

    None: it is elsewhere, or names what a path cannot: a commit, an issue, the repository.
    """
    try:
        parts = urlsplit(address)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https"):
        return None
    where, fragment = parts.netloc.lower() + unquote(parts.path), unquote(parts.fragment)
    if settings.repo_url:
        own = urlsplit(settings.repo_url)
        name = re.escape(own.path.strip("/").removesuffix(".git"))
        inside = re.match(
            rf"(?:(?:www\.)?{re.escape(own.netloc)}/{name}/(?:blob|tree|raw|edit|blame)"
            rf"|raw\.githubusercontent\.com/{name}(?:/refs/heads)?)"
            r"/(?:main|master|head)/(?P<path>.+)",
            where,
            re.IGNORECASE,
        )
        if inside:
            return inside["path"].strip("/"), fragment
    site = urlsplit(settings.site_url)
    base = site.netloc.lower() + site.path.rstrip("/")
    if settings.site_url and f"{where}/".startswith(f"{base}/"):
        return _source_of(where[len(base) :].lstrip("/"), settings), fragment
    return None


def _source_of(page: str, settings: Settings) -> str:
    """Return the path of the note that a page of the site is made from."""
    suffix = ".en" if re.match(r"en(?:/|\Z)", page) else ""
    page = page[3:] if suffix else page
    if not page or page.endswith("/"):
        page += "index.html"
    if page.endswith(".html"):
        page = f"{page.removesuffix('.html')}{suffix}.md"
    return f"{settings.docs}/{page}"


def relative(path: str, holder: str) -> str:
    """Return the way from the file `holder` to `path`, both below the docs folder, as a target.

    What would end or change it in Markdown is percent-encoded.
    """
    way = posixpath.relpath(path, posixpath.dirname(holder) or ".")
    return re.sub(r'[ #?%()<>\\"]', lambda risky: quote(risky.group()), way)


def _folded(path: str) -> str:
    """Return a path in the form in which case-forgiving file systems compare it."""
    return unicodedata.normalize("NFC", path).casefold()


class Files:
    """Every path below a docs folder."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.all = sorted([*catalogue.notes, *catalogue.other_files])
        self._known = frozenset(self.all)

    def __contains__(self, path: str) -> bool:
        return path in self._known

    @cached_property
    def _folders(self) -> set[str]:
        return {str(folder) for path in self.all for folder in PurePosixPath(path).parents}

    @cached_property
    def _by_fold(self) -> dict[str, str]:
        folders = {_folded(f"{folder}/"): folder for folder in self._folders}
        return folders | {_folded(path): path for path in self.all}

    def is_folder(self, path: str) -> bool:
        """Tell whether files lie below this path."""
        return (path.strip("/") or ".") in self._folders

    def index_of(self, folder: str) -> str:
        """Return the index page of a folder, or an empty string when it has none."""
        index = posixpath.normpath(posixpath.join(folder, "index.md"))
        return index if index in self else ""

    def otherwise_written(self, path: str) -> str:
        """Return the path that differs only in letter case or Unicode form, or an empty string."""
        as_folder = self._by_fold.get(_folded(f"{path.rstrip('/')}/"), "")
        return self._by_fold.get(_folded(path), as_folder)

    def nearest(self, path: str, holder: str) -> str:
        """Return the way from `holder` to the existing file most like `path`."""
        name = path.rpartition("/")[2]
        kind = name.rpartition(".")[2]
        alike = [known for known in self.all if known.endswith(f".{kind}")]
        same_name = [known for known in alike if known.rpartition("/")[2] == name]
        found = nearest(path, same_name, 0.0) if same_name else nearest(path, alike, 0.7)
        return relative(found, holder) if found else ""
