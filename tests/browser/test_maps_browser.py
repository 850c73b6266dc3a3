"""The graph of notes as readers meet it: from files, on a phone, by keyboard, without script."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Request, expect

from hooks.pages import graph, topic_map
from hooks.tree import Tree
from tests.browser import waiting
from tests.browser.conftest import Window
from tests.conftest import ROOT

ASSETS = ROOT / "docs/assets"
PHONE = {"width": 390, "height": 844}
START = {"zh": "画出全图", "en": "Draw the graph"}
Open = Callable[..., Page]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, handbook: Tree) -> Path:
    """A page a language with the place of the graph, and our own notes as its data."""
    root = tmp_path_factory.mktemp("maps")
    notes = handbook.notes
    areas, _ = topic_map.load(ROOT / "docs/data/topics.yml", "f")
    for language in START:
        base = root / language / "maps"
        base.mkdir(parents=True)
        (base / graph.FILE).write_text(graph.data(notes, areas, language), encoding="utf-8")
        for name in ("infer/kv-cache", "chip/roofline"):
            there = root / language / f"{name}.html"
            there.parent.mkdir(exist_ok=True)
            there.write_text("<!doctype html><title>there</title>", encoding="utf-8")
        place = graph.place(notes, language).split("\n")[0]
        (base / "index.html").write_text(
            f'<!doctype html><html lang="{language}"><head><meta charset="utf-8"><title>t</title>'
            f'<meta name="viewport" content="width=device-width">'
            f'<link rel="stylesheet" href="{(ASSETS / "stylesheets/handbook.css").as_uri()}">'
            f'</head><body><main class="md-typeset"><h1 id="graph">t</h1>{place}</main>'
            f'<script src="{(ASSETS / "javascripts/graph.js").as_uri()}"></script></body></html>',
            encoding="utf-8",
        )
    return root


@pytest.fixture
def open_page(window: Window, folder: Path) -> Iterator[Open]:
    """Open a page of the folder; complaints, and requests that are no files, fail the test."""
    complaints: list[str] = []

    def asked(request: Request) -> None:
        if not request.url.startswith("file:"):
            complaints.append(request.url)

    def open_it(language: str, query: str = "", **options: Any) -> Page:
        page = window("file:", offline=True, **options).new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", asked)
        page.goto((folder / language / "maps/index.html").as_uri() + query)
        return page

    yield open_it
    assert complaints == []


@pytest.mark.parametrize("language", START)
def test_drawn_when_asked_for(open_page: Open, language: str) -> None:
    page = open_page(language, viewport=PHONE)
    start = page.get_by_role("button", name=START[language])
    expect(start).to_be_visible()
    expect(page.locator(".graph svg")).to_have_count(0)
    assert page.evaluate("window.d3") is None
    start.click()
    dots = page.locator(".graph svg a")
    expect(dots.first).to_be_attached()
    notes, pairs = page.evaluate("[handbookGraph.notes.length, handbookGraph.pairs.length]")
    assert notes > 100
    expect(dots).to_have_count(notes)
    expect(page.locator(".graph svg line")).to_have_count(pairs)
    waiting.fits(page)
    found = waiting.audit(page).response["violations"]
    assert [one["id"] for one in found] == []


def test_arrows_go_from_note_to_note_and_enter_opens(open_page: Open) -> None:
    page = open_page("en", "?note=infer/kv-cache#graph")
    expect(page.locator(".graph__panel a").first).to_have_text("KV cache")
    at = page.locator(".graph svg a[tabindex='0']")
    expect(at).to_have_count(1)
    at.focus()
    expect(at).to_have_attribute("href", "../infer/kv-cache.html")
    page.keyboard.press("ArrowRight")
    expect(at).not_to_have_attribute("href", "../infer/kv-cache.html")
    expect(at).to_have_count(1)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    drawing = page.locator(".graph svg")
    wanted = pytest.approx(1.5 * waiting.box(drawing)["width"], rel=0.02)
    page.get_by_role("button", name="Zoom in").click()
    waiting.box(drawing, lambda seen: seen["width"] == wanted)
    page.locator(".graph select").select_option("chip/roofline")
    chosen = page.locator(".graph svg a.is-chosen")
    expect(chosen).to_have_attribute("href", "../chip/roofline.html")
    chosen.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/chip/roofline.html")


def test_a_finger_shows_first_and_goes_second(open_page: Open) -> None:
    page = open_page("en", "?note=infer/kv-cache", viewport=PHONE, has_touch=True)
    dot = page.locator(".graph svg a[href='../infer/kv-cache.html'] circle")
    expect(dot).to_be_visible()
    dot.tap()
    expect(page.locator(".graph__panel li").first).to_be_visible()
    expect(page).to_have_url(re.compile(r"\?note=infer/kv-cache$"))
    dot.tap()
    page.wait_for_url("**/infer/kv-cache.html")


def test_an_unknown_note_is_nothing(open_page: Open) -> None:
    for query in ("?note=no/such", "?note=%E0%A4%A"):
        page = open_page("en", query)
        expect(page.locator(".graph")).not_to_be_empty()
