"""The handbook as its readers meet it: a real browser, over http and from a folder."""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from hooks.site import publish
from tests.browser import waiting
from tests.browser.conftest import Window

pytestmark = pytest.mark.browser

NOTE = "link/topo/nvlink-generations.html"
DESK = {"width": 1280, "height": 900}
TABS = 6
"""How many pages the walk over all of them has open at once."""
PARTS = 6
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
SAID = re.compile(r"\d")


@dataclass
class Visit:
    """A tab that records what it asked for and complained about."""

    page: Page
    base: str
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        """Open a page of the handbook."""
        self.page.goto(self.base + path)
        return self.page

    @property
    def foreign(self) -> list[str]:
        """Requests that left the handbook."""
        own = (self.base, "data:", "blob:", "about:")
        return [url for url in self.requests if not url.startswith(own)]


def start_visit(context: BrowserContext, base: str) -> Visit:
    visit = Visit(context.new_page(), base)
    listen(visit, visit.page)
    return visit


def listen(visit: Visit, page: Page) -> None:
    """Record what a tab asks for and complains about."""
    page.on("request", lambda request: visit.requests.append(request.url))
    page.on("pageerror", lambda error: visit.complaints.append(f"{error} {page.url}"))
    page.on(
        "console",
        lambda message: (
            visit.complaints.append(f"{message.text} {message.location['url']}")
            if message.type == "error"
            else None
        ),
    )
    page.on(
        "response",
        lambda answer: visit.complaints.append(answer.url) if answer.status >= 400 else None,
    )
    # A request that was under way when the next page was opened is no complaint.
    page.on(
        "requestfailed",
        lambda request: (
            visit.complaints.append(f"{request.failure} {request.url}")
            if request.failure != "net::ERR_ABORTED"
            else None
        ),
    )


