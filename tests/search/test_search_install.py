"""What a build writes for search: the worker in V8, the files, and what a build may not miss."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import material
import pytest
from py_mini_racer import MiniRacer

from hooks.data import Term, check_terms
from hooks.search import install
from hooks.search.engine import Engine
from hooks.search.index import Index, make_index
from hooks.search.install import (
    PATCHES,
    RELIED_ON,
    WORKERS_DIR,
    PatchError,
    SearchIndexError,
    facets,
    index_files,
    patch_bundle,
)
from hooks.search.sections import Page
from hooks.search.terminal import read_site
from hooks.site import publish
from tests import search_notes
from tests.conftest import ROOT

THEME = Path(str(material.__file__)).parent / "templates"
BUNDLE = next((THEME / "assets/javascripts").glob("bundle.*.min.js")).read_text(encoding="utf-8")
STUB = (ROOT / "tests/js/worker_stub.js").read_text(encoding="utf-8")
CONFIG: dict[str, Any] = {"config": {"separator": "s"}, "docs": []}
ADDRESS = "https://a.example/x/assets/javascripts/workers/search.handbook.zh.js"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Page]:
    return search_notes.pages(search_notes.write(tmp_path_factory.mktemp("docs")))


@pytest.fixture(scope="module")
def files(pages: list[Page], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    glossary, _ = check_terms({"terms.yml": search_notes.TERMS})
    return made(tmp_path_factory.mktemp("site"), pages, *glossary.terms.values())


def made(site: Path, pages: list[Page], *groups: Term) -> dict[str, str]:
    """Return what a site gets in which Material's plugin has just written its index."""
    docs = [{"location": "a.html", "title": "", "text": "x" * 500}]
    (site / "search").mkdir()
    (site / install.STOCK).write_text(json.dumps(CONFIG | {"docs": docs}), encoding="utf-8")
    return dict(install.files(site, [THEME], pages, groups))


class Worker:
    """The worker of one language and what it answers, without a browser."""

    def __init__(self, files: dict[str, str], language: str = "zh") -> None:
        worker = files[f"{WORKERS_DIR}/search.handbook.{language}.js"]
        assert worker.isascii()  # on file:// nothing tells a browser the encoding
        self._context = MiniRacer()
        self._context.eval(STUB)
        self._context.eval(f"self.location = {json.dumps(ADDRESS)};")
        self._context.eval(f"var files = {json.dumps(files)}, base = 'https://a.example/x/';")
        self._context.eval(worker)
        self.send(0, {"config": {}, "docs": [], "options": {"suggest": True}})

    def send(self, kind: int, data: object) -> None:
        message = json.dumps({"type": kind, "data": data})
        self._context.eval(f"deliver({json.dumps(message)});0")

    def collect(self) -> list[dict[str, Any]]:
        self._context.eval("runTimers();0")
        answers: list[dict[str, Any]] = json.loads(str(self._context.eval("collect()")))
        return answers

    def loaded(self) -> list[str]:
        found: list[str] = json.loads(str(self._context.eval("JSON.stringify(loaded)")))
        return found

    def ask(self, query: str) -> list[list[dict[str, Any]]]:
        self.send(2, query)
        groups: list[list[dict[str, Any]]] = self.collect()[-1]["data"]["items"]
        return groups


def test_nothing_is_loaded_before_the_first_query(files: dict[str, str]) -> None:
    worker = Worker(files)
    assert worker.collect() == [{"type": 1}]
    worker.send(2, "")
    assert worker.collect() == [{"type": 3, "data": {"items": [], "suggest": []}}]
    assert worker.loaded() == []
    worker.send(2, "带宽")
    worker.collect()
    assert worker.loaded() == [
        "search/engine.js",
        "search/handbook.zh.titles.js",
        "search/handbook.tables.js",
        "search/handbook.zh.0.js",
        "search/handbook.en.titles.js",
        "search/handbook.en.0.js",
    ]
    assert worker.ask("内存")
    assert worker.ask("") == []
    assert len(worker.loaded()) == 6


def test_only_the_latest_of_waiting_queries_is_answered(files: dict[str, str]) -> None:
    worker = Worker(files)
    worker.collect()
    for query in ("带", "带宽", "内核"):
        worker.send(2, query)
    # From the titles, then from the texts; never to a query that another one replaced.
    first = [answer["data"]["items"][0][0]["location"] for answer in worker.collect()]
    assert set(first) == {"chip/memory.html#kernel"}


def test_a_term_of_the_other_language_is_found_at_the_first_query(files: dict[str, str]) -> None:
    worker = Worker(files)
    worker.send(2, "oversubscription")
    answers = [one["data"]["items"] for one in worker.collect() if one["type"] == 3]
    # Nothing is said of the first language, which lacks it.
    (found,) = answers
    assert found[0][0]["location"] == "chip/memory.html#kernel"


