"""What readers asked the search for and got wrong answers to: typed into the handbook itself."""

from __future__ import annotations

import re
from urllib.parse import unquote

import pytest
from playwright.sync_api import Page, expect

from tests.browser import waiting
from tests.browser.conftest import Window

pytestmark = pytest.mark.browser

LINK = ".md-search-result__link"


def answers(page: Page, query: str) -> list[str]:
    """Type a query; return the addresses of the whole answer, best first, without `?h=`."""
    box = page.locator("[data-md-component=search-query]")
    box.fill("")
    expect(page.locator(LINK)).to_have_count(0)
    box.fill(query)
    expect(page.locator(LINK).first).to_be_visible()
    expect(page.locator(".search-early")).to_have_count(0)
    found = page.locator(LINK).evaluate_all("links => links.map(link => link.href)")
    return [re.sub(r"\?[^#]*", "", unquote(one).partition("/base/")[2]) for one in found]


# Query, what is among the first so many, where a page's section of the best score opens.
ZH = [
    ("BAR1 够不够", "link/pcie/p2p-acs-iommu.html", 1),
    ("显存 计算器", "calc/training-memory.html", 1),
    ("什么是 warp", "glossary/index.html#term-warp", 2),
]
EN = [
    ("what is a warp", "en/glossary/index.html#term-warp", 2),
    ("why is my allreduce slow", "en/ccl/nccl/night-shift.html", 1),
    ("how to enable gpudirect rdma", "en/link/gpudirect/rdma.html", 1),
]


@pytest.mark.parametrize(("start", "asked"), [("index.html", ZH), ("en/index.html", EN)])
def test_first_answers_and_what_enter_opens(
    window: Window, site_address: str, start: str, asked: list[tuple[str, str, int]]
) -> None:
    page = window(site_address, service_workers="block").new_page()
    page.goto(site_address + start)
    page.keyboard.press("Control+k")
    for query, place, among in asked:
        first = answers(page, query)[:among]
        assert any(one.startswith(place) for one in first), (query, first)
        assert first[0].startswith("en/") == start.startswith("en/")
        shown = page.locator(".md-search-result__item").first.inner_text()
        assert not any(raw in shown for raw in ("\\frac", "$$", "flowchart", "$ nvidia-smi")), query
    if asked is EN:
        page.keyboard.press("Enter")
        page.wait_for_url("**/rdma.html?h=*#how-to-enable-gpudirect-rdma-the-order-of-the-checks")
        waiting.near_top(page.locator("h3[id^=how-to-enable]"))
