"""How much a first visit to a page transfers, from the files of the built site alone."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from hooks.links import resolve
from hooks.site.check import read_page

PAGE = 300_000
"""Bytes that a page and what it loads may take, compressed with gzip."""
LOG = 340_000
"""The page that a log is pasted into: the texts of all messages. What is said of them comes later.

315,000 with 3,278 messages."""
HOME = 130_000
"""The two home pages, where most first visits begin."""
_WORKER = re.compile(r'"search": ?"([^"]+)"')


@pytest.fixture(scope="module")
def size(site: Path) -> Callable[[str], int]:
    """Tells how many bytes a file of the site takes on its way."""

    @cache
    def compressed(address: str) -> int:
        content = (site / address).read_bytes()
        is_packed = address.endswith((".woff2", ".png", ".jpg", ".webp"))
        return len(content) if is_packed else len(gzip.compress(content, 6, mtime=0))

    return compressed


def loaded(site: Path, page: str) -> list[str]:
    """Return a page and what it loads by itself: styles, scripts, pictures, the search worker.

    Not what comes later: fonts of formulas, the search index, copies for reading offline.
    """
    html = (site / page).read_text(encoding="utf-8")
    named = [*read_page(page, html).loads, *_WORKER.findall(html)]
    found = {page: None}
    for load in named:
        path = resolve(load, page).path
        if path is not None and (site / path).is_file():
            found[path] = None
    return list(found)


def test_no_page_is_heavier_than_its_budget(site: Path, size: Callable[[str], int]) -> None:
    heavy = []
    for file in sorted(site.rglob("*.html")):
        page = file.relative_to(site).as_posix()
        parts = {one: size(one) for one in loaded(site, page)}
        budget = {"index.html": HOME, "messages/index.html": LOG}.get(
            page.removeprefix("en/"), PAGE
        )
        total = sum(parts.values())
        if total > budget:
            worst = sorted(parts, key=lambda one: -parts[one])[:8]
            names = ", ".join(f"{one} {parts[one]}" for one in worst)
            heavy.append(f"{page}: {total} of {budget} bytes; the heaviest: {names}")
    assert not heavy, "\n".join(heavy)
