"""GitHub's view is read as CommonMark is defined: the same links as markdown-it makes of a text."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from hooks.markdown import github as commonmark
from hooks.markdown.source import LinkKind
from hooks.markdown.text import normal_label
from tests.markdown.test_same_as_site import TOKENS

CASES = [
    "[a [b](b.md) c](c.md) [[d](d.md)](e.md) [f [g](g.md)]\n",
    "[![i](i.png)](a.md) [a ![i](j.png) b][l]\n\n[l]: d.md\n",
    "[a [l] b](a.md) [[x][l] y](c.md) [a [x][nowhere]](y.md)\n\n[l]: d.md\n",
    "[x][nowhere](a.md) [z][l](no.md) [l](b.md) [x][l][l]\n\n[l]: d.md\n",
    "[`c`][] [`c`] [a\\_b]\n\n[`c`]: c.md\n[a\\_b]: d.md\n",
    "[a] [l]\n\n[l]: d.md\n[a]: a.md\n",
    "- item\n\n    [l]: d.md\n\n[l]\n",
    "text\n[l]: no.md\n\n[l]\n",
    "<!-- x\n\n[l]: no.md\n\n[l]\n",
    "[l]: a.md\n[l]: b.md\n\n[l] [x][ L ]\n",
    "[a](x(1)(2).md) [b](x(1.md) [c](<x y.md> 'T') [d](x.md (T))\n",
    "<text[a](a.md)--> <b title='[x](no.md)'>y</b> <https://a.example/[x](b.md)>\n",
    "[a](a.md?x=1&copy=2) [b](b&amp;c.md) [c](c\\(d.md)\n",
    "# [x][l] `y`\n\n[l]: d.md\n",
    "> [l]:\n> <a b.md>\n\n[l]\n",
]
KNOWN = [one for one in TOKENS if not set(one) & set("$^+") and one not in ("\\[", "\\]", "(")]


def github(text: str) -> set[str]:
    """Return the targets of the links and images that the library makes of a text."""
    parser = MarkdownIt("commonmark").enable("table")
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    found: set[str] = set()

    def walk(tokens: Sequence[Token]) -> None:
        for token in tokens:
            if token.type in ("link_open", "image"):
                found.add(str(token.attrs["href" if token.type == "link_open" else "src"]).strip())
            if token.type != "image":
                walk(token.children or [])

    walk(parser.parse(text))
    return found


def read(text: str) -> set[str]:
    """Return the same as the checks read it."""
    source = commonmark.parse(text)
    first: dict[str, str] = {}
    for one in source.definitions:
        first.setdefault(one.text, one.target)
    named = (
        first.get(normal_label(one.target)) if one.kind is LinkKind.REFERENCE else one.target
        for one in source.links
    )
    return {target.strip() for target in named if target is not None}


@pytest.mark.parametrize("text", CASES)
def test_links_are_those_of_commonmark(text: str) -> None:
    assert read(text) == github(text)


@pytest.mark.parametrize("seed", range(10))
def test_marks_in_any_order(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(60):
        text = "".join(dice.choices(KNOWN, k=dice.randint(2, 9))) + "\n\n[l]: d.md\n"
        assert read(text) == github(text), text


def test_headings_know_the_definitions() -> None:
    source = commonmark.parse("# [x][l] and [y][nowhere]\n\n[l]: d.md\n")
    assert [one.text for one in source.headings] == ["x and [y][nowhere]"]


def test_a_definition_is_placed_where_its_target_stands() -> None:
    (one,) = commonmark.parse("a\n\n> [l]:\n> <b c.md> 'T'\n").definitions
    assert (one.target, one.line, one.column) == ("b c.md", 4, 4)
