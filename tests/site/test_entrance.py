"""What the site offers to robots, feed readers and installers, with and without an address."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import pytest
from defusedxml import ElementTree

from hooks.site import carry
from tests.conftest import ROOT

SITE = "https://example.org/h/"
ATOM = "{http://www.w3.org/2005/Atom}"
ABOUT = {"zh": "说", "en": "said"}


def leaf(note: str, month: int, kind: str = "note", language: str = "zh") -> carry.Leaf:
    page = f"{carry.folder_of(language)}{note}.html"
    added = datetime.date(2026, month, 1) if month else None
    return carry.Leaf(page, note, language, note, "a < b", "", (), "", kind, added)


LEAVES = [
    leaf("a/old", 1),
    leaf("a/new", 2),
    leaf("a/index", 3, "map"),
    leaf("about/x", 3),
    leaf("a/unknown", 0, language="en"),
]


@pytest.mark.parametrize(
    ("path", "pages", "updated"),
    [
        ("feed-new.xml", ["a/new.html", "a/old.html"], "2026-02-01"),
        ("en/feed-new.xml", [], "2000-01-01"),
    ],
)
def test_feed_lists_notes_latest_first(path: str, pages: list[str], updated: str) -> None:
    root = ElementTree.fromstring(carry.files(LEAVES, ABOUT, SITE)[path])
    entries = root.findall(f"{ATOM}entry")
    links = [one.get("href") for one in root.findall(f"{ATOM}entry/{ATOM}link")]
    assert links == [SITE + page for page in pages]
    assert {one.findtext(f"{ATOM}summary") for one in entries} <= {"a < b"}
    assert root.findtext(f"{ATOM}updated") == f"{updated}T00:00:00Z"
    assert next(root.iter(f"{ATOM}link")).get("href") == SITE + path
    assert len({one.text for one in root.iter(f"{ATOM}id")}) == len(pages) + 1


@pytest.mark.parametrize("site_url", [SITE, ""])
def test_only_a_known_address_is_named(site_url: str) -> None:
    made = carry.files(LEAVES, ABOUT, site_url)
    assert "Allow: /" in made["robots.txt"]
    assert (f"Sitemap: {SITE}sitemap.xml" in made["robots.txt"]) is bool(site_url)
    assert ("feed-new.xml" in made) is bool(site_url)


@pytest.mark.parametrize(
    ("path", "language", "base"),
    [
        ("manifest.webmanifest", "zh", ROOT / "docs"),
        ("en/manifest.webmanifest", "en", ROOT / "docs/x"),
    ],
)
def test_manifest_leads_to_icons_that_are_there(path: str, language: str, base: Path) -> None:
    manifest = json.loads(carry.files([], ABOUT, "")[path])
    assert manifest["lang"] == language and manifest["start_url"] == "index.html"
    for icon in manifest["icons"]:
        content = Path(f"{base}/{icon['src']}".replace("/x/..", "")).read_bytes()
        assert f"{int.from_bytes(content[16:20], 'big')}x" in icon["sizes"]
