"""What the site offers to robots and installers, with and without an address."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hooks.site import shared
from tests.conftest import ROOT

SITE = "https://example.org/h/"


@pytest.mark.parametrize(("site_url", "names_it"), [(SITE, True), ("", False)])
def test_robots_name_the_sitemap_where_its_address_is_known(site_url: str, names_it: bool) -> None:
    text = shared.entrance_files({}, site_url)["robots.txt"]
    assert "Allow: /" in text and (f"Sitemap: {SITE}sitemap.xml" in text) is names_it


@pytest.mark.parametrize(
    ("path", "language", "base"),
    [
        ("manifest.webmanifest", "zh", ROOT / "docs"),
        ("en/manifest.webmanifest", "en", ROOT / "docs/x"),
    ],
)
def test_manifest_leads_to_icons_that_are_there(path: str, language: str, base: Path) -> None:
    made = shared.entrance_files({"zh": "说", "en": "said"}, "")
    manifest = json.loads(made[path])
    assert manifest["lang"] == language and manifest["start_url"] == "index.html"
    for icon in manifest["icons"]:
        content = Path(f"{base}/{icon['src']}".replace("/x/..", "")).read_bytes()
        assert f"{int.from_bytes(content[16:20], 'big')}x" in icon["sizes"]
