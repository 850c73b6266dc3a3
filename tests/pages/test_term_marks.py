"""Marks at terms: which words of a page get one, and what stays as it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from hooks.data import Glossary, check_terms
from hooks.pages import glossary as entries
from hooks.pages import term_marks
from hooks.pages.view import View
from hooks.search.from_html import read_html
from hooks.search.sections import Page
from tests.pages import cases
from tests.samples import HEAD, note, tree

CASES = cases("terms")
TERMS = yaml.safe_dump(CASES["terms"], allow_unicode=True)
MARK = re.compile(
    r'<a class="term" href="[^"]*#term-([a-z0-9-]+)" aria-describedby="says-\1">(.*?)</a>'
)


@pytest.fixture(scope="module")
def glossary() -> Glossary:
    found, findings = check_terms({"docs/data/terms/01-words.yml": TERMS})
    assert findings == []
    return found


def marked(glossary: Glossary, tmp_path: Path, html: str, name: str = "t/one.md") -> str:
    notes, _ = tree(tmp_path, {name: note("## 一\n")})
    return term_marks.Marks(glossary).mark(html, notes.notes[name])


@pytest.mark.parametrize(
    ("html", "expected"),
    # The last is no tag, and no reason for an endless search for one.
    [*CASES["marked"], (f"<b {'a ' * 5000}张量", [("tensor", "张量")])],
)
def test_which_words_are_marked(
    glossary: Glossary, tmp_path: Path, html: str, expected: list[list[str]]
) -> None:
    shown = marked(glossary, tmp_path, html)
    assert MARK.findall(shown) == [tuple(one) for one in expected]
    plain = MARK.sub(r"\2", shown).partition('<div class="term-sentences"')[0]
    assert plain == html, "nothing else changes"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("t/one.en.md", ["sm"]),  # Chinese words are not looked for in English
        ("t/own.md", ["sm", "tensor"]),  # the page that defines a term does not mark it
        ("t/net.md", ["pd", "sm", "tensor", "tensor-parallel"]),  # where PD means this
        ("t/net/deep.md", ["pd", "sm", "tensor", "tensor-parallel"]),
        ("about/one.md", []),
        ("glossary/one.md", []),
        ("one.md", []),
    ],
)
def test_where_terms_are_marked(
    glossary: Glossary, tmp_path: Path, name: str, expected: list[str]
) -> None:
    shown = marked(glossary, tmp_path, "<p>张量并行、张量、SM、PD、链路</p>", name)
    if name.endswith(".en.md"):
        shown = marked(glossary, tmp_path, "<p>张量 SM PD link</p>", name)
    assert sorted(term for term, _ in MARK.findall(shown)) == expected
    assert re.findall(r'<p id="says-([a-z-]+)"', shown) == expected


def test_pages_of_lists_are_not_marked(glossary: Glossary, tmp_path: Path) -> None:
    text = HEAD.replace("kind: note", "kind: map").format(title="T")
    notes, _ = tree(tmp_path, {"t/index.md": text})
    assert term_marks.Marks(glossary).mark("<p>SM</p>", notes.notes["t/index.md"]) == "<p>SM</p>"


def test_a_section_has_no_more_than_a_dozen(tmp_path: Path) -> None:
    body = "".join(
        f"  - {{id: w{n:02}, en: [word{n:02}], says: {{zh: 词。, en: A word.}}}}\n"
        for n in range(20)
    )
    glossary, findings = check_terms({"a.yml": f"title: T\nterms:\n{body}"})
    assert findings == []
    section = "<p>" + " ".join(f"word{n:02}" for n in range(20)) + "</p>"
    shown = marked(glossary, tmp_path, f"{section}<h2>x</h2>{section}")
    assert len(MARK.findall(shown)) == 2 * term_marks.MOST


def test_sentences_stand_once_hidden_and_escaped(glossary: Glossary, tmp_path: Path) -> None:
    html = "<p>KV 缓存</p><h2>x</h2><p>KV 缓存和 SM</p>"
    shown = marked(glossary, tmp_path, html)
    assert shown.endswith(
        '<div class="term-sentences" hidden data-search-exclude>'
        '<p id="says-kv" data-name="KV 缓存（KV cache）">键与值&lt;b&gt;。</p>'
        '<p id="says-sm" data-name="流式多处理器（streaming multiprocessor，SM）">单元。</p></div>'
    )
    found = read_html(Page("a.html", "a", "zh", "T"), shown)
    texts = " ".join(section.text for section in found.sections)
    assert "单元" not in texts and "KV 缓存和 SM" in texts


@pytest.mark.parametrize(
    ("language", "holds"),
    [
        (
            "zh",
            [
                "## 词 { #words }",
                '<h3 id="term-tensor-parallel">张量并行 <small lang="en">tensor parallelism</small>'
                ' <small lang="en">TP</small>',
                "<p>切开一层。</p>",
                '详见：<a href="../t/own.html#一">自己：一</a> · 相关：<a href="#term-tensor">',
                '相关：<a href="#term-tensor-parallel">张量并行</a>',
                '<p><b>Z</b> <a href="#term-tensor">张量</a> · ',
                "共 6 个词条",
            ],
        ),
        (
            "en",
            [
                "## Words { #words }",
                '<h3 id="term-sm">streaming multiprocessor <small lang="en">SM</small>'
                ' <small lang="zh">流式多处理器</small>',
                'More in: <a href="../t/own.html#one">Own: One</a>',
                "<p>Keys &amp; values.</p>",
                '<p><b>S</b> <a href="#term-sm">SM</a> · ',
                "6 entries",
            ],
        ),
    ],
)
def test_the_page_of_entries(
    glossary: Glossary, tmp_path: Path, language: str, holds: list[str]
) -> None:
    files = {"t/own.md": note("## 一\n", "自己"), "t/own.en.md": note("## One\n", "Own")}
    notes, _ = tree(tmp_path, dict(files))
    shown = entries.render(View(notes, language), glossary)
    for text in holds:
        assert text in shown
    assert 'id="term-small"' not in shown, "what has no sentence is no entry"
    ids = re.findall(r'<h3 id="([^"]+)"', shown)
    assert ids == [f"term-{name}" for name in glossary.entries]
    assert set(re.findall(r'href="#([^"]+)"', shown)) <= set(ids)
