"""Full addresses of this very repository or site, which should be relative paths."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from hooks.links.settings import Settings

_MAIN = frozenset({"main", "master", "head", "trunk", "gh-pages"})
_VIEWS = frozenset({"blob", "tree", "raw", "edit", "blame"})
_LINES = re.compile(r"L\d+(?:C\d+)?(?:-L?\d+(?:C\d+)?)?\Z")


def is_github_only(address: str) -> bool:
    """Tell whether an address shows what no page of a site does: blame, an editor, lines."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    view = parts.path.split("/")[3:4]
    return (
        view in (["edit"], ["blame"])
        or bool(parts.query)
        or _LINES.match(parts.fragment) is not None
    )


def path_of(address: str, settings: Settings) -> tuple[str, str] | None:
    """Return what an address names within this repository or site.

    Returns:
        Path from the repository root (percent-encoding decoded) and fragment, or None when the
        address is elsewhere or names what a path cannot: a commit, an issue, the repository.
    """
    if not address[:8].lower().startswith(("http://", "https://")):
        return None
    try:
        parts = urlsplit(address)
        fragment = unquote(parts.fragment)
    except ValueError:
        return None
    host = parts.netloc.lower()
    segments = [unquote(part) for part in parts.path.split("/") if part]
    if settings.repo_url:
        repository = urlsplit(settings.repo_url)
        names = [part.removesuffix(".git").lower() for part in repository.path.split("/") if part]
        ours = [part.lower() for part in segments[: len(names)]] == names
        rest = segments[len(names) :]
        if names and ours and host.removeprefix("www.") == repository.netloc.lower():
            rest = rest[1:] if rest[:1] == ["-"] else rest  # GitLab
            if len(rest) > 2 and rest[0] in _VIEWS and rest[1].lower() in _MAIN:
                return "/".join(rest[2:]), fragment
        elif names and ours and host == "raw.githubusercontent.com" and len(rest) > 1:
            rest = rest[2:] if rest[:2] == ["refs", "heads"] else rest
            if rest[0].lower() in _MAIN:
                return "/".join(rest[1:]), fragment
    if settings.site_url:
        site = urlsplit(settings.site_url)
        base = site.path.rstrip("/")
        path = unquote(parts.path)
        inside = path == base or path.startswith(f"{base}/")
        if host == site.netloc.lower() and inside:
            return _source_of(path[len(base) :].lstrip("/"), settings), fragment
    return None


def _source_of(page: str, settings: Settings) -> str:
    """Return the path of the note that a page of the site is made from."""
    language = re.match(r"(?P<name>en)(?:/|\Z)", page)
    suffix = f".{language['name']}" if language else ""
    if language:
        page = page[language.end() :]
    if not page or page.endswith("/"):
        page += "index.html"
    if page.endswith(".html"):
        page = f"{page.removesuffix('.html')}{suffix}.md"
    return f"{settings.docs_prefix}/{page}"
