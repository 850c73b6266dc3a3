"""The box beside the text: terms, cards of footnotes; never two at once."""

from __future__ import annotations

import re
from pathlib import Path

import markdown
import pytest
from playwright.sync_api import Locator, Page, expect

from hooks.data import check_terms
from hooks.pages import footnotes
from hooks.pages.term_marks import Marks
from tests.browser import waiting
from tests.browser.conftest import ASSETS, PHONE, Open
from tests.samples import note, tree

pytestmark = pytest.mark.browser

DESK = {"width": 1440, "height": 900}
FINGER = {"viewport": PHONE, "has_touch": True, "is_mobile": True}
TERMS = """\
title: T
terms:
  - {id: sm, zh: [流式多处理器], en: [SM, streaming multiprocessor],
     says: {zh: 执行线程块的单元。, en: The unit that executes thread blocks.}}
"""
NOTE = """
Each SM has a scheduler[^a], and <a href="three.html">another note</a> says so[^a].

## Two

<p id="edge" style="text-align: right">The last word of the line is SM</p>

<figure><div class="diagram"><svg class="diagram__svg" role="img" aria-label="A, then B"
viewBox="0 0 300 100" width="300"><text y="50">A</text></svg></div></figure>

Primary:

[^a]: NVIDIA, <https://example.org/paper>
"""
SCRIPTS = ("popover", "enlarge")


@pytest.fixture
def open_page(from_file: Open, small_site: Path, tmp_path: Path) -> Open:
    """Open a built note with another text from a folder."""
    for one in small_site.iterdir():
        if one.name != "en":
            (tmp_path / one.name).symlink_to(one)
    folder = tmp_path / "en/topic"
    folder.mkdir(parents=True)
    (tmp_path / "en/glossary").mkdir()
    entry = '<h1>Glossary</h1><h3 id="term-sm">SM</h3>'
    (tmp_path / "en/glossary/index.html").write_text(entry, encoding="utf-8")
    head, rest = (small_site / "en/topic/two.html").read_text(encoding="utf-8").split("<article", 1)
    opening, rest = rest.split(">", 1)
    foot = rest.split("</article>", 1)[1]
    for name in SCRIPTS:  # each once
        foot = re.sub(rf'<script[^>]*javascripts/{name}\.js"[^>]*></script>', "", foot)
    scripts = "".join(
        f'<script src="{(ASSETS / f"javascripts/{name}.js").as_uri()}"></script>'
        for name in SCRIPTS
    )
    notes, _ = tree(tmp_path / "notes", {"topic/two.en.md": note(NOTE)})
    shown = notes.notes["topic/two.en.md"]
    body = footnotes.complete(markdown.markdown(NOTE, extensions=["footnotes"]), shown)
    title = '<h1 id="note-two">Note</h1>'
    body = Marks(check_terms({"a.yml": TERMS})[0]).mark(body, shown)
    text = f"{head}<article{opening}>{title}{body}</article>{foot}"
    text = text.replace("</body>", f"{scripts}</body>")
    (folder / "two.html").write_text(text, encoding="utf-8")

    return lambda **options: from_file((folder / "two.html").as_uri(), **options)


def boxes(page: Page) -> Locator:
    """Return the boxes that are seen."""
    return page.locator(".link-tip:visible, .md-tooltip2:visible")


def test_one_box_at_a_time(open_page: Open) -> None:
    page = open_page(viewport=DESK)
    mark, term = (page.locator(f"article {name}").first for name in ("a.footnote-ref", "a.term"))
    card = page.get_by_role("dialog").filter(has_text="NVIDIA")
    term.focus()
    expect(term).to_have_accessible_description("The unit that executes thread blocks.")
    expect(boxes(page)).to_contain_text("The unit that executes thread blocks.")
    expect(boxes(page)).to_have_attribute("aria-hidden", "true")
    mark.hover()
    expect(card).to_be_visible()
    expect(boxes(page)).to_have_count(1)
    page.keyboard.press("Escape")
    expect(boxes(page)).to_have_count(0)
    page.mouse.move(0, 0)
    mark.hover()  # at once: Material still has the box that was put away
    expect(card).to_be_visible()
    term.hover()
    expect(boxes(page)).to_contain_text("streaming multiprocessor (SM, 流式多处理器)")
    boxes(page).hover()  # what is shown may be pointed at without vanishing
    page.wait_for_timeout(400)
    expect(boxes(page)).to_have_count(1)
    page.get_by_text("another note").hover()
    expect(boxes(page)).to_have_count(0)


def test_by_finger(open_page: Open) -> None:
    page = open_page(**FINGER)
    tip, term = boxes(page), page.locator("#edge a.term")
    mark = page.locator("a.footnote-ref").first
    term.tap()
    expect(tip).to_contain_text("Tap again")
    term.dispatch_event("mouseout")  # as browsers send after a tap, now or later
    page.wait_for_timeout(400)
    waiting.box(tip, lambda seen: seen["x"] >= 0 and seen["x"] + seen["width"] <= PHONE["width"])
    waiting.fits(page)
    page.get_by_role("heading", name="Note", exact=True).tap()
    expect(tip).to_have_count(0)
    mark.tap()
    expect(tip).to_contain_text("primary")
    expect(page).not_to_have_url(re.compile("#"))
    mark.tap()
    page.wait_for_url("**#fn:a")
    expect(tip).to_have_count(0)
    back = page.locator(".footnote")
    uses = back.locator(".footnote-uses__list").get_by_role("link")
    expect(uses).to_have_count(0)  # folded
    back.locator("summary").tap()
    expect(uses).to_have_text(["1", "2"])
    uses.last.tap()
    page.wait_for_url("**#fnref2:a")
    term.tap()
    expect(tip).to_be_visible()
    term.tap()
    page.wait_for_url("**/glossary/index.html#term-sm")


@pytest.mark.parametrize("scheme", ["default", "slate"])
def test_for_all(open_page: Open, scheme: str) -> None:
    page = open_page(viewport=PHONE)
    page.evaluate("scheme => { document.body.dataset.mdColorScheme = scheme }", scheme)
    page.locator("article a.term").first.focus()
    expect(boxes(page)).to_be_visible()
    assert waiting.audit(page).response["violations"] == []


def test_without_script(open_page: Open) -> None:
    page = open_page(java_script_enabled=False, viewport=DESK)
    expect(page.locator(".term-sentences")).to_be_hidden()
    page.locator("article a.term").first.click()
    page.wait_for_url("**/glossary/index.html#term-sm")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_drawn_diagram_enlarges_in_the_page_s_colours(open_page: Open, scheme: str) -> None:
    page = open_page(viewport=PHONE, color_scheme=scheme)
    page.locator("article .diagram__svg").click()
    dialog = page.get_by_role("dialog", name="A, then B")
    expect(dialog.locator("svg")).to_be_visible()
    ground = page.locator("body").evaluate("body => getComputedStyle(body).backgroundColor")
    expect(dialog).to_have_css("background-color", ground)
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("button", name="Enlarge: A, then B")).to_be_focused()
    expect(page.locator("article .diagram__svg")).to_be_visible()
