"""The frame of a note's page as readers use it: drawings, wide tables, contents, foot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser import waiting
from tests.browser.conftest import Window
from tests.conftest import ROOT

pytestmark = pytest.mark.browser

PHONE = {"width": 390, "height": 844}
DESK = {"width": 1440, "height": 900}
ASSETS = ROOT / "docs/assets"
WIDE = "".join(f"<td>number {count}</td>" for count in range(14))
BODY = f"""
<figure class="figure"><div class="figure__scroll"><svg class="figure__svg" role="img"
  aria-label="Two chips" viewBox="0 0 700 200" style="--fig-width: 700px"><rect id="chip"
  width="700" height="200" fill="#888"/></svg></div><figcaption>Two chips</figcaption></figure>
<div class="facts"><div class="facts__scroll" role="region" aria-label="Wide" tabindex="0">
<table class="facts__table"><tbody><tr><th scope="row">row</th>{WIDE}</tr></tbody></table>
</div></div>
<p>End.</p>
"""
Open = Callable[..., Page]


@pytest.fixture
def open_page(window: Window, tmp_path: Path) -> Iterator[Open]:
    """Open a page of a folder that holds the scripts and the data; no complaint may come of it."""
    complaints: list[str] = []
    styles = "".join(
        f'<link rel="stylesheet" href="{(ASSETS / "stylesheets" / name).as_uri()}">'
        for name in ("handbook.css", "data.css", "page.css")
    )
    scripts = "".join(
        f'<script src="{(ASSETS / "javascripts" / name).as_uri()}"></script>'
        for name in ("scroll-edges.js", "enlarge.js")
    )
    folder = tmp_path / "en/t"
    folder.mkdir(parents=True)
    (folder / "one.html").write_text(
        '<!doctype html><html lang="en" data-md-color-scheme="default"><head>'
        f'<meta charset="utf-8"><title>t</title>{styles}<style>body {{ margin: 0 }}'
        " article { max-width: 700px; margin: 0 16px }</style>"
        '<meta name="viewport" content="width=device-width"></head>'
        f'<body><main><article class="md-typeset"><h1>t</h1>{BODY}</article></main>'
        f"{scripts}</body></html>",
        encoding="utf-8",
    )

    def open_it(**options: Any) -> Page:
        page = window("file:", offline=True, **options).new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto((folder / "one.html").as_uri())
        return page

    yield open_it
    assert complaints == []


def test_a_drawing_enlarges_and_goes_back(open_page: Open) -> None:
    page = open_page(viewport=PHONE)
    control = page.get_by_role("button", name="Enlarge: Two chips")
    dialog = page.get_by_role("dialog", name="Two chips")
    control.focus()
    page.keyboard.press("Enter")
    expect(dialog.locator("svg")).to_be_visible()
    expect(page.locator("#chip")).to_have_count(1)  # moved, not copied
    drawing = dialog.locator("svg")
    width = waiting.box(drawing, lambda seen: seen["width"] > PHONE["width"])["width"]
    dialog.get_by_role("button", name="Larger").click()
    waiting.box(drawing, lambda seen: seen["width"] > width)
    assert waiting.audit(page).response["violations"] == []
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(control).to_be_focused()
    expect(page.locator("figure #chip")).to_have_count(1)
    page.locator("figure svg").click()
    expect(dialog).to_be_visible()
    dialog.locator("svg").click()
    expect(dialog).to_be_hidden()


def test_a_wide_table_uses_the_desk_and_says_that_it_scrolls(open_page: Open) -> None:
    page = open_page(viewport=DESK)
    table = page.locator(".facts__scroll")
    expect(table).to_have_attribute("data-grown", "")
    waiting.box(table, lambda seen: 716 < seen["x"] + seen["width"] <= DESK["width"])
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    expect(table).to_have_attribute("data-scrolls", "end")
    expect(table).to_have_attribute("data-hint", "⇆ Scroll sideways for the rest")
    table.evaluate("box => { box.scrollLeft = box.scrollWidth }")
    expect(table).to_have_attribute("data-scrolls", "start")
    waiting.fits(page)


@pytest.mark.parametrize(("columns", "tight", "scrolls"), [(6, 0, 0), (34, 1, 0), (70, 0, 1)])
def test_a_table_is_set_closer_where_that_makes_it_fit(
    open_page: Open, columns: int, tight: int, scrolls: int
) -> None:
    page = open_page(viewport=DESK)
    page.locator(".facts__table tr").evaluate(
        """(row, count) => {
            const cells = [...Array(count)].map((_, at) => `<td>figure ${at}00</td>`).join("");
            row.innerHTML = '<th scope="row">row</th>' + cells;
        }""",
        columns,
    )
    expect(page.locator(".facts__scroll.is-tight")).to_have_count(tight)
    expect(page.locator(".facts__scroll[data-scrolls]")).to_have_count(scrolls)
    waiting.fits(page)


def test_a_drawing_is_seen_whole_on_a_phone(open_page: Open) -> None:
    page = open_page(viewport=PHONE)
    waiting.box(page.locator(".figure__svg"), lambda seen: seen["x"] + seen["width"] <= 390)
    expect(page.locator(".figure__scroll[data-scrolls]")).to_have_count(0)


@pytest.fixture
def note_page(window: Window, small_site: Path) -> Page:
    """A note of a small built handbook on a phone, without script."""
    page = window("file:", viewport=PHONE, java_script_enabled=False, offline=True).new_page()
    page.goto((small_site / "en/topic/two.html").as_uri())
    return page


def test_no_letter_is_cut(note_page: Page) -> None:
    note_page.set_viewport_size({"width": 1280, "height": 900})
    names = note_page.locator(".md-nav .md-ellipsis:visible")
    expect(names.first).to_be_visible()
    assert names.evaluate_all("all => all.filter(e => e.scrollHeight > e.clientHeight).length") == 0


def test_without_script(note_page: Page) -> None:
    contents = note_page.locator(".page-contents")
    expect(contents.get_by_role("link")).to_have_count(0)  # folded
    contents.locator("summary").click()
    expect(contents.get_by_role("link")).to_have_text(["Congestion", "Back off", "Filler"])
    expect(note_page.locator(".note-tools cite")).to_contain_text("en/topic/two.html, CC BY 4.0")
    expect(note_page.get_by_text("Report an error")).to_have_count(0)  # no repository is known
    following = note_page.get_by_role("complementary", name="Before and after this note")
    expect(following.get_by_role("link")).to_have_text(["Note three"])
