"""Full addresses of this very repository or site, which should be relative paths."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

GITHUB_ONLY = re.compile(
    r"https?://[^/]+/[^/]+/[^/]+/(?:edit|blame)/|[^#]*\?.|[^#]*#L\d+(?:C\d+)?(?:-L?\d+(?:C\d+)?)?\Z"
)
"""Addresses of what no page of a site shows: an editor, who wrote a line, lines."""


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


def path_of(address: str, settings: Settings) -> tuple[str, str] | None:
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
