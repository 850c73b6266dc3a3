"""Each rule of the source check: what must be reported, where, with which repair, and what not."""

from __future__ import annotations

from pathlib import Path

import pytest

from hooks.links import safety
from hooks.notes import twins
from hooks.pages import aliases
from tests.samples import FIRST_LINE, found_in, note, said, tree

OTHER = note("## NVLink 发展\n\n<a id='here'></a>\n\n## Two words\n", "Other")
LINE = FIRST_LINE


def findings_of(tmp_path: Path, body: str, **more: str) -> list[tuple[str, int, str, str]]:
    files: dict[str, str | bytes] = {
        "link/a.md": note(body),
        "link/b.md": OTHER,
        "link/topo/c.md": note("## C\n", "C"),
        "link/topo/index.md": note("x\n", "Topic"),
        "link/topo/Pic.svg": "<svg/>",
        "link/code/x.py": "# --8<-- [start:main]\n",
    }
    files |= more
    catalogue, problems = tree(tmp_path, files)
    assert problems == []
    found = [one for one in found_in(catalogue) if one.file == "docs/link/a.md"]
    return said([one for one in found if one.rule != safety.RULE])


@pytest.mark.parametrize(
    ("body", "rule", "target", "suggestion"),
    [
        ("[x](bb.md)", "dead-link", "bb.md", "b.md"),
        ("[x](../topo/c.md)", "dead-link", "../topo/c.md", "topo/c.md"),
        ("[x](b.md#nvlink-发站)", "dead-anchor", "b.md#nvlink-发站", "b.md#nvlink-发展"),
        ("[x](b.md#NVLink-发展)", "dead-anchor", "b.md#NVLink-发展", "b.md#nvlink-发展"),
        ("[x](#nope)", "dead-anchor", "#nope", ""),
        (
            "[x](b.md#user-content-two-words)",
            "dead-anchor",
            "b.md#user-content-two-words",
            "b.md#two-words",
        ),
        ("[x](B.md)", "wrong-case", "B.md", "b.md"),
        ("![p](topo/pic.svg)", "wrong-case", "topo/pic.svg", "topo/Pic.svg"),
        ("![p](topo/none.png)", "dead-image", "topo/none.png", ""),
        ("[x](topo/)", "link-folder", "topo/", "topo/index.md"),
        ("[x](b.html#here)", "link-html", "b.html#here", "b.md#here"),
        ("[x](/link/b.md)", "absolute-link", "/link/b.md", "b.md"),
        ("[x](/docs/link/b.md#here)", "absolute-link", "/docs/link/b.md#here", "b.md#here"),
        ("[x](../../README.md)", "link-outside", "../../README.md", ""),
        ("[x]()", "empty-link", "", ""),
        ("[](b.md)", "empty-link", "b.md", ""),
        ("![](topo/Pic.svg)", "image-alt", "topo/Pic.svg", ""),
        ("[x][nope]", "undefined-reference", "nope", ""),
        ("[lab]: b.md", "unused-definition", "lab", ""),
        ("[a [x](b.md) c](bb.md)", "dead-link", "bb.md", "b.md"),
        ("[![p](topo/none.png)](b.md)", "dead-image", "topo/none.png", ""),
        ("[`x`][]\n\n[`x`]: b.md", "view-difference", "`x`", ""),
        ("[x](#own)\n\na {: #own } b", "dead-anchor", "#own", ""),
        ("[x](#own)\n\na*{: #own }", "dead-anchor", "#own", ""),
        ("[x](#a-b)\n\n```\na b\n```\n---", "view-difference", "#a-b", ""),
        ("a[^n]", "footnote", "n", ""),
        ("[^n]: text", "footnote", "n", ""),
        ('<a href="bb.md">x</a>', "dead-link", "bb.md", "b.md"),
        ('<img src="https://a.b/c.svg">', "image-alt", '<img src="https://a.b/c.svg">', ""),
        ("## A\n\n#### B", "heading-level", "B", ""),
        ("# Again", "heading-level", "Again", ""),
        ('```python\n--8<-- "../../setup.py"\n```', "include", "../../setup.py", ""),
        ('```python\n--8<-- "link/code/y.py"\n```', "include", "link/code/y.py", "link/code/x.py"),
        ('```python\n--8<-- "link/code/x.py:no"\n```', "include", "link/code/x.py:no", ""),
        ('```python\n--8<-- "https://a.b/c.py"\n```', "include", "https://a.b/c.py", ""),
        ('--8<-- "link/a.md"', "include", "link/a.md", ""),
    ],
)
def test_reported(tmp_path: Path, body: str, rule: str, target: str, suggestion: str) -> None:
    found = findings_of(tmp_path, body + "\n")
    assert [(one[0], one[2], one[3]) for one in found] == [(rule, target, suggestion)]
    row = next(n for n, line in enumerate(body.split("\n")) if target in line)
    assert found[0][1] == LINE + row


