"""Boxes beside the text: cards of footnotes, previews of links, terms; never two at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import markdown
import pytest
from playwright.sync_api import Locator, Page, expect

from hooks.pages import footnotes
from tests.browser.conftest import Window
from tests.conftest import ROOT
from tests.samples import note, tree

pytestmark = pytest.mark.browser

DESK = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
NOTE = """
A claim[^a], <a class="term" aria-describedby="says-sm" href="three.html">SM</a>,
<a id="link" href="three.html">another note</a>.

A claim again[^a].

<figure><div class="diagram"><svg class="diagram__svg" role="img" aria-label="A, then B"
viewBox="0 0 300 100" width="300"><text y="50">A</text></svg></div></figure>

<div class="term-sentences" hidden><p id="says-sm" data-name="SM">Runs blocks.</p></div>

Primary:

[^a]: NVIDIA, <https://example.org/paper>
"""
SCRIPTS = ("popover", "enlarge")
Open = Callable[..., Page]


@pytest.fixture
def open_page(window: Window, small_site: Path, tmp_path: Path) -> Iterator[Open]:
    """Open a built note that has a footnote, a term, a link and a diagram in place of its text."""
    for one in small_site.iterdir():
        if one.name != "en":
            (tmp_path / one.name).symlink_to(one)
    folder = tmp_path / "en/topic"
    folder.mkdir(parents=True)
    html = (small_site / "en/topic/two.html").read_text(encoding="utf-8")
    head, rest = html.split("<article", 1)
    opening, rest = rest.split(">", 1)
    foot = rest.split("</article>", 1)[1]
    scripts = "".join(
        f'<script src="{(ROOT / f"docs/assets/javascripts/{name}.js").as_uri()}"'
        ' data-base="../../"></script>'
        for name in SCRIPTS
    )
    for name in SCRIPTS:  # each once
        foot = foot.replace(f"javascripts/{name}.js", "javascripts/none.js")
    notes, _ = tree(tmp_path / "notes", {"t/one.en.md": note(NOTE)})
    made = markdown.markdown(NOTE, extensions=["footnotes"])
    body = footnotes.complete(made, notes.notes["t/one.en.md"])
    text = f"{head}<article{opening}><h1>Note</h1>{body}</article>{foot}"
    text = text.replace("</body>", f"{scripts}</body>")
    (folder / "two.html").write_text(text, encoding="utf-8")

    def open_it(**options: Any) -> Page:
        page = window("file:", offline=True, **options).new_page()
        page.goto((folder / "two.html").as_uri())
        return page

    yield open_it


def boxes(page: Page) -> Locator:
    """Return the boxes that are seen."""
    return page.locator(".link-tip:visible, .md-tooltip2:visible")


def test_one_box_at_a_time(open_page: Open) -> None:
    page = open_page(viewport=DESK)
    mark, term, link = (
        page.locator(f"article {name}").first for name in ("a.footnote-ref", "a.term", "#link")
    )
    card = page.get_by_role("dialog").filter(has_text="NVIDIA")
    term.focus()
    expect(boxes(page)).to_have_text(["SMRuns blocks."])
    mark.hover()
    expect(card).to_be_visible()
    expect(boxes(page)).to_have_count(1)
    page.keyboard.press("Escape")
    expect(boxes(page)).to_have_count(0)
    page.mouse.move(0, 0)
    mark.hover()  # at once: Material still has the box that was put away
    expect(card).to_be_visible()
    link.hover()
    expect(page.get_by_role("tooltip").filter(has_text="Note three")).to_be_visible()
    expect(boxes(page)).to_have_count(1)
    mark.hover()
    expect(card).to_be_visible()
    expect(boxes(page)).to_have_count(1)
    term.hover()
    expect(boxes(page)).to_have_text(["SMRuns blocks."])


def test_a_footnote_by_finger_and_its_ways_back(open_page: Open) -> None:
    page = open_page(viewport=PHONE, has_touch=True, is_mobile=True)
    mark = page.locator("article a.footnote-ref").first
    mark.tap()
    expect(boxes(page)).to_contain_text("primary")
    expect(page).not_to_have_url(re.compile("#"))
    mark.tap()
    page.wait_for_url("**#fn:a")
    expect(boxes(page)).to_have_count(0)
    back = page.locator(".footnote")
    uses = back.locator(".footnote-uses__list").get_by_role("link")
    expect(uses).to_have_count(0)  # folded
    back.locator("summary").tap()
    expect(uses).to_have_text(["1", "2"])
    uses.last.tap()
    page.wait_for_url("**#fnref2:a")


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
