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
from tests.samples import read_yaml

DOCS = Path(__file__).resolve().parents[2] / "docs"
GROUPS = read_yaml(Path(__file__).with_name("cases.yml"))
CASES = [text for texts in GROUPS.values() for text in texts]
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
    shown = [
        node.attributes
        for node in LexborHTMLParser(f"<body>{html}").css("[href],[src]")
        if not OWN_CLASSES & set((node.attributes.get("class") or "").split())
    ]
    found = {(one[name] or "").strip() for one in shown for name in ("href", "src") if name in one}
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