@pytest.mark.parametrize(
    "body",
    [
        "[x](b.md) [y](b.md#nvlink-发展) [z](b.md#here) [t](#t)",
        "[x](b.md#nvlink-%E5%8F%91%E5%B1%95)",
        "[x](topo/c.md#c) [y](topo/index.md)",
        "![p](topo/Pic.svg)",
        "[x](https://a.b/c#d) [m](mailto:a@b.c) <https://a.b>",
        "[x][lab]\n\n[lab]: b.md#two-words",
        "a[^n]\n\n[^n]: text",
        "`[x](no.md)` and\n\n```\n[x](no.md)\n```",
        "<!-- [x](no.md) -->",
        '```python\n--8<-- "link/code/x.py:main"\n```',
        '```python\n--8<-- "link/code/x.py"\n```',
        "## A\n\n### B\n\n## C",
        "[a [x](b.md) c][lab]\n\n[lab]: b.md#two-words",
        "a[i](b.md)[j] and `[x](no.md)`{ #own } [y](b.md?x=1&copy=2)",
    ],
)
def test_valid_forms_pass(tmp_path: Path, body: str) -> None:
    assert findings_of(tmp_path, body + "\n") == []


def test_duplicate_heading_names_the_first(tmp_path: Path) -> None:
    (found,) = findings_of(tmp_path, "## A\n\n## A\n")
    assert found[:2] == ("duplicate-heading", LINE + 2)


def test_links_stay_in_their_language(tmp_path: Path) -> None:
    more = {"link/b.en.md": note("## Growth\n", "Other EN")}
    found = findings_of(tmp_path, "[x](b.en.md)\n", **more)
    assert found == [("link-language", LINE, "b.en.md", "b.md")]


def test_anchor_of_the_other_language_suggests_ours(tmp_path: Path) -> None:
    english = note("## NVLink growth\n\n<a id='here'></a>\n\n## Two words too\n", "Other EN")
    found = findings_of(tmp_path, "[x](b.md#nvlink-growth)\n", **{"link/b.en.md": english})
    assert found == [("dead-anchor", LINE, "b.md#nvlink-growth", "b.md#nvlink-发展")]


def test_title_must_be_the_heading(tmp_path: Path) -> None:
    text = note("x\n").replace("# T", "# U")
    catalogue, _ = tree(tmp_path, {"a/a.md": text})
    assert said(found_in(catalogue)) == [("title-heading", 8, "U", "")]


@pytest.mark.parametrize(
    ("files", "rule", "words"),
    [
        ({"a.md": b"---\ntitle: \xff\n---\n"}, "encoding", "0xff is not UTF-8"),
        ({"a.md": b"\xef\xbb\xbf" + note("x").encode()}, "encoding", "byte-order mark"),
        ({"a.md": note("a\u2028b")}, "encoding", "U+2028"),
        ({"a.md": note("x"), "b.md": note("y")}, "duplicate-title", "docs/a.md"),
        ({"a.md": "# T\n"}, "front-matter", "no front matter"),
    ],
)
def test_unreadable_notes(
    tmp_path: Path, files: dict[str, str | bytes], rule: str, words: str
) -> None:
    _, findings = tree(tmp_path, files)
    assert rule in {one.rule for one in findings}
    assert any(words in one.message for one in findings)
    assert all(one.line >= 1 for one in findings)


@pytest.mark.parametrize(
    ("chinese", "english", "line"),
    [
        ("## 甲\n\n### 乙\n", "## A\n\n## B\n", LINE + 2),
        ("## 甲\n\n## 乙\n", "## A\n", LINE),
        ("## 甲\n", "## A\n\n## B\n", LINE + 2),
        # An insertion is blamed itself, not what was pushed down by it.
        (
            "## 一句话结论\n\n## 机制\n\n## 自测\n",
            "## Takeaway\n\n## New\n\n## Check yourself\n\n## References\n",
            LINE + 6,
        ),
        (
            "## 一句话结论\n\n## 自测\n\n## 参考资料\n",
            "## Takeaway\n\n## New\n\n## Check yourself\n\n## References\n",
            LINE + 2,
        ),
        (
            "## 一句话结论\n\n## NVLink 链路\n\n## PCIe 通道\n",
            "## Takeaway\n\n### Details\n\n## NVLink links\n\n## PCIe lanes\n",
            LINE + 2,
        ),
        ("## 甲[^a]\n\n## 新\n\n## 乙\n\nx[^b]\n", "## A[^a]\n\n## B\n\nx[^b]\n", LINE),
    ],
)
def test_twins_that_differ(tmp_path: Path, chinese: str, english: str, line: int) -> None:
    catalogue, _ = tree(tmp_path, {"a.md": note(chinese), "a.en.md": note(english)})
    (finding,) = twins.check_pairs(catalogue)
    assert (finding.file, finding.line, finding.rule) == ("docs/a.en.md", line, "twin-headings")
    assert "docs/a.md" in finding.message


