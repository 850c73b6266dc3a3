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

HOME, ONE, TOPIC = "index.html", "topic/one.html", "topic/index.html"
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
    # A page that breaks its own rules, or fails, is not available offline.
    context.add_init_script(
        """document.addEventListener("securitypolicyviolation", function (event) {
             setTimeout(function () { throw new Error("CSP " + event.violatedDirective +
               " " + event.blockedURI); });
           });"""
    )
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


NO_WORKER = "async () => (await navigator.serviceWorker.getRegistrations()).length === 0"


def expect_caches(page: Page, names: list[str]) -> None:
    """Wait until these caches are there, and no others."""
    page.wait_for_function(
        "async (names) => String((await caches.keys()).sort()) === String(names)", arg=sorted(names)
    )


def expect_stored(page: Page, address: str) -> None:
    """Wait until a file of the site is in one of the caches."""
    page.wait_for_function(
        """async (address) => {
             const config = JSON.parse(document.getElementById("__config").textContent);
             const root = new URL(config.base + "/", location.href);
             return Boolean(await caches.match(new URL(address, root), { ignoreSearch: true }));
           }""",
        arg=address,
    )


def publish(host: Host, old: str, new: str) -> str:
    """Put a changed build in place, and return its version."""
    site = host.root / "handbook"
    page = site / ONE
    text = page.read_text(encoding="utf-8")
    assert old in text
    page.write_text(text.replace(old, new), encoding="utf-8")
    return offline.install(site)


def search(page: Page, words: str) -> list[str]:
    page.keyboard.press("/")
    expect(page.locator(".md-search__input")).to_be_focused()
    page.keyboard.insert_text(words)
    expect(page.locator(".hb-search__live")).not_to_be_empty()
    expect(page.locator(".search-early")).to_have_count(0)
    links = page.locator(".md-search-result__link")
    found: list[str] = links.evaluate_all("all => all.map(one => one.getAttribute('href'))")
    return found


@pytest.mark.parametrize(
    ("prefix", "heading", "twin_heading", "words", "found"),
    [
        ("", "第一篇", "Note one", "零拷贝", "topic/one.html"),
        pytest.param(
            "en/",
            "Note one",
            "第一篇",
            "zero-copy",
            "en/topic/one.html",
            marks=pytest.mark.slow,
        ),
    ],
    ids=["zh", "en"],
)
def test_after_one_visit(
    host: Host,
    context: BrowserContext,
    prefix: str,
    heading: str,
    twin_heading: str,
    words: str,
    found: str,
) -> None:
    """The page, its other language, the home page and a search used before, with the host gone."""
    page = visit(context, host.base + prefix + ONE)
    search(page, words)
    expect_stored(page, "search/handbook.zh.0.js")
    expect_stored(page, "search/handbook.en.0.js")
    host.stop()
    page.reload()
    expect(page.locator("h1")).to_contain_text(heading)
    expect(page.locator("h1")).to_have_css("font-weight", "700")
    links = search(page, words)
    assert any(found in link for link in links)
    page.locator('.md-search-result__link[href*="#"]').first.click()
    page.wait_for_url("**?h=*#*")
    expect(page.locator("h1")).to_contain_text(heading)
    expect(page.locator("mark[data-md-highlight]").first).to_be_visible()
    page.locator(".md-header .md-select button").hover()
    other = "zh" if prefix else "en"
    page.locator(f'.md-select__link[hreflang="{other}"]').click()
    expect(page.locator("h1")).to_contain_text(twin_heading)
    page.goto(host.base)  # the folder, as a reader would type it
    expect(page.locator("html")).to_have_attribute("lang", "zh")
    expect(page.locator(STATE)).to_contain_text(READY["zh"])


@pytest.mark.slow
def test_pages_opened_in_haste(host: Host, context: BrowserContext) -> None:
    """Pages left before anything could be stored are stored by the first page that stays."""
    page = context.new_page()
    for name in (ONE, "en/" + TOPIC):
        page.goto(host.base + name, wait_until="domcontentloaded")
    page.goto(host.base + HOME)
    expect(page.locator(STATE)).to_contain_text(READY["zh"])
    host.stop()
    page.goto(host.base + ONE)
    expect(page.locator("h1")).to_contain_text("第一篇")
    page.goto(f"{host.base}en/{TOPIC}")
    expect(page.locator("h1")).to_contain_text("Topic")


def test_page_that_is_not_stored_says_so(host: Host, context: BrowserContext) -> None:
    page = visit(context, host.base + HOME)
    host.stop()
    answer = page.goto(host.base + "en/" + TOPIC)
    assert answer is not None and answer.status == 503
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(page.get_by_role("heading", name="not stored on this device")).to_be_visible()
    expect(page.get_by_role("heading", name="没有存在本机")).to_be_visible()
    page.get_by_role("link", name="English home page").click()
    expect(page.locator("h1")).to_contain_text("Home")


