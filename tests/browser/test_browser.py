"""The handbook as its readers meet it: a real browser, over http and from a folder."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser import waiting
from tests.browser.conftest import Ear, Open, Window

pytestmark = pytest.mark.browser

NOTE = "link/topo/nvlink-generations.html"
DESK = {"width": 1280, "height": 900}
TABS = 6
"""How many pages the walk over all of them has open at once."""
PARTS = 24
"""In how many parts that walk is made, which may run side by side."""
TOO_WIDE = "document.documentElement.scrollWidth > window.innerWidth"
FEATURES = [
    "figure--diagram",
    'class="arithmatex"',
    "data-calc",
    'class="facts__table',
    'class="chart"',
    'class="measured"',
    'class="topo-decoder"',
    "<figure",
    "admonition",
    "<details",
]
"""What stands in pages that hold something more than text."""


@pytest.fixture(scope="module")
def folder(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The handbook below a path with a blank and Chinese characters."""
    folder = tmp_path_factory.mktemp("unzipped") / "我的 手册"
    folder.symlink_to(site)
    return folder


def file_base(folder: Path) -> str:
    return f"file://{quote(str(folder))}/"


@pytest.fixture(params=["http", pytest.param("file", marks=pytest.mark.slow)])
def base(request: pytest.FixtureRequest, site_address: str) -> str:
    """The address of the hosted handbook, and of the folder."""
    is_file = request.param == "file"
    return file_base(request.getfixturevalue("folder")) if is_file else site_address


@pytest.fixture
def visit(window: Window, base: str) -> Open:
    """Open a page of the handbook at a desk; from a folder with the network off."""
    page = window(base, offline=base.startswith("file:"), viewport=DESK).new_page()

    def open_it(path: str) -> Page:
        page.goto(base + path)
        return page

    return open_it


def pages_of(site: Path) -> list[str]:
    return sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))


def quiet(page: Page, ear: Ear) -> None:
    """Wait until none of the tabs has asked for anything in half a second.

    Only for what must not happen: on a busy machine it may look too early, and then says nothing.
    """
    known = -1
    while known != len(ear.asked):
        known = len(ear.asked)
        page.wait_for_timeout(500)


def walk(context: BrowserContext, ear: Ear, base: str, names: list[str]) -> None:
    """Open pages, several at a time: none is too wide."""
    tabs = [context.new_page() for _ in range(TABS)]
    wide = {}
    for first in range(0, len(names), TABS):
        opened = list(zip(names[first : first + TABS], tabs, strict=False))
        for name, tab in opened:
            tab.goto(base + name, wait_until="commit")
        for _, tab in opened:
            waiting.drawn(tab)
        quiet(tabs[0], ear)
        for name, tab in opened:  # scripts may have made narrow by now what was drawn too wide
            if tab.evaluate(TOO_WIDE):
                wide[name] = tab.evaluate("document.documentElement.scrollWidth")
    assert wide == {}


def in_turn(names: list[str]) -> tuple[list[str], list[str]]:
    """Return the page of each note in one language, in turn, and what has no twin; and the twins.

    Twins have the same figures, tables and calculators, which scripts take their time over.
    """
    pairs = [(name, f"en/{name}") for name in names if f"en/{name}" in names]
    twins = {pair[number % 2] for number, pair in enumerate(pairs)}
    return [name for name in names if name not in twins], sorted(twins)


@pytest.mark.parametrize(
    "part",
    [pytest.param(n, marks=pytest.mark.release if n else pytest.mark.slow) for n in range(PARTS)],
)
def test_every_page_hosted(
    window: Window, ear: Ear, site_address: str, site: Path, part: int
) -> None:
    """On a phone in the dark; without scripts where the same note is walked with them."""
    phone = {"viewport": {"width": 390, "height": 800}, "color_scheme": "dark"}
    names, twins = in_turn(pages_of(site))
    walk(window(site_address, **phone), ear, site_address, names[part::PARTS])
    page = window(site_address, java_script_enabled=False, **phone).new_page()
    wide = []
    for name in twins[part::PARTS]:
        page.goto(site_address + name)
        wide += [name] * page.evaluate(TOO_WIDE)
    assert wide == []


def test_pages_of_every_kind_from_a_folder(
    window: Window, ear: Ear, site: Path, folder: Path
) -> None:
    """At a desk, with the network off: of each thing that pages hold one, in turn by language."""
    pages = {name: (site / name).read_text("utf-8") for name in pages_of(site)}
    # Only servers show the 404 page, at any address: its links begin at the root.
    pages.pop("404.html")
    names = {"index.html", "en/index.html"}
    for number, feature in enumerate(FEATURES):
        having = [name for name, text in pages.items() if feature in text]
        assert having, feature
        names.add(next((one for one in having if one.startswith("en/") == number % 2), having[0]))
    base = file_base(folder)
    walk(window(base, offline=True, viewport=DESK), ear, base, sorted(names))


