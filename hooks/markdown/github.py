"""A text as GitHub reads it: headings, fences, tags with their lines, ids, and what is a link."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin

from hooks.markdown import html_tags
from hooks.markdown.heading_ids import Slugger
from hooks.markdown.mark import TOKEN, Marked, plain
from hooks.markdown.source import Fence, Heading, HtmlTag
from hooks.markdown.text import place_in, visible

_PARSER = MarkdownIt("gfm-like", {"html": True, "linkify": False})
_PARSER.use(footnote_plugin).use(dollarmath_plugin)
_CLOSED_AT_ONCE = re.compile(r"\s{0,99}</")


class View(NamedTuple):
    """What GitHub makes of a text."""

    headings: list[Heading]
    fences: list[Fence]
    tags: list[HtmlTag]
    linked: set[int]
    """The numbers of the marks that are links there."""

    @property
    def ids(self) -> frozenset[str]:
        """The ids of headings and tags."""
        named = [tag.get("name") for tag in self.tags if tag.name == "a"]
        given = [tag.get("id") for tag in self.tags]
        return frozenset(filter(None, (*(one.id for one in self.headings), *given, *named)))


def read(marked: Marked) -> View:
    """Return GitHub's view of a marked text; lines and columns are those of the text."""
    view, slugger = View([], [], [], set()), Slugger()
    tokens = _PARSER.parse(marked.text)
    starts = [0, *accumulate(len(line) + 1 for line in marked.text.split("\n"))]
    for number, token in enumerate(tokens):
        if token.map is None:
            continue
        if token.type == "heading_open":
            text = plain(visible(tokens[number + 1].children or []), marked)
            heading = Heading(int(token.tag[1]), text.strip(), slugger(text), token.map[0] + 1)
            view.headings.append(heading)
        elif token.type == "fence":
            view.fences.append(Fence(token.info.strip(), token.content, token.map[0] + 2))
        elif token.type in ("html_block", "inline"):
            view.tags.extend(_tags(token, starts[token.map[0]], marked, view.linked))
    return view


def _tags(token: Token, at: int, marked: Marked, linked: set[int]) -> Iterator[HtmlTag]:
    """Yield the start tags of a block from an offset on, and add the marks of its links."""
    above, before, done, waiting = marked.text.count("\n", 0, at), "", at, [token]
    while waiting:
        one = waiting.pop(0)
        waiting += one.children or []
        addresses = [str(one.attrs.get(name, "")) for name in ("href", "src")]
        linked |= {int(found["number"]) for address in addresses if (found := TOKEN.match(address))}
        is_html = one.type in ("html_block", "html_inline") and not one.content.startswith("<!--")
        for tag in html_tags.start_tags(one.content) if is_html else ():
            begin = tag.group().partition("\n")[0]  # marks of lists may stand before the rest
            at = max(marked.text.find(begin, at), at)
            before += plain(marked.text[done:at], marked)
            done, text = at, plain(tag.group(), marked)
            line, column = place_in(before, len(before))
            is_empty = _CLOSED_AT_ONCE.match(marked.text, at + len(tag.group())) is not None
            at += len(begin)
            linked |= {int(found["number"]) for found in TOKEN.finditer(tag["attributes"])}
            attributes = tuple((name, value) for name, value, _, _ in html_tags.attributes(text))
            name = plain(tag["name"], marked).partition(" ")[0].lower()
            yield HtmlTag(name, attributes, above + line, column, text, is_empty)
