"""What the site offers to robots and installers, with and without an address."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hooks.site import carry
from tests.conftest import ROOT

SITE = "https://example.org/h/"
ABOUT = {"zh": "说", "en": "said"}


@pytest.mark.parametrize("site_url", [SITE, ""])
def test_only_a_known_address_is_named(site_url: str) -> None:
    made = carry.files([], ABOUT, site_url)
    assert "Allow: /" in made["robots.txt"]
    assert (f"Sitemap: {SITE}sitemap.xml" in made["robots.txt"]) is bool(site_url)


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
