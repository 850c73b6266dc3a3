"""The search box beside typing: filters, pages seen lately, queries to try, keys, what is said."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from mkdocs.utils.yaml import yaml_load
from playwright.sync_api import BrowserContext, Page, Route, expect

from hooks.search.engine import Engine
from hooks.search.index import Index
from tests.browser import waiting
from tests.browser.conftest import Ear, Window
from tests.conftest import ROOT, serve

pytestmark = pytest.mark.browser

BOX = "[data-md-component=search-query]"
LINK = ".md-search-result__link"
CHIP = ".hb-search__chips .hb-chip"


BOTH = pytest.mark.parametrize("base", ["http", "file"], indirect=True)
"""For what a folder without a server does otherwise: what is loaded, opened and remembered."""


@pytest.fixture(scope="module")
def base(request: pytest.FixtureRequest, small_site: Path) -> Iterator[str]:
    """The address of the small handbook, with a trailing slash; served, if nothing is said."""
    with contextlib.ExitStack() as stack:
        is_file = getattr(request, "param", "http") == "file"
        yield small_site.as_uri() + "/" if is_file else stack.enter_context(serve(small_site))


@pytest.fixture
def context(window: Window, base: str) -> BrowserContext:
    return window(base, service_workers="block")


def open_search(context: BrowserContext, address: str) -> Page:
    page = context.new_page()
    page.goto(address)
    page.keyboard.press("/")
    expect(page.locator(BOX)).to_be_focused()
    return page


def expect_focus(page: Page, text: str) -> None:
    """Wait until what has the focus says this."""
    page.wait_for_function("text => document.activeElement.textContent.trim() === text", arg=text)


def expect_whole(page: Page) -> None:
    """Wait until the texts have answered, not only the titles: the list is not drawn again."""
    expect(page.locator(".hb-search__live")).not_to_be_empty()
    expect(page.locator(".search-early")).to_have_count(0)


# Filters


def test_chips_write_and_remove_words_of_the_query(context: BrowserContext, base: str) -> None:
    page = open_search(context, base + "index.html")
    page.keyboard.insert_text("带宽")
    box = page.locator(BOX)
    page.get_by_role("button", name="笔记").click()
    expect(box).to_have_value("类型:笔记 带宽")
    expect(page.get_by_role("button", name="笔记")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="教程").click()  # a page has one kind
    expect(box).to_have_value("类型:教程 带宽")
    page.get_by_role("button", name="标签：GPUDirect RDMA").click()
    expect(box).to_have_value('标签:"GPUDirect RDMA" 类型:教程 带宽')
    page.get_by_role("button", name="标签：NVLink").click()
    expect(box).to_have_value('标签:NVLink 标签:"GPUDirect RDMA" 类型:教程 带宽')
    for name in ("标签：GPUDirect RDMA", "教程", "标签：NVLink"):
        page.get_by_role("button", name=name).click()
    expect(box).to_have_value("带宽")
    expect(page.locator(f"{CHIP}[aria-pressed=true]")).to_have_count(0)
    # Pressing one starts the search as typing does: Material sees the new query.
    box.fill("量子")
    expect(page.locator(".md-search-result__meta")).to_contain_text("没有找到")
    page.evaluate(
        """() => { window.keys = 0; document.querySelector("[data-md-component=search-query]")
             .addEventListener("keyup", () => { window.keys += 1; }); }"""
    )
    page.get_by_role("button", name="笔记").click()
    page.wait_for_function("window.keys === 1")
    expect(page.locator("#__search")).to_be_checked()


PRESSED = {  # by the page on which it is typed
    "index.html": {
        "类型：教程 x": ["教程"],
        "kind:tutorial": ["教程"],
        "种类:note tag:nvlink": ["笔记", "#NVLink"],
        '标签:"gpudirect rdma" 带宽': ["#GPUDirect RDMA"],
        "标签:“胖树”": ["#胖树"],
        "不分类型:教程": [],
    },
    "en/index.html": {'Tag:"Fat tree" kind:note': ["Notes", "#fat tree"]},
}


@pytest.mark.parametrize("start", PRESSED)
def test_typed_filters_press_their_chips(context: BrowserContext, base: str, start: str) -> None:
    page = open_search(context, base + start)
    expect(page.locator(CHIP).first).to_be_visible()
    on = page.locator(f"{CHIP}[aria-pressed=true]")
    for typed, pressed in PRESSED[start].items():
        page.locator(BOX).fill(typed)
        expect(on).to_have_text([re.compile(f"^(✓ )?{re.escape(text)}$") for text in pressed])


ALONE = {  # by page: a chip, a page that it lists, and one that it does not
    "index.html": [("导览", "主题", "第二篇"), ("教程", "第二篇", "第一篇")],
    "en/index.html": [
        ("Tutorials", "Note two", "Note one"),
        ("tag: fat tree", "Note one", "Note two"),
    ],
}


@pytest.mark.parametrize("start", ALONE)
def test_a_chip_alone_lists_its_pages(context: BrowserContext, base: str, start: str) -> None:
    page = open_search(context, base + start)
    titles = page.locator(".md-search-result__item h1")
    for chip, found, not_found in ALONE[start]:
        page.get_by_role("button", name=chip).click()
        expect(titles.filter(has_text=found)).to_have_count(1)
        expect(titles.filter(has_text=not_found)).to_have_count(0)
        page.get_by_role("button", name=chip).click()


# An empty box


def test_queries_to_try_find_something(notes_index: Index) -> None:
    """Each query that the handbook suggests has an answer, and not a repaired one."""
    with (ROOT / "mkdocs.yml").open(encoding="utf-8") as file:
        queries = yaml_load(file)["extra"]["search"]["queries"]
    assert set(queries) == {"zh", "en"}
    with Engine(notes_index) as engine:
        for language, words in queries.items():
            for query in words:
                hits = engine.search(query, language, 3)
                assert hits and not hits[0].weak, query


@BOTH
def test_pages_seen_lately(context: BrowserContext, base: str) -> None:
    page = context.new_page()
    for name in ("topic/one.html", "topic/two.html", "en/topic/one.html", "index.html"):
        page.goto(base + name)
    page.keyboard.press("/")
    recent = page.get_by_role("region", name="最近看过")
    expect(recent.get_by_role("link")).to_have_text(["第二篇", "第一篇"])
    page.keyboard.insert_text("带")
    expect(recent).not_to_be_visible()
    page.keyboard.press("Backspace")
    recent.get_by_role("link", name="第一篇").click()
    page.wait_for_url("**/topic/one.html")
    # Not the page the reader is on.
    page.keyboard.press("/")
    expect(recent.get_by_role("link")).to_have_text(["第二篇"])
    recent.get_by_role("button", name="清除记录").click()
    expect(recent).to_have_count(0)
    expect(page.locator(BOX)).to_be_focused()
    page.goto(base + "en/index.html")
    page.keyboard.press("/")
    expect(page.get_by_role("region", name="Try a search like")).to_be_visible()
    expect(page.get_by_role("region", name="Recently viewed")).to_have_count(0)


@BOTH
def test_what_is_remembered_stays_here(context: BrowserContext, base: str) -> None:
    """A path and a title, and nothing that was searched for."""
    page = open_search(context, base + "topic/one.html")
    page.keyboard.type("带宽")
    kept = "Object.entries(localStorage).filter(([key]) => key.includes('recent'))"
    ((key, value),) = waiting.until(page, lambda: page.evaluate(kept), bool)
    assert unquote(key).endswith(unquote(base.removeprefix("http://").partition("/")[2]))
    assert value == '[{"path":"topic/one.html","title":"第一篇","language":"zh"}]'


def test_damaged_memory_is_no_error(context: BrowserContext, base: str) -> None:
    page = context.new_page()
    page.goto(base + "topic/one.html")
    for stored in (
        "not json",
        "{}",
        '[null, 1, {"path": 1}]',
        '[{"path":"javascript:alert(1)","title":"x","language":"zh"}]',
        '[{"path":"//third.invalid/","title":"x","language":"zh"}]',
        '[{"path":"a/../../x","title":"x","language":"zh"}]',
    ):
        page.evaluate(
            """stored => { for (const key of Object.keys(localStorage)) {
                 if (key.includes("recent")) { localStorage.setItem(key, stored); } } }""",
            stored,
        )
        page.goto(base + "index.html")
        page.keyboard.press("/")
        expect(page.get_by_role("region", name="试试这样搜")).to_be_visible()
        expect(page.get_by_role("region", name="最近看过")).to_have_count(0)


@BOTH
def test_no_storage_is_no_error(context: BrowserContext, base: str) -> None:
    page = context.new_page()
    page.add_init_script(
        """["getItem", "setItem", "removeItem"].forEach(function (name) {
             var real = Storage.prototype[name];
             Storage.prototype[name] = function (key) {
               if (key.indexOf("handbook") === 0) { throw new DOMException("denied"); }
               return real.apply(this, arguments); }; });"""
    )
    page.goto(base + "topic/one.html")
    page.goto(base + "index.html")
    page.keyboard.press("/")
    page.get_by_role("region", name="试试这样搜").get_by_role("button").first.click()
    expect(page.locator(BOX)).not_to_have_value("")
    expect(page.get_by_role("region", name="最近看过")).to_have_count(0)


# Results

# page, queries and how many results are said, a query with its section and where that stands,
# what a near miss is called, a heading that is opened
RESULTS = {
    "zh": (
        *("index.html", {"量子": "没有结果", "带宽": "2 个页面有结果"}),
        *("窗口缩小", "退让", "拥塞控制", "近似匹配", "不完全符合", "填充"),
    ),
    "en": (
        "en/index.html",
        {"zero-copy": "Results on 1 page", "bandwidth": "Results on 2 pages"},
        *("window shrinks", "Back off", "Congestion"),
        *("Close match", "none of them an exact match", "Filler"),
    ),
}


@pytest.mark.parametrize("language", RESULTS)
def test_what_a_result_says_and_where_it_opens(
    context: BrowserContext, base: str, language: str
) -> None:
    start, counts, words, section, crumbs, near, inexact, filler = RESULTS[language]
    page = open_search(context, base + start)
    box, said = page.locator(BOX), page.locator(".hb-search__live")
    for query, count in counts.items():
        box.fill(query)
        expect(said).to_have_text(count)
    if language == "zh":  # sections of a page are seen at once
        links = page.locator(".md-search-result__item", has_text="第一篇").locator(f"> {LINK}")
        expect(links).to_have_count(3)
        expect(links.filter(has_text="链路带宽")).to_be_visible()
    box.fill(words)
    found = page.locator(LINK).filter(has=page.locator("h2", has_text=section))
    expect(found.locator(".search-crumbs")).to_have_text(crumbs)
    titles = page.locator(".md-search-result__item h1 .search-crumbs")
    expect(titles.first).to_have_text(re.compile("^(Topic|主题)$"))
    box.fill("congestoin")
    expect(page.locator(".search-weak").first).to_contain_text(re.compile("congestion", re.I))
    # One look: the list is drawn again when the other language has been read too.
    page.wait_for_function(
        """label => { const weak = document.querySelector(".search-weak");
             return weak && getComputedStyle(weak, "::before").content === label; }""",
        arg=f'"{near}"',
    )
    expect(said).to_contain_text(inexact)
    box.fill(filler)
    page.locator(f'{LINK}[href*="#"]', has_text=filler).first.click()
    waiting.near_top(page.locator("h2", has_text=filler), within=200)
    expect(page.locator("mark[data-md-highlight]").first).to_be_visible()


# Keys


def test_tab_goes_through_the_chips_and_on_to_the_results(
    context: BrowserContext, base: str
) -> None:
    page = open_search(context, base + "en/index.html")
    page.keyboard.insert_text("bandwidth")
    expect_whole(page)
    expect(page.locator(CHIP).filter(has_text="#fat tree")).to_have_count(1)
    chips = page.locator(CHIP)
    expect(chips.first).to_have_text("Notes")
    expect(chips.nth(1)).to_have_text("Maps")
    names = chips.all_inner_texts()
    for name in names:
        page.keyboard.press("Tab")
        expect_focus(page, name)
    page.keyboard.press("Tab")
    expect(page.locator(f"{LINK}:focus")).to_have_count(1)
    page.keyboard.press("Shift+Tab")
    expect(page.locator(BOX)).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page.locator(BOX)).to_have_value("kind:note bandwidth")
    expect_focus(page, "Notes")
    page.keyboard.press("Enter")
    expect(page.locator(BOX)).to_have_value("bandwidth")
    page.keyboard.press("ArrowRight")
    expect_focus(page, "Maps")
    page.keyboard.type("s")  # letters typed on a chip go to the box
    expect(page.locator(BOX)).to_be_focused()
    expect(page.locator(BOX)).to_have_value("bandwidths")
    page.keyboard.press("Backspace")
    expect_whole(page)
    page.keyboard.press("ArrowDown")
    expect(page.locator(f"{LINK}:focus")).to_have_count(1)
    page.keyboard.press("Enter")
    page.wait_for_url("**/topic/*.html?h=*")


def test_arrows_go_through_what_an_empty_box_offers(context: BrowserContext, base: str) -> None:
    page = context.new_page()
    page.goto(base + "en/topic/two.html")
    page.goto(base + "en/topic/one.html")
    page.keyboard.press("/")
    expect(page.get_by_role("region", name="Recently viewed")).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect_focus(page, "Note two")
    page.keyboard.press("ArrowUp")
    expect(page.locator(BOX)).to_be_focused()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    expect_focus(page, "NVLink bandwidth")
    page.keyboard.press("Enter")
    expect(page.locator(BOX)).to_have_value("NVLink bandwidth")
    expect(page.locator(BOX)).to_be_focused()


@pytest.mark.parametrize("steps", [0, 2], ids=["from-box", "from-chip"])
def test_escape_closes_and_gives_the_focus_back(
    context: BrowserContext, base: str, steps: int
) -> None:
    page = context.new_page()
    page.goto(base + "index.html")
    link = page.locator("article a, .md-tabs__item + .md-tabs__item a").first
    link.focus()
    page.keyboard.press("/")
    expect(page.locator(CHIP).first).to_be_visible()
    for _ in range(steps):
        page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    expect(page.locator("#__search")).not_to_be_checked()
    expect(link).to_be_focused()


# What a screen reader hears


class Held:
    """The texts of a language, kept back until released, as on a slow network."""

    def __init__(self, context: BrowserContext, language: str) -> None:
        self._routes: list[Route] = []
        self._is_open = False
        context.route(f"**/search/handbook.{language}.0.js", self._take)

    def _take(self, route: Route) -> None:
        if self._is_open:
            route.continue_()
        else:
            self._routes.append(route)

    def release(self) -> None:
        self._is_open = True
        for route in self._routes:
            route.continue_()


SAID = """() => {
  window.said = [];
  const live = document.querySelector(".hb-search__live");
  new MutationObserver(() => { if (live.textContent) { window.said.push(live.textContent); } })
    .observe(live, { childList: true });
}"""


@pytest.mark.parametrize(
    ("late", "words", "said"),
    [
        # A title has it, then the texts.
        pytest.param("zh", "显存带宽", "1 个页面有结果", marks=pytest.mark.release),
        ("en", "shrinks", "1 个页面有结果"),  # not in Chinese, then in English
        pytest.param("en", "量子", "没有结果", marks=pytest.mark.release),
    ],
    ids=["titles-first", "other-language", "nothing"],
)
def test_an_answer_that_grows_is_said_once(
    context: BrowserContext, base: str, late: str, words: str, said: str
) -> None:
    texts = Held(context, late)
    page = open_search(context, base + "index.html")
    expect(page.locator(".md-search-result__meta")).to_have_text("键入以开始搜索")
    page.evaluate(SAID)
    page.keyboard.insert_text(words)
    if late == "zh":
        expect(page.locator(LINK).first).to_be_visible()
    page.wait_for_timeout(1200)  # nothing is said in longer than the pause before saying
    assert page.evaluate("window.said") == []
    texts.release()
    expect(page.locator(".hb-search__live")).to_have_text(re.compile(f"^{said}"))
    page.wait_for_timeout(1000)  # nothing more is said
    waiting.equal(page, lambda: page.evaluate("window.said.length"), 1)


def test_a_focused_result_stays_focused_when_the_list_grows(
    context: BrowserContext, base: str
) -> None:
    texts = Held(context, "zh")
    page = open_search(context, base + "index.html")
    page.keyboard.insert_text("带宽")
    expect(page.locator(".search-early")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.wait_for_function("/#/.test(document.activeElement.href)")
    before = page.evaluate("document.activeElement.href")
    texts.release()
    expect(page.locator(".search-early")).to_have_count(0)
    expect(page.locator(LINK, has_text="零拷贝").first).to_be_visible()
    page.wait_for_function("before => document.activeElement.href === before", arg=before)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: url.partition("#")[2] == before.partition("#")[2])


# Looks and access


@pytest.mark.parametrize(
    ("width", "scheme", "words"),
    [
        (1280, "dark", "类型:笔记 带宽"),
        pytest.param(360, "light", "", marks=pytest.mark.slow),
    ],
)
def test_accessible(window: Window, small_site: Path, scheme: str, width: int, words: str) -> None:
    viewport = {"width": width, "height": 740}
    page = window("file:", color_scheme=scheme, viewport=viewport).new_page()
    page.goto((small_site / "topic/two.html").as_uri())
    page.goto((small_site / "index.html").as_uri())
    page.keyboard.press("/")
    page.keyboard.insert_text(words)
    if words:
        expect_whole(page)
    if width < 700:  # on a phone the filters are folded until asked for
        page.locator(".hb-search__fold").click()
    expect(page.locator(CHIP).first).to_be_visible()
    waiting.at_rest(page)  # Material fades the dialog in
    waiting.fits(page)
    assert waiting.barriers(page) == []


@BOTH
def test_search_works_without_the_script(context: BrowserContext, base: str, ear: Ear) -> None:
    context.route("**/search-box.js", lambda route: route.abort())
    page = open_search(context, base + "index.html")
    page.keyboard.insert_text("带宽")
    expect(page.locator(LINK).first).to_be_visible()
    page.keyboard.press("Enter")
    page.wait_for_url("**?h=*")
    assert all("search-box.js" in one for one in ear.complaints)
    ear.complaints = []


# Ways in, and nothing found


def test_control_k_opens_and_a_query_without_results_says_where_to_look(
    context: BrowserContext, base: str
) -> None:
    page = context.new_page()
    page.goto(base + "index.html")
    page.keyboard.press("Control+k")
    expect(page.locator(BOX)).to_be_focused()
    page.keyboard.type("zzqqxxyy")
    nothing = page.locator(".hb-search__none")
    expect(nothing).to_contain_text("没有找到：zzqqxxyy")
    expect(nothing.get_by_role("link").first).to_be_visible()
    page.locator(BOX).fill("带宽")
    expect(nothing).to_have_count(0)
    expect(page.locator(LINK).first).to_be_visible()


def test_filters_are_folded_on_a_phone(window: Window, base: str) -> None:
    page = window(base, viewport={"width": 390, "height": 800}).new_page()
    page.goto(base + "index.html")
    page.locator("label.md-header__button[for=__search]").click()
    fold, kind = page.locator(".hb-search__fold"), page.get_by_role("button", name="教程")
    expect(fold).to_have_attribute("aria-expanded", "false")
    expect(kind).not_to_be_visible()
    fold.click()
    expect(fold).to_have_attribute("aria-expanded", "true")
    expect(kind).to_be_visible()
