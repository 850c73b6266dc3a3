"""What a term means, shown beside it: by pointer, by keyboard, by finger, without script."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from hooks.data import check_terms
from hooks.pages.term_marks import Marks
from tests.browser import waiting
from tests.browser.conftest import Window
from tests.conftest import ROOT
from tests.samples import note, tree

PHONE = {"width": 390, "height": 844}
TERMS = """\
title: T
terms:
  - {id: sm, zh: [流式多处理器], en: [SM, streaming multiprocessor],
     says: {zh: 执行线程块的单元。, en: The unit that executes thread blocks.}}
  - {id: mtu, zh: [最大传输单元], en: [MTU],
     says: {zh: 一个包的上限。, en: The most that one packet carries.}}
"""
BODY = (
    "<p>Each SM has its own scheduler, and a packet has an MTU.</p>"
    '<p style="text-align: right">at the edge: nothing</p><h2 id="two">Two</h2>'
    '<p style="text-align: right">The last word of the line is SM</p><p>End.</p>'
)
Open = Callable[..., Page]


@pytest.fixture
def open_page(window: Window, tmp_path: Path) -> Iterator[Open]:
    """Open a note with two terms from the folder; whatever it complains about fails the test."""
    complaints: list[str] = []
    notes, _ = tree(tmp_path, {"t/one.en.md": note("## Two\n")})
    glossary, findings = check_terms({"a.yml": TERMS})
    assert findings == []

    def open_it(**options: Any) -> Page:
        assets = ROOT / "docs/assets"
        styles = "".join(
            f'<link rel="stylesheet" href="{(assets / "stylesheets" / name).as_uri()}">'
            for name in ("handbook.css", "data.css")
        )
        body = Marks(glossary).mark(BODY, notes.notes["t/one.en.md"])
        folder = tmp_path / "site/t"
        folder.mkdir(parents=True, exist_ok=True)
        (folder.parent / "glossary").mkdir(exist_ok=True)
        entry = '<h1>Glossary</h1><h3 id="term-sm">SM</h3><h3 id="term-mtu">MTU</h3>'
        (folder.parent / "glossary/index.html").write_text(entry, encoding="utf-8")
        (folder / "one.html").write_text(
            '<!doctype html><html lang="en" data-md-color-scheme="default"><head>'
            f'<meta charset="utf-8"><title>t</title>{styles}'
            '<meta name="viewport" content="width=device-width"></head>'
            f'<body><main><article class="md-typeset"><h1>t</h1>{body}</article></main>'
            f'<script src="{(assets / "javascripts/popover.js").as_uri()}" data-base="../">'
            "</script></body></html>",
            encoding="utf-8",
        )
        page = window("file:", offline=True, **options).new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto((folder / "one.html").as_uri())
        return page

    yield open_it
    assert complaints == []


@pytest.mark.browser
def test_by_keyboard(open_page: Open) -> None:
    page = open_page(viewport=PHONE)
    tip = page.locator(".link-tip")
    page.keyboard.press("Tab")
    expect(page.locator("a.term").first).to_be_focused()
    expect(page.locator("a.term").first).to_have_accessible_description(
        "The unit that executes thread blocks."
    )
    expect(tip).to_contain_text("streaming multiprocessor (SM, 流式多处理器)")
    expect(tip).to_contain_text("The unit that executes thread blocks.")
    expect(tip).to_have_attribute("aria-hidden", "true")
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    page.keyboard.press("Tab")
    expect(tip).to_contain_text("The most that one packet carries.")
    page.keyboard.press("Enter")
    page.wait_for_url("**/glossary/index.html#term-mtu")


@pytest.mark.browser
def test_by_finger(open_page: Open) -> None:
    page = open_page(viewport=PHONE, has_touch=True, is_mobile=True)
    tip, mark = page.locator(".link-tip"), page.locator("#two ~ p a.term")
    mark.tap()
    expect(tip).to_contain_text("The unit that executes thread blocks.")
    expect(tip).to_contain_text("Tap again")
    mark.dispatch_event("mouseout")  # as browsers send after a tap, now or later
    page.wait_for_timeout(400)
    waiting.box(tip, lambda seen: seen["x"] >= 0 and seen["x"] + seen["width"] <= PHONE["width"])
    waiting.fits(page)
    page.get_by_role("heading", name="t", exact=True).tap()
    expect(tip).to_be_hidden()
    mark.tap()
    expect(tip).to_be_visible()
    expect(page).not_to_have_url(re.compile("glossary"))
    mark.tap()
    page.wait_for_url("**/glossary/index.html#term-sm")


@pytest.mark.browser
def test_by_pointer(open_page: Open) -> None:
    page = open_page(viewport={"width": 1280, "height": 800})
    tip = page.locator(".link-tip")
    page.locator("a.term").first.hover()
    expect(tip).to_be_visible()
    tip.hover()  # what is shown may be pointed at without vanishing
    page.wait_for_timeout(400)
    expect(tip).to_be_visible()
    page.mouse.move(900, 700)
    expect(tip).to_be_hidden()
    copied = page.evaluate(
        """() => { getSelection().selectAllChildren(document.querySelector("article"));
                   return getSelection().toString(); }"""
    )
    assert "Each SM has" in copied and "executes thread blocks" not in copied


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["default", "slate"])
def test_for_all(open_page: Open, scheme: str) -> None:
    page = open_page(viewport=PHONE)
    page.evaluate("scheme => { document.documentElement.dataset.mdColorScheme = scheme }", scheme)
    page.add_style_tag(  # as Material has it
        content="body { background: var(--md-default-bg-color); color: var(--md-typeset-color) }"
    )
    page.keyboard.press("Tab")
    expect(page.locator(".link-tip")).to_be_visible()
    assert waiting.audit(page).response["violations"] == []


@pytest.mark.browser
def test_without_script(open_page: Open) -> None:
    page = open_page(java_script_enabled=False)
    expect(page.locator(".term-sentences")).to_be_hidden()
    page.locator("a.term").first.click()
    page.wait_for_url("**/glossary/index.html#term-sm")
