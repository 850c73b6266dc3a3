"""Sections out of built pages and out of Markdown: what a reader would call the same text."""

from __future__ import annotations

from pathlib import Path

import pytest

from hooks.search.from_html import read_html
from hooks.search.from_markdown import read_folder, read_note
from hooks.search.pages import CODE_CLOSE, CODE_OPEN, NOTE, Page, key_of, location_of
from hooks.search.pairs import pair_sections
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


@pytest.mark.parametrize(
    ("text", "sections"),
    [
        (
            "# 题\n\n引言。\n\n## 节 `x`\n\n第一段`f()`，[链接](b.md)。\n\n- 项\n",
            [("", 1, "题", "引言。"), ("节-x", 2, "节 x", "第一段«f()»，链接。\n项")],
        ),
        ("## 节 { #own }\n\n文\n", [("", 1, "a", ""), ("own", 2, "节", "文")]),
        ("## 节\n## 节\n", [("", 1, "a", ""), ("节", 2, "节", ""), ("节-1", 2, "节", "")]),
        ("| 代 | 带宽 |\n| --- | --- |\n| 4 | 900 |\n", [("", 1, "a", "代\t带宽\n4\t900")]),
        (
            '???+ note "提示"\n    正文\n\n    ```c\n    int a;\n    ```\n\n之后\n',
            [("", 1, "a", "提示\n正文\n«int a;»\n之后")],
        ),
        ('=== "C++"\n\n    甲\n\n=== "Python"\n\n    乙\n', [("", 1, "a", "C++\n甲\nPython\n乙")]),
        ("    缩进的代码\n", [("", 1, "a", "«缩进的代码»")]),
        ("> [!NOTE]\n> 提示\n", [("", 1, "a", "提示")]),
        (
            "## 一\n\n文[^1]\n\n## 二\n\n[^1]: 出处\n",
            [("", 1, "a", ""), ("一", 2, "一", "文\n¹出处"), ("二", 2, "二", "")],
        ),
        ('文\n\n<!-- 注释 -->\n\n--8<-- "x.md"\n', [("", 1, "a", "文")]),
        ("```\n## 不是标题\n```\n", [("", 1, "a", "«## 不是标题»")]),
    ],
    ids="headings own-id repeated table note tabs code callout footnote comment fence".split(),
)
def test_sections_of_markdown(text: str, sections: list[tuple[str, int, str, str]]) -> None:
    assert _seen(read_note("a.md", text.encode())) == sections


def test_front_matter_is_kept_whatever_it_holds() -> None:
    fields = "title: 名\nkind: paper\ntags: [甲, 2]\ndescription: 说明\n"
    text = f"---\n{fields}---\n# 题\n"
    page = read_note("b/a.md", text.encode())
    assert (page.title, page.kind, page.tags) == ("名", "paper", ("甲", "2"))
    assert page.description == "说明"
    assert read_note("a.md", b"---\ntitle: [1\n---\n\xff\n").sections[0].text == "\ufffd"


@pytest.mark.parametrize(
    ("source", "key", "location"),
    [
        ("a/b.md", "a/b", "a/b.html"),
        ("a/b.en.md", "a/b", "en/a/b.html"),
        ("README.md", "README", "index.html"),
        ("a/README.md", "a/README", "a/index.html"),
        ("a/readme.md", "a/readme", "a/readme.html"),
    ],
)
def test_addresses(source: str, key: str, location: str) -> None:
    assert (key_of(source), location_of(source)) == (key, location)


def test_twins_share_numbers_as_long_as_their_headings_agree() -> None:
    pages = [
        read_note("a.md", "# 甲\n## 一\n## 二\n### 三\n".encode()),
        read_note("a.en.md", b"# A\n## one\n### other\n### three\n"),
        read_note("b.md", "# 乙\n".encode()),
    ]
    numbers = pair_sections(pages)
    assert numbers["a", "zh"] == [0, 1, 2, 3]
    assert numbers["a", "en"] == [0, 1, 4, 5]
    assert numbers["b", "zh"] == [6]


def test_a_folder_is_read_whole(tmp_path: Path) -> None:
    docs = search_notes.write(tmp_path / "docs")
    assert {page.source for page in read_folder(docs)} == set(search_notes.NOTES)
