"""Search as a reader meets it: typed, listed, opened and marked, over http and on file://."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import yaml
from mkdocs.utils.yaml import yaml_load
from playwright.sync_api import Browser, Page

from hooks.search_worker import CONFIG_BLOCK, SEARCH_SETTINGS
from tests.conftest import ROOT, run_mkdocs, serve

pytestmark = pytest.mark.browser

INPUT_SCRIPT = "assets/javascripts/search-input.js"
SHIM = "assets/vendor/iframe-worker/iframe-worker.min.js"

ADAPTER = f"""\
import sys
from pathlib import Path
from mkdocs.plugins import event_priority
sys.path.insert(0, {str(ROOT)!r})
from hooks import search_worker

@event_priority(-200)
def on_post_build(config):
    if not config.plugins["i18n"].building:
        theme = search_worker.find_theme_dir(config.theme.dirs)
        search_worker.install(Path(config.site_dir), theme)
"""

NOTES = {
    "index.md": "# 手册\n\n总览。\n",
    "index.en.md": "# Handbook\n\nOverview.\n",
    "chip/memory.md": (
        "# 存储层次\n\n存储：带、宽、显、内。\n\n"
        '<a id="bw"></a>\n## 显存带宽 { #bw }\n\nB200 的显存带宽是 1.8 TB/s。带，宽。\n\n'
        "## 显式同步 { #sync }\n\n显式地存储，带着宽松的语义。\n\n"
        "## 内核启动 { #kernel }\n\n内核的启动开销，存在于每次调用。\n\n"
        "## 统一内存 { #um }\n\n统一内存（unified memory）按页迁移。\n"
    ),
    "chip/memory.en.md": (
        "# Memory hierarchy\n\nLevels.\n\n"
        "## Memory bandwidth { #bw }\n\n1.8 TB/s; in Chinese 显存带宽.\n\n"
        "## Explicit sync { #sync }\n\nA barrier.\n\n"
        "## Kernel launch { #kernel }\n\nCosts 5 µs.\n\n"
        "## Unified memory { #um }\n\nUnified memory migrates pages.\n"
    ),
    "link/ethernet.md": (
        "# 以太网\n\n网络。\n\n"
        "## 网络的拥塞控制 { #cc }\n\nDCQCN 与 all-reduce，small parallel distributed。\n"
        "`NCCL_IB_HCA` 选择 IB 网卡。\n\n"
        "## 发送的零拷贝 { #zc }\n\n零拷贝；NVLink 带宽 900 GB/s。\n"
    ),
    "link/ethernet.en.md": (
        "# Ethernet\n\nNetworks.\n\n"
        "## Congestion control { #cc }\n\nDCQCN and AllReduce, small parallel.\n\n"
        "## Zero copy { #zc }\n\nNVLink bandwidth 900 GB/s.\n"
    ),
    "infer/tokenizer.en.md": "# The tokenizer\n\nThe tokenizer splits text; `ibv_post_send`.\n",
    "ccl/ring.md": "# 环算法\n\n只有中文的一页：环形归约。\n",
}


def _build(root: Path) -> Path:
    """Build a small site with the settings of the handbook's mkdocs.yml."""
    with (ROOT / "mkdocs.yml").open(encoding="utf-8") as file:
        real = yaml_load(file)
    plugins = {
        name: options
        for one in real["plugins"]
        if isinstance(one, dict)
        for name, options in one.items()
    }
    theme = {key: real["theme"][key] for key in ("name", "language", "font", "features", "palette")}
    config: dict[str, Any] = {
        "site_name": "small",
        "use_directory_urls": real["use_directory_urls"],
        "theme": theme | {"custom_dir": "overrides"},
        "hooks": ["adapter.py"],
        "plugins": [
            {"search": plugins["search"] | dict(SEARCH_SETTINGS)},
            {"i18n": plugins["i18n"]},
            "offline",
        ],
        "markdown_extensions": ["attr_list"],
        "extra": {"generator": False, "polyfills": [SHIM]},
        "extra_javascript": [INPUT_SCRIPT],
    }
    files = {f"docs/{name}": text for name, text in NOTES.items()}
    files["adapter.py"] = ADAPTER
    files["overrides/main.html"] = '{% extends "base.html" %}\n' + CONFIG_BLOCK
    files["mkdocs.yml"] = yaml.safe_dump(config, allow_unicode=True)
    for name in (INPUT_SCRIPT, SHIM):
        files[f"docs/{name}"] = (ROOT / "docs" / name).read_text(encoding="utf-8")
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    # Folder names that readers have: not ASCII, and one that Material's file:// code mistakes
    # for its own when it looks for language files.
    site = root / "下载 1/worker/site"
    run = run_mkdocs(["build", "--strict", "--site-dir", str(site)], cwd=root)
    assert run.returncode == 0, run.stdout + run.stderr
    return site


