"""Material's own search (`engine: stock`) as a reader meets it, over http and on file://."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import samples
from tests.browser import waiting
from tests.browser.conftest import Window
from tests.conftest import Project, serve

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def small_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = Project(tmp_path_factory.mktemp("search"))
    project.write("docs/topic/net.md", samples.note("## 队列\n\n`ibv_post_send`\n", "以太网"))
    project.write(
        "docs/topic/net.en.md", samples.note("## Queues\n\n`ibv_post_send`\n", "Ethernet")
    )
    project.add_to_nav("topic/net.md")
    run = project.build(HANDBOOK_SEARCH="stock")
    assert run.returncode == 0, run.stdout + run.stderr
    return project.site


@pytest.fixture(scope="module", params=["file", pytest.param("http", marks=pytest.mark.slow)])
def base(request: pytest.FixtureRequest, small_site: Path) -> Iterator[str]:
    """The address of the site, with a trailing slash."""
    if request.param == "file":
        yield small_site.as_uri() + "/"
        return
    with serve(small_site) as address:
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
