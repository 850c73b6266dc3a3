"""The parts of docs/about/ that are made from records: `python -m bench pages [--check]`.

They stand between markers in the notes, `<!-- search-quality -->` … `<!-- /search-quality -->`, so
that a build reads notes only, and GitHub shows the figures too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from bench import check_page
from bench.build import page as build_page
from bench.search.evaluation import history
from bench.search.evaluation import page as search_page

ROOT = Path(__file__).resolve().parent.parent
PAGES = {
    "search": ("quality", "speed", "history"),
    "check": ("speed", "peers"),
    "build": ("speed", "save"),
}
"""What a marker begins with, and the parts that there are."""
_FILES = {
    "search": "docs/about/search",
    "check": "docs/about/checking",
    "build": "docs/about/building",
}
_SUFFIXES = {"zh": ".md", "en": ".en.md"}


class PageError(ValueError):
    """A note lacks the markers of a part."""


def render(page: str, part: str, language: str, root: Path = ROOT) -> str:
    """Return a part of a page as Markdown."""
    if page == "check":
        return check_page.render(part, language, root / "bench/results")
    if page == "build":
        return build_page.render(part, language, root / "bench/results")
    if part == "history":
        return search_page.over_time(history.load_lines(root), language)
    latest = history.load_latest(root)
    return {"quality": search_page.quality, "speed": search_page.speed}[part](latest, language)


def filled(text: str, page: str, language: str, root: Path = ROOT) -> str:
    """Return a note with each of its page's parts written anew. Raises PageError."""
    for part in PAGES[page]:
        first, last = f"<!-- {page}-{part} -->", f"<!-- /{page}-{part} -->"
        found = re.search(f"^{first}$.*?^{last}$", text, re.DOTALL | re.MULTILINE)
        if found is None or text.count(first) != 1:
            raise PageError(f"'{first}' … '{last}' must stand once, each in a line of its own")
        whole = f"{first}\n\n{render(page, part, language, root)}\n\n{last}"
        text = text[: found.start()] + whole + text[found.end() :]
    return text


def stale(root: Path = ROOT, *, write: bool = False) -> Iterator[str]:
    """Yield the notes whose parts are not as the records say; write them anew if asked to."""
    for page, stem in _FILES.items():
        for language, suffix in _SUFFIXES.items():
            path = root / (stem + suffix)
            before = path.read_text(encoding="utf-8")
            after = filled(before, page, language, root)
            if after != before:
                if write:
                    path.write_text(after, encoding="utf-8")
                yield f"{stem}{suffix}"


def main(options: list[str]) -> int:
    """Write the parts; with `--check` only compare. Return the exit status."""
    is_check = "--check" in options
    found = list(stale(write=not is_check))
    for name in found:
        print(f"{name}: {'stale; run python -m bench pages' if is_check else 'written'}")
    return int(bool(found) and is_check)
