"""Sections out of rendered pages: what a reader would call the same text."""

from __future__ import annotations

import pytest

from hooks.search.from_html import read_html
from hooks.search.sections import CODE_CLOSE, CODE_OPEN, NOTE, Page, pair_sections
from tests import search_notes

_NAMES = str.maketrans({CODE_OPEN: "«", CODE_CLOSE: "»", NOTE: "¹"})


def _seen(page: Page) -> list[tuple[str, int, str, str]]:
    """Return anchor, level, title and text of each section, code as «code»."""
    return [(one.anchor, one.level, one.title, one.text.translate(_NAMES)) for one in page.sections]


def _html(html: str) -> list[tuple[str, int, str, str]]:
    return _seen(read_html(Page("a.html", "a", "zh", "甲"), html))


@pytest.mark.parametrize(
    ("html", "sections"),
    [
        (
            '<h1 id="t">题</h1><p>引言。</p><h2 id="x">节<a class="headerlink" href="#x">¶</a></h2>'
            "<p>第一段<code>f()</code>。</p><p>第二段</p>",
            [("", 1, "题", "引言。"), ("x", 2, "节", "第一段«f()»。\n第二段")],
        ),
        (
            "<table><tr><th>代</th><th>带宽</th></tr>\n<tr><td>4</td><td>900</td></tr></table>",
            [("", 1, "甲", "代\t带宽\n4\t900")],
        ),
        (
            "<pre><span></span><code>int a;\nint b;\n</code></pre>",
            [("", 1, "甲", "«int a;»\n«int b;»")],
        ),
        (
            "<p>一</p><aside data-search-exclude><p>二</p></aside><script>三</script><nav>四</nav>",
            [("", 1, "甲", "一")],
        ),
        (
            "<svg><title>图</title><desc>说明</desc><g><text>标</text></g></svg><p>完</p>",
            [("", 1, "甲", "图\n说明\n完")],
        ),
        (
            '<h2 id="x">节</h2><p>文<sup id="fnref:1"><a href="#fn:1">1</a></sup></p>'
            '<h2 id="y">末</h2><div class="footnote"><hr><ol><li id="fn:1"><p>出处'
            '<a class="footnote-backref" href="#fnref:1">↩</a></p></li></ol></div>',
            [("", 1, "甲", ""), ("x", 2, "节", "文\n¹出处"), ("y", 2, "末", "")],
        ),
        (
            '<ul><li><strong><a href="b.html">乙</a></strong><br>说明</li>'
            '<li><a href="https://a.example/">外</a>的说明</li></ul>',
            [("", 1, "甲", "¹乙 说明\n外的说明")],
        ),
        ("<p>中文\n换行 and\nEnglish</p>", [("", 1, "甲", "中文换行 and English")]),
        ("<p>\ue001 &lt;b&gt; \ue000</p>", [("", 1, "甲", "<b>")]),
    ],
    ids="headings table code excluded figure footnote entries line-ends private".split(),
)
def test_sections_of_html(html: str, sections: list[tuple[str, int, str, str]]) -> None:
    assert _html(html) == sections


def test_a_note_is_read_as_it_is_rendered() -> None:
    text = (
        "# 题\n\n引言[^1]，![图](a.svg)\n\n## 节 `x` { #own }\n\n第一段`f()`，[链接](b.md)。\n\n"
        '???+ note "提示"\n    正文\n\n<!-- 注释 -->\n\n## 节\n\n[^1]: 出处\n'
    )
    assert _seen(search_notes.page("b/a.en.md", text)) == [
        ("", 1, "题", "引言，图\n¹出处"),
        ("own", 2, "节 x", "第一段«f()»，链接。\n提示\n正文"),
        ("节", 2, "节", ""),
    ]


def test_a_page_has_its_place_and_what_its_front_matter_says() -> None:
    fields = "title: 名\nkind: paper\ntags: [甲, 乙]\ndescription: 说明\nverified: 2026-01-02\n"
    page = search_notes.page("b/a.en.md", f"---\n{fields}---\n# 名\n")
    assert (page.key, page.location, page.language) == ("b/a", "en/b/a.html", "en")
    assert (page.title, page.kind, page.tags) == ("名", "paper", ("甲", "乙"))
    assert page.description == "说明"


def test_twins_share_numbers_as_long_as_their_headings_agree() -> None:
    pages = [
        search_notes.page("a.md", "# 甲\n\n## 一\n\n## 二\n\n### 三\n"),
        search_notes.page("a.en.md", "# A\n\n## one\n\n### other\n\n### three\n"),
        search_notes.page("b.md", "# 乙\n"),
    ]
    numbers = pair_sections(pages)
    assert numbers["a", "zh"] == [0, 1, 2, 3]
    assert numbers["a", "en"] == [0, 1, 4, 5]
    assert numbers["b", "zh"] == [6]
