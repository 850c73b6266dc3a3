"""A text as GitHub reads it: headings, fences, tags with their lines, ids, and what is a link."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from hooks.markdown import html_tags
from hooks.markdown.mark import TOKEN, Marked, plain
from hooks.markdown.slugs import Slugger
from hooks.markdown.source import Fence, Heading, HtmlTag

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


@dataclass(slots=True)
class View:
    """What GitHub makes of a text."""

    headings: list[Heading] = field(default_factory=list)
    fences: list[Fence] = field(default_factory=list)
    tags: list[HtmlTag] = field(default_factory=list)
    linked: set[int] = field(default_factory=set)
    """The numbers of the marks that are links there."""

    @property
    def ids(self) -> frozenset[str]:
        """The ids of headings and tags."""
        found = {heading.id for heading in self.headings}
        for tag in self.tags:
            found.add(tag.get("id") or "")
            found.add((tag.get("name") if tag.name == "a" else "") or "")
        return frozenset(found - {""})


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin
    from mdit_py_plugins.footnote import footnote_plugin

    parser = MarkdownIt("gfm-like", {"html": True, "linkify": False})
    return parser.use(footnote_plugin).use(dollarmath_plugin)


def read(marked: Marked) -> View:
    """Return GitHub's view of a marked text; lines and columns are those of the text."""
    view, slugger = View(), Slugger()
    tokens = _parser().parse(marked.text)
    lines = marked.text.split("\n")
    for number, token in enumerate(tokens):
        if token.type == "heading_open" and token.map is not None:
            text = plain("".join(_visible(tokens[number + 1].children or [])), marked)
            heading = Heading(int(token.tag[1]), text.strip(), slugger(text), token.map[0] + 1)
            view.headings.append(heading)
        elif token.type == "fence" and token.map is not None:
            view.fences.append(Fence(token.info.strip(), token.content, token.map[0] + 2))
        elif token.map is not None and token.type in ("html_block", "inline"):
            _read_inline(token, lines, marked, view)
    return view


def _visible(tokens: list[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type in ("text", "code_inline", "math_inline"):
            yield token.content
        elif token.type in ("softbreak", "hardbreak"):
            yield " "
        elif token.children and token.type != "image":
            yield from _visible(token.children)


def _read_inline(token: Token, lines: list[str], marked: Marked, view: View) -> None:
    pieces = [token.content] if token.type == "html_block" else []
    waiting = list(token.children or [])
    while waiting:
        one = waiting.pop(0)
        for name in ("href", "src"):
            found = TOKEN.match(str(one.attrs.get(name, "")))
            if found:
                view.linked.add(int(found["number"]))
        if one.type == "html_inline":
            pieces.append(one.content)
        waiting += one.children or []
    assert token.map is not None
    number, column = token.map[0], 0
    for piece in pieces:
        at = piece.find("<")
        while at >= 0:
            tag = html_tags.start_tag(piece, at)
            if tag is not None and not piece.startswith("<!--"):
                first = tag.group().split("\n")[0]
                while number < len(lines) - 1 and first not in lines[number][column:]:
                    number, column = number + 1, 0
                column = lines[number].find(first, column)
                start = len(plain(lines[number][: max(column, 0)], marked)) + 1
                column = max(column, 0) + len(first)
                view.linked |= {int(one["number"]) for one in TOKEN.finditer(tag["attributes"])}
                text = plain(tag.group(), marked)
                is_empty = html_tags.is_closed_at_once(piece, tag.end()) or (
                    token.type == "inline" and f"{first}</" in lines[number]
                )
                found_tag = html_tags.attributes(text)
                name = plain(tag["name"], marked).partition(" ")[0].lower()
                view.tags.append(HtmlTag(name, found_tag, number + 1, start, text, is_empty))
            at = piece.find("<", at + 1)
