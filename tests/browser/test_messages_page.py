"""A log that is pasted and a line that is typed: what is said comes with the product."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Ear, Open, Window

pytestmark = pytest.mark.browser

LINE = "RuntimeError: CUDA error: an illegal memory access was encountered"


def test_a_log_is_read_from_a_folder(from_file: Open, site: Path, ear: Ear) -> None:
    page = from_file(f"{site.as_uri()}/en/messages/index.html")
    page.get_by_role("button", name="Show an example").click()
    first = page.locator(".message-log__result li").first
    expect(first).to_contain_text("Do first: ")
    expect(first.get_by_role("link", name="why")).to_have_attribute(
        "href", re.compile(r"^\.\./\w+/")
    )
    tell = page.get_by_role("link", name="Tell us in an issue")
    expect(tell).to_have_attribute("href", re.compile(r"/issues/new\?template=message\.yml$"))
    page.locator("textarea").fill(f"epoch 3\n{LINE}\n")
    page.get_by_role("button", name="Read the log").click()
    expect(page.locator(".message-log [role=status]")).to_have_text(
        "3 lines, 1 kinds of known messages."
    )
    expect(first).to_contain_text("line 2")
    products = [one.rpartition("/")[2] for one in ear.asked if "/messages.en/" in one]
    assert products[-1] == "cuda-runtime.js" and len(products) < 5


def test_a_line_that_is_typed_has_its_first_step(window: Window, site_address: str) -> None:
    page = window(site_address, service_workers="block").new_page()
    page.goto(site_address + "en/index.html")
    page.keyboard.press("/")
    page.keyboard.insert_text(LINE)
    entry = page.locator(".hb-search__messages a").first
    expect(entry).to_contain_text("Do first: ")
    entry.click()
    expect(page.locator(":target")).to_contain_text("an illegal memory access was encountered")
