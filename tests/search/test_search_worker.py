"""The search worker, run in V8: what is found, in which order, and what a build may not miss."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import material
import pytest
from mkdocs.utils.yaml import yaml_load
from py_mini_racer import MiniRacer

from hooks.search_worker import (
    BUNDLE_PATCHES,
    CONFIG_BLOCK,
    MATERIAL_VERSION,
    PREFIXES,
    SEARCH_SETTINGS,
    SEPARATOR,
    WORKER_PATCHES,
    WORKERS_DIR,
    PatchError,
    Replacement,
    SearchIndexError,
    find_theme_dir,
    finish_index,
    install,
    language_worker,
    patch_bundle,
    patch_worker,
    separate_cells,
    worker_files,
)

ROOT = Path(__file__).resolve().parents[2]
THEME = Path(str(material.__file__)).parent / "templates"
STUB = (ROOT / "tests/js/worker_stub.js").read_text(encoding="utf-8")
STOCK = next((THEME / WORKERS_DIR).glob("search.*.min.js")).read_text(encoding="utf-8")
BUNDLE = next((THEME / "assets/javascripts").glob("bundle.*.min.js")).read_text(encoding="utf-8")

SECTIONS = [
    ("index.html", "首页", "<p>总览</p>"),
    ("mem.html", "存储层次", "<p>存储：带、宽、显、内。</p>"),
    (
        "mem.html#bw",
        "显存带宽",
        "<p>B200 的显存带宽是 1.8 TB/s，<code>cudaMemcpyAsync</code> 达不到。</p>",
    ),
    ("mem.html#sync", "显式同步", "<p>显式地存储，带着宽松的语义。</p>"),
    ("mem.html#kernel", "内核启动", "<p>内核的启动开销。存在于每次调用。</p>"),
    ("mem.html#um", "统一内存", "<p>前一段。</p><p>统一内存（unified memory）按页迁移。</p>"),
    ("net.html", "网络", ""),
    ("net.html#cc", "以太网的拥塞控制", "<p>DCQCN 与 all-reduce；<code>NCCL_IB_HCA</code>。</p>"),
    (
        "net.html#zc",
        "零拷贝",
        "<p>NVLink-C2C 带宽 900 GB/s，C++17，CPU+GPU，H100 SXM，400Gbps。</p>",
    ),
    ("net.html#lib", "分布式库", "<p>distributed library, <code>IB</code> verbs, H100SXM</p>"),
    ("zh-only.html", "只有中文：零拷贝", "<p>零拷贝减少内存复制。v1.2</p>"),
    ("en/mem.html", "Memory hierarchy", "<p>Levels.</p>"),
    ("en/mem.html#bw", "Memory bandwidth", "<p>1.8 TB/s, in Chinese 显存带宽.</p>"),
    ("en/mem.html#um", "Unified memory", "<p>Unified memory migrates pages. Oversubscription.</p>"),
    ("en/mem.html#no", "Memory of the host", "<p>Pinned; unified later.</p>"),
    ("en/net.html", "Networks", ""),
    ("en/net.html#cc", "Congestion control", "<p>DCQCN and AllReduce.</p>"),
    (
        "en/only.html",
        "English only: the tokenizer",
        "<p>λ; <code>ibv_post_send</code>, tokenizer</p>",
    ),
]
DOCS = [{"location": a, "title": b, "text": c} for a, b, c in SECTIONS]


class Worker:
    """A search worker and what it answers, without a browser."""

    def __init__(self, source: str, docs: list[dict[str, Any]] = DOCS) -> None:
        self._context = MiniRacer()
        self._context.eval(STUB)
        self._context.eval(source)
        fields = {"title": {"boost": 1e3}, "text": {"boost": 1.0}, "tags": {"boost": 1e6}}
        index = {
            "config": {**SEARCH_SETTINGS, "fields": fields},
            "docs": docs,
            "options": {"suggest": True},
        }
        self._send({"type": 0, "data": index})
        assert self._collect() == [{"type": 1}]

    def _send(self, *messages: dict[str, Any]) -> None:
        calls = (f"deliver({json.dumps(json.dumps(message))});" for message in messages)
        self._context.eval("".join(calls))

    def _collect(self) -> list[dict[str, Any]]:
        answers: list[dict[str, Any]] = json.loads(str(self._context.eval("collect()")))
        return answers

    def ask(self, *queries: str) -> list[list[list[dict[str, Any]]]]:
        """Send the queries at once; return the groups of items of each answer."""
        self._send(*({"type": 2, "data": query} for query in queries))
        return [answer["data"]["items"] for answer in self._collect()]

    def places(self, query: str) -> list[str]:
        """What the answer lists, without the articles that only head their sections."""
        (groups,) = self.ask(query)
        return [item["location"] for group in groups for item in group if item["score"] > 0]


@pytest.fixture(scope="module")
def workers() -> dict[str, Worker]:
    source = patch_worker(STOCK)
    return {language: Worker(language_worker(source, language)) for language in PREFIXES}


# ---- The separator ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("显存带宽", ["显", "存", "带", "宽"]),
        ("NVLink带宽，即", ["NVLink", "带", "宽", "即"]),
        ("ibv_post_send", ["ibv", "post", "send"]),
        ("NCCL_IB_HCA", ["NCCL", "IB", "HCA"]),
        ("cudaMemcpyAsync", ["cudaMemcpyAsync"]),
        ("all-reduce", ["all", "reduce"]),
        ("NVLink-C2C", ["NVLink", "C2C"]),
        ("1.8 TB/s.", ["1.8", "TB/s"]),
        ("900GB/s（双向）", ["900GB/s", "双", "向"]),
        ("v1.2, H100;", ["v1.2", "H100"]),
        ("I/O", ["I/O"]),
        ("CPU/GPU", ["CPU", "GPU"]),
        ("CPU+GPU", ["CPU", "GPU"]),
        ("C++17 C++", ["C++17", "C++"]),
        ("nccl.h", ["nccl", "h"]),
        ("std::vector&lt;int&gt;", ["std", "vector", "int"]),
        ("a → b × c ≤ d…“e”—f", ["a", "b", "c", "d", "e", "f"]),
        ("延迟 5 µs", ["延", "迟", "5", "µs"]),
    ],
)
def test_separator_tokens(text: str, tokens: list[str]) -> None:
    context = MiniRacer()
    context.eval(STUB)
    assert (
        json.loads(str(context.eval(f"tokens({json.dumps(SEPARATOR)}, {json.dumps(text)})")))
        == tokens
    )


def test_separator_has_no_capturing_group() -> None:
    context = MiniRacer()
    assert context.eval(f"new RegExp({json.dumps(SEPARATOR + '|')}).exec('').length") == 1


def test_mkdocs_yml_has_the_settings() -> None:
    with (ROOT / "mkdocs.yml").open(encoding="utf-8") as file:
        plugins = yaml_load(file)["plugins"]
    (search,) = (one["search"] for one in plugins if isinstance(one, dict) and "search" in one)
    assert {key: search.get(key) for key in SEARCH_SETTINGS} == dict(SEARCH_SETTINGS)


def test_template_loads_the_workers() -> None:
    assert CONFIG_BLOCK in (ROOT / "overrides/main.html").read_text(encoding="utf-8")


# ---- The patches -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "stock", "patched"),
    [("带宽", {"带"}, {"带", "宽"}), ("零拷贝", {"零", "拷"}, {"零", "拷", "贝"})],
)
def test_patch_worker_searches_the_last_character(
    query: str, stock: set[str], patched: set[str]
) -> None:
    for source, terms in ((STOCK, stock), (patch_worker(STOCK), patched)):
        (groups,) = Worker(source).ask(query)
        assert {term for group in groups for item in group for term in item["terms"]} == terms


@pytest.mark.parametrize("patch", WORKER_PATCHES, ids=lambda patch: patch.purpose)
@pytest.mark.parametrize("copies", [0, 2])
def test_patch_worker_refuses_another_worker(patch: Replacement, copies: int) -> None:
    with pytest.raises(PatchError, match=rf"occurs {copies} times.*{MATERIAL_VERSION}.*main\.html"):
        patch_worker(STOCK.replace(patch.old, patch.old * copies))


@pytest.mark.parametrize("patch", BUNDLE_PATCHES, ids=lambda patch: patch.purpose)
def test_patch_bundle_refuses_another_bundle(patch: Replacement) -> None:
    assert patch_bundle(BUNDLE) != BUNDLE
    with pytest.raises(PatchError, match=MATERIAL_VERSION):
        patch_bundle(BUNDLE.replace(patch.old, ""))


def test_language_worker_is_ascii_without_a_source_map() -> None:
    text = language_worker(patch_worker(STOCK), "en")
    assert text.isascii()  # the frame that runs it on file:// declares no encoding
    assert "sourceMappingURL" not in text


def test_language_worker_refuses_an_unknown_language() -> None:
    with pytest.raises(ValueError, match="no address prefix for language 'ja'"):
        language_worker(STOCK, "ja")


def test_language_worker_refuses_a_prelude_without_its_mark() -> None:
    with pytest.raises(PatchError, match="occurs 0 times"):
        language_worker(STOCK, "en", prelude="(function () {})();")


def test_worker_files_names(tmp_path: Path) -> None:
    assert find_theme_dir([tmp_path, THEME]) == THEME
    with pytest.raises(PatchError, match=r"search\.\*\.min\.js"):
        find_theme_dir([tmp_path])
    names = sorted(worker_files(THEME))
    assert names[1:] == [
        f"{WORKERS_DIR}/search.handbook.en.js",
        f"{WORKERS_DIR}/search.handbook.zh.js",
    ]
    # Under the name the pages load.
    assert (THEME / names[0]).is_file()


# ---- What is found ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "query", "places"),
    [
        # Words from the middle of titles, and no section that shares a character only.
        ("zh", "带宽", ["mem.html#bw", "net.html#zc"]),
        ("zh", "零拷贝", ["zh-only.html", "net.html#zc"]),
        ("zh", "拥塞控制", ["net.html#cc"]),
        ("zh", "显存", ["mem.html#bw"]),
        ("zh", "显式", ["mem.html#sync"]),
        ("zh", "内存", ["mem.html#um", "zh-only.html"]),
        ("zh", "内核", ["mem.html#kernel"]),
        ("zh", "显", ["mem.html#bw", "mem.html#sync", "mem.html"]),
        # A question: sections with the words in it.
        ("zh", "怎样提高显存的带宽", ["mem.html#bw", "net.html#zc"]),
        # The reader's language first; the other version of a listed page is left out.
        ("zh", "tokenizer", ["en/only.html"]),
        ("en", "tokenizer", ["en/only.html"]),
        ("en", "零拷贝", ["zh-only.html", "net.html#zc"]),
        ("zh", "unified memory", ["mem.html#um"]),
        (
            "en",
            "unified memory",
            ["en/mem.html#um", "en/mem.html#no", "en/mem.html", "en/mem.html#bw"],
        ),
        ("en", '"unified memory"', ["en/mem.html#um"]),
        ("zh", "显存带宽", ["mem.html#bw", "net.html#zc"]),
        ("en", "显存带宽", ["en/mem.html#bw", "net.html#zc"]),
        # The version in the reader's language does not hold the word.
        ("zh", "oversubscription", ["en/mem.html#um"]),
        # One name, however it is written; whole and in parts.
        *(
            (language, query, [place])
            for query in ("AllReduce", "all-reduce", "allreduce", "all_reduce")
            for language, place in (("zh", "net.html#cc"), ("en", "en/net.html#cc"))
        ),
        ("zh", "all reduce", ["net.html#cc"]),
        ("zh", "ibv_post_send", ["en/only.html"]),
        ("zh", "post_send", ["en/only.html"]),
        ("zh", "send", ["en/only.html"]),
        ("zh", "cudaMemcpyAsync", ["mem.html#bw"]),
        ("zh", "memcpyasync", ["mem.html#bw"]),
        ("zh", "memcpy", ["mem.html#bw"]),
        ("zh", "NCCL_IB_HCA", ["net.html#cc"]),
        ("zh", "hca", ["net.html#cc"]),
        ("zh", "IB", ["net.html#cc", "net.html#lib", "en/only.html"]),
        ("zh", "NVLink-C2C", ["net.html#zc"]),
        ("zh", "nvlinkc2c", ["net.html#zc"]),
        ("zh", "H100", ["net.html#zc", "net.html#lib"]),
        ("zh", "h100sxm", ["net.html#lib"]),
        ("zh", "sxm", ["net.html#zc", "net.html#lib"]),
        ("zh", "H100SXM", ["net.html#lib", "net.html#zc"]),
        ("zh", "GPU", ["net.html#zc"]),
        ("zh", "C++", ["net.html#zc"]),
        ("zh", "C++17", ["net.html#zc"]),
        ("zh", "v1.2", ["zh-only.html"]),
        ("zh", "1.8 TB/s", ["mem.html#bw"]),
        ("zh", "1.8TB/s", ["mem.html#bw"]),
        ("zh", "400Gbps", ["net.html#zc"]),
        ("zh", "400", ["net.html#zc"]),
        ("zh", "λ", ["en/only.html"]),
        # Two scripts in one query, with and without a space, full-width too.
        ("zh", "NVLink 带宽", ["net.html#zc", "mem.html#bw"]),
        ("zh", "NVLink带宽", ["net.html#zc", "mem.html#bw"]),
        ("zh", "ＮＶＬｉｎｋ　带宽", ["net.html#zc", "mem.html#bw"]),
        # Operators.
        ("zh", "内存 -unified", ["zh-only.html"]),
        ("zh", "零拷贝 -内存", ["net.html#zc"]),
        ("zh", "title:带宽", ["mem.html#bw"]),
        ("zh", "tokeniser~1", ["en/only.html"]),
        # Nothing rather than noise.
        ("zh", "宽带", []),
        ("zh", "量子", []),
        ("zh", "quantum", []),
        ("zh", "→", []),
        ("zh", "", []),
    ],
)
def test_places(workers: dict[str, Worker], language: str, query: str, places: list[str]) -> None:
    assert workers[language].places(query) == places


@pytest.mark.parametrize(
    ("query", "place", "terms"),
    [
        ("带宽", "mem.html#bw", {"带宽": True}),
        ("NVLink 带宽", "mem.html#bw", {"带宽": True, "NVLink": False}),
        ("AllReduce", "net.html#cc", {"all-reduce": True}),
        ("memcpy", "mem.html#bw", {"cudaMemcpy": True}),
        ("怎样提高显存的带宽", "mem.html#bw", {"显存": True, "带宽": True}),
        ("unified memory", "mem.html#um", {"unified": True, "memory": True}),
    ],
)
def test_terms_are_whole_words(
    workers: dict[str, Worker], query: str, place: str, terms: dict[str, bool]
) -> None:
    (groups,) = workers["zh"].ask(query)
    (item,) = (item for group in groups for item in group if item["location"] == place)
    assert item["terms"] == terms


@pytest.mark.parametrize(
    ("query", "place", "title", "text"),
    [
        (
            "显存",
            "mem.html#bw",
            "<mark>显存</mark>带宽",
            "<p>B200 的<mark>显存</mark>带宽是 1.8 TB/s，<code>cudaMemcpyAsync</code> 达不到。</p>",
        ),
        # The paragraph with the words, not the first one.
        (
            "unified",
            "mem.html#um",
            "统一内存",
            "<p>统一内存（<mark>unified</mark> memory）按页迁移。</p>",
        ),
        # Not inside a word, but where a part of a name begins.
        (
            "IB",
            "net.html#lib",
            "分布式库",
            "<p>distributed library, <code><mark>IB</mark></code> verbs, H100SXM</p>",
        ),
        (
            "sxm",
            "net.html#lib",
            "分布式库",
            "<p>distributed library, <code>IB</code> verbs, <mark>H100SXM</mark></p>",
        ),
        # Only in the title: the section's beginning.
        ("启动", "mem.html#kernel", "内核<mark>启动</mark>", None),
    ],
)
def test_marks(
    workers: dict[str, Worker], query: str, place: str, title: str, text: str | None
) -> None:
    (groups,) = workers["zh"].ask(query)
    (item,) = (item for group in groups for item in group if item["location"] == place)
    assert item["title"] == title
    if text is not None:
        assert item["text"] == text


def test_every_group_has_its_article_and_scores_fall(workers: dict[str, Worker]) -> None:
    for query in ("带宽", "memory", "内存 -统一内存", "DCQCN"):
        (groups,) = workers["zh"].ask(query)
        assert groups
        for group in groups:
            assert sum("#" not in item["location"] for item in group) == 1
            assert all(
                set(item) <= {"location", "title", "text", "tags", "score", "terms"}
                for item in group
            )
        best = [group[0]["score"] for group in groups]
        assert best == sorted(best, reverse=True)
        assert len(set(best)) == len(best)


def test_answers_belong_to_their_queries(workers: dict[str, Worker]) -> None:
    first, second = workers["zh"].ask("零拷贝", "内核")
    assert first[0][0]["terms"] == {"零拷贝": True}
    assert second[0][0]["terms"] == {"内核": True}


def test_the_language_decides_not_the_engine() -> None:
    source = patch_worker(STOCK)
    docs = [
        {"location": "a.html", "title": "其他", "text": "<p>文中提到 RDMA。</p>"},
        {"location": "en/b.html", "title": "RDMA", "text": "<p>RDMA RDMA</p>"},
    ]
    assert Worker(source, docs).places("RDMA") == ["en/b.html", "a.html"]
    assert Worker(language_worker(source, "zh"), docs).places("RDMA") == ["a.html", "en/b.html"]
    assert Worker(language_worker(source, "en"), docs).places("RDMA") == ["en/b.html", "a.html"]


def _docs(*rows: tuple[str, str, str]) -> list[dict[str, Any]]:
    return [{"location": place, "title": title, "text": text} for place, title, text in rows]


@pytest.mark.parametrize(
    ("docs", "query", "places"),
    [
        # A whole word before one that only begins so, even in a title.
        (
            _docs(("a.html", "IBM 主机", ""), ("b.html", "乙", "<p>IB 网卡</p>")),
            "IB",
            ["b.html", "a.html"],
        ),
        # The page's title counts for its sections.
        (
            _docs(
                ("a.html", "总线", ""),
                ("a.html#x", "带宽", "<p>带宽</p>"),
                ("b.html", "NVLink", ""),
                ("b.html#x", "代际", "<p>每代带宽翻倍</p>"),
            ),
            "NVLink 带宽",
            ["b.html#x", "a.html#x"],
        ),
        # The version in the other language answers better: its page comes first, in ours.
        (
            _docs(
                ("a.html", "parallel 的甲", ""),
                ("b.html", "乙", "<p>parallel</p>"),
                ("en/b.html", "Fully sharded data parallel", ""),
            ),
            "fully sharded data parallel",
            ["b.html", "a.html"],
        ),
    ],
)
def test_page_order(docs: list[dict[str, Any]], query: str, places: list[str]) -> None:
    (groups,) = Worker(language_worker(patch_worker(STOCK), "zh"), docs).ask(query)
    assert [group[0]["location"] for group in groups] == places


def test_tags_are_found_once_and_marked_whole() -> None:
    tags = {"tags": ["集合通信", "通道"]}
    docs = _docs(("a.html", "甲", "<p>甲</p>"), ("a.html#x", "乙", "<p>通道</p>"))
    worker = Worker(language_worker(patch_worker(STOCK), "zh"), [doc | tags for doc in docs])
    assert worker.places("集合通信") == ["a.html"]
    (((article,),),) = worker.ask("集合通信")
    assert article["tags"] == ["<mark>集合通信</mark>", "通道"]
    ((group,),) = worker.ask("通道")
    assert [item.get("tags") for item in group if "#" in item["location"]] == [None]


def test_bits_are_not_bytes() -> None:
    docs = _docs(("a.html", "甲", "<p>400 Gb/s</p>"), ("b.html", "乙", "<p>400 GB/s</p>"))
    worker = Worker(language_worker(patch_worker(STOCK), "zh"), docs)
    assert worker.places("400 GB/s")[0] == "b.html"
    assert worker.places("400Gb/s") == ["a.html"]
    assert worker.places("400gb/s") == ["a.html", "b.html"]


@pytest.mark.parametrize(
    ("html", "separated"),
    [
        ("<tr><th>18</th><td>1.8 TB/s</td></tr>", "<tr><th>18</th>\n<td>1.8 TB/s</td>\n</tr>"),
        ("<svg><text>a</text><text>b</text></svg>", "<svg><text>a</text>\n<text>b</text>\n</svg>"),
        ("a<br><b>b</b><br/>c", "a<br>\n<b>b</b><br/>c"),
        ("<td>a</td>\n<td>b</td>\n", "<td>a</td>\n<td>b</td>\n"),
        ("<p>a</p><p><em>b</em><em>c</em></p>", "<p>a</p><p><em>b</em><em>c</em></p>"),
    ],
)
def test_separate_cells(html: str, separated: str) -> None:
    assert separate_cells(html) == separated
    assert separate_cells(separated) == separated


# ---- The index -------------------------------------------------------------------------


def _index(*locations: str) -> str:
    docs = [{"location": one, "title": f"页 {one}\u2028", "text": ""} for one in locations]
    return json.dumps({"config": {}, "docs": docs})


def test_finish_index_keeps_each_section_once_in_order() -> None:
    text = finish_index(_index("a.html", "a.html#b", "en/a.html", "a.html", "a.html#b"))
    assert [doc["location"] for doc in json.loads(text)["docs"]] == [
        "a.html",
        "a.html#b",
        "en/a.html",
    ]
    assert "页 a.html" in text
    assert "\u2028" not in text
    assert finish_index(text) == text


@pytest.mark.parametrize(
    ("locations", "language"),
    [(["en/a.html"], "zh"), (["a.html", "energy.html"], "en"), ([], "zh")],
)
def test_finish_index_refuses_a_missing_language(locations: list[str], language: str) -> None:
    with pytest.raises(SearchIndexError, match=f"no page in '{language}'.*search, i18n, offline"):
        finish_index(_index(*locations))


def test_install_twice_is_install_once(tmp_path: Path) -> None:
    index = tmp_path / "search/search_index.json"
    index.parent.mkdir()
    index.write_text(_index("a.html", "a.html", "en/a.html"), encoding="utf-8")
    seen = []
    for _ in range(2):
        install(tmp_path, THEME)
        seen.append(
            {path: path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file()}
        )
    assert seen[0] == seen[1]
    script = (tmp_path / "search/search_index.js").read_text(encoding="utf-8")
    assert script == "var __index = " + index.read_text(encoding="utf-8")
