"""Ticks of learning paths as readers meet them: from files, kept or not, without script."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import markdown
import pytest
from playwright.sync_api import Page, expect

from tests.browser import waiting
from tests.browser.conftest import PHONE, Open, page_of

pytestmark = pytest.mark.browser

NAMES = ("t/one", "t/two", "t/three")
TEXT = """
<div class="path" markdown="1">

1. [One](../t/one.html): first
1. [Two](../t/two.html)
1. [Three](../t/three.html)

</div>
<div class="path" markdown="1">

1. [One](../t/one.html)
1. [Three](../t/three.html)

</div>
"""
WORDS = {
    "zh": ("读完了：One", "读完 1/3 篇", "清除全部标记", "这个浏览器不保存"),
    "en": ("Read: One", "1 of 3 read", "Clear all ticks", "keeps no ticks"),
}
NO_STORAGE = (
    "Object.defineProperty(window, 'localStorage', {get() { throw new Error('denied'); }});"
)
LANGUAGES = pytest.mark.parametrize("language", ["zh", "en"])


@pytest.fixture
def open_page(from_file: Open, tmp_path: Path) -> Open:
    """Write a page of paths in a folder; open it."""

    def open_it(language: str, **options: Any) -> Page:
        body = markdown.markdown(TEXT, extensions=["md_in_html"])
        page = page_of(body, language, styles=("handbook.css",), scripts=("paths.js",))
        (tmp_path / f"paths.{language}.html").write_text(page, encoding="utf-8")
        return from_file((tmp_path / f"paths.{language}.html").as_uri(), **options)

    return open_it


@LANGUAGES
def test_ticks_are_kept_and_shared(open_page: Open, language: str) -> None:
    words = WORDS[language]
    page = open_page(language, viewport=PHONE)
    boxes, ticked = page.locator(".path input"), page.locator(".path input:checked")
    expect(boxes).to_have_count(5)
    boxes.first.focus()
    page.keyboard.press("Space")
    expect(ticked).to_have_count(2)  # it is on both paths
    expect(page.locator(".path output").first).to_have_text(words[1])
    expect(page.locator(".path__notice")).to_be_hidden()
    waiting.box(boxes.first, lambda seen: seen["width"] >= 18)
    assert waiting.audit(page).response["violations"] == []
    page.reload()
    expect(ticked).to_have_count(2)
    page.get_by_label(words[0]).first.uncheck()
    expect(ticked).to_have_count(0)
    boxes.nth(1).check()
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name=words[2]).click()
    expect(ticked).to_have_count(0)


@LANGUAGES
def test_without_storage_the_page_says_so(open_page: Open, language: str) -> None:
    page = open_page(language, init=NO_STORAGE)
    page.locator(".path input").first.check()
    expect(page.locator(".path output").first).to_have_text(WORDS[language][1])
    expect(page.locator(".path__notice")).to_contain_text(WORDS[language][3])


def test_what_else_stands_in_storage_does_no_harm(open_page: Open) -> None:
    page = open_page("en", init="localStorage.setItem('handbook.paths.done', '[1, {')")
    expect(page.locator(".path input:checked")).to_have_count(0)


def test_whole_without_script(open_page: Open) -> None:
    page = open_page("en", java_script_enabled=False)
    expect(page.locator(".path li")).to_have_count(5)
    expect(page.locator("input, button")).to_have_count(0)
