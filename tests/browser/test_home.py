"""The home page as readers meet it: it asks, it computes, it fits a phone and a sheet of paper."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser import waiting
from tests.browser.conftest import PHONE, Ear, Open, Window

pytestmark = pytest.mark.browser


def test_typing_goes_on_in_the_search(window: Window, site_address: str) -> None:
    page = window(site_address).new_page()
    page.goto(site_address + "index.html")
    page.locator(".home-search input").click()
    page.keyboard.type("nvlink", delay=30)
    field = page.locator("[data-md-component=search-query]")
    expect(field).to_be_focused()
    expect(field).to_have_value("nvlink")
    expect(page.locator(".md-search-result__link").first).to_be_visible()
    page.keyboard.press("Escape")
    example = page.locator(".home-try a").first
    expect(example).to_be_visible()
    words, address = example.inner_text(), example.get_attribute("href")
    example.click()
    expect(field).to_have_value(words)
    page.goto(site_address + (address or ""))  # it is a link too
    expect(field).to_have_value(re.compile("."))
    expect(page.locator("[data-md-toggle=search]")).to_be_checked()


def test_a_tile_computes_and_hands_on_what_was_entered(
    from_file: Open, site: Path, ear: Ear
) -> None:
    page = from_file(f"{site.as_uri()}/en/index.html", viewport=PHONE)
    tile = page.locator(".calc-tile[data-calc=training-memory]")
    expect(tile.locator("dd").first).not_to_be_empty()
    before = tile.locator("dd").first.inner_text()
    assert not any("presets.js" in one for one in ear.asked)
    tile.scroll_into_view_if_needed()
    entry = tile.get_by_label("Data parallel, DP")
    entry.fill("64")
    expect(tile.locator("dd").first).not_to_have_text(before)
    full = tile.locator(".calc-tile__full")
    expect(full).to_have_attribute("href", "calc/training-memory.html?training-memory.dp=64")
    full.click()
    expect(page.get_by_label("Data parallel, DP")).to_have_value("64")


@pytest.mark.parametrize(
    "name", ["index.html", pytest.param("en/index.html", marks=pytest.mark.release)]
)
def test_fits_a_phone_and_one_sheet(window: Window, site_address: str, name: str) -> None:
    page = window(site_address, viewport=PHONE).new_page()
    page.goto(site_address + name)
    expect(page.locator(".home-drawing")).to_be_visible()
    waiting.fits(page)
    made = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", made)) == 1
