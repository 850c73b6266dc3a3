"""The handbook in Firefox and in WebKit: searched, calculated, translated, and with no server."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from hooks.site import offline
from tests.conftest import Project, serve
from tests.engines import Engine, started
from tests.samples import note
from tools import browser as browser_tool

pytestmark = [pytest.mark.browser, pytest.mark.engines]

BOX = "document.querySelector('[data-md-component=search-query]')"
LINK = "document.querySelector('.md-search-result__link')"
WATCH = """<script>
  window.complaints = [];
  addEventListener("error", function (event) {
    complaints.push(event.message || "not loaded: " + (event.target.src || event.target.href));
  }, true);
  addEventListener("unhandledrejection", function (event) {
    complaints.push(String(event.reason));
  });
  addEventListener("securitypolicyviolation", function (event) {
    complaints.push("refused: " + event.blockedURI);
  });
</script>"""
TABS = '=== "CUDA"\n\n    显卡甲\n\n=== "HIP"\n\n    显卡乙\n'
ENTER = "\ue007"
OPENED = "/one\\.html\\?h=/.test(location.href) && document.readyState === 'complete'"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small handbook with a calculator and tabs, whose pages keep what goes wrong in them."""
    project = Project(tmp_path_factory.mktemp("engines"))
    project.lend_data()
    body = "## 显存带宽\n\n零拷贝\n\n## 计算\n\n```calc\nunits\n```\n\n"
    project.write("docs/topic/one.md", note(body + TABS, "第一篇"))
    english = body.replace("显存带宽", "Memory bandwidth").replace("计算", "Compute")
    project.write("docs/topic/one.en.md", note(english + TABS, "Note one"))
    run = project.build()
    assert run.returncode == 0, run.stdout + run.stderr
    for page in project.site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace("<head>", "<head>" + WATCH, 1), encoding="utf-8")
    offline.install(project.site)
    return project.site


@pytest.fixture(scope="module", params=["firefox", "webkit"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    name = request.param
    with started(name) as engine:
        if engine is None:
            if browser_tool.is_expected(name):
                pytest.fail(f"{name} is missing; python tools/browser.py installs it")
            pytest.skip(f"{name} can not be installed here")
        yield engine


@pytest.fixture(scope="module", params=["http", "file"])
def base(request: pytest.FixtureRequest, built: Path) -> Iterator[str]:
    with contextlib.ExitStack() as stack:
        is_file = request.param == "file"
        yield built.as_uri() + "/" if is_file else stack.enter_context(serve(built))


def check(engine: Engine, base: str) -> None:
    """Nothing has failed on the page, and nobody else was asked."""
    assert engine.value("window.complaints") == []
    asked = engine.value("performance.getEntriesByType('resource').map(one => one.name)")
    assert [url for url in asked if not url.startswith((base, "data:", "blob:", "about:"))] == []


def search(engine: Engine, words: str) -> None:
    """Open the search, type, and wait for the full answer."""
    engine.type("/")
    engine.until(f"document.activeElement === {BOX}")
    engine.type(words)
    engine.until(f"!!{LINK} && !document.querySelector('.search-early')")


@pytest.mark.parametrize(
    ("start", "words", "opened", "mark"),
    [
        ("index.html", "零拷贝", "第一篇", "零拷贝"),
        ("en/index.html", "memory bandwidth", "Note one", "Memory bandwidth"),
    ],
    ids=["zh", "en"],
)
def test_search(engine: Engine, base: str, start: str, words: str, opened: str, mark: str) -> None:
    engine.open(base + start)
    search(engine, words)
    said = "document.querySelector('.hb-search__live').textContent"
    assert engine.until(said) in ("1 个页面有结果", "Results on 1 page")
    check(engine, base)
    engine.type(ENTER)
    engine.until(OPENED)
    assert opened in engine.value("document.querySelector('h1').textContent")
    marks = "[...document.querySelectorAll('mark[data-md-highlight]')].map(one => one.textContent)"
    engine.until(marks + ".length > 0")
    assert mark in engine.value(marks)
    check(engine, base)


def test_calculator(engine: Engine, base: str) -> None:
    engine.open(base + "topic/one.html")
    shown = "(document.querySelector('.calc__output--first') || {}).textContent"
    before = engine.until(shown)
    engine.run("document.querySelector('[data-calc] input').focus()")
    engine.run("document.querySelector('[data-calc] input').select()")
    engine.type("7")
    engine.until(f"{shown} !== arguments[0]", before)
    check(engine, base)


def test_language_and_tabs(engine: Engine, base: str) -> None:
    engine.open(base + "topic/one.html")
    shown = "[...document.querySelectorAll('.tabbed-block')].map(one => one.offsetHeight > 0)"
    assert engine.value(shown) == [True, False]
    engine.run("document.querySelectorAll('.tabbed-labels label')[1].click()")
    assert engine.until(f"{shown}[1] && {shown}") == [False, True]
    check(engine, base)
    engine.run("document.querySelector('a[hreflang=en]').click()")
    engine.until("document.documentElement.lang === 'en' && document.readyState === 'complete'")
    assert engine.value("location.pathname").endswith("/en/topic/one.html")
    check(engine, base)


def test_without_a_server(engine: Engine, built: Path, tmp_path: Path) -> None:
    """Once it has been visited, the hosted handbook opens and is searched with the server gone."""
    folder = tmp_path / "handbook"
    shutil.copytree(built, folder)
    with serve(tmp_path) as root:
        base = f"{root}handbook/"
        engine.open(base + "index.html")
        engine.until(
            "/可离线使用/.test((document.querySelector('.hb-offline__state') || {}).textContent)"
        )
        engine.open(base + "topic/one.html")
        engine.until("!!navigator.serviceWorker.controller")
    shutil.rmtree(folder)
    engine.open(base + "index.html")
    search(engine, "显存")
    engine.type(ENTER)
    engine.until(OPENED)
    assert "零拷贝" in engine.value("document.querySelector('article').textContent")