def test_address_that_never_was(host: Host, context: BrowserContext) -> None:
    page = visit(context, host.base + HOME)
    host.stop()
    answer = page.goto(host.base + "topic/nothing.html")
    assert answer is not None and answer.status == 404
    expect(page.locator("h1")).to_contain_text("404")
    page.get_by_role("link", name="中文首页").click()
    expect(page.locator("h1")).to_contain_text("首页")


@pytest.mark.parametrize(
    ("start", "labels", "unopened", "heading"),
    [
        pytest.param(
            HOME,
            ("离线使用", "存下整本手册", "整本手册已存好"),
            "en/topic/one.html",
            "Note one",
            marks=pytest.mark.slow,
        ),
        (
            "en/index.html",
            ("Offline use", "Store the whole handbook", "The whole handbook is stored"),
            "topic/index.html",
            "主题",
        ),
    ],
    ids=["zh", "en"],
)
def test_store_the_whole_handbook(
    host: Host,
    context: BrowserContext,
    start: str,
    labels: tuple[str, str, str],
    unopened: str,
    heading: str,
) -> None:
    page = visit(context, host.base + start)
    page.get_by_role("button", name=labels[0]).click()
    dialog = page.get_by_role("dialog", name=labels[0])
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name=labels[1]).click()
    expect(dialog.get_by_role("status")).to_contain_text(labels[2])
    version = next((host.root / "handbook/assets/offline").glob("files.*.js")).name.split(".")[1]
    expect(page.locator(STATE)).to_contain_text(version)
    expect(page.locator(".hb-offline")).to_have_attribute("data-state", "whole")
    page.keyboard.press("Escape")
    expect(dialog).not_to_be_visible()
    host.stop()
    page.goto(host.base + unopened)
    expect(page.locator("h1")).to_contain_text(heading)
    page.goto(host.base + "topic/old.html")  # a redirect page leads on
    page.wait_for_url("**/topic/one.html")
    expect(page.locator("h1")).to_contain_text("第一篇")
    page.goto(host.base + "en")  # hosts answer with the folder
    expect(page.locator("h1")).to_contain_text("Home")


@pytest.mark.slow
def test_storing_goes_on_after_a_failure(host: Host, context: BrowserContext) -> None:
    """With the network gone half-way, what is stored stays, and the next visit stores the rest."""
    page = visit(context, host.base + HOME)
    page.get_by_role("button", name="离线使用").click()
    host.stop()
    page.get_by_role("button", name="存下整本手册").click()
    expect(page.locator(".hb-offline__news")).to_contain_text("没有取到")
    expect(page.locator(".hb-offline")).to_have_attribute("data-state", "pages")
    host.start()
    page.goto(host.base + HOME)
    expect(page.locator(".hb-offline")).to_have_attribute("data-state", "whole")


def test_new_version(host: Host, context: BrowserContext) -> None:
    page = visit(context, host.base + ONE)
    version = publish(host, "零拷贝", "零拷贝的新写法")
    expect(page.locator(STATE)).not_to_contain_text(version)
    page.reload()
    # Still the former version, whole, until the reader agrees.
    expect(page.locator("article")).not_to_contain_text("新写法")
    update = page.get_by_role("region", name="手册更新")
    expect(update.get_by_role("status")).to_have_text("新版本可用。")
    with page.expect_navigation():
        update.get_by_role("button", name="刷新").click()
    expect(page.locator("article")).to_contain_text("新写法")
    expect(page.locator(STATE)).to_contain_text(version)
    expect(update).to_have_count(0)
    host.stop()
    page.reload()
    expect(page.locator("article")).to_contain_text("新写法")


@pytest.mark.slow
def test_update_can_be_put_off(host: Host, context: BrowserContext) -> None:
    """Not asked again on every page; the next tab asks."""
    page = visit(context, host.base + "en/" + ONE)
    publish(host, "零拷贝", "零拷贝的新写法")
    page.reload()
    page.get_by_role("button", name="Later").click()
    page.goto(host.base + "en/index.html")
    expect(page.locator(STATE)).to_contain_text(READY["en"])
    expect(page.locator(".hb-update")).to_have_count(0)
    other = visit(context, host.base + "en/index.html")
    expect(other.get_by_role("button", name="Reload")).to_be_visible()


@pytest.mark.slow
def test_new_version_refreshes_what_was_stored(host: Host, context: BrowserContext) -> None:
    """A page seen in the former version is fetched anew, and the former one is not kept."""
    visit(context, host.base + ONE).close()
    page = visit(context, host.base + "en/index.html")
    publish(host, "零拷贝", "零拷贝的新写法")
    page.reload()
    with page.expect_navigation():
        page.get_by_role("button", name="Reload").click()
    page.wait_for_function(
        """async (address) => {
          for (const name of await caches.keys()) {
            const cache = await caches.open(name);
            const all = await cache.matchAll(address, { ignoreSearch: true });
            if (all.length === 1 && (await all[0].text()).includes("新写法")) { return true; }
          }
          return false;
        }""",
        arg=host.base + ONE,
    )
    page.wait_for_function("async () => (await caches.keys()).length === 2")
    host.stop()
    page.goto(host.base + ONE)
    expect(page.locator("article")).to_contain_text("新写法")


