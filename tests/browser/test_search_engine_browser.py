"""Our search engine as a reader meets it: typed, listed, opened, over http and on file://."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import Page, expect

from tests.browser import waiting
from tests.browser.conftest import Ear, Window
from tests.conftest import serve

pytestmark = pytest.mark.browser

BOTH = pytest.mark.parametrize("base", ["http", "file"], indirect=True)
"""For what is loaded, and opened, otherwise from a folder without a server."""


@pytest.fixture(scope="module")
def base(
    request: pytest.FixtureRequest, small_site: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of the small handbook, with a trailing slash."""
    if getattr(request, "param", "http") == "file":
        # A folder name that readers have: blanks, and not ASCII.
        site = tmp_path_factory.mktemp("search") / "下载 1/site"
        shutil.copytree(small_site, site)
        yield site.as_uri() + "/"
        return
    with serve(small_site) as address:
        yield address


@pytest.fixture
def page(window: Window, base: str) -> Page:
    return window(base, service_workers="block").new_page()


def type_in(page: Page, text: str) -> None:
    """Enter text in the search field, ending with a key as typing does."""
    page.locator("[data-md-component=search-query]").focus()
    page.keyboard.insert_text(text)
    page.keyboard.press("Shift")


def listed(page: Page, base: str) -> list[str]:
    """Wait for the whole answer; return its addresses, without ?h=, in the order shown."""
    expect(page.locator(".hb-search__live")).not_to_be_empty()
    expect(page.locator(".search-early")).to_have_count(0)
    links = page.locator(".md-search-result__link").evaluate_all("all => all.map(a => a.href)")
    return [re.sub(r"\?[^#]*", "", unquote(link.removeprefix(base))) for link in links]


ZH, EN = "index.html", "en/index.html"
ONE, TWO = "topic/one.html", "topic/two.html"


@pytest.mark.parametrize(
    ("start", "query", "wanted"),
    [
        (ZH, "显存带宽", [ONE, f"{ONE}#显存带宽"]),
        (EN, "拥塞控制", [f"en/{TWO}", f"en/{TWO}#congestion"]),
        (ZH, "<img src=x onerror=alert(1)>", []),
    ],
)
def test_typed_words(page: Page, base: str, start: str, query: str, wanted: list[str]) -> None:
    """Further words are typed into the engine alone, in tests/search."""
    page.goto(base + start)
    type_in(page, query)
    found = listed(page, base)
    assert found[: len(wanted)] == wanted
    assert bool(found) == bool(wanted)


@BOTH
def test_the_index_is_loaded_only_when_search_is_used(page: Page, base: str, ear: Ear) -> None:
    def index() -> set[str]:
        """Return the files of the index that were asked for, by workers too."""
        names = {url.removeprefix(base).partition("?")[0] for url in ear.asked}
        return {name for name in names if name.startswith("search/handbook.")}

    page.goto(base + ZH)
    page.wait_for_timeout(1000)  # nothing is asked for
    assert index() == set()
    type_in(page, "填充")
    listed(page, base)
    wanted = {f"search/handbook.{name}.js" for name in ("tables", "zh.titles", "zh.0")}
    waiting.until(page, index, wanted.issubset)
    page.keyboard.press("Enter")  # opens the first result
    page.wait_for_url(lambda url: unquote(url).endswith("two.html?h=填充#填充"))


def test_the_opened_page_marks_the_words(page: Page, base: str) -> None:
    page.goto(base + EN)
    type_in(page, "zerocopy")
    place = listed(page, base).index(f"en/{ONE}#memory-bandwidth")
    page.locator(".md-search-result__link").nth(place).click()
    expect(page.locator("mark[data-md-highlight]")).to_have_text(["zero-copy"])


def test_pages_load_their_languages_worker(small_site: Path) -> None:
    for address, language in (("index.html", "zh"), ("en/topic/one.html", "en")):
        text = (small_site / address).read_text(encoding="utf-8")
        config = json.loads(
            text.split('<script id="__config" type="application/json">')[1].split("</script>")[0]
        )
        worker = (small_site / address).parent / config["search"]
        assert f'"language": "{language}"' in worker.read_text(encoding="utf-8")
