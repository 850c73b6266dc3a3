"""The frame of a note's page as readers use it: drawings, wide tables, contents, foot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser import waiting
from tests.browser.conftest import PHONE, Open, page_of

pytestmark = pytest.mark.browser

DESK = {"width": 1440, "height": 900}
WIDE = "".join(f"<td>number {count}</td>" for count in range(14))
BODY = f"""<style>body {{ margin: 0 }} article {{ max-width: 700px; margin: 0 16px }}</style>
<article class="md-typeset">
<figure class="figure"><div class="figure__scroll"><svg class="figure__svg" role="img"
  aria-label="Two chips" viewBox="0 0 700 200" style="--fig-width: 700px"><rect id="chip"
  width="700" height="200" fill="#888"/></svg></div><figcaption>Two chips</figcaption></figure>
<div class="facts"><div class="facts__scroll" role="region" aria-label="Wide" tabindex="0">
<table class="facts__table"><tbody><tr><th scope="row">row</th>{WIDE}</tr></tbody></table>
</div></div>
<p>End.</p></article>
"""


@pytest.fixture
def open_page(from_file: Open, tmp_path: Path) -> Open:
    """Open a page with a drawing and a wide table."""
    file = tmp_path / "one.html"
    styles = ("handbook.css", "data.css", "page.css")
    text = page_of(BODY, styles=styles, scripts=("scroll-edges.js", "enlarge.js"))
    file.write_text(text, encoding="utf-8")
    return lambda **options: from_file(file.as_uri(), **options)


def test_a_drawing_is_whole_on_a_phone_enlarges_and_goes_back(open_page: Open) -> None:
    page = open_page(viewport=PHONE)
    waiting.box(page.locator(".figure__svg"), lambda seen: seen["x"] + seen["width"] <= 390)
    expect(page.locator(".figure__scroll[data-scrolls]")).to_have_count(0)
    control = page.get_by_role("button", name="Enlarge: Two chips")
    dialog = page.get_by_role("dialog", name="Two chips")
    control.focus()
    page.keyboard.press("Enter")
    drawing = dialog.locator("svg")
    expect(drawing).to_be_visible()
    expect(page.locator("#chip")).to_have_count(1)  # moved, not copied
    fitted = waiting.box(drawing, lambda seen: seen["x"] + seen["width"] <= PHONE["width"])
    dialog.get_by_role("button", name="Larger").click()
    waiting.box(drawing, lambda seen: seen["width"] > fitted["width"])
    assert waiting.audit(page).response["violations"] == []
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(control).to_be_focused()
    expect(page.locator("figure #chip")).to_have_count(1)
    page.locator("figure svg").click()
    expect(dialog).to_be_visible()
    drawing.click()
    expect(dialog).to_be_hidden()


def test_a_wide_table_uses_the_desk_and_says_that_it_scrolls(open_page: Open) -> None:
    page = open_page(viewport=DESK)
    table = page.locator(".facts__scroll")
    expect(table).to_have_attribute("data-grown", "")
    waiting.box(table, lambda seen: 716 < seen["x"] + seen["width"] <= DESK["width"])
    phone: Any = PHONE
    page.set_viewport_size(phone)
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


def test_no_letter_is_cut(from_file: Open, small_site: Path) -> None:
    page = from_file(
        (small_site / "en/topic/two.html").as_uri(), viewport={"width": 1280, "height": 900}
    )
    names = page.locator(".md-nav .md-ellipsis:visible")
    expect(names.first).to_be_visible()
    assert names.evaluate_all("all => all.filter(e => e.scrollHeight > e.clientHeight).length") == 0


def test_without_script(from_file: Open, small_site: Path) -> None:
    """A note of a small built handbook on a phone."""
    address = (small_site / "en/topic/two.html").as_uri()
    page: Page = from_file(address, viewport=PHONE, java_script_enabled=False)
    contents = page.locator(".page-contents")
    expect(contents.get_by_role("link")).to_have_count(0)  # folded
    contents.locator("summary").click()
    expect(contents.get_by_role("link")).to_have_text(["Congestion", "Back off", "Filler"])
    expect(page.locator(".note-tools cite")).to_contain_text("en/topic/two.html, CC BY 4.0")
    expect(page.get_by_text("Report an error")).to_have_count(0)  # no repository is known
    following = page.get_by_role("complementary", name="Before and after this note")
    expect(following.get_by_role("link")).to_have_text(["Note three"])
