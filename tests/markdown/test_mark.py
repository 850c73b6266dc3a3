"""Marks change nothing but where they stand: the same page, and every address of it is known.

Each text is rendered by the extensions of mkdocs.yml as it is, and with its addresses marked.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from hooks.markdown import Source, finish, mark, read, render
from hooks.markdown.reading import OWN_CLASSES

DOCS = Path(__file__).resolve().parents[2] / "docs"
CASES = [
    # Lists: four spaces, not two; nothing directly after text
    "- a\n  - [b](b.md)\n    - [c](c.md)\n",
    "- a\n\n    [b](b.md)\n\n        [code](c.md)\n",
    "- a\n\n  [b](b.md)\n\n      [c](c.md)\n",
    "1. a\n\n   [b](b.md)\n\n2. c\n",
    "text\n- [a](a.md)\n    [b](b.md)\n",
    "text\n\n    [code](c.md)\n",
    "-  a\n\n     [b](b.md)\n",
    "* a\n    * b\n        * c\n\n            [d](d.md)\n\n                [code](c.md)\n",
    "- a\n\n\n    [b](b.md)\n",
    "- # H [a](a.md)\n    text [b](b.md)\n",
    "+ a\n<div>\n</div>\n    - [code](c.md)\n",
    "1) [a](a.md)\n    [b](b.md)\n",
    "- [ ] [a](a.md)\n- [x] [b](b.md)\n",
    # Headings
    "#no space [a](a.md)\n",
    "text\n# H\nmore [a](a.md)\n",
    "# Same\n\n# Same\n\n# Same-1\n",
    "Under\n=====\n\nLine\n---\n\ntext\nLine\n---\n",
    "## A `b` *c* [d](d.md) & e\n\n## 显存：带宽？\n\n## $x$ y\n",
    "## T { #own }\n\n## U {: #two .c }\n\n## V {#three}\n\n### `c`{#four} W\n",
    "## A\n\n## T { #a }\n",
    "####### seven\n",
    # Fences
    "- a\n\n    ```python\n    [b](b.md)\n    ```\n",
    "  ```\n  [a](a.md)\n  ```\n",
    '```python title="x"\n[a](a.md)\n```\n',
    "```python title=x\n[a](a.md)\n```\n",
    "```python:file.py\n[a](a.md)\n```\n",
    "``` {.python #fid}\n[a](a.md)\n```\n",
    "```\n[a](a.md)\n",
    "````\n```\n[a](a.md)\n````\n",
    "```\n[a](a.md)\n`````\n[b](b.md)\n```\n",
    "> ```\n> [a](a.md)\n> ```\n> [b](b.md)\n",
    "> ```\n[a](a.md)\n> ```\n",
    "    ```\n    [a](a.md)\n    ```\n",
    "    code\n```\n[a](a.md)\n```\n",
    "~~~ python\n[a](a.md)\n~~~\n",
    "```inline``` [a](a.md)\n",
    # Containers
    '!!! note "T"\n    [a](a.md)\n',
    '!!! note "T"\n\n    [a](a.md)\n',
    '??? note "T [t](t.md)"\n    [a](a.md)\n\n    - [b](b.md)\n\n        [c](c.md)\n\n[d](d.md)\n',
    '=== "A"\n\n    [a](a.md)\n\n=== "B [t](t.md)"\n\n    ```\n    [b](b.md)\n    ```\n\n'
    "    [c](c.md)\n",
    "> [!NOTE]\n> [a](a.md)\n\n> [!TIP]- T [t](t.md)\n>\n> - [b](b.md)\n",
    "> a\n> > [b](b.md)\nlazy [c](c.md)\n",
    # Definition lists, abbreviations, footnotes
    "T [t](t.md)\n:   [a](a.md)\n\n    [b](b.md)\n\n        [code](c.md)\n",
    "T\n\n: [a](a.md)\n",
    "*[AB]: [a](a.md)\n\nAB\n",
    "*[a](a.md)* [b](b.md)\n[l]: c.md\n",
    "a[^1]\n\n[^1]: [a](a.md)\n\n    [b](b.md)\n\n        [code](c.md)\n\n[d](d.md)\n",
    "a[^1] b[^2]\n\n[^1]: [a](a.md)\n[^2]: [b](b.md)\n    [c](c.md)\n",
    "a[^1]\n\n[^1]: [a](a.md)\n\n\n    [b](b.md)\n",
    "a[^1]\n\n[^1]: x\n[^1]: [a](a.md)\n",
    "[^no] [a](a.md)\n",
    # References
    "[a][l] [l][] [l] ![p][l]\n\n[l]: d.md\n",
    "[a]\n[l]\n\n[l]:\n  d.md\n  'title'\n",
    "[l]: a.md\n[m]: b.md 'x'\ntext [x][l] [y][m]\n",
    "[l]: a.md\n[l]: b.md\n\n[x][l]\n",
    "[x][L  M]\n\n[l m]: a.md\n",
    "> [l]: a.md\n\n[x][l]\n",
    # HTML
    "<div>\n[a](a.md)\n\n[b](b.md)\n</div>\n\n[c](c.md)\n",
    "<div>[a](a.md)</div> [b](b.md)\n",
    "<div markdown>\n[a](a.md)\n\n## In\n\n<p>[b](b.md)</p>\n</div>\n",
    '<details markdown="1">\n<summary>[a](a.md)</summary>\n\n- [b](b.md)\n\n</details>\n',
    "  <div markdown>\n[a](a.md)\n</div>\n",
    "<p>[a](a.md)</p>\ntext\n",
    "text <div>[a](a.md)</div>\n",
    '<a id="x"></a>\n## H\n\n<img src="i.png" alt=""> <a href="b.md">b</a>\n',
    "<span>[a](a.md)</span>\n",
    "<pre>\n[a](a.md)\n</pre>\n",
    "<div>\nnever closed [a](a.md)\n",
    "<!-- [a](a.md) -->\n\n[b](b.md) <!-- [c](c.md) --> [d](d.md)\n",
    "<!--\n\n[a](a.md)\n\n-->\n",
    "<table><tr><td>[a](a.md)</td></tr></table>\n",
    "- <div>[a](a.md)</div>\n",
    "<hr>\n[a](a.md)\n",
    "<https://a.example/b> <mailto:a@b.c> <b>\n",
    # Tables
    "| a | b |\n|---|---|\n| [a](a.md) | [b](b.md) |\n| `x|y` | [c](c.md) |\n",
    "a | b\n--|--\n[a](a.md) | [b|c](b.md)\n",
    "text\n| a | b |\n|---|---|\n| [a](a.md) | b |\n",
    "- x\n\n    | a | b |\n    |---|---|\n    | [a](a.md) | b |\n",
    # Attribute lists
    "text\n{: #p }\n\n[a](a.md){#l} **b**{#s} *e*{#e} `c`{#c} ![i](i.png){#i}\n",
    "text {#no}\n\nx{#no2}\n",
    "| a {#cell} | b |\n|---|---|\n| c | d {#d} |\n",
    # Inline
    "[a [b] c](a.md) [`]`](b.md) [![i](i.png)](c.md)\n",
    "[a](<b c.md>) [a](b c.md) [a](b.md 'it') [a](b(c).md \"t (x)\")\n",
    "[a](b.md\n'title') [a\nb](c.md)\n",
    "\\[a](a.md) \\\\[b](b.md) \\![c](c.md) `\\`[d](d.md)\n",
    "`a [b](b.md)` ``c ` [d](d.md)`` `e [f](f.md)\n",
    "$[a](a.md)$ $5 [b](b.md) $6 \\([c](c.md)\\) \\$[d](d.md)\\$\n",
    "$$\n[a](a.md)\n$$\n\n\\[\n[b](b.md)\n\\]\n",
    "[a]() [](b.md) ![](i.png) [a](#) [a](<>)\n",
    "[a](a_b_c.md) [b](a\\_b.md) [c](a&amp;b.md) [d](%E6%98%BE.md)\n",
    "*[a](a.md)* **[b](b.md)** ~~[c](c.md)~~ ^^[d](d.md)^^\n",
    "tab\there\n\n\t[code](c.md)\n\n-\t[a](a.md)\n",
    # An attribute list that does not end its paragraph
    "a {#no} b\n\na\n{: #no }\nb\n\na {: #no }\n",
    "a\n{: #p }`c`\n\na\n{: #q } `c`\n\na\n{: #no } b `c`\n\na `c`\n{: #r }\n",
    "a  \n{: #p }\n\na  \n{: #no } b\n",
    "## T { #a } `c`\n\n## U {#no} { #b }\n\n## `V` { #c } ##\n\n## W {#no} x\n",
    "- a\n{: #li }\n- b\n{: #no }\n> c\n- d\n{: #inner }\n    - e\n",
    "- # H\n{: #li }\n\n[^1]: a\n{: #no }\n\nb[^1]\n",
    "T {#t}\n: d {#no}\n\n| a {#a} | b |\n|---|---|\n| `c` {#c} | d {#no} e |\n",
    "*a*{#em} **b**{: #st .c } a*{#no} b_{#no} ^{#no} _x_{#u} ^y^{#sup} 2*3{#no}\n",
    "++ctrl+c++{#keys} <b>x</b>{#no} [^1]{#fn} <https://a.example>{#auto} $x${#m} `a``{#no}\n\n"
    "[^1]: n\n",
    '`c`{ id=one } `d`{ id="two words" } `e`{ title="}" #f } `g`{ #h } i }\n',
    "[`c`{#in} x](a.md){#out} [a](a.md){#no ![i](i.png){#img}\n",
    # A line of dashes or equal signs right below a fence
    "```\na b\n```\n---\n\nx\n",
    '```python title="T"\nprint(1)  # 中\n```\n===\n# H\n',
    "~~~\n[a](a.md)\n~~~\n- - -\n\n~~~\nx\n~~~\n***\n",
    "- x\n\n    ```\n    a\n    ```\n    ---\n",
    "> ```\n> a\n> ```\n> ---\n",
    "```\na\n```\n## H\n\n## a\n",
    # Links and pictures inside one another
    "[a [b](b.md) c](c.md) [[d](d.md)](e.md) [f [g](g.md)]\n",
    "[a `x` [b](b.md)](c.md) [*a* [b](d.md) [c](e.md)](f.md) [**[b](g.md)**](h.md)\n",
    "[![i](i.png)](a.md) [![i](j.png){#j} b](b.md){#b} ![a [b](no.md) c](k.png)\n",
    "[![i][p]][l] ![a [l] b](x.png) ![l] [a ![i](y.png) b][l]\n\n[l]: d.md\n[p]: p.png\n",
    "[a [l] b](a.md) [[l]](b.md) [[x][l] y](c.md) [a [b](b.md)][l]\n\n[l]: d.md\n",
    "[a [l] b] [[l]] [a [x][l]]\n\n[l]: d.md\n",
    "[a <https://e.example/x> b](a.md) [<b id='bb'>c</b>](b.md) [a[^1]](c.md)\n\n[^1]: n\n",
    '<a href="a.md">b [c](c.md)</a> <b title="[x](no.md)">y</b>\n',
    # References
    "[a] [l] [a]\n[l] [a] [b](c.md)\n\n[l]: d.md\n[a]: a.md\n",
    "[x][nowhere](a.md) [y][nowhere][l] [z][l](no.md) [nowhere][]\n\n[l]: d.md\n",
    "[`c`][] [`c`] [a\\_b] [a*b*]\n\n[`c`]: c.md\n[a\\_b]: no.md\n[a*b*]: b.md\n",
    "# [x][l] `y`\n\n## [l]\n\n## ![p][l] z\n\n[l]: d.md\n",
    "- a\n\n    [l]: d.md\n\n[l]\n",
    # Targets
    "[a](x(1)(2).md) [b](<x y.md> 'T') [c](x.md (T)) [e](a 'b' \"c\")\n",
    "[a](a.md?x=1&copy=2) [b](b&copy;.md) <a href='c.md?a&lt=1'>c</a> [d](d&#46;md)\n",
    "[a](a\\(b.md) [b](b\\<c.md) [c](c\\\\d.md) [d](d\\ e.md) [e](<e\\>f.md>)\n",
    "[a\\]b](a.md) [c\\\\](b.md) \\\\[d](d.md) [e](e.md\\) f)\n",
    "（[甲](a.md)），**[乙](b.md)**，*丙*[丁](d.md)。「[戊](e.md)」[己]( f.md )\n",
    "a\\\n[b](b.md)  \n[c](c.md)\n",
    # Code, formulas and escapes
    "``a`[b](b.md)`` \\`[c](c.md)` \\\\`[d](no.md)` ```e``[f](f.md)`\n",
    "$`[a](no.md)$` $a `$` [b](b.md)$ \\\\$[c](no.md)$ $[d](d.md) $\n",
    # Ids of headings
    "# *a* \\[b\\] `c_d` <b>e</b> [x](y.md) &lt;z&gt; _f_ ^g^ 🚀 h #\n",
    "## 中文，标题：（一） ##\n\n## a &amp; b\n\n## `a &amp; b`\n\n## x\\_y `\\`\n",
    "## [`a`](b.md) **b*c*d** a*b _c_d_ 2 * 3 * 4 `*`\n\n"
    "## ~~a~~ $x_1$ ++ctrl++ a[^1]\n\n[^1]: n\n",
    "## A\n\n## A\n\n## A-1\n\n## a {#a-1}\n\n## #\n\n##\n",
    "## <span id=s>T</span> ![i](i.png) <!-- c --> U\n\nV <b>x</b>\n---\n",
    # HTML among Markdown
    "<div markdown>\n#\n<div>\n<!-- c -->\n</div>\n</div>\n\n## H\n",
    "*[AB]: x\n*[CD]: [a](no.md)\n*[EF]: y | z\n\nAB CD\n",
    " \n## H\n",
    "| a | b |\n|---|---|\n| [a\\|b](a.md) | [c](c\\|d.md 't \\| u') |\n"
    "| `[x](no.md)|` | \\| [e](e.md) |\n",
]
PIECES = [
    *(case.rstrip("\n") for case in CASES if "never closed" not in case and "e [f](f" not in case),
    *["", "", "", "text", "- item", "1. one", "> quote", "# H", "    more [m](m.md)", "---", "***"],
]
TOKENS = """
[a](a.md) [b](b.md_"t") ![i](i.png) [l] [x][l] [x][] [ ] ( ) [a ](y.md) ](<z_z.md>) text * ** _ `
`` \\ > <https://e.x/y> https://e.x/y <a_href="h.md"> </a> <b_id="bb"> </b> {#one} {:_#two_} $
&amp; & | ! " ' # 中文 ， （ ） <br> <!--_c_--> [^1] ^ ~~ ++ctrl++ == { } a&b.md (c.md_'t_(x)')
\\[ \\]
""".split()
TOKENS = [token if token == "_" else token.replace("_", " ") for token in TOKENS]
TOKENS += [" ", " text ", "{ #three }", "  \n", "\\\n", "\n", "\n{: #four }\n", "\n- ", "\n# "]


def both(text: str) -> tuple[str, str, Source]:
    """Return the page of a text, the page of the marked text, and what was read from it."""
    marked = mark(text)
    html = render(marked.text, DOCS)
    pages = (render(text, DOCS).html, finish(html.html, marked, str))
    plain, finished = (LexborHTMLParser(f"<body>{page}").html or "" for page in pages)
    return plain, finished, read(marked, html)


def addresses(html: str) -> set[str]:
    """Return the addresses of links and images that rendered HTML holds."""
    found = set()
    for node in LexborHTMLParser(f"<body>{html}").css("[href],[src]"):
        if not OWN_CLASSES & set((node.attributes.get("class") or "").split()):
            found |= {
                (node.attributes.get(name) or "").strip()
                for name in ("href", "src")
                if name in node.attributes
            }
    return {one for one in found if not one.startswith("#__")}


@pytest.mark.parametrize("text", CASES)
def test_the_page_is_the_same_and_its_addresses_are_known(text: str) -> None:
    plain, finished, source = both(text)
    assert finished == plain
    assert {link.target.strip() for link in source.links} == addresses(plain)
    ids = re.findall(r'<h[1-6][^>]* id="([^"]*)"', plain)
    assert [heading.id for heading in source.headings] == ids


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_texts_made_at_random(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(5):
        lines = []
        for _ in range(dice.randint(2, 6)):
            indent = dice.choice(["", "", "", "", "    ", "> "])
            lines += [indent + line for line in dice.choice(PIECES).split("\n")]
            if dice.random() < 0.7:
                lines.append("")
        text = "\n".join(line.rstrip() for line in lines) + "\n"
        plain, _, source = both(text)
        assert {link.target.strip() for link in source.links} == addresses(plain), text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a](b.md)", [("b.md", 1, 5)]),
        ("x [a](b.md#c 'title') y", [("b.md#c", 1, 7)]),
        ("中文 [甲](乙.md#标题)", [("乙.md#标题", 1, 8)]),
        ("[a](<b c.md>)", [("b c.md", 1, 6)]),
        ("[a](b(c).md)", [("b(c).md", 1, 5)]),
        ("[a [b] c](d.md)", [("d.md", 1, 11)]),
        ("![alt](p.svg)", [("p.svg", 1, 8)]),
        ("[![alt](p.svg)](q.md)", [("p.svg", 1, 9), ("q.md", 1, 17)]),
        ("<https://a.b/c>", [("https://a.b/c", 1, 2)]),
        ("a\n\n- b\n    - [c](d.md)", [("d.md", 4, 11)]),
        ("> [c](d.md)\n> [e](f.md)", [("d.md", 1, 7), ("f.md", 2, 7)]),
        ("| a | b |\n|---|---|\n| [x](y.md) | [x](z.md) |", [("y.md", 3, 7), ("z.md", 3, 19)]),
        ('!!! note "n"\n    [x](y.md)', [("y.md", 2, 9)]),
        ("line\n[x](y.md) and [x](y.md)", [("y.md", 2, 5), ("y.md", 2, 19)]),
        ("[a]: b.md\n\n[t][a]", [("b.md", 1, 6)]),
        ("[a]() [b](<>)", [("", 1, 5), ("", 1, 12)]),
        ("arr[i](<b>x</b>)", [("<b>x</b>", 1, 8)]),
        # Not links
        ("`[a](b.md)`", []),
        ("``[a](b.md) ` ``", []),
        ("```\n[a](b.md)\n```", []),
        ("- x\n\n    ```\n    [a](b.md)\n    ```", []),
        ("    [a](b.md)", []),
        ("<!-- [a](b.md) -->", []),
        ("x <!-- [a](b.md) --> y", []),
        ("\\[a](b.md)", []),
        ("$[a](b.md)$", []),
        ("$$\n[a](b.md)\n$$", []),
        ("[a]", []),
        ("- [ ] task\n- [x] done", []),
        ("[^1]\n\n[^1]: note", []),
    ],
)
def test_links_and_their_places(text: str, expected: list[tuple[str, int, int]]) -> None:
    found = [(link.target, link.line, link.column) for link in both(text)[2].links]
    assert found == expected


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ('<no such file.md> [x](<no such file.md> "title")', "no such file.md"),
        ("[x]( file.md )", "file.md"),
        ("[![p][img]](a.md)\n\n[img]: none.svg", "none.svg"),
        ("| a | b |\n|---|---|\n| `x\\|y` | [c](gone.md) |", "gone.md"),
        ("<a href=gone.md>x</a>", "gone.md"),
    ],
)
def test_every_way_to_write_an_address_is_seen(text: str, target: str) -> None:
    assert target in {link.target for link in both(text)[2].links}


