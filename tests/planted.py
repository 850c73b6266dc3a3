"""A tree with one planted defect of every kind and as many tricky forms that are right."""

from __future__ import annotations

from pathlib import Path

MARKED_CELL = "<table>\n<tr><td markdown>*x*</td></tr>\n</table>"
# Name of the defect, rule, text of the note, and a needle that stands on the line of the defect.
DEFECTS: list[tuple[str, str, str, str]] = [
    ("missing file", "dead-link", "[x](gone.md)", "gone.md"),
    ("missing file with query", "dead-link", "[x](gone.md?plain=1)", "gone.md"),
    ("case of a file", "wrong-case", "[x](Target.md)", "Target.md"),
    ("case of a folder", "wrong-case", "[x](Sub/page.md)", "Sub/"),
    ("case of an image", "wrong-case", "![p](img/Used.PNG)", "Used.PNG"),
    ("missing anchor elsewhere", "dead-anchor", "[x](target.md#nope)", "#nope"),
    ("missing anchor here", "dead-anchor", "[x](#nope)", "#nope"),
    ("anchor with Chinese", "dead-anchor", "[x](target.md#显存宽带)", "#显存宽带"),
    (
        "anchor with full-width punctuation",
        "dead-anchor",
        "[x](target.md#什么是-rdma？)",
        "#什么是",
    ),
    ("percent-encoded anchor", "dead-anchor", "[x](target.md#%E6%98%BE%E5%8D%A1)", "#%E6"),
    ("anchor in another case", "dead-anchor", "[x](target.md#NVLink-发展)", "#NVLink"),
    ("user-content anchor", "dead-anchor", "[x](target.md#user-content-two-words)", "user-content"),
    ("duplicate id: heading and HTML", "duplicate-id", '## One\n\n<a id="one"></a>', "<a id"),
    ("duplicate id: HTML", "duplicate-id", '<a id="q"></a>\n\n<p id="q">x</p>', "<p id"),
    ("duplicate id: attribute lists", "duplicate-id", "## A {#z}\n\n## B {#z}", "## B"),
    ("duplicate id: span", "duplicate-id", "## C {#y}\n\n**b**{#y}", "**b**"),
    ("duplicate footnote", "footnote", "a[^1]\n\n[^1]: x\n[^1]: second", "second"),
    ("duplicate heading", "duplicate-heading", "## Same\n\nx\n\n## Same\n\ny", ""),
    ("HTML link", "dead-link", 'x <a href="gone.md">y</a>', "gone.md"),
    ("HTML link to a note", "view-difference", '<a href="target.md#two-words">x</a>', "target.md"),
    ("HTML link on its second line", "dead-link", '<a\nhref="gone.md">y</a>', "gone.md"),
    ("HTML image", "dead-image", '<img src="gone.png" alt="x">', "gone.png"),
    ("srcset", "dead-image", '<img src="img/used.png" srcset="gone@2x.png 2x" alt="x">', "gone@"),
    (
        "source",
        "dead-image",
        '<picture><source srcset="gone.webp"><img src="img/used.png" alt="x"></picture>',
        "gone.webp",
    ),
    ("video", "unsafe-html", '<video src="img/used.png"></video>', "<video"),
    ("undefined reference", "undefined-reference", "[x][nowhere]", "nowhere"),
    ("undefined collapsed reference", "undefined-reference", "[nowhere][]", "nowhere"),
    ("undefined image reference", "undefined-reference", "![x][nowhere]", "nowhere"),
    ("unused definition", "unused-definition", "[lab]: target.md", "lab"),
    (
        "shadowed definition",
        "shadowed-definition",
        "[x][lab]\n\n[lab]: target.md\n[lab]: sub/page.md",
        "sub/page.md",
    ),
    ("dead definition", "dead-link", "[x][lab]\n\n[lab]: gone.md", "gone.md"),
    ("undefined footnote", "footnote", "a[^n]", "[^n]"),
    ("undefined footnote in a footnote", "footnote", "a[^n]\n\n[^n]: b[^m]", "b[^m]"),
    ("unused footnote", "footnote", "x\n\n[^n]: text", "[^n]"),
    ("empty target", "empty-link", "[x]()", "[x]()"),
    ("empty angled target", "empty-link", "x\n\n[x](<>)", "[x](<>)"),
    ("empty text", "empty-link", "[](target.md)", "target.md"),
    ("empty HTML link", "empty-link", '<a href="img/used.png"></a>', "<a"),
    ("empty HTML target", "empty-link", '<a href="">x</a>', "<a"),
    ("missing image", "dead-image", "![p](img/gone.png)", "gone.png"),
    ("no alternative text", "image-alt", "![](img/used.png)", "used.png"),
    ("no alternative text in HTML", "image-alt", '<img src="img/used.png">', "<img"),
    ("no alternative text by reference", "image-alt", "![][pic]\n\n[pic]: img/used.png", "![]"),
    ("folder", "link-folder", "[x](sub/)", "sub/"),
    ("folder without slash", "link-folder", "[x](sub)", "(sub)"),
    ("html", "link-html", "[x](target.html#two-words)", "target.html"),
    ("absolute", "absolute-link", "[x](/target.md)", "/target.md"),
    ("absolute from the repository", "absolute-link", "[x](/docs/target.md)", "/docs"),
    ("outside", "link-outside", "[x](../README.md)", "README"),
    ("outside and missing", "dead-link", "[x](../NOTHING.md)", "NOTHING"),
    ("other language", "link-language", "[x](pair.en.md)", "pair.en.md"),
    ("in a table", "dead-link", "| a | b |\n|---|---|\n| `|` | [x](gone.md) |", "gone.md"),
    ("in a list", "dead-link", "- a\n    - b\n\n        [x](gone.md)", "gone.md"),
    ("admonition", "admonition", '!!! note "T"\n\n    text', "!!!"),
    ("in folded details", "dead-link", '??? note "T"\n\n    [x](gone.md)', "gone.md"),
    ("in a tab", "dead-link", '=== "A"\n\n    [x](gone.md)', "gone.md"),
    ("in a callout", "dead-link", "> [!NOTE]\n> [x](gone.md)", "gone.md"),
    ("in a definition list", "dead-link", "Term\n:   [x](gone.md)", "gone.md"),
    ("in a footnote", "dead-link", "a[^n]\n\n[^n]: one\n\n    [x](gone.md)", "gone.md"),
    (
        "in Markdown inside HTML",
        "dead-link",
        '<details markdown="1">\n<summary>S</summary>\n\n[x](gone.md)\n\n</details>',
        "gone.md",
    ),
    ("in a diagram", "dead-link", '```mermaid\npie\n  click A "gone.md"\n```', "gone"),
    ("anchor only in code", "dead-anchor", '[x](#ghost)\n\n`<a id="ghost"></a>`', "#ghost"),
    ("anchor only in a fence", "dead-anchor", "[x](#ghost)\n\n```\n## Ghost\n```", "#ghost"),
    ("own address", "own-address", "[x](https://github.com/o/r/blob/main/docs/target.md)", "o/r"),
    (
        "own address, missing file",
        "dead-link",
        "[x](https://github.com/o/r/blob/main/docs/gone.md)",
        "github",
    ),
    ("own site", "own-address", "<https://h.example/base/target.html>", "h.example"),
    ("footnote with a hyphen", "footnote", "a[^long-name]", "[^long-name]"),
    ("full-width parentheses", "link-syntax", "见[文]（target.md）", "target.md"),
    ("blank before the parenthesis", "link-syntax", "[text] (target.md)", "target.md"),
    ("no-break space", "view-difference", "[x](target.md\u00a0)", "target.md"),
    ("Markdown in a raw table", "markdown-in-html", MARKED_CELL, "<td"),
    ("heading level", "heading-level", "## A\n\n#### B", "####"),
    ("second title", "heading-level", "# Again", "Again"),
    ("self link", "self-link", "[x]({name}#t)", "{name}"),
    ("blank in a path", "view-difference", "[x](with space.md)", "with space"),
    ("unencoded number sign", "dead-link", "[x](c#.md)", "c#.md"),
    ("unclosed fence", "fence", "x\n\n```python\ny", "```python"),
    ("include", "include", '--8<-- "gone.md"', "gone.md"),
    ("include that cannot be read", "include", '```\n--8<-- "code/latin.py"\n```', "latin"),
    ("include with a quote", "include", "```\n--8<-- \"code/x'.py\"\n```", "x'.py"),
    ("include with a blank behind", "include", '```\n--8<-- "code/x.py" \n```', "x.py"),
    ("include without section", "include", '```\n--8<-- "code/x.py:nope"\n```', "nope"),
    ("name that the site takes for a tag", "unsafe-html", "x\n\n- a <host_name>", "<host_name>"),
    ("angled target in raw HTML", "unsafe-html", "<div>\n[x](<no such.md>)\n</div>", "no such"),
    ("link to a tag", "dead-link", "x\n\narr[i](<b>x</b>)", "arr"),
    ("footnote in indented code", "footnote", "a[^1]\n\n    [^1]: x", "a[^1]"),
    ("script", "unsafe-html", "<script>alert(1)</script>", "<script>"),
    ("event handler", "unsafe-html", '<b onclick="x()">y</b>', "onclick"),
    ("scripted link", "unsafe-html", "[x](javascript:alert(1))", "javascript"),
    ("invisible separator", "encoding", "a\u2028b", "\u2028"),
    ("host without scheme", "dead-link", "[x](www.example.com)", "www"),
    ("backslash", "dead-link", "[x](sub\\page.md)", "page.md"),
]  # fmt: skip
FILES: dict[str, str | bytes] = {
    "index.md": "# Home\n",
    "target.md": "# Target\n\n## NVLink 发展\n\n## Two words\n\n## 什么是 RDMA？\n\n## 显存带宽\n",
    "pair.md": "# 一对\n",
    "pair.en.md": "# Pair\n",
    "sub/page.md": "# Page\n",
    "with space.md": "# Space\n",
    "c#.md": "# Sharp\n",
    "img/used.png": b"",
    "img/used.en.png": b"",
    "img/orphan.png": b"",
    "code/latin.py": b"# caf\xe9\n",
    "code/x.py": "# --8<-- [start:main]\nx\n# --8<-- [end:main]\n",
    "parts/snippet.md": "Snippet\n\nfirst\n\n[x](only-from-parts.md) [y](../target.md)\n",
    "parts/only-from-parts.md": "# Only\n",
    "bom.md": b"\xef\xbb\xbf# Mark\n",
    "latin.md": b"# L\n\ncaf\xe9\n",
    "deep/includes.md": '# Includes\n\n--8<-- "parts/snippet.md"\n',
}
CONFIG = """\
site_name: x
hooks: [hooks/adapter.py]
markdown_extensions: [abbr, admonition, attr_list, def_list, footnotes, md_in_html,
  pymdownx.arithmatex, pymdownx.details, pymdownx.quotes, pymdownx.snippets: {base_path: [docs]},
  pymdownx.superfences, pymdownx.tabbed]
"""
# What the files themselves hold: (file, line, rule)
PLANTED = {
    ("docs/bom.md", 1, "encoding"),
    ("docs/latin.md", 3, "encoding"),
    ("docs/deep/includes.md", 3, "include"),
    ("docs/img/orphan.png", 0, "orphan-asset"),
    ("mkdocs.yml", 7, "nav-missing"),
    ("docs/absent.md", 1, "nav-absent"),
}
VALID = [
    "[x](target.md) [y](target.md#two-words) [z](#t)",
    "[x](target.md#nvlink-%E5%8F%91%E5%B1%95) [y](target.md#nvlink-发展)",
    "[x](target.md#什么是-rdma) [y](target.md#显存带宽)",
    "[x](with%20space.md) [y](<with space.md>) [z](c%23.md)",
    '[x](target.md "a title") [y](target.md \'t (x)\') [z](<target.md> "t")',
    "[a [b] c](target.md) [`]`](target.md) [\\]](target.md)",
    "[![p](img/used.png)](target.md)",
    "![p](img/used.png){ width=20 }",
    "[x][lab] [lab][] [lab]\n\n[lab]: target.md#two-words 'title'",
    "[X][LAB]\n\n[lab]: target.md",
    "![p][pic]\n\n[pic]: <img/used.png>",
    "a[^1] b[^long-name]\n\n[^1]: one\n[^long-name]:\n    two\n\n    three [x](target.md)",
    "`[x](gone.md)` ``[x](gone.md) ` `` `` `[x](gone.md)` ``",
    "```\n[x](gone.md)\n```\n\n~~~~\n```\n[x](gone.md)\n~~~~",
    "1. a\n\n    ```python\n    # [x](gone.md)\n    ```\n\n2. b",
    "text\n\n    [x](gone.md)\n\ntext",
    "- a\n\n        [x](gone.md)",
    "<!-- [x](gone.md) -->\n\ntext <!-- ![](gone.png) --> more",
    "<!--\n\n[x](gone.md)\n\n<a href='gone.md'>x</a>\n-->",
    "\\[x](gone.md) \\![x](target.md)",
    "$[x](gone.md)$ costs $5 and [y](target.md) $6",
    "$$\n[x](gone.md)\n$$",
    "[ ] [x] arr[i][j] and cite [1][2] and [^a-z]\n\n- [ ] open\n- [x] done",
    '<a id="here"></a>\n\n[x](#here)',
    '<a name="old"></a> [x](#old)',
    '<a id="both" name="both"></a>',
    '<span id="s">x</span>[y](#s)',
    "[x](https://e.example/gone.md#nope) <https://e.example> [m](mailto:a@b.c)",
    "[x](//e.example/y) [top](#top) [up](#)",
    "[x](img/used.png#xywh=1,2) [d](code/x.py)",
    '<a href="#t">x</a> <img src="img/used.png" alt="">',
    '<picture>\n<source srcset="img/used.png 1x, img/used.png 2x">\n'
    '<img src="img/used.png" alt="x">\n</picture>',
    '<img alt="p" src=\'img/used.png\'/>',
    "| a | b |\n|---|---|\n| [x](target.md) | `a|b` |\n| \\| | [y](target.md#two-words) |",
    '=== "A"\n\n    [x](target.md)\n\n=== "B"\n\n    - [y](target.md)',
    "> [!WARNING]\n> [x](target.md)\n>\n> ```\n> [y](gone.md)\n> ```",
    '```mermaid\nflowchart LR\n  A["[x](gone.md)"] --> B\n'
    '  click A "target.html"\n  click B call f()\n```',
    "[//]: # (a comment)\n\n[comment]: # (another)",
    "## Setext\n\nUnder\n-----\n\n[x](#under)",
    "## A & B / C: d_e\n\n[x](#a--b--c-d_e)",
    "## Emoji 🚀 rocket\n\n[x](#emoji--rocket)",
    "## `code` and *em*\n\n[x](#code-and-em)",
    "## Linked [title](target.md)\n\n[x](#linked-title)",
    "[x](https://github.com/o/r/issues/1) [y](https://github.com/o/r/blob/v1.2/docs/gone.md)",
    "[x](https://github.com/o/r/blob/main/README.md) [y](https://github.com/o/other/blob/main/a.md)",
    "[x](pair.md)",
    "[x](./target.md) [y](sub/../target.md) [z](sub/page.md)",
    "[x](target.md#:~:text=Two)",
    "[long\ntext](target.md\n\"title\")",
    "Term\n:   [x](target.md)\n\nOther\n:   - [y](target.md)",
    "*[HTML]: [x](gone.md)\n\nHTML",
    '```python\n--8<-- "code/x.py:main"\n```',
    ";--8<-- \"gone.md\"",
    "## Same\n\n### Same again",
    "## The `x` flag\n\n### The `y` flag\n\n## `a`\n\n## `b`",
    "*[md]: words that nobody uses\n\ntext",
    "> [!NOTE]\n> a[^1]\n>\n> [^1]: n",
    "- a[^1]\n\n    [^1]: n\n\nb[^2]\n\n=== \"A\"\n\n    x\n\n    [^2]: n",
    "> - [l]: target.md\n\n[x][l] `<host_name>` `` <a_b> ``\n\n```\n<c_d>\n```",
    "[x](target.md)<br>[y](target.md) &amp; <kbd>Ctrl</kbd>",
    '<div markdown="1">\n\n[x](target.md)\n\n</div>',
    "{{ macro }} [x]({{ url }}/gone.md)",
]  # fmt: skip


