"""Links, headings and fences are found where they stand, and nowhere else."""

from __future__ import annotations

import pytest

from hooks.markdown.site import parse
from hooks.markdown.source import LinkKind


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
        ("[a]: b.md\n\n[t][a]", [("a", 3, 5)]),
        ("[a]: b.md\n\n[a]", [("a", 3, 2)]),
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
def test_links(text: str, expected: list[tuple[str, int, int]]) -> None:
    found = [(link.target, link.line, link.column) for link in parse(text).links]
    assert found == expected


def test_undefined_reference_with_text_is_kept() -> None:
    (link,) = parse("[text][nowhere]").links
    assert (link.kind, link.target) == (LinkKind.REFERENCE, "nowhere")


def test_footnotes() -> None:
    source = parse("a[^one] b[^two]\n\n[^one]: see [x](y.md)[^two]\n[^two]: z\n")
    assert [(mark.target, mark.line) for mark in source.footnote_uses] == [
        ("one", 1),
        ("two", 1),
        ("two", 3),
    ]
    assert [(mark.target, mark.line) for mark in source.footnote_definitions] == [
        ("one", 3),
        ("two", 4),
    ]


def test_fences_and_html() -> None:
    text = (
        'x\n\n```mermaid\nflowchart LR\n```\n\n<a id="here"></a>\n\ny <img src="p.png" alt="q">\n'
    )
    source = parse(text)
    assert [(fence.info, fence.line) for fence in source.fences] == [("mermaid", 4)]
    assert [(tag.name, tag.line, tag.column) for tag in source.tags] == [("a", 7, 1), ("img", 9, 3)]
    assert source.tags[1].get("src") == "p.png"


@pytest.mark.parametrize(
    "text",
    ["[" * 5000, "![" * 3000, "`" * 4001, "[a](" * 2000, "<a " * 3000, "$" * 3001, "*" * 3000],
)
def test_hostile_text_is_read(text: str) -> None:
    assert parse(text).headings == ()
