"""A hosted handbook with the network off: a real browser, and a server that is really gone."""

from __future__ import annotations

import functools
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from hooks.site import offline
from tests.browser import waiting
from tests.conftest import QuietHandler, Server

pytestmark = pytest.mark.browser

HOME, ONE = "index.html", "topic/one.html"
STATE = ".hb-offline__state"
READY = {"zh": "可离线使用，版本", "en": "available offline, version"}


class WholeFiles(QuietHandler):
    """Sends files whole: dates of files tell nothing of a change within the same second."""

    def send_head(self) -> Any:
        """Begin an answer."""
        del self.headers["If-Modified-Since"]
        return super().send_head()


class Host:
    """A web server below a path, which can be stopped and started at the same address."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.server: Server | None = None
        self.port = 0
        self.start()

    def start(self) -> None:
        handler = functools.partial(WholeFiles, directory=str(self.root))
        self.server = Server(("127.0.0.1", self.port), handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        if self.server is not None:
            self.server.shutdown()
            self.server.server_close()
            self.server = None

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}/handbook/"


@pytest.fixture
def host(small_site: Path, tmp_path: Path) -> Iterator[Host]:
    """The handbook on a host of its own, below `/handbook/`."""
    shutil.copytree(small_site, tmp_path / "handbook")
    host = Host(tmp_path)
    yield host
    host.stop()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    errors: list[str] = []
    context.on("weberror", lambda error: errors.append(str(error.error)))
    yield context
    context.close()
    assert errors == []


def visit(context: BrowserContext, address: str) -> Page:
    """Open an address and wait until the footer says that it is available offline."""
    page = context.new_page()
    page.goto(address)
    language = "en" if "/en/" in address else "zh"
    expect(page.locator(STATE)).to_contain_text(READY[language])
    return page


WORKERS = "async () => (await navigator.serviceWorker.getRegistrations()).length"
CACHES = "async () => (await caches.keys()).sort()"
STORED = "async (url) => Boolean(await caches.match(url, { ignoreSearch: true }))"


def expect_told(page: Page, script: str, wanted: Any, arg: Any = None) -> None:
    """Wait until the page answers so; unlike wait_for_function, a promise is waited for."""
    waiting.equal(page, lambda: page.evaluate(script, arg), wanted)


def search(page: Page, words: str) -> list[str]:
    page.keyboard.press("/")
    expect(page.locator(".md-search__input")).to_be_focused()
    page.keyboard.insert_text(words)
    expect(page.locator(".hb-search__live")).not_to_be_empty()
    expect(page.locator(".search-early")).to_have_count(0)
    links = page.locator(".md-search-result__link")
    found: list[str] = links.evaluate_all("all => all.map(one => one.getAttribute('href'))")
    return found


def test_after_one_visit(host: Host, context: BrowserContext) -> None:
    """The page and a search used before, with the host gone; another page says what is wrong."""
    page = visit(context, host.base + ONE)
    search(page, "零拷贝")
    for language in ("zh", "en"):
        expect_told(page, STORED, True, f"{host.base}search/handbook.{language}.0.js")
    host.stop()
    page.reload()
    expect(page.locator("h1")).to_have_css("font-weight", "700")
    assert any(ONE in link for link in search(page, "零拷贝"))
    page.locator('.md-search-result__link[href*="#"]').first.click()
    page.wait_for_url("**?h=*#*")
    expect(page.locator("h1")).to_contain_text("第一篇")
    answer = page.goto(host.base + "en/topic/index.html")
    assert answer is not None and answer.status == 503
    expect(page.locator("html")).to_have_attribute("lang", "en")
    for said in ("not stored on this device", "没有存在本机"):
        expect(page.get_by_role("heading", name=said)).to_be_visible()


def test_keep_the_whole_handbook(host: Host, context: BrowserContext) -> None:
    """What fails is told, and the next page keeps the rest."""
    page = visit(context, host.base + "en/index.html")
    host.stop()
    page.get_by_role("button", name="Keep the whole handbook").click()
    expect(page.locator(STATE)).to_contain_text("could not be fetched")
    host.start()
    page.goto(host.base + "en/index.html")
    expect(page.locator(STATE)).to_contain_text("the whole handbook is available offline, version")
    expect(page.get_by_role("button", name="Keep the whole handbook")).not_to_be_visible()
    host.stop()
    page.goto(host.base + "topic/index.html")
    expect(page.locator("h1")).to_contain_text("主题")
    page.goto(host.base + "topic/old.html")  # a redirect page leads on
    page.wait_for_url("**/topic/one.html")
    expect(page.locator("h1")).to_contain_text("第一篇")
    page.goto(host.base + "en/")
    expect(page.locator("h1")).to_contain_text("Home")


def test_new_version(host: Host, context: BrowserContext) -> None:
    """What was stored is fetched anew, and what left the site leaves the cache."""
    page = visit(context, host.base + ONE)
    page.goto(host.base + "en/" + ONE)
    expect_told(page, STORED, True, f"{host.base}en/{ONE}")
    page.goto(host.base + "en/index.html")
    site = host.root / "handbook"
    (site / "en" / ONE).unlink()
    text = (site / ONE).read_text(encoding="utf-8")
    (site / ONE).write_text(text.replace("零拷贝", "零拷贝的新写法"), encoding="utf-8")
    version = offline.install(site)
    expect(page.locator(STATE)).not_to_contain_text(version)
    page.reload()  # the browser asks for the worker again; it takes over when all is fetched
    expect_told(page, STORED, False, f"{host.base}en/{ONE}")
    page.reload()
    expect(page.locator(STATE)).to_contain_text(version)
    host.stop()
    page.goto(host.base + ONE)
    expect(page.locator("article")).to_contain_text("新写法")


def test_removal_is_clean_and_lasts(host: Host, context: BrowserContext) -> None:
    page = visit(context, host.base + HOME)
    # Another site's cache on the same host, and another handbook's, are none of ours.
    page.evaluate("caches.open('other').then(() => null)")
    page.evaluate("caches.open(`handbook-pages-${location.origin}/another/`).then(() => null)")
    with page.expect_navigation():
        page.get_by_role("button", name="删除离线副本").click()
    expect(page.locator(STATE)).to_have_text("还没有存在本机")
    kept = ["handbook-pages-" + host.base.replace("/handbook/", "/another/"), "other"]
    expect_told(page, CACHES, kept)
    expect_told(page, WORKERS, 0)
    page.goto(host.base + ONE)
    page.wait_for_load_state("networkidle")
    expect_told(page, WORKERS, 0)
    expect_told(page, CACHES, kept)
    page.get_by_role("button", name="开启离线使用").click()
    expect(page.locator(STATE)).to_contain_text(READY["zh"])


def test_writing_removes_an_earlier_copy(host: Host, context: BrowserContext) -> None:
    """`make serve` at the address of a copy: the worker it serves takes the copy away."""
    page = visit(context, host.base + HOME)
    offline.switch_off(host.root / "handbook")
    (host.root / "handbook" / HOME).write_text("<h1>being written</h1>", encoding="utf-8")
    page.reload()
    expect(page.locator("h1")).to_have_text("being written")
    expect_told(page, CACHES, [])


def test_page_works_where_storing_is_refused(host: Host, context: BrowserContext) -> None:
    context.add_init_script(
        """Storage.prototype.getItem = Storage.prototype.setItem = function (key) {
             if (key.indexOf("handbook") === 0) { throw new DOMException("denied"); }
             return null; };
           if (navigator.serviceWorker) { navigator.serviceWorker.register = function () {
             return Promise.reject(new Error("denied")); }; }"""
    )
    page = context.new_page()
    page.goto(host.base + HOME)
    expect(page.locator(STATE)).to_have_text("现在不能离线使用：浏览器没有允许，或文件没有取到")
    assert any(ONE in link for link in search(page, "零拷贝"))


def test_nothing_of_it_on_file(small_site: Path, context: BrowserContext) -> None:
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda one: complaints.append(one.text) if one.type == "error" else None)
    page.goto((small_site / HOME).as_uri())
    page.wait_for_timeout(1000)  # nothing comes, and nothing is said
    expect(page.locator(".hb-offline")).to_have_count(0)
    assert complaints == []