@pytest.mark.slow
def test_files_that_left_the_site_leave_the_cache(host: Host, context: BrowserContext) -> None:
    page = visit(context, host.base + "en/" + ONE)
    (host.root / "handbook/en" / ONE).unlink()
    offline.install(host.root / "handbook")
    page.goto(host.base + "en/index.html")
    with page.expect_navigation():
        page.get_by_role("button", name="Reload").click()
    expect(page.locator(STATE)).to_contain_text(READY["en"])
    page.wait_for_function(
        "async (address) => !(await caches.match(address, {ignoreSearch: true}))",
        arg=host.base + "en/" + ONE,
    )


def test_removal_is_clean_and_lasts(host: Host, context: BrowserContext) -> None:
    page = visit(context, host.base + HOME)
    # Another site's cache on the same host, and another handbook's, are none of ours.
    page.evaluate("caches.open('other').then(() => null)")
    page.evaluate("caches.open(`handbook-pages-${location.origin}/another/`).then(() => null)")
    page.get_by_role("button", name="离线使用").click()
    with page.expect_navigation():
        page.get_by_role("button", name="删除离线副本").click()
    expect(page.locator(STATE)).to_have_text("还没有存在本机")
    kept = ["handbook-pages-" + host.base.replace("/handbook/", "/another/"), "other"]
    expect_caches(page, kept)
    page.wait_for_function(NO_WORKER)
    page.goto(host.base + ONE)
    page.wait_for_load_state("networkidle")
    page.wait_for_function(NO_WORKER)
    expect_caches(page, kept)
    page.get_by_role("button", name="离线使用").click()
    page.get_by_role("button", name="开启离线使用").click()
    expect(page.locator(STATE)).to_contain_text(READY["zh"])


@pytest.mark.slow
def test_host_that_rewrites_pages(host: Host, context: BrowserContext) -> None:
    """Pages that are not byte for byte what was built are kept as seen; online they are fetched."""
    page_file = host.root / "handbook" / ONE
    text = page_file.read_text(encoding="utf-8")
    page_file.write_text(text + "<!-- put in by the host -->", encoding="utf-8")
    page = visit(context, host.base + ONE)
    page_file.write_text(text.replace("零拷贝", "改过") + "<!-- host -->", encoding="utf-8")
    page.reload()
    expect(page.locator("article")).to_contain_text("改过")
    expect(page.locator(STATE)).to_contain_text(READY["zh"])
    host.stop()
    page.reload()
    expect(page.locator("article")).to_contain_text("改过")


@pytest.mark.slow
def test_damaged_shell_is_not_taken(host: Host, context: BrowserContext) -> None:
    """A file cut short on its way is refused by its hash, and the footer says what is missing."""
    style = host.root / "handbook/assets/stylesheets/handbook.css"
    whole = style.read_bytes()
    style.write_bytes(whole[:100])
    page = context.new_page()
    page.goto(host.base + HOME)
    expect(page.locator(STATE)).to_contain_text("没有全部取到")
    style.write_bytes(whole)
    page.reload()
    expect(page.locator(STATE)).to_contain_text(READY["zh"])


def test_writing_removes_an_earlier_copy(host: Host, context: BrowserContext) -> None:
    """`make serve` at the address of a copy: the worker it serves takes the copy away."""
    page = visit(context, host.base + HOME)
    offline.switch_off(host.root / "handbook")
    (host.root / "handbook" / HOME).write_text("<h1>being written</h1>", encoding="utf-8")
    page.reload()
    expect(page.locator("h1")).to_have_text("being written")
    expect_caches(page, [])


@pytest.mark.parametrize(
    "answer",
    [
        'Promise.reject(new Error("denied"))',
        pytest.param("Promise.resolve()", marks=pytest.mark.slow),
    ],
)
def test_page_works_where_storing_is_refused(
    host: Host, context: BrowserContext, answer: str
) -> None:
    context.add_init_script(
        """Storage.prototype.getItem = Storage.prototype.setItem = function (key) {
             if (key.indexOf("handbook") === 0) { throw new DOMException("denied"); }
             return null; };
           if (navigator.serviceWorker) { navigator.serviceWorker.register = function () {
             return ANSWER; }; }""".replace("ANSWER", answer)
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


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.slow), "dark"])
def test_dialog_is_accessible(host: Host, browser: Browser, scheme: str) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 800},
        color_scheme=scheme,  # type: ignore[arg-type]
    )
    page = visit(context, host.base + HOME)
    opener = page.get_by_role("button", name="离线使用")
    opener.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="离线使用")
    expect(dialog).to_be_visible()
    expect(dialog.locator(":focus")).to_have_count(1)
    page.keyboard.press("s")  # would open the search, were the dialog not in front
    expect(page.locator("#__search")).not_to_be_checked()
    waiting.fits(page)
    violations = waiting.audit(page).response["violations"]
    serious = [one["id"] for one in violations if one["impact"] in ("serious", "critical")]
    assert serious == []
    page.keyboard.press("Escape")
    expect(opener).to_be_focused()
    context.close()
