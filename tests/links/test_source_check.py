"""Notes that cannot be read, twins that differ, and what may not stand in a note."""

from __future__ import annotations

from pathlib import Path

import pytest

from hooks.links import safety
from hooks.notes import twins
from hooks.pages import page
from tests.samples import FIRST_LINE, note, tree

LINE = FIRST_LINE


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
        ("## 甲[^a]\n\n## 新\n\n## 乙\n\nx[^b]\n", "## A[^a]\n\n## B\n\nx[^b]\n", LINE + 2),
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
    html = page.add_aliases('<h2 id="x">X</h2><h2 id="乙">乙</h2>', {"x": "y"})
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