@pytest.fixture(scope="module")
def small_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _build(tmp_path_factory.mktemp("search"))


@pytest.fixture(scope="module", params=["http", "file"])
def base(request: pytest.FixtureRequest, small_site: Path) -> Iterator[str]:
    """The address of the site, with a trailing slash."""
    if request.param == "file":
        yield small_site.as_uri() + "/"
        return
    with serve(small_site) as address:
        yield address


@pytest.fixture
def page(browser: Browser, base: str) -> Iterator[Page]:
    """A page that may ask nobody but the site, and may not fail."""
    context = browser.new_context(service_workers="block")
    asked: list[str] = []
    failures: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    page = context.new_page()
    page.on("pageerror", lambda error: failures.append(str(error)))
    yield page
    context.close()
    assert asked
    assert [url for url in asked if not url.startswith((base, "about:", "data:"))] == []
    assert failures == []


def _type(page: Page, text: str, *, key: bool = True) -> None:
    """Enter text in the search field; `key` ends it with a key, as typing does."""
    page.locator("[data-md-component=search-query]").focus()
    page.keyboard.insert_text(text)
    if key:
        page.keyboard.press("Shift")


def _listed(page: Page, base: str) -> list[str]:
    """Wait for the answer and return its addresses, without ?h=, in the order shown."""
    page.wait_for_function(
        """() => {
          var meta = document.querySelector(".md-search-result__meta");
          var isWhole = !document.querySelector(".search-early");
          return (isWhole && document.querySelector(".md-search-result__item")) ||
            /没有找到|No matching/.test(meta.textContent);
        }"""
    )
    links = page.locator(".md-search-result__link").evaluate_all(
        "links => links.map(link => link.href)"
    )
    found = []
    for link in links:
        address, _, fragment = link.removeprefix(base).partition("#")
        found.append(address.partition("?")[0] + (f"#{fragment}" if fragment else ""))
    return found


ZH, EN = "index.html", "en/index.html"
MEMORY, ETHERNET = "chip/memory.html", "link/ethernet.html"
EN_MEMORY, EN_ETHERNET = f"en/{MEMORY}", f"en/{ETHERNET}"


@pytest.mark.parametrize(
    ("start", "query", "listed"),
    [
        (ZH, "带宽", [MEMORY, f"{MEMORY}#bw", ETHERNET, f"{ETHERNET}#zc"]),
        (ZH, "零拷贝", [ETHERNET, f"{ETHERNET}#zc"]),
        (ZH, "拥塞控制", [ETHERNET, f"{ETHERNET}#cc"]),
        (ZH, "显存", [MEMORY, f"{MEMORY}#bw"]),
        (ZH, "内存", [MEMORY, f"{MEMORY}#um"]),
        (ZH, "内核", [MEMORY, f"{MEMORY}#kernel"]),
        (ZH, "tokenizer", ["en/infer/tokenizer.html"]),
        (EN, "tokenizer", ["en/infer/tokenizer.html"]),
        (ZH, "unified memory", [MEMORY, f"{MEMORY}#um"]),
        (EN, "unified memory", [EN_MEMORY, f"{EN_MEMORY}#um", f"{EN_MEMORY}#bw"]),
        (EN, "显存", [EN_MEMORY, f"{EN_MEMORY}#bw"]),
        (ZH, "AllReduce", [ETHERNET, f"{ETHERNET}#cc"]),
        (EN, "all-reduce", [EN_ETHERNET, f"{EN_ETHERNET}#cc"]),
        (ZH, "NVLink 带宽", [ETHERNET, f"{ETHERNET}#zc", MEMORY, f"{MEMORY}#bw"]),
        (EN, "环形归约", ["en/ccl/ring.html"]),
        (ZH, "环形归约", ["ccl/ring.html"]),
        (ZH, "量子", []),
    ],
)
def test_typed_words(page: Page, base: str, start: str, query: str, listed: list[str]) -> None:
    page.goto(base + start)
    _type(page, query)
    assert _listed(page, base) == listed


