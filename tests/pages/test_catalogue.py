"""One list of every kind: what is in it, ids in the text, links to them, search, counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from hooks.calc import engine as calc_engine
from hooks.data import FactBase, Library, Resource, check_terms
from hooks.notes.note import Catalogue
from hooks.pages import DataFences, Item, answers, blocks, catalogue
from hooks.pages.view import View
from hooks.search.engine import Engine
from hooks.search.entries import add_entries
from hooks.search.index import make_index
from tests import ours, search_notes
from tests.samples import found_in, note, said, tree

TERMS = """\
title: {zh: 词, en: Words}
terms:
  - {id: mfu, zh: [算力利用率], en: [model FLOPs utilization], abbr: [MFU], defined: train/mfu,
     says: {zh: 用上的份额。, en: The share used.}}
"""
PAPER = Resource.model_validate(
    {
        "title": "Paged attention",
        "url": "https://a.example/p",
        "kind": "tool",
        "level": "intro",
        "topics": ("train",),
        "gives": {"zh": "怎样分页", "en": "how to page"},
    }
)
TABLE = (
    "## 看到什么，做什么\n\n| 看到 | 做 |\n| --- | --- |\n| 卡死 | 取 `trace` |\n| 卡死 | 等 |\n"
)
FILES: dict[str, str | bytes] = {
    "glossary/index.md": note("<!-- glossary -->\n"),
    "resources/index.md": note("<!-- resources -->\n"),
    "train/mfu.md": note(f"```calc\nkv-cache\n```\n\n图 2：一张图。\n\n{TABLE}", "算力"),
    "train/mfu.en.md": note(
        f"{TABLE}".replace("看到什么，做什么", "If you see … do …").replace("卡死", "stuck"), "MFU"
    ),
}


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    return tree(tmp_path_factory.mktemp("notes"), FILES)[0]


@pytest.fixture(scope="module")
def items(notes: Catalogue) -> tuple[Item, ...]:
    glossary, _ = check_terms({"docs/data/terms/01-w.yml": TERMS})
    library: Library = {"paged": PAPER}
    fences = DataFences(FactBase(), Path("docs"), Path(), notes)
    return catalogue.gather(notes, glossary, library, fences, calc_engine.default(ours.facts()))


def test_every_kind_is_in_the_list(items: tuple[Item, ...]) -> None:
    found = {(one.kind, one.note, one.said["zh"].anchor) for one in items if one.kind != "note"}
    assert found == {
        ("term", "glossary/index", "term-mfu"),
        ("resource", "resources/index", "paged"),
        ("calculator", "train/mfu", "calc-kv-cache"),
        ("figure", "train/mfu", "fig-2"),
        ("symptom", "train/mfu", "see-卡死"),
        ("symptom", "train/mfu", "see-卡死-2"),
    }
    (row, _) = [one for one in items if one.kind == "symptom"]
    assert (row.said["en"].anchor, row.said["zh"].summary) == ("see-stuck", "取 trace")


def test_pages_have_the_ids_of_the_list(notes: Catalogue, items: tuple[Item, ...]) -> None:
    one = notes.notes["train/mfu.md"]
    html = (
        blocks.with_id('<div class="calc">', blocks.anchors(one)["calc", "kv-cache"])
        + '<p>图 2：一张图。</p><h2 id="看到什么做什么">x</h2><table><thead><tr><th>看到</th></tr>'
        "</thead><tbody><tr><td>卡死</td></tr><tr><td>卡死</td></tr></tbody></table>"
    )
    html = answers.put_ids(blocks.number_figures(html), one, notes)
    for _, words in catalogue.by_page(items)["train/mfu", "zh"]:
        assert html.count(f'id="{words.anchor}"') == 1


@pytest.mark.parametrize(
    ("link", "findings"),
    [
        ("../glossary/index.md#term-mfu", []),
        ("../resources/index.md#paged", []),
        ("mfu.md#calc-kv-cache", []),
        ("mfu.md#see-卡死", []),
        ("../resources/index.md#pagd", [("dead-anchor", "../resources/index.md#paged")]),
        ("../glossary/index.md#term-mfv", [("dead-anchor", "../glossary/index.md#term-mfu")]),
        ("mfu.md#calc-kv-cash", [("dead-anchor", "mfu.md#calc-kv-cache")]),
    ],
)
def test_links_to_generated_ids(
    tmp_path: Path, items: tuple[Item, ...], link: str, findings: list[tuple[str, str]]
) -> None:
    notes, _ = tree(tmp_path, FILES | {"train/x.md": note(f"[x]({link})\n")})
    those = catalogue.by_page(items)
    found = found_in(notes, generated=lambda one: catalogue.ids(those, one))
    found = [one for one in found if one.file == "docs/train/x.md"]
    assert [(rule, better) for rule, _, _, better in said(found)] == findings


@pytest.mark.parametrize(
    ("query", "location", "mark"),
    [
        ("MFU", "glossary/index.html#term-mfu", "术语"),
        ("paged attention", "resources/index.html#paged", "资源"),
        ("kv-cache 计算器", "train/mfu.html#calc-kv-cache", "计算器"),
        ("卡死", "train/mfu.html#see-卡死", "症状"),
        ("一张图", "train/mfu.html#fig-2", "图表"),
    ],
)
def test_search_finds_every_kind(
    items: tuple[Item, ...], query: str, location: str, mark: str
) -> None:
    pages = [search_notes.page(path, str(text)) for path, text in FILES.items()]
    add_entries(pages, catalogue.by_page(items))
    with Engine(make_index(pages)) as engine:
        hits = engine.search(query, "zh", 5)
    assert (location, mark) in [(hit.location, hit.mark) for hit in hits[:3]]


def test_counts_name_the_kinds(notes: Catalogue, items: tuple[Item, ...]) -> None:
    assert catalogue.counts(View(notes, "en", ".."), items) == (
        "1 note · [1 term](../glossary/index.en.md) · [1 resource](../resources/index.en.md)"
        " · 1 calculator · 1 figure or chart"
    )


@pytest.mark.parametrize(
    ("html", "numbered"),
    [
        (
            '<figure class="figure a"><svg/><figcaption>图 1：x</figcaption></figure>',
            '<figure class="figure a" id="fig-1"><svg/><figcaption>图 1：x</figcaption></figure>',
        ),
        (
            '<figure class="figure"><p>b</p></figure><figure class="figure"><figcaption>Figure 2: x'
            "</figcaption></figure>",
            '<figure class="figure"><p>b</p></figure><figure class="figure" id="fig-2"><figcaption>'
            "Figure 2: x</figcaption></figure>",
        ),
        ("<p>图 3: x</p><p>图 3: y</p>", '<p id="fig-3">图 3: x</p><p>图 3: y</p>'),
        ('<figure class="figure"></figure><figcaption>图 4：x</figcaption>', ""),
        ("<figure><figcaption>图 5：x</figcaption></figure><p>如图 6：y</p>", ""),
    ],
)
def test_figures_are_numbered_where_their_captions_say_so(html: str, numbered: str) -> None:
    assert blocks.number_figures(html) == (numbered or html)
