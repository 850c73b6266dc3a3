"""What is carried away as Markdown: pages without the site, one file of all, lists for machines."""

from __future__ import annotations

import pytest

from hooks.site import carry, html_text, plain

HERE = "en/link/topo/a.html"
FENCES = {("facts", "table: x"): "<table><tr><th>A</th></tr><tr><td>1 <b>GB</b></td></tr></table>"}


def reading() -> plain.Reading:
    def put_in(line: str) -> str | None:
        return "int x;" if line.strip() == '--8<-- "a.cu"' else None

    return plain.Reading(HERE, "link/topo/a.en.md", "en", FENCES, put_in)


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>a <b>b</b>\n c</p><p>d</p>", "a **b** c\n\nd"),
        ("<ul><li>a</li><li>b</li></ul>", "- a\n- b"),
        ("<dl><dt>a</dt><dd>b</dd></dl>", "- **a**: b"),
        ("<table><tr><th>a|b</th></tr><tr><td>1</td></tr></table>", "| a\\|b |\n| --- |\n| 1 |"),
        ("<table><caption>T</caption><tr><td>1</td></tr></table>", "**T**\n\n| 1 |\n| --- |"),
        ('<div class="arithmatex">\\[x_1\\]</div>', "$$x_1$$"),
        ('<p>so <span class="arithmatex">\\(x\\)</span></p>', "so $x$"),
        ("<p>NCCL_DEBUG *x* _y_</p>", "NCCL_DEBUG \\*x\\* \\_y\\_"),
        ("<svg><desc>two\n lines</desc><text>x</text></svg>", "two lines"),
        ('<div class="calc__app"><p>form</p></div><p>a</p>', "a"),
        ('<p><a href="../x.html#y">t</a><script>z</script></p>', "[t](@../x.html#y)"),
        ("<pre><code>a\nb</code></pre>", "```text\na\nb\n```"),
    ],
)
def test_html_becomes_markdown(html: str, markdown: str) -> None:
    assert html_text.to_markdown(html, lambda address: f"@{address}") == markdown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("989.4 TFLOPS<!-- fact a/b/c --> dense", "989.4 TFLOPS dense"),
        ("`<!-- fact -->` stays", "`<!-- fact -->` stays"),
        ("[a](b.en.md#c)", "[a](b.md#c)"),
        ("[a](../../x/b.md)", "[a](../../../x/b.md)"),
        ("![a](figures/x.svg)", "![a](../../../link/topo/figures/x.svg)"),
        ("[a](https://example.org) [b](#c)", "[a](https://example.org) [b](#c)"),
        ("`[a](b.en.md)`", "`[a](b.en.md)`"),
        ('<a id="x"></a>\n\n## H {#h}', "## H"),
        ("a<br>b <small>c</small>", "a b c"),
        ('<details markdown="1">\n<summary>S</summary>\n\nx\n\n</details>', "**S**\n\nx"),
        ('<div class="a">\n<p>x <a href="b.html">b</a></p>\n</div>\n\ny', "x [b](b.md)\n\ny"),
        ("```facts\ntable: x\n```", "| A |\n| --- |\n| 1 **GB** |"),
        ('```cuda title="a.cu"\n--8<-- "a.cu"\n```', "`a.cu`:\n\n```cuda\nint x;\n```"),
        ("```text\n<!-- kept -->\n[a](b.md)\n```", "```text\n<!-- kept -->\n[a](b.md)\n```"),
        (
            "- a\n\n    ```facts\n    table: x\n    ```",
            "- a\n\n    | A |\n    | --- |\n    | 1 **GB** |",
        ),
    ],
)
def test_a_page_reads_without_the_site(text: str, shown: str) -> None:
    assert plain.placed(plain.plain(text, reading()), "en/link/topo") == f"{shown}\n"


def leaf(note: str, trail: tuple[str, ...], text: str, language: str = "zh") -> carry.Leaf:
    page = f"{note}.html" if language == "zh" else f"{language}/{note}.html"
    return carry.Leaf(page, note, language, note.upper(), "says [x]", "2026-11-23", trail, text)


LEAVES = [
    leaf("index", (), "# Home\n"),
    leaf("a/index", ("A",), "# A\n\n[b](\ue000a/b.md)\n"),
    leaf("a/b", ("A",), "# B\n\n## C\n\nx[^s] `[^s]`\n\n```sh\n# no heading\n```\n\n[^s]: y\n"),
]


def test_one_file_holds_all_in_order_with_its_own_footnotes() -> None:
    text = carry.whole(LEAVES, "zh", "about", "https://example.org/")
    assert text.split("\n\n", 3)[3] == (
        "## A\n\n[b](a/b.md)\n\n### B\n\n#### C\n\nx[^p1-s] `[^s]`\n\n"
        "```sh\n# no heading\n```\n\n[^p1-s]: y\n"
    )


def test_lists_for_machines_lead_to_each_page() -> None:
    english = leaf("a/b", ("A",), "x", "en")
    made = carry.files([*LEAVES, english], {"zh": "关于", "en": "about"})
    assert (
        "\n## A\n\n- [A/INDEX](a/index.md): says [x]\n- [A/B](a/b.md): says [x]\n"
        in (made["llms.txt"])
    )
    assert "> about\n\n- [The whole" in made["en/llms.txt"]
    assert "(a/b.md)" in made["en/llms.txt"]
    assert made["en/a/b.md"].startswith('---\ntitle: "A/B"\ndescription: "says [x]"\nverified:')
    assert set(made) == {
        *("index.md", "a/index.md", "a/b.md", "en/a/b.md", "llms.txt", "en/llms.txt"),
        *("handbook.zh.md", "handbook.en.md"),
    }
