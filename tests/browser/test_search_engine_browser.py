"""Our search engine as a reader meets it: typed, listed, opened, over http and on file://."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import Browser, Page

from tests import samples
from tests.conftest import Project, serve

pytestmark = pytest.mark.browser

PAIRS = {
    "topic/memory": (
        "存储层次",
        "## 显存带宽\n\nB200 的显存带宽是 1.8 TB/s。\n\n"
        "## 内核启动\n\n内核的启动开销。\n\n"
        "## 统一内存\n\n统一内存（unified memory）按页迁移。\n",
        "Memory hierarchy",
        "## Memory bandwidth\n\n1.8 TB/s.\n\n"
        "## Kernel launch\n\nOversubscription costs 5 µs.\n\n"
        "## Unified memory\n\nUnified memory migrates pages.\n",
    ),
    "topic/ethernet": (
        "以太网",
        "## 拥塞控制\n\nDCQCN 与 all-reduce。`NCCL_IB_HCA` 选择 IB 网卡，distributed。\n\n"
        "### 收发队列\n\n用 `ibv_post_send` 投递拥塞通知。\n\n"
        "## 拥塞通知\n\n通知的格式。\n\n## 拥塞信号\n\n拥塞怎样标记。\n",
        "Ethernet",
        "## Congestion control\n\nDCQCN and AllReduce.\n\n"
        "### Queues\n\n`ibv_post_send` posts.\n\n"
        "## Congestion notice\n\nIts format.\n\n## Congestion signal\n\nHow it is marked.\n",
    ),
}


@pytest.fixture(scope="module")
def small_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = Project(tmp_path_factory.mktemp("search"))
    for name, (title, body, title_en, body_en) in PAIRS.items():
        project.write(f"docs/{name}.md", samples.note(body, title))
        project.write(f"docs/{name}.en.md", samples.note(body_en, title_en))
        project.add_to_nav(f"{name}.md")
    # A folder name that readers have: blanks, and not ASCII.
    site = project.root / "下载 1/site"
    run = project.build("--site-dir", str(site))
    assert run.returncode == 0, run.stdout + run.stderr
    return site


@pytest.fixture(scope="module", params=["http", "file"])
def base(request: pytest.FixtureRequest, small_site: Path) -> Iterator[str]:
    """The address of the site, with a trailing slash."""
    if request.param == "file":
        yield small_site.as_uri() + "/"
        return
    with serve(small_site) as address:
        yield address


class Visit:
    """A page, and what it asked for."""

    def __init__(self, page: Page, base: str) -> None:
        self.page = page
        self.base = base
        self.asked: list[str] = []

    def index(self) -> set[str]:
        """Return the files of the index that were asked for."""
        names = {url.removeprefix(self.base).partition("?")[0] for url in self.asked}
        return {name for name in names if name.startswith("search/handbook.")}

    def type(self, text: str) -> None:
        """Enter text in the search field, ending with a key as typing does."""
        self.page.locator("[data-md-component=search-query]").focus()
        self.page.keyboard.insert_text(text)
        self.page.keyboard.press("Shift")

    def listed(self, *, visible: bool = False) -> list[str]:
        """Wait for the answer; return its addresses, without ?h=, in the order shown."""
        self.page.wait_for_function(
            """() => {
              var meta = document.querySelector(".md-search-result__meta");
              return document.querySelector(".md-search-result__item") ||
                /没有找到|No matching/.test(meta.textContent);
            }"""
        )
        links = self.page.locator(".md-search-result__link" + (":visible" if visible else ""))
        found = []
        for link in links.evaluate_all("links => links.map(link => link.href)"):
            address, _, fragment = link.removeprefix(self.base).partition("#")
            found.append(address.partition("?")[0] + (f"#{unquote(fragment)}" if fragment else ""))
        return found


@pytest.fixture
def visit(browser: Browser, base: str) -> Iterator[Visit]:
    """A page that may ask nobody but the site, and may not fail."""
    context = browser.new_context(service_workers="block")
    visit = Visit(context.new_page(), base)
    failures: list[str] = []
    context.on("request", lambda request: visit.asked.append(request.url))
    visit.page.on("pageerror", lambda error: failures.append(str(error)))
    visit.page.on(
        "console", lambda said: failures.append(said.text) if said.type == "error" else None
    )
    yield visit
    context.close()
    assert [url for url in visit.asked if not url.startswith((base, "about:", "data:"))] == []
    assert failures == []


ZH, EN = "index.html", "en/index.html"
MEMORY, ETHERNET = "topic/memory.html", "topic/ethernet.html"


@pytest.mark.parametrize(
    ("start", "query", "listed"),
    [
        (ZH, "显存带宽", [MEMORY, f"{MEMORY}#显存带宽"]),
        (ZH, "ibv_po", [ETHERNET, f"{ETHERNET}#收发队列"]),
        (ZH, "unified memory", [MEMORY, f"{MEMORY}#统一内存"]),
        (EN, "unified memory", [f"en/{MEMORY}", f"en/{MEMORY}#unified-memory"]),
        (ZH, "oversubscription", [MEMORY, f"{MEMORY}#内核启动"]),
        (EN, "统一内存", [f"en/{MEMORY}", f"en/{MEMORY}#unified-memory"]),
        (ZH, "DCQNC", [ETHERNET, f"{ETHERNET}#拥塞控制"]),
        (ZH, "<img src=x onerror=alert(1)>", []),
        (ZH, "量子", []),
    ],
)
def test_typed_words(visit: Visit, start: str, query: str, listed: list[str]) -> None:
    visit.page.goto(visit.base + start)
    visit.type(query)
    if listed:
        visit.page.wait_for_selector(".md-search-result__item")
    assert visit.listed()[: len(listed)] == listed
    if not listed:
        assert visit.listed() == []


def test_the_index_is_loaded_only_when_search_is_used(visit: Visit) -> None:
    visit.page.goto(visit.base + ZH)
    visit.page.wait_for_timeout(1000)
    assert visit.index() == set()
    visit.type("显存")
    visit.listed()
    visit.page.wait_for_function("() => !document.querySelector('.search-early')")
    wanted = ("tables", "zh.titles", "zh.0")
    assert {f"search/handbook.{name}.js" for name in wanted} <= visit.index()


def test_several_sections_of_a_page_are_visible(visit: Visit) -> None:
    visit.page.goto(visit.base + ZH)
    visit.type("拥塞")
    shown = [place for place in visit.listed(visible=True) if place.startswith(f"{ETHERNET}#")]
    assert len(shown) >= 3


def test_repaired_results_say_so(visit: Visit) -> None:
    visit.page.goto(visit.base + ZH)
    visit.type("ibv_psot_send")
    visit.listed()
    assert visit.page.locator(".search-weak").first.inner_text() == "≈ ibv_post_send"


def test_the_opened_page_marks_the_words(visit: Visit) -> None:
    visit.page.goto(visit.base + ZH)
    visit.type("allreduce")
    shown = visit.listed()
    visit.page.locator(".md-search-result__link").nth(shown.index(f"{ETHERNET}#拥塞控制")).click()
    visit.page.wait_for_selector("mark[data-md-highlight]")
    marks = visit.page.locator("mark[data-md-highlight]").all_text_contents()
    assert set(marks) == {"all-reduce"}


def test_enter_opens_the_first_result(visit: Visit) -> None:
    visit.page.goto(visit.base + ZH)
    visit.type("显存带宽")
    visit.listed()
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_url("**/memory.html?h=*")
    assert unquote(visit.page.url).endswith("?h=显存带宽#显存带宽")


def test_pages_load_their_languages_worker(small_site: Path) -> None:
    for address, language in (("index.html", "zh"), ("en/topic/ethernet.html", "en")):
        text = (small_site / address).read_text(encoding="utf-8")
        config = json.loads(
            text.split('<script id="__config" type="application/json">')[1].split("</script>")[0]
        )
        worker = (small_site / address).parent / config["search"]
        assert f'"language": "{language}"' in worker.read_text(encoding="utf-8")