def test_every_group_has_its_page_and_scores_fall(files: dict[str, str]) -> None:
    worker, known = Worker(files), {"location", "title", "text", "tags", "score", "terms"}
    for query in ("带宽", "NVLink", "内存 显存", "ibv_post_send"):
        groups = worker.ask(query)
        assert groups
        for group in groups:
            places = [item["location"] for item in group]
            assert sum("#" not in place for place in places) == 1
            assert len(set(places)) == len(places)
            assert all(set(item) <= known for item in group)
        best = [group[0]["score"] for group in groups]
        assert best == sorted(set(best), reverse=True)


def test_results_say_where_they_stand_and_what_was_repaired(files: dict[str, str]) -> None:
    worker = Worker(files)
    ((section, page),) = worker.ask("ibv_post_send")
    assert section["terms"] == {"ibv_post_send": True}
    assert '<p class="search-crumbs">发送的零拷贝</p>' in section["text"]
    assert page["title"].startswith("以太网")
    assert page["tags"] == ["RDMA", "NVLink"]
    section = worker.ask("ibv_psot_send")[0][0]
    assert '<p class="search-weak">≈ ibv_post_send</p>' in section["text"]
    section = worker.ask("零拷贝 网卡 zebra")[0][0]
    assert section["terms"]["zebra"] is False


def test_several_sections_of_a_page_are_shown(tmp_path: Path) -> None:
    text = "# 甲\n\n" + "".join(f"## 节{n}\n\n这一节讲拥塞窗口。\n\n" for n in range(9))
    pages = [search_notes.page("a.md", text), search_notes.page("a.en.md", "# A\n")]
    (group,) = Worker(made(tmp_path, pages)).ask("拥塞窗口")
    best = max(item["score"] for item in group)
    shown = [item for item in group if "#" in item["location"] and item["score"] == best]
    assert 3 <= len(shown) <= 6
    assert len([item for item in group if "#" in item["location"]]) == 9


def test_the_word_being_typed_is_completed(files: dict[str, str]) -> None:
    worker = Worker(files)
    worker.ask("x")
    worker.send(2, "the DCQ")
    assert worker.collect()[-1]["data"]["suggest"] == ["DCQcn"]


@pytest.mark.parametrize("query", ["<img src=x onerror=alert(1)>", "\ud800", "(" * 300, "a" * 9999])
def test_bad_input_is_answered_without_markup(files: dict[str, str], query: str) -> None:
    worker = Worker(files)
    for group in worker.ask(query):
        for item in group:
            text = re.sub(r"</?(?:mark|code|p|small)(?: class=\"[\w-]+\")?>", "", item["title"])
            assert "<" not in text


def test_a_larger_handbook_comes_in_parts_with_the_same_answers(pages: list[Page]) -> None:
    whole, parts = make_index(pages), make_index(pages, part_bytes=200)
    assert len(parts.parts["zh"]) > 2
    with Engine(whole) as one, Engine(parts) as other:
        for query in ("显存带宽", "DCQCN", "memcpy", "内存"):
            assert one.search(query) == other.search(query)
    assert "search/handbook.zh.2.js" in dict(index_files(parts))


def test_the_index_is_at_most_half_of_the_markdown_compressed(notes_index: Index) -> None:
    docs = ROOT / "docs"
    size = sum(
        len(gzip.compress(text.encode("utf-8"), 9, mtime=0))
        for name, text in index_files(notes_index)
        if name.startswith("search/handbook.")
    )
    assert size <= sum(path.stat().st_size for path in docs.rglob("*.md")) / 2


def test_facets_count_kinds_and_tags(pages: list[Page]) -> None:
    found = facets(pages, "zh")
    assert {"name": "paper", "count": 1} in found["kinds"]
    assert {"name": "NVLink", "count": 1} in found["tags"]


_HELD = [*RELIED_ON, *((purpose, old) for purpose, old, _ in PATCHES)]


@pytest.mark.parametrize(("purpose", "text"), _HELD, ids=[text for _, text in _HELD])
def test_another_page_script_is_refused(purpose: str, text: str) -> None:
    assert patch_bundle(BUNDLE) != BUNDLE
    with pytest.raises(PatchError, match="install that version") as error:
        patch_bundle(BUNDLE.replace(text, ""))
    assert purpose in str(error.value)


def test_a_missing_language_is_refused(tmp_path: Path, pages: list[Page]) -> None:
    with pytest.raises(SearchIndexError, match=r"no page in 'en'.*search, i18n, offline"):
        made(tmp_path, [page for page in pages if page.language == "zh"])


def test_the_stock_index_keeps_its_settings_and_nothing_changes_twice(
    tmp_path: Path, pages: list[Page]
) -> None:
    files = made(tmp_path, pages)
    tiny = json.dumps(CONFIG, separators=(",", ":"))
    assert files["search/search_index.json"] == tiny
    assert files["search/search_index.js"] == f"var __index = {tiny}"
    publish.add_files(tmp_path, files)
    assert dict(install.files(tmp_path, [THEME], pages)) == files
    index = read_site(tmp_path)
    assert index is not None
    with Engine(index) as one, Engine(make_index(pages)) as other:
        assert one.search("显存带宽") == other.search("显存带宽")