def write(root: Path) -> dict[str, tuple[str, int]]:
    """Write the tree; return the (rule, line) planted in each file of one defect."""
    docs = root / "docs"
    (root / "README.md").parent.mkdir(parents=True, exist_ok=True)
    (root / "README.md").write_text("# R\n", encoding="utf-8")
    planted = {}
    for number, (_, rule, body, mark) in enumerate(DEFECTS):
        name = f"defect-{number:02}.md"
        text = f"# T\n\n{body}\n".replace("{name}", name)
        needle = mark.replace("{name}", name)
        lines = text.split("\n")
        line = next((n for n, one in enumerate(lines, 1) if needle and needle in one), 0)
        planted[f"docs/{name}"] = (rule, line or len(lines) - 3)
        FILES[name] = text
    for number, body in enumerate(VALID):
        FILES[f"valid-{number:02}.md"] = f"# T\n\n{body}\n"
    for path, content in FILES.items():
        file = docs / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    (docs / "absent.md").write_text("# Absent\n", encoding="utf-8")
    pages = sorted(path for path in FILES if path.endswith(".md"))
    config = CONFIG + "nav:\n  - nothing.md\n" + "".join(f"  - {path}\n" for path in pages)
    (root / "mkdocs.yml").write_text(config, encoding="utf-8")
    return planted
