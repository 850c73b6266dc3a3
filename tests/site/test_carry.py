"""What is carried away as Markdown: pages without the site, one file of all, lists for machines."""

from __future__ import annotations

import pytest

from hooks.site import carry
from hooks.site.to_markdown import placed, to_markdown

HERE = "en/link/topo"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>a <b>b</b>\n <em>c</em></p><p>d</p>", "a **b** *c*\n\nd"),
        ("<h2 id=x>H<a class=headerlink href='#x'>¶</a></h2>x", "## H\n\nx"),
        (
            "<details><summary>S</summary><h3>no id</h3><p>x</p></details>",
            "**S**\n\n**no id**\n\nx",
        ),
        ("<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>", "- a\n  - b\n- c"),
        ("<ol start=3><li><p>a</p><pre>x</pre></li></ol>", "3. a\n\n   ```text\n   x\n   ```"),
        ("<ul><li class=task-list-item><label><input></label> a</li></ul>", "- [ ] a"),
        ("<dl><dt>a</dt><dd>b</dd></dl>", "- **a**: b"),
        ("<blockquote><p>a</p><p>b</p></blockquote>", "> a\n>\n> b"),
        (
            "<div class='admonition note'><p class=admonition-title>Note</p><p>a</p></div>",
            "> **Note**\n>\n> a",
        ),
        (
            "<table><tr><th>a|b<th style='text-align: right;'>c</tr><tr><td>1</tr></table>",
            "| a\\|b | c |\n| --- | ---: |\n| 1 |  |",
        ),
        ("<table><caption>T</caption><tr><td>1</td></tr></table>", "**T**\n\n| 1 |\n| --- |"),
        ('<div class="arithmatex">\\[x_1\\]</div>', "$$x_1$$"),
        ('<p>so <span class="arithmatex">\\(x\\)</span></p>', "so $x$"),
        ("<p>NCCL_DEBUG *x* _y_ &lt;b&gt; 1 &lt; 2</p>", "NCCL_DEBUG \\*x\\* \\_y\\_ \\<b> 1 < 2"),
        ("<p># no heading</p><p>1. no list</p>", "\\# no heading\n\n1\\. no list"),
        ("<svg><desc>two\n lines</desc><text>x</text></svg>", "two lines"),
        ('<div class="calc__app"><p>form</p></div><p>a</p><!-- c -->', "a"),
        ("<p>x <code>a`b</code><br>y <small>z</small><script>s</script></p>", "x `` a`b `` y z"),
        (
            "<div class='language-cuda highlight'><span class=filename>a.cu</span>"
            "<pre><span></span><code><span class=kt>int</span> x;\n\n\ny\n</code></pre></div>",
            "`a.cu`:\n\n```cuda\nint x;\n\n\ny\n```",
        ),
        ("<pre class=mermaid><code>A --&gt; B</code></pre>", "```mermaid\nA --> B\n```"),
        ("<pre><code>```\n</code></pre>", "````text\n```\n````"),
        (
            "<p>a<sup id=fnref:s><a class=footnote-ref href='#fn:s'>1</a></sup></p><div class="
            "footnote><hr><ol><li id=fn:s><p>b <a class=footnote-backref href='#'>↩</a></p>"
            "<p>c</p></li></ol></div>",
            "a[^s]\n\n[^s]: b\n\n    c",
        ),
        ('<p><a href="b.html#c">t</a></p>', "[t](b.md#c)"),
        ('<p><a href="../../../x/b.html">t</a></p>', "[t](../../../x/b.md)"),
        ('<p><img alt="t" src="figures/x.svg"></p>', "![t](figures/x.svg)"),
        (
            "<p><a href='#c'>c</a> <a href=https://a.b/>https://a.b/</a></p>",
            "[c](#c) <https://a.b/>",
        ),
        ("<p><a class='facts__value' href='#source'>1</a></p>", "1"),
    ],
)
def test_a_page_reads_without_the_site(html: str, markdown: str) -> None:
    assert placed(to_markdown(html, f"{HERE}/a.html"), HERE) == f"{markdown}\n"


def leaf(note: str, trail: tuple[str, ...], text: str, language: str = "zh") -> carry.Leaf:
    page = f"{carry.folder_of(language)}{note}.html"
    return carry.Leaf(page, note, language, note.upper(), "says [x]", "2026-11-23", trail, text)


LEAVES = [
    leaf("index", (), "# Home\n"),
    leaf("a/index", ("A",), "# A\n\n[b](\ue000a/b.md)\n"),
    leaf("a/b", ("A",), "# B\n\n## C\n\nx[^s] `[^s]`\n\n```sh\n# no heading\n```\n\n[^s]: y\n"),
    leaf("a/b", ("A",), "x", "en"),
]


def test_pages_one_file_of_all_and_lists_for_machines() -> None:
    made = carry.files(LEAVES, {"zh": "关于", "en": "about"}, "https://example.org/")
    assert set(made) == {
        *("index.md", "a/index.md", "a/b.md", "en/a/b.md", "llms.txt", "en/llms.txt"),
        *("handbook.zh.md", "handbook.en.md", "robots.txt"),
    }
    assert made["handbook.zh.md"].split("\n\n", 3)[3] == (
        "## A\n\n[b](a/b.md)\n\n### B\n\n#### C\n\nx[^p1-s] `[^s]`\n\n"
        "```sh\n# no heading\n```\n\n[^p1-s]: y\n"
    )
    listed = "\n## A\n\n- [A/INDEX](a/index.md): says [x]\n- [A/B](a/b.md): says [x]\n"
    assert listed in made["llms.txt"]
    assert "> about\n\n- [The whole" in made["en/llms.txt"]
    assert "(../handbook.en.md)\n- [中文](../llms.txt)" in made["en/llms.txt"]
    assert "(a/b.md)" in made["en/llms.txt"]
    assert made["en/a/b.md"] == (
        '---\ntitle: "A/B"\ndescription: "says [x]"\nverified: "2026-11-23"\n'
        'source: "https://example.org/en/a/b.html"\n---\n\nx'
    )
