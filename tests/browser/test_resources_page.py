"""The filter of the page of resources, from a file, by keyboard, on a phone, without script."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from hooks.data import Library, load_resources
from hooks.pages import resources, topics
from tests.browser import waiting
from tests.browser.conftest import PHONE, Open, page_of
from tests.conftest import ROOT

pytestmark = pytest.mark.browser

AREAS, _ = topics.load(ROOT / "docs/data/topics.yml", "docs/data/topics.yml")


@pytest.fixture(scope="module")
def ours() -> Library:
    return load_resources(ROOT / "docs/data/resources", {area.id for area in AREAS})[0]


@pytest.fixture
def open_page(from_file: Open, tmp_path: Path, ours: Library) -> Open:
    """Open the page from a folder."""

    def open_it(language: str = "en", **options: Any) -> Page:
        body = re.sub(r"(?m)^## (.*)$", r"<h2>\1</h2>", resources.render(ours, AREAS, language))
        styles = ("handbook.css", "data.css", "resources.css")
        page = page_of(body, language, styles=styles, scripts=("tables.js", "resources.js"))
        (tmp_path / "page.html").write_text(page, encoding="utf-8")
        return from_file((tmp_path / "page.html").as_uri(), **options)

    return open_it


def shown(page: Page) -> int:
    count: int = page.eval_on_selector_all(
        "tbody > tr", "rows => rows.filter(row => row.getClientRects().length).length"
    )
    return count


@pytest.mark.parametrize("language", ["zh", "en"])
def test_filters_narrow_and_are_taken_back(open_page: Open, ours: Library, language: str) -> None:
    page = open_page(language)
    selects = page.locator(".resources__filter select")
    expect(selects).to_have_count(5)
    waiting.equal(page, lambda: shown(page), len(ours))
    selects.nth(0).select_option("train")
    about = [key for key, one in ours.items() if "train" in one.topics]
    waiting.equal(page, lambda: shown(page), len(about))
    selects.nth(1).select_option("paper")
    papers = [key for key in about if ours[key].kind == "paper"]
    assert papers
    waiting.equal(page, lambda: shown(page), len(papers))
    expect(page.locator("output")).to_contain_text(f"{len(papers)} ")
    page.locator(".resources__filter input").fill("zero")
    waiting.until(page, lambda: shown(page), lambda now: 0 < now < len(papers))
    expect(page.locator("h2:visible")).not_to_have_count(0)
    page.locator(".resources__filter button").click()
    waiting.equal(page, lambda: shown(page), len(ours))


def test_words_may_stand_apart_and_nothing_found_is_said(open_page: Open) -> None:
    page = open_page("en")
    field = page.get_by_label("Words")
    field.fill("flashattention asynchrony")
    waiting.equal(page, lambda: shown(page), 1)
    expect(page.locator("h2:visible")).to_have_count(1)
    field.fill("no such thing anywhere")
    waiting.equal(page, lambda: shown(page), 0)
    expect(page.locator("output")).to_contain_text("0 of")
    expect(page.locator("h2:visible")).to_have_count(0)


def test_state_tells_checked_from_unchecked(open_page: Open, ours: Library) -> None:
    page = open_page("en")
    said = page.locator("output")
    counts = []
    expect(said).not_to_be_empty()
    for state in ("checked", "unchecked"):
        before = said.inner_text()
        page.get_by_label("State").select_option(state)
        expect(said).not_to_have_text(before)
        count, _ = waiting.until(
            page,
            lambda: (shown(page), said.inner_text()),
            lambda seen: seen[1].startswith(f"{seen[0]} of "),
            "as many as is said",
        )
        counts.append(count)
    assert all(counts) and sum(counts) == len(ours)


def test_a_link_to_an_entry_takes_a_filter_back(open_page: Open) -> None:
    page = open_page("en")
    page.get_by_label("Kind").select_option("book")
    expect(page.locator("#nccl")).to_be_hidden()
    page.evaluate("location.hash = '#nccl'")
    expect(page.locator("#nccl")).to_be_in_viewport()


def test_columns_are_sorted_by_their_heads(open_page: Open) -> None:
    page = open_page("en")
    table = page.locator("table").first
    table.get_by_role("button", name="Level").press("Enter")
    rows, order = table.locator("tbody > tr"), {"intro": 0, "working": 1, "deep": 2}
    waiting.until(
        page,
        lambda: rows.evaluate_all("rows => rows.map(r => r.dataset.level)"),
        lambda levels: levels == sorted(levels, key=order.__getitem__),
    )


def test_a_phone_shows_cards_without_scrolling_sideways(open_page: Open) -> None:
    page = open_page("en", viewport=PHONE)
    waiting.fits(page)
    waiting.box(page.locator("#nccl > td").first, lambda seen: seen["width"] > 300)
    waiting.at_least(page.locator(".resources__filter :is(select, input, button)"), height=44)


def test_without_script_the_page_is_complete(open_page: Open, ours: Library) -> None:
    page = open_page("en", java_script_enabled=False)
    waiting.equal(page, lambda: shown(page), len(ours))
    expect(page.locator(".resources__filter")).to_be_hidden()


@pytest.mark.parametrize(
    "viewport", [PHONE, pytest.param({"width": 1280, "height": 800}, marks=pytest.mark.release)]
)
def test_nothing_stands_in_a_readers_way(open_page: Open, viewport: dict[str, int]) -> None:
    page = open_page("en", viewport=viewport)
    # A row is like the next: a few of each table say it all.
    few = "tables => tables.forEach(one => [...one.rows].slice(4).forEach(row => row.remove()))"
    page.locator("table").evaluate_all(few)
    found = waiting.audit(page, options={"runOnly": ["wcag2a", "wcag2aa"]})
    assert found.response["violations"] == []
