"""The handbook as its readers meet it: a real browser, over http and from a folder."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page

from hooks import publish

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("site")]

NOTE = "link/topo/nvlink-generations.html"
TABS = 6
"""How many pages the walk over all of them has open at once."""


@dataclass
class Visit:
    """A tab that records what it asked for and complained about."""

    page: Page
    base: str
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        """Open a page of the handbook and wait until it is quiet."""
        self.page.goto(self.base + path)
        settle(self)
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


@pytest.fixture(params=["http", "file"])
def visit(
    request: pytest.FixtureRequest, browser: Browser, site_address: str, folder: Path
) -> Iterator[Visit]:
    """A tab on the hosted handbook, and one on the unzipped folder with the network off."""
    is_file = request.param == "file"
    context = browser.new_context(offline=is_file, viewport={"width": 1280, "height": 900})
    base = f"file://{quote(str(folder))}/" if is_file else site_address
    yield start_visit(context, base)
    context.close()


def settle(visit: Visit) -> None:
    """Wait until none of the tabs has asked for anything in half a second.

    Playwright's own `networkidle` sometimes never comes on `file://`.
    """
    known = -1
    while known != len(visit.requests):
        known = len(visit.requests)
        visit.page.wait_for_timeout(500)


def pages_of(site: Path) -> list[str]:
    return sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))


def test_no_page_asks_a_third_party_complains_or_is_too_wide(visit: Visit, site: Path) -> None:
    """One walk over all pages: hosted, on a phone in the dark; from a folder, at a desk."""
    is_file = visit.base.startswith("file:")
    tabs = [visit.page, *(visit.page.context.new_page() for _ in range(TABS - 1))]
    for tab in tabs:
        if tab is not visit.page:
            listen(visit, tab)
        if not is_file:
            tab.set_viewport_size({"width": 390, "height": 800})
            tab.emulate_media(color_scheme="dark")
    # Only servers show the 404 page, at any address: its links begin at the root.
    names = [name for name in pages_of(site) if name != "404.html" or not is_file]
    wide = {}
    for first in range(0, len(names), TABS):
        # Growing quiet takes half a second: several pages do so at once.
        opened = list(zip(names[first : first + TABS], tabs, strict=False))
        for name, tab in opened:
            tab.goto(visit.base + name, wait_until="commit")
        for _, tab in opened:
            tab.wait_for_load_state("load")
        settle(visit)
        for name, tab in opened:
            if tab.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
                wide[name] = tab.evaluate("document.documentElement.scrollWidth")
            # Searching loads more: the worker and the index.
            if name in ("index.html", "en/index.html"):
                tab.evaluate("document.querySelector('[data-md-toggle=search]').click()")
                settle(visit)
    assert visit.foreign == []
    assert visit.complaints == []
    assert wide == {}


def search(visit: Visit, words: str) -> list[str]:
    """Type a query and return the addresses of the results, best first."""
    visit.page.keyboard.press("/")
    visit.page.wait_for_selector(".md-search__input:focus")
    visit.page.keyboard.type(words, delay=20)
    # Titles answer first; the mark goes when the texts have answered too.
    visit.page.wait_for_function(
        """() => document.querySelector(".md-search-result__link") &&
          !document.querySelector(".search-early")""",
        timeout=30_000,
    )
    visit.page.wait_for_timeout(300)
    links = visit.page.locator(".md-search-result__link")
    found = [links.nth(n).get_attribute("href") or "" for n in range(links.count())]
    return [unquote(link).removeprefix(unquote(visit.base)) for link in found]


@pytest.mark.parametrize(
    ("home", "words", "expected"),
    [
        ("index.html", "对分带宽", "link/topo/nvswitch.html"),
        ("index.html", "线上速率", "link/topo/nvlink-generations.html"),
        ("index.html", "bisection", "link/topo/nvswitch.html"),
        ("en/index.html", "bisection", "en/link/topo/nvswitch.html"),
        ("en/index.html", "GDRCopy", "en/link/gpudirect/gdrcopy.html"),
        ("index.html", "NCCL_NET_GDR_LEVEL", "link/gpudirect/rdma.html"),
    ],
)
def test_search(visit: Visit, home: str, words: str, expected: str) -> None:
    visit.open(home)
    # Several sections of a page stand together: what counts is which pages come first.
    pages = list(dict.fromkeys(link.split("#")[0].split("?")[0] for link in search(visit, words)))
    assert expected in pages[:3]
    own = "en/" if home.startswith("en/") else ""
    assert pages[0].startswith("en/") == bool(own)


def test_language_switch_keeps_the_section(visit: Visit) -> None:
    page = visit.open(f"{NOTE}#单向还是双向")
    page.wait_for_timeout(300)
    page.locator(".md-header .md-select button").hover()
    page.locator('.md-select__link[hreflang="en"]').click()
    page.wait_for_url("**/en/**")
    settle(visit)
    assert unquote(page.url).startswith(unquote(visit.base) + "en/" + NOTE)
    heading = page.locator("h3", has_text="One direction or both")
    box = heading.bounding_box()
    assert box is not None and 0 <= box["y"] < 400


def test_diagram_and_formula_are_drawn(visit: Visit, site: Path) -> None:
    page = visit.open(NOTE)
    page.wait_for_selector("div.mermaid", timeout=15_000)
    drawn = page.locator("div.mermaid")
    assert drawn.count() == (site / NOTE).read_text("utf-8").count('<pre class="mermaid">')
    box = drawn.first.bounding_box()
    assert box is not None and box["height"] > 50 and box["width"] > 100
    formulas = [
        name for name in pages_of(site) if 'class="arithmatex"' in (site / name).read_text()
    ]
    assert formulas
    page = visit.open(formulas[0])
    page.wait_for_selector(".arithmatex .katex")
    assert page.locator(".katex-error").count() == 0
    assert visit.foreign == [] and visit.complaints == []


def test_contents_lead_to_the_heading(visit: Visit) -> None:
    page = visit.open("index.html")
    fold = page.locator(".contents details", has_text="NVLink")
    fold.first.locator("summary").click()
    fold.first.get_by_role("link", name="单向还是双向").click()
    page.wait_for_url(f"**/{NOTE}*")
    settle(visit)
    assert unquote(page.url) == unquote(visit.base) + f"{NOTE}#单向还是双向"
    box = page.locator("h3", has_text="单向还是双向").bounding_box()
    assert box is not None and 0 <= box["y"] < 400


def test_readable_without_script(browser: Browser, site_address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site_address + NOTE)
    diagram = page.locator("pre.mermaid").first
    assert diagram.is_visible() and len(diagram.inner_text()) > 20
    assert page.locator("article h1").is_visible()
    summary = page.locator("details summary").first
    summary.click()
    assert page.locator("details[open]").count() == 1
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "name",
    [
        "index.html",
        "en/index.html",
        "link/topo/index.html",
        NOTE,
        "en/link/topo/nvswitch.html",
        "en/link/gpudirect/overview.html",
        "roadmap.html",
        "404.html",
    ],
)
def test_accessible(browser: Browser, site_address: str, name: str, scheme: str) -> None:
    context = browser.new_context(color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(site_address + name)
    page.wait_for_timeout(1000)
    page.evaluate("document.querySelectorAll('article details').forEach(d => d.open = true)")
    violations = Axe().run(page).response["violations"]
    serious = [
        (one["id"], one["nodes"][0]["html"][:200], len(one["nodes"]))
        for one in violations
        if one["impact"] in ("serious", "critical")
    ]
    assert serious == []
    context.close()


def test_the_page_itself_forbids_third_parties(visit: Visit) -> None:
    """A script that got in all the same could neither load nor send anything elsewhere."""
    page = visit.open(NOTE)
    refused = page.evaluate(
        """async () => {
            const refused = [];
            document.addEventListener("securitypolicyviolation",
                (event) => refused.push(event.effectiveDirective));
            const image = new Image();
            image.src = "http://third.invalid/x.png";
            const script = document.createElement("script");
            script.src = "http://third.invalid/x.js";
            document.head.append(image, script);
            await fetch("http://third.invalid/x").catch(() => null);
            await new Promise((done) => setTimeout(done, 500));
            return refused.sort();
        }"""
    )
    assert refused == ["connect-src", "img-src", "script-src-elem"]


def test_print_leaves_out_the_frame(browser: Browser, site_address: str) -> None:
    page = browser.new_page()
    page.goto(site_address + NOTE)
    page.emulate_media(media="print")
    for part in (".md-header", ".md-sidebar--primary", ".md-footer__link"):
        shown = page.locator(part).first
        assert shown.count() == 0 or not shown.is_visible(), part
    assert page.locator("article h1").is_visible()
    page.close()