def test_headings_hold_code_and_formulas() -> None:
    text = (
        "## The `x` flag\n\n## The `y` flag\n\n## `a`\n\n## A $x_1$ b\n\n## With[^1]\n\n[^1]: n\n"
    )
    found = [(one.text, one.line) for one in both(text)[2].headings]
    expected = ["The x flag", "The y flag", "a", "A x_1 b", "With"]
    assert found == list(zip(expected, range(1, 10, 2), strict=True))


def test_footnotes() -> None:
    source = both("a[^one] b[^two]\n\n[^one]: see [x](y.md)[^two]\n[^two]: z\n")[2]
    uses = [(one.name, one.line) for one in source.footnote_uses]
    assert uses == [("one", 1), ("two", 1), ("two", 3)]
    assert [(one.name, one.line) for one in source.footnote_definitions] == [("one", 3), ("two", 4)]


def test_fences_and_tags() -> None:
    text = 'x\n\n```mermaid\npie\n```\n\n<a id="here"></a>\n\ny <img src="p.png" alt="q">\n'
    source = both(text)[2]
    assert [(fence.info, fence.line) for fence in source.fences] == [("mermaid", 4)]
    assert [(tag.name, tag.line, tag.column) for tag in source.tags] == [("a", 7, 1), ("img", 9, 3)]
    assert source.tags[1].get("src") == "p.png"


@pytest.mark.parametrize(
    "text",
    ["[" * 5000, "![" * 3000, "`" * 4001, "[a](" * 2000, "<a " * 3000, "$" * 3001, "*" * 3000],
)
def test_hostile_text_is_marked(text: str) -> None:
    assert finish(mark(text).text, mark(text), str).count("x-link") == 0