def test_twin_ids_never_take_an_id_in_use(tmp_path: Path) -> None:
    catalogue, _ = tree(
        tmp_path, {"a.md": note("## X\n\n## 乙\n"), "a.en.md": note("## Y\n\n## X\n")}
    )
    ours, theirs = catalogue.notes["a.md"], catalogue.notes["a.en.md"]
    assert twins.twin_ids(ours, theirs) == {"x": "y"}
    html = aliases.add_aliases('<h2 id="x">X</h2><h2 id="乙">乙</h2>', {"x": "y"})
    assert html == '<h2 id="x"><span class="twin-alias" id="y"></span>X</h2><h2 id="乙">乙</h2>'


@pytest.mark.parametrize(
    "body",
    [
        "<script>alert(1)</script>",
        "text <script src='x.js'></script>",
        '<img src="p.svg" alt="" onerror="alert(1)">',
        '<a href="javascript:alert(1)">x</a>',
        '<a href="java\nscript:alert(1)">x</a>',
        "[x](javascript:alert(1))",
        "[x](data:text/html,x)",
        "[x](vbscript:x)",
        "![p](https://a.b/p.png)",
        '<img src="//a.b/p.png" alt="p">',
        '<iframe src="https://a.b"></iframe>',
        "<form></form>",
        "<style>p{}</style>",
        '<div style="position:fixed">x</div>',
        '[x](b.md){ onclick="alert(1)" }',
        '<svg onload="alert(1)"></svg>',
    ],
)
def test_unsafe_content_is_refused_with_its_line(tmp_path: Path, body: str) -> None:
    catalogue, _ = tree(tmp_path, {"a.md": note("ok\n\n" + body + "\n")})
    findings = safety.check_note(catalogue.notes["a.md"])
    assert {one.rule for one in findings} == {safety.RULE}
    assert {one.line for one in findings} <= {LINE + 2, LINE + 3}


@pytest.mark.parametrize(
    "body",
    [
        '<details markdown="1">\n<summary>答案</summary>\n\nx\n\n</details>',
        'a<br>b <sub>2</sub> <kbd>Ctrl</kbd> <a id="x"></a>',
        "`<script>` and\n\n```html\n<script>alert(1)</script>\n```",
        "`{ onclick=x }` [x](https://a.b)",
    ],
)
def test_harmless_content_passes(tmp_path: Path, body: str) -> None:
    catalogue, _ = tree(tmp_path, {"a.md": note(body + "\n")})
    assert safety.check_note(catalogue.notes["a.md"]) == []


@pytest.mark.parametrize(
    "html",
    [
        '<p><img src="x"onerror="alert(1)"></p>',
        "<p><svg><script>x</script></svg></p>",
        '<a href="java&#9;script:x">y</a>',
        '<a href=" j&#x41;va&Tab;scr\nipt&colon;x">y</a>',
        '<p class="a">x</p><p class="a" ONclick="y">z</p><p class="a">x</p>',
        '<p class="a" id="b">x</p><p id="c" onfocus>z</p>',
        '<a href="https://x.example">y</a><a href="vbscript:x">y</a>',
        '<svg><a xlink:href="javascript:x"><text>y</text></a></svg>',
        '<p class="a">x</p><form></form>',
        "<p>x</p><STYLE>p { color: red }</STYLE>",
    ],
)
def test_rendered_content_is_looked_at_as_a_browser_does(html: str) -> None:
    findings = safety.check_rendered(html, "docs/a.md", 'x\n<img src="x"onerror="y">\n')
    assert {one.rule for one in findings} == {safety.RULE}


@pytest.mark.parametrize(
    "html",
    [
        '<p class="on" title="only on one">on <a href="#on">onclick="x"</a> &lt;script&gt;</p>',
        '<a href="https://x.example/javascript:x">y</a> <a href="b.md#javascript:x">z</a>',
        "<pre><code>&lt;form onsubmit=&quot;x&quot;&gt;</code></pre>",
    ],
)
def test_rendered_content_that_only_looks_odd_passes(html: str) -> None:
    assert safety.check_rendered(html, "docs/a.md", html) == []
