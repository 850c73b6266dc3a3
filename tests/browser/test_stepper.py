"""Figures with steps as readers meet them: from a file, by finger and keyboard, without script."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from hooks.drawings.figures import inline_figures
from tests import samples
from tests.browser import waiting
from tests.browser.conftest import ASSETS, PHONE, Open, page_of

pytestmark = pytest.mark.browser

WORDS = {
    "zh": ("下一步", "上一步", "第一步", "最后一步", "播放", "暂停", "共 3 步", "第 {} 句"),
    "en": (
        *("Next step", "Step back", "First step", "Last step"),
        *("Play", "Pause", "3 steps", "Sentence {}"),
    ),
}


@pytest.fixture
def open_page(from_file: Open, tmp_path: Path) -> Open:
    """Open a page with a drawing from the folder."""
    (tmp_path / "figures").mkdir()

    def open_it(kind: str, language: str = "en", **options: Any) -> Page:
        (tmp_path / "figures/x.svg").write_text(samples.stepped(kind), encoding="utf-8")
        body = inline_figures(
            '<p><img alt="boxes" src="figures/x.svg" /></p>',
            page_dir=Path(),
            docs_dir=tmp_path,
            language=language,
        )
        styles, scripts = ("handbook.css", "data.css"), ("scroll-edges.js", "stepper.js")
        page = page_of(body, language, styles=styles, scripts=scripts)
        (tmp_path / "page.html").write_text(page, encoding="utf-8")
        return from_file((tmp_path / "page.html").as_uri(), **options)

    return open_it


def seen(page: Page) -> list[str]:
    """The boxes that can be seen."""
    texts: list[str] = page.eval_on_selector_all(
        "figure [data-step], figure [data-frame]",
        """all => all.filter(one => getComputedStyle(one).display !== "none" &&
             getComputedStyle(one).visibility === "visible").map(one => one.textContent.trim())""",
    )
    return texts


def boxes(*numbers: int) -> list[str]:
    return [f"box {number}" for number in numbers]


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


@pytest.mark.parametrize(("kind", "language"), [("step", "zh"), ("frame", "en")])
def test_by_buttons(kind: str, language: str, open_page: Open) -> None:
    page = open_page(kind, language, viewport=PHONE)
    go, back, first, last, play, _, whole, sentence = WORDS[language]
    caption, count = page.locator(".figure__caption"), page.locator(".figure__controls output")
    expect(caption).to_have_attribute("aria-live", "polite")
    if kind == "step":
        waiting.equal(page, lambda: seen(page), boxes(1, 2, 3))  # until the reader begins
        expect(count).to_have_text(whole)
        expect(caption).to_be_empty()
        button(page, go).click()
    expect(count).to_have_text("1 / 3")
    expect(caption).to_have_text(sentence.format(1))
    waiting.equal(page, lambda: seen(page), boxes(1))
    expect(button(page, back)).to_have_attribute("aria-disabled", "true")
    button(page, back).click(force=True)
    expect(count).to_have_text("1 / 3")
    button(page, go).click()
    expect(caption).to_have_text(sentence.format(2))
    waiting.equal(page, lambda: seen(page), boxes(1, 2) if kind == "step" else boxes(2))
    button(page, last).click()
    waiting.equal(page, lambda: seen(page), boxes(1, 2, 3) if kind == "step" else boxes(3))
    expect(page.locator(".figure__now")).to_have_count(int(kind == "step"))
    expect(button(page, go)).to_have_attribute("aria-disabled", "true")
    button(page, first).click()
    expect(count).to_have_text("1 / 3")
    waiting.at_least(page.locator(".figure__controls button:visible"), width=44, height=44)
    expect(button(page, play)).to_be_visible()
    waiting.fits(page)
    assert waiting.audit(page).response["violations"] == []


def test_by_keyboard(open_page: Open) -> None:
    page = open_page("step")
    count = page.locator(".figure__controls output")
    button(page, "Next step").focus()
    for key, shown in (
        ("ArrowRight", "1 / 3"),
        ("ArrowRight", "2 / 3"),
        ("ArrowLeft", "1 / 3"),
        ("ArrowLeft", "1 / 3"),
        ("End", "3 / 3"),
        ("ArrowRight", "3 / 3"),
        ("Home", "1 / 3"),
        ("Enter", "2 / 3"),
    ):
        page.keyboard.press(key)
        expect(count).to_have_text(shown)
    expect(button(page, "Next step")).to_be_focused()


def test_it_plays_only_when_asked_and_stops_at_the_end(open_page: Open, browser: Browser) -> None:
    address = open_page("step").url
    context = browser.new_context(offline=True)  # a clock is a window's, for good
    page = context.new_page()
    page.clock.install()
    page.goto(address)
    count = page.locator(".figure__controls output")
    page.clock.run_for(60_000)
    expect(count).to_have_text("3 steps")
    button(page, "Play").click()
    expect(count).to_have_text("1 / 3")
    expect(page.locator(".figure__caption")).to_have_attribute("aria-live", "off")
    page.clock.run_for(3_100)
    expect(count).to_have_text("2 / 3")
    button(page, "Pause").click()
    page.clock.run_for(60_000)
    expect(count).to_have_text("2 / 3")
    button(page, "Play").click()
    expect(count).to_have_text("3 / 3")
    expect(button(page, "Play")).to_be_visible()
    expect(page.locator(".figure__caption")).to_have_attribute("aria-live", "polite")
    button(page, "Play").click()
    expect(count).to_have_text("1 / 3")
    context.close()


def test_who_wants_less_motion_gets_no_play(open_page: Open) -> None:
    page = open_page("step", reduced_motion="reduce")
    expect(button(page, "Next step")).to_be_visible()
    expect(button(page, "Play")).to_be_hidden()


@pytest.mark.parametrize("kind", ["step", "frame"])
def test_without_script_and_on_paper(kind: str, open_page: Open) -> None:
    whole = boxes(1, 2, 3) if kind == "step" else boxes(1)
    page = open_page(kind, java_script_enabled=False)
    expect(page.locator(".figure__controls")).to_have_count(0)
    page.locator("summary").click()
    expect(page.locator("details li")).to_have_text([f"Sentence {n}" for n in (1, 2, 3)])
    page = open_page(kind)
    button(page, "Next step").click()
    waiting.until(page, lambda: seen(page), lambda now: now != whole)
    page.emulate_media(media="print")
    waiting.equal(page, lambda: seen(page), whole)
    expect(page.locator(".figure__controls")).to_be_hidden()
    expect(page.locator(".figure__caption")).to_be_hidden()


def test_only_pages_with_such_a_figure_load_the_script(small_site: Path) -> None:
    for page, times in (("topic/three", 1), ("en/topic/three", 1), ("topic/one", 0), ("index", 0)):
        html = (small_site / f"{page}.html").read_text(encoding="utf-8")
        assert html.count('assets/javascripts/stepper.js"></script>') == times, page


@pytest.mark.parametrize("name", ["stepper.js", "practice.js", "topo-decoder/*.js"])
def test_scripts_are_es5(name: str) -> None:
    """Old browsers read them too: no arrow functions, no templates, no let or const."""
    files = list((ASSETS / "javascripts").glob(name))
    assert files
    for path in files:
        lines = (line.strip() for line in path.read_text(encoding="utf-8").split("\n"))
        code = "\n".join(line for line in lines if not line.startswith(("*", "/")))
        for word in ("=>", "let ", "const ", "${", "fetch("):
            assert word not in code, (path.name, word)
