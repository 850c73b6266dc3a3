"""Feeds: the latest first, absolute addresses, none while the site's address is unknown."""

from __future__ import annotations

import datetime

import pytest
from defusedxml import ElementTree

from hooks.site import carry, feeds

SITE = "https://example.org/h/"
ATOM = "{http://www.w3.org/2005/Atom}"


def leaf(note: str, verified: str, kind: str = "note", language: str = "zh") -> carry.Leaf:
    page = f"{note}.html" if language == "zh" else f"{language}/{note}.html"
    return carry.Leaf(page, note, language, note, "a < b", verified, (), "", kind)


LEAVES = [
    leaf("a/old", "2026-11-20"),
    leaf("a/new", "2026-11-10"),
    leaf("a/index", "2026-11-21", "map"),
    leaf("about/x", "2026-11-22"),
    leaf("a/new", "2026-11-12", language="en"),
]
DAYS = {"a/old.html": datetime.date(2026, 1, 1), "a/new.html": datetime.date(2026, 2, 1)}


@pytest.mark.parametrize(
    ("path", "pages", "updated"),
    [
        ("feed-new.xml", ["a/new.html", "a/old.html"], "2026-02-01"),
        ("en/feed-new.xml", [], "2000-01-01"),
    ],
)
def test_feed_lists_notes_latest_first(path: str, pages: list[str], updated: str) -> None:
    root = ElementTree.fromstring(feeds.files(LEAVES, DAYS, SITE)[path])
    links = [one.get("href") for one in root.findall(f"{ATOM}entry/{ATOM}link")]
    assert links == [SITE + page for page in pages]
    assert root.findtext(f"{ATOM}updated") == f"{updated}T00:00:00Z"
    assert next(root.iter(f"{ATOM}link")).get("href") == SITE + path
    assert len({one.text for one in root.iter(f"{ATOM}id")}) == len(pages) + 1


def test_no_feed_without_an_address() -> None:
    assert feeds.files(LEAVES, DAYS, "") == {}
