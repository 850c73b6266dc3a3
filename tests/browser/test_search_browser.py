"""Material's own search (`engine: stock`) as a reader meets it, over http and on file://."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser import waiting
from tests.browser.conftest import Window
from tests.conftest import serve

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module", params=["file", pytest.param("http", marks=pytest.mark.slow)])
def base(request: pytest.FixtureRequest, stock_site: Path) -> Iterator[str]:
    """The address of the site, with a trailing slash."""
    if request.param == "file":
        yield stock_site.as_uri() + "/"
        return
    with serve(stock_site) as address:
        yield address


@pytest.mark.parametrize(
    ("query", "place"),
    [("ibv_post_send", "topic/net.html#队列"), ("ethernet", "en/topic/net.html")],
)
def test_typed_words_are_found(window: Window, base: str, query: str, place: str) -> None:
    failures: list[str] = []
    page = window(base, service_workers="block").new_page()
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.goto(base + "index.html")
    page.locator("[data-md-component=search-query]").focus()
    page.keyboard.insert_text(query)
    page.keyboard.press("Shift")
    links = page.locator(".md-search-result__link")
    address, _, fragment = place.partition("#")
    waiting.until(
        page,
        lambda: links.evaluate_all("links => links.map(link => decodeURI(link.href))"),
        lambda found: any(
            one.startswith(base + address) and one.endswith(fragment) for one in found
        ),
    )
    assert failures == []