@pytest.fixture(scope="module")
def folder(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The offline archive, unzipped below a path with a blank and Chinese characters."""
    archive = tmp_path_factory.mktemp("zip") / "handbook.zip"
    publish.pack(site, archive, "handbook")
    target = tmp_path_factory.mktemp("unzipped") / "我的 手册"
    with zipfile.ZipFile(archive) as file:
        file.extractall(target)
    return target / "handbook"


def file_base(folder: Path) -> str:
    return f"file://{quote(str(folder))}/"


@pytest.fixture(params=["http", pytest.param("file", marks=pytest.mark.slow)])
def visit(request: pytest.FixtureRequest, window: Window, site_address: str) -> Visit:
    """A tab on the hosted handbook, and one on the unzipped folder with the network off."""
    is_file = request.param == "file"
    base = file_base(request.getfixturevalue("folder")) if is_file else site_address
    return start_visit(window(base, offline=is_file, viewport=DESK), base)


def quiet(visit: Visit) -> None:
    """Wait until none of the tabs has asked for anything in half a second.

    Only for what must not happen: on a busy machine it may look too early, and then says nothing.
    """
    known = -1
    while known != len(visit.requests):
        known = len(visit.requests)
        visit.page.wait_for_timeout(500)


def pages_of(site: Path) -> list[str]:
    return sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))


def walk(visit: Visit, names: list[str]) -> None:
    """Open pages, several at a time: none asks a third party, complains or is too wide."""
    tabs = [visit.page, *(visit.page.context.new_page() for _ in range(TABS - 1))]
    for tab in tabs[1:]:
        listen(visit, tab)
    wide = {}
    for first in range(0, len(names), TABS):
        opened = list(zip(names[first : first + TABS], tabs, strict=False))
        for name, tab in opened:
            tab.goto(visit.base + name, wait_until="commit")
        for _, tab in opened:
            waiting.drawn(tab)
        quiet(visit)
        for name, tab in opened:  # scripts may have made narrow by now what was drawn too wide
            if tab.evaluate(TOO_WIDE):
                wide[name] = tab.evaluate("document.documentElement.scrollWidth")
    assert visit.foreign == []
    assert visit.complaints == []
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
def test_every_page_hosted(window: Window, site_address: str, site: Path, part: int) -> None:
    """On a phone in the dark; without scripts where the same note is walked with them."""
    phone = {"viewport": {"width": 390, "height": 800}, "color_scheme": "dark"}
    names, twins = in_turn(pages_of(site))
    walk(start_visit(window(site_address, **phone), site_address), names[part::PARTS])
    plain = start_visit(window(site_address, java_script_enabled=False, **phone), site_address)
    wide = [name for name in twins[part::PARTS] if plain.open(name).evaluate(TOO_WIDE)]
    assert (wide, plain.foreign, plain.complaints) == ([], [], [])


def test_pages_of_every_kind_from_a_folder(window: Window, site: Path, tmp_path: Path) -> None:
    """At a desk, with the network off: of each thing that pages hold one, in turn by language."""
    folder = tmp_path / "我的 手册"
    folder.symlink_to(site)
    pages = {name: (site / name).read_text("utf-8") for name in pages_of(site)}
    # Only servers show the 404 page, at any address: its links begin at the root.
    pages.pop("404.html")
    names = {"index.html", "en/index.html"}
    for number, feature in enumerate(FEATURES):
        having = [name for name, text in pages.items() if feature in text]
        assert having, feature
        names.add(next((one for one in having if one.startswith("en/") == number % 2), having[0]))
    base = file_base(folder)
    walk(start_visit(window(base, offline=True, viewport=DESK), base), sorted(names))


def search(visit: Visit, words: str) -> list[str]:
    """Type a query and return the addresses of the results, best first."""
    page = visit.page
    page.keyboard.press("/")
    expect(page.locator(".md-search__input")).to_be_focused()
    page.keyboard.type(words)
    # What is said counts the results of the whole answer.
    expect(page.locator(".hb-search__live")).to_have_text(SAID)
    links = page.locator(".md-search-result__link").evaluate_all(
        "links => links.map(link => link.href)"
    )
    return [unquote(link).removeprefix(unquote(visit.base)) for link in links]


@pytest.mark.parametrize(
    ("home", "words", "expected"),
    [
        ("index.html", "对分带宽", "link/topo/nvswitch.html"),
        pytest.param("index.html", "bisection", "link/topo/nvswitch.html", marks=pytest.mark.slow),
        ("en/index.html", "bisection", "en/link/topo/nvswitch.html"),
    ],
)
def test_search(visit: Visit, home: str, words: str, expected: str) -> None:
    visit.open(home)
    # Several sections of a page stand together: what counts is which pages come first.
    pages = list(dict.fromkeys(link.split("#")[0].split("?")[0] for link in search(visit, words)))
    assert expected in pages[:3]
    own = "en/" if home.startswith("en/") else ""
    assert pages[0].startswith("en/") == bool(own)
    assert visit.foreign == [] and visit.complaints == []


def test_language_switch_keeps_the_section(visit: Visit) -> None:
    page = visit.open(f"{NOTE}#单向还是双向")
    page.locator(".md-header .md-select button").hover()
    # The link takes the section along once the script has seen where the reader is.
    switch = page.locator('.md-select__link[hreflang="en"]')
    expect(switch).to_be_visible()
    switch.click()
    page.wait_for_url(lambda url: unquote(url).startswith(unquote(visit.base) + "en/" + NOTE))
    waiting.near_top(page.locator("h3", has_text="One direction or both"))


def test_diagram_and_formula_are_drawn(visit: Visit, site: Path) -> None:
    page = visit.open(NOTE)
    waiting.drawn(page)
    drawing = page.locator(".figure--diagram svg").first
    waiting.box(drawing, lambda seen: seen["height"] > 50 and seen["width"] > 100)
    formulas = [
        name for name in pages_of(site) if 'class="arithmatex"' in (site / name).read_text()
    ]
    assert formulas
    page = visit.open(formulas[0])
    waiting.drawn(page)
    expect(page.locator(".arithmatex .katex").first).to_be_attached()
    expect(page.locator(".katex-error")).to_have_count(0)
    assert visit.foreign == [] and visit.complaints == []


def test_contents_lead_to_the_heading(visit: Visit) -> None:
    page = visit.open("maps/index.html")
    fold = page.locator(".contents details", has_text="NVLink")
    fold.first.locator("summary").click()
    fold.first.get_by_role("link", name="单向还是双向").click()
    page.wait_for_url(lambda url: unquote(url) == f"{unquote(visit.base)}{NOTE}#单向还是双向")
    waiting.near_top(page.locator("h3", has_text="单向还是双向"))


def test_readable_without_script(window: Window, site_address: str) -> None:
    page = window(site_address, java_script_enabled=False).new_page()
    page.goto(site_address + NOTE)
    expect(page.locator(".figure--diagram text").first).to_have_text(re.compile(r"\w{2}"))
    expect(page.locator(".figure--diagram svg").first).to_be_visible()
    expect(page.locator("article h1")).to_be_visible()
    page.locator("details summary").first.click()
    expect(page.locator("details[open]")).to_have_count(1)


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        ("index.html", "light"),
        pytest.param("en/index.html", "dark", marks=pytest.mark.slow),
        pytest.param("link/topo/index.html", "dark", marks=pytest.mark.slow),
        (NOTE, "light"),
        pytest.param("en/link/topo/nvswitch.html", "dark", marks=pytest.mark.slow),
        pytest.param("en/link/gpudirect/overview.html", "light", marks=pytest.mark.slow),
        pytest.param("maps/index.html", "light", marks=pytest.mark.slow),
        ("404.html", "dark"),
    ],
)
def test_accessible(window: Window, site_address: str, name: str, scheme: str) -> None:
    page = window(site_address, color_scheme=scheme).new_page()
    page.goto(site_address + name)
    waiting.drawn(page)
    waiting.reachable(page)
    page.evaluate("document.querySelectorAll('article details').forEach(d => d.open = true)")
    violations = waiting.audit(page).response["violations"]
    serious = [
        (one["id"], one["nodes"][0]["html"][:200], len(one["nodes"]))
        for one in violations
        if one["impact"] in ("serious", "critical")
    ]
    assert serious == []


def test_the_page_itself_forbids_third_parties(visit: Visit) -> None:
    """A script that got in all the same could neither load nor send anything elsewhere."""
    page = visit.open(NOTE)
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


def test_print_leaves_out_the_frame(window: Window, site_address: str) -> None:
    page = window(site_address).new_page()
    page.goto(site_address + NOTE)
    page.emulate_media(media="print")
    for part in (".md-header", ".md-sidebar--primary", ".md-footer__link"):
        expect(page.locator(part).first).to_be_hidden()
    expect(page.locator("article h1")).to_be_visible()
