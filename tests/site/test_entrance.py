"""What the site offers to robots and installers, with and without an address."""

from __future__ import annotations

import json

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


@pytest.mark.parametrize("language", ["zh", "en"])
def test_manifest_leads_to_icons_that_are_there(language: str) -> None:
    folder = ROOT / "docs/assets"
    manifest = json.loads((folder / f"manifest.{language}.webmanifest").read_text("utf-8"))
    assert manifest["lang"] == language and manifest["start_url"].endswith("index.html")
    for icon in manifest["icons"]:
        content = (folder / icon["src"]).read_bytes()
        assert f"{int.from_bytes(content[16:20], 'big')}x" in icon["sizes"]
