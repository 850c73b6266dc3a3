"""A reader without a mouse, and one without a script, in each language."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser import waiting
from tests.browser.conftest import Open

pytestmark = pytest.mark.browser
NOTE, CALC = "link/topo/nvlink-generations.html", "calc/nvlink.html"
PLAIN = {"color_scheme": "dark", "forced_colors": "active", "reduced_motion": "reduce"}
_SEEN = """() => {
  for (let one = document.activeElement; one && one !== document.body; one = one.parentElement) {
    for (const drawn of [one, one.nextElementSibling]) {
      const style = drawn && getComputedStyle(drawn), box = one.getBoundingClientRect();
      const shows = style && box.width && [style.outlineStyle, style.boxShadow];
      if (shows && shows.some(one => one !== "none")) return true;
    }
  }
  return false;
}"""


def seen(page: Page) -> None:
    """Wait until what has the focus shows it."""
    page.wait_for_function(_SEEN)


def focus(page: Page, selector: str) -> None:
    """Give something the focus, as keys do, and see that it shows."""
    page.keyboard.press("Shift")  # whoever types last is shown the focus
    page.locator(selector).first.focus()
    seen(page)


@pytest.mark.parametrize(
    ("folder", "options"), [("", {}), pytest.param("en/", PLAIN, marks=pytest.mark.release)]
)
def test_all_can_be_done_with_keys(
    from_file: Open, site: Path, folder: str, options: dict[str, str]
) -> None:
    base, twin = f"{site.as_uri()}/", "" if folder else "en/"
    page = from_file(f"{base}{folder}{NOTE}", viewport={"width": 1280, "height": 800}, **options)
    waiting.drawn(page)
    # Past what stands above the text, and to the search and each of its results.
    page.keyboard.press("Tab")
    expect(page.locator(".md-skip")).to_be_focused()
    seen(page)
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("() => !!document.activeElement.closest('article')")
    page.reload()  # a jump on the page closes the search a little later, which no hand notices
    waiting.drawn(page)
    page.keyboard.press("/")
    expect(page.locator("[data-md-component=search-query]")).to_be_focused()
    seen(page)
    page.keyboard.insert_text("ibv_post_send")
    results = page.locator(".md-search-result__link")
    expect(results.first).to_be_visible()
    for _ in range(2):
        page.keyboard.press("ArrowDown")
        page.wait_for_function("() => document.activeElement.matches('.md-search-result__link')")
        seen(page)
    page.keyboard.press("Escape")
    # A term's tooltip, a footnote and back, a figure.
    focus(page, "article p .term")
    expect(page.locator(".link-tip")).to_be_visible()
    page.keyboard.press("Escape")
    mark = page.locator(".footnote-ref").first
    focus(page, ".footnote-ref")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("#fn:"))
    expect(page.locator(".footnote-backref:focus")).to_be_in_viewport()
    seen(page)
    page.keyboard.press("Enter")
    expect(mark).to_be_focused()
    expect(mark).to_be_in_viewport()
    seen(page)
    page.keyboard.press("Escape")
    focus(page, "button:is([aria-label^='Enlarge'], [aria-label^='放大'])")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").locator("svg").first).to_be_visible()
    seen(page)
    page.keyboard.press("Escape")
    # A calculator, and the other language.
    page.goto(f"{base}{folder}{CALC}")
    focus(page, ".calc__input[type=text]")
    before = page.locator(".calc__output dd").first.inner_text()
    page.keyboard.press("Control+a")
    page.keyboard.type("7")
    expect(page.locator(".calc__output dd").first).not_to_have_text(before)
    focus(page, ".md-header button[aria-label]")
    focus(page, f".md-select__link[hreflang={'zh' if folder else 'en'}]")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(re.escape(f"{base}{twin}{CALC}")))
    # Twice as large.
    for name in ("index.html", NOTE, CALC):
        page.set_viewport_size({"width": 640, "height": 400})
        page.goto(f"{base}{folder}{name}")
        waiting.fits(page)


@pytest.mark.parametrize("folder", ["", pytest.param("en/", marks=pytest.mark.release)])
def test_without_a_script_all_is_said(from_file: Open, site: Path, folder: str) -> None:
    base = f"{site.as_uri()}/{folder}"
    page = from_file(base + NOTE, java_script_enabled=False)
    fold = page.locator("article details:not(.page-contents, .footnote-uses)").first
    fold.locator("summary").first.click()
    expect(fold.locator(":scope > :not(summary)").first).to_be_visible()
    expect(
        page.locator("article svg.chart, article figure svg, article .chart svg").first
    ).to_be_visible()
    expect(page.locator("article table").first).to_be_visible()
    formulas = page.locator("article .arithmatex").all_inner_texts()
    assert formulas and not [one for one in formulas if "\\" in one]
    page.goto(base + CALC)
    expect(page.locator(".calc__noscript")).to_be_visible()
    expect(page.locator(".calc__results dd").first).to_be_visible()
    assert "\\" not in page.locator(".calc .arithmatex").first.inner_text()
