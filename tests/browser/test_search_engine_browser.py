"""Our search engine as a reader meets it: typed, listed, opened, over http and on file://."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import Page, Request, expect

from tests.browser import waiting
from tests.browser.conftest import Window
from tests.conftest import serve

pytestmark = pytest.mark.browser

BOTH = pytest.mark.parametrize("base", ["http", "file"], indirect=True)
"""For what is loaded, and opened, otherwise from a folder without a server."""
ONCE = pytest.mark.parametrize(
    "base", ["http", pytest.param("file", marks=pytest.mark.slow)], indirect=True
)
"""For what a folder could do otherwise, but shows in other tests already."""


@pytest.fixture(scope="module")
def base(
    request: pytest.FixtureRequest, small_site: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of the small handbook, with a trailing slash."""
    if request.param == "file":
        # A folder name that readers have: blanks, and not ASCII.
        site = tmp_path_factory.mktemp("search") / "下载 1/site"
        shutil.copytree(small_site, site)
        yield site.as_uri() + "/"
        return
    with serve(small_site) as address:
        yield address


class Visit:
    """A page, and what it asked for."""

    def __init__(self, page: Page, base: str) -> None:
        self.page = page
        self.base = base
        self.asked: list[str] = []

    def note(self, request: Request) -> None:
        """Record what is asked for, by workers too."""
        self.asked.append(request.url)

    def index(self) -> set[str]:
        """Return the files of the index that were asked for."""
        names = {url.removeprefix(self.base).partition("?")[0] for url in self.asked}
        return {name for name in names if name.startswith("search/handbook.")}

    def type(self, text: str) -> None:
        """Enter text in the search field, ending with a key as typing does."""
        self.page.locator("[data-md-component=search-query]").focus()
        self.page.keyboard.insert_text(text)
        self.page.keyboard.press("Shift")

    def listed(self) -> list[str]:
        """Wait for the whole answer; return its addresses, without ?h=, in the order shown."""
        expect(self.page.locator(".hb-search__live")).not_to_be_empty()
        expect(self.page.locator(".search-early")).to_have_count(0)
        links = self.page.locator(".md-search-result__link")
        found = []
        for link in links.evaluate_all("links => links.map(link => link.href)"):
            address, _, fragment = link.removeprefix(self.base).partition("#")
            found.append(address.partition("?")[0] + (f"#{unquote(fragment)}" if fragment else ""))
        return found


@pytest.fixture
def visit(window: Window, base: str) -> Iterator[Visit]:
    """A page that may ask nobody but the site, and may not fail."""
    visit = Visit(window(base, service_workers="block").new_page(), base)
    failures: list[str] = []
    visit.page.context.on("request", visit.note)
    visit.page.on("pageerror", lambda error: failures.append(str(error)))
    visit.page.on(
        "console", lambda said: failures.append(said.text) if said.type == "error" else None
    )
    yield visit
    visit.page.context.remove_listener("request", visit.note)
    assert [url for url in visit.asked if not url.startswith((base, "about:", "data:"))] == []
    assert failures == []


ZH, EN = "index.html", "en/index.html"
ONE, TWO = "topic/one.html", "topic/two.html"


@ONCE
@pytest.mark.parametrize(
    ("start", "query", "listed"),
    [
        (ZH, "显存带宽", [ONE, f"{ONE}#显存带宽"]),
        (EN, "拥塞控制", [f"en/{TWO}", f"en/{TWO}#congestion"]),
        (ZH, "<img src=x onerror=alert(1)>", []),
    ],
)
def test_typed_words(visit: Visit, start: str, query: str, listed: list[str]) -> None:
    """Further words are typed into the engine alone, in tests/search."""
    visit.page.goto(visit.base + start)
    visit.type(query)
    found = visit.listed()
    assert found[: len(listed)] == listed
    assert bool(found) == bool(listed)


@BOTH
def test_the_index_is_loaded_only_when_search_is_used(visit: Visit) -> None:
    visit.page.goto(visit.base + ZH)
    visit.page.wait_for_timeout(1000)  # nothing is asked for
    assert visit.index() == set()
    visit.type("显存")
    visit.listed()
    wanted = ("tables", "zh.titles", "zh.0")
    names = {f"search/handbook.{name}.js" for name in wanted}
    waiting.until(visit.page, visit.index, names.issubset)


@ONCE
def test_the_opened_page_marks_the_words(visit: Visit) -> None:
    visit.page.goto(visit.base + EN)
    visit.type("zerocopy")
    shown = visit.listed()
    place = shown.index(f"en/{ONE}#memory-bandwidth")
    visit.page.locator(".md-search-result__link").nth(place).click()
    expect(visit.page.locator("mark[data-md-highlight]")).to_have_text(["zero-copy"])


@BOTH
def test_enter_opens_the_first_result(visit: Visit) -> None:
    visit.page.goto(visit.base + ZH)
    visit.type("填充")
    visit.listed()
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_url(lambda url: unquote(url).endswith("two.html?h=填充#填充"))


def test_pages_load_their_languages_worker(small_site: Path) -> None:
    for address, language in (("index.html", "zh"), ("en/topic/one.html", "en")):
        text = (small_site / address).read_text(encoding="utf-8")
        config = json.loads(
            text.split('<script id="__config" type="application/json">')[1].split("</script>")[0]
        )
        worker = (small_site / address).parent / config["search"]
        assert f'"language": "{language}"' in worker.read_text(encoding="utf-8")