def test_text_without_a_key_press_is_searched(page: Page, base: str) -> None:
    page.goto(base + ZH)
    _type(page, "零拷贝", key=False)
    assert "link/ethernet.html#zc" in _listed(page, base)


def test_half_typed_pinyin_starts_no_search(page: Page, base: str) -> None:
    page.goto(base + ZH)
    count = page.evaluate(
        """() => {
          var field = document.querySelector("[data-md-component=search-query]"), count = 0;
          field.addEventListener("keyup", function () { count += 1; });
          field.dispatchEvent(new InputEvent("input", { bubbles: true, isComposing: true }));
          var before = count;
          field.dispatchEvent(new CompositionEvent("compositionend", { bubbles: true }));
          return [before, count];
        }"""
    )
    assert count == [0, 1]


@pytest.mark.parametrize(
    ("start", "query", "place", "marks"),
    [
        (ZH, "带宽", "chip/memory.html#bw", {"带宽"}),
        (ZH, "显存", "chip/memory.html#bw", {"显存"}),
        (ZH, "allreduce", "link/ethernet.html#cc", {"all-reduce"}),
        # Not in "distributed".
        (ZH, "IB", "link/ethernet.html#cc", {"IB"}),
        (ZH, "ib_hca", "link/ethernet.html#cc", {"IB_HCA"}),
        (EN, "unified memory", "en/chip/memory.html#um", {"Unified memory", "Memory"}),
        (ZH, "NVLink 带宽", "link/ethernet.html#zc", {"NVLink 带宽"}),
    ],
)
def test_the_opened_page_marks_whole_words(
    page: Page, base: str, start: str, query: str, place: str, marks: set[str]
) -> None:
    page.goto(base + start)
    _type(page, query)
    shown = _listed(page, base)
    page.locator(".md-search-result__link").nth(shown.index(place)).click()
    page.wait_for_selector("mark[data-md-highlight]")
    assert set(page.locator("mark[data-md-highlight]").all_text_contents()) == marks


def test_enter_opens_the_first_result(page: Page, base: str) -> None:
    page.goto(base + ZH)
    _type(page, "NVLink 带宽")
    _listed(page, base)
    page.keyboard.press("Enter")
    page.wait_for_url("**/ethernet.html?h=*#zc")
    assert unquote(page.url).endswith("?h=NVLink+带宽#zc")


def test_each_language_has_its_worker(small_site: Path) -> None:
    for address, language in (("index.html", "zh"), ("en/link/ethernet.html", "en")):
        text = (small_site / address).read_text(encoding="utf-8")
        config = json.loads(
            text.split('<script id="__config" type="application/json">')[1].split("</script>")[0]
        )
        assert config["search"].endswith(
            f"assets/javascripts/workers/search.handbook.{language}.js"
        )
        assert (small_site / address).parent.joinpath(config["search"]).is_file()


def test_index_has_both_languages_once(small_site: Path) -> None:
    text = (small_site / "search/search_index.json").read_text(encoding="utf-8")
    script = (small_site / "search/search_index.js").read_text(encoding="utf-8")
    assert script == f"var __index = {text}"
    places = [doc["location"] for doc in json.loads(text)["docs"]]
    assert len(places) == len(set(places))
    assert {"chip/memory.html#bw", "en/chip/memory.html#bw"} <= set(places)