@pytest.mark.slow
def test_search_from_a_folder(window: Window, folder: Path) -> None:
    """In words of the other language, whose texts come from scripts too."""
    base = file_base(folder)
    page = window(base, offline=True, viewport=DESK).new_page()
    page.goto(f"{base}index.html")
    page.keyboard.press("/")
    expect(page.locator(".md-search__input")).to_be_focused()
    page.keyboard.type("bisection")
    # What is said counts the results of the whole answer.
    expect(page.locator(".hb-search__live")).to_have_text(re.compile(r"\d"))
    links = page.locator(".md-search-result__link").evaluate_all("all => all.map(a => a.href)")
    found = (unquote(link).removeprefix(unquote(base)) for link in links)
    # Several sections of a page stand together: what counts is which pages come first.
    pages = list(dict.fromkeys(re.split("[#?]", link)[0] for link in found))
    assert "link/topo/nvswitch.html" in pages[:3]


def test_language_switch_keeps_the_section(visit: Open, base: str) -> None:
    page = visit(f"{NOTE}#单向还是双向")
    page.locator(".md-header .md-select button").hover()
    # The link takes the section along once the script has seen where the reader is.
    switch = page.locator('.md-select__link[hreflang="en"]')
    expect(switch).to_be_visible()
    switch.click()
    page.wait_for_url(lambda url: unquote(url).startswith(unquote(base) + "en/" + NOTE))
    waiting.near_top(page.locator("h3", has_text="One direction or both"))


def test_diagram_and_formula_are_drawn(visit: Open, site: Path) -> None:
    page = visit(NOTE)
    waiting.drawn(page)
    drawing = page.locator(".figure--diagram svg").first
    waiting.box(drawing, lambda seen: seen["height"] > 50 and seen["width"] > 100)
    formula = next(
        name for name in pages_of(site) if 'class="arithmatex"' in (site / name).read_text()
    )
    waiting.drawn(visit(formula))
    expect(page.locator(".arithmatex .katex").first).to_be_attached()
    expect(page.locator(".katex-error")).to_have_count(0)


def test_contents_lead_to_the_heading(visit: Open, base: str) -> None:
    page = visit("maps/index.html")
    fold = page.locator(".contents details", has_text="单向还是双向")
    fold.first.locator("summary").click()
    fold.first.get_by_role("link", name="单向还是双向").click()
    page.wait_for_url(lambda url: unquote(url) == f"{unquote(base)}{NOTE}#单向还是双向")
    waiting.near_top(page.locator("h3", has_text="单向还是双向"))


def test_readable_without_script_and_printed_without_the_frame(
    window: Window, site_address: str
) -> None:
    page = window(site_address, java_script_enabled=False).new_page()
    page.goto(site_address + NOTE)
    expect(page.locator(".figure--diagram text").first).to_have_text(re.compile(r"\w{2}"))
    expect(page.locator(".figure--diagram svg").first).to_be_visible()
    expect(page.locator("article h1")).to_be_visible()
    page.locator("article details:not(.page-contents) summary").first.click()
    expect(page.locator("details[open]")).to_have_count(1)
    page.emulate_media(media="print")
    for part in (".md-header", ".md-sidebar--primary", ".md-footer__link"):
        expect(page.locator(part).first).to_be_hidden()
    expect(page.locator("article h1")).to_be_visible()


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        ("en/index.html", "dark"),
        ("hpc/openmp/tasks.html", "light"),  # of what notes hold nearly all, and short
        ("404.html", "dark"),
        pytest.param("link/topo/index.html", "dark", marks=pytest.mark.release),
        pytest.param("maps/index.html", "light", marks=pytest.mark.release),
    ],
)
def test_accessible(window: Window, site_address: str, name: str, scheme: str) -> None:
    page = window(site_address, color_scheme=scheme).new_page()
    page.goto(site_address + name)
    waiting.drawn(page)
    waiting.reachable(page)
    # Of the contents' hundreds of lists a few say it all.
    page.locator(".contents details").evaluate_all("all => all.slice(6).forEach(d => d.remove())")
    page.locator("article details").evaluate_all("all => all.forEach(d => { d.open = true; })")
    assert waiting.barriers(page) == []


def test_the_page_itself_forbids_third_parties(visit: Open, ear: Ear) -> None:
    """A script that got in all the same could neither load nor send anything elsewhere."""
    page = visit(NOTE)
    refused = page.evaluate(
        """async () => {
            const refused = [];
            const all = new Promise((done) => document.addEventListener(
                "securitypolicyviolation",
                (event) => { if (refused.push(event.effectiveDirective) === 3) { done(); } }));
            const image = new Image();
            image.src = "http://third.invalid/x.png";
            const script = document.createElement("script");
            script.src = "http://third.invalid/x.js";
            document.head.append(image, script);
            await fetch("http://third.invalid/x").catch(() => null);
            await all;
            return refused.sort();
        }"""
    )
    assert refused == ["connect-src", "img-src", "script-src-elem"]
    ear.asked, ear.complaints = [], []
