"""Blocks that hold what is indented below them: admonitions, folded details, tabs.

Sources: markdown/extensions/admonition.py 3.11, pymdownx/details.py and pymdownx/tabbed.py 13.1.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hooks.markdown.reader.lines import INDENT, TAB, Line, detab
from hooks.markdown.reader.nodes import Node

if TYPE_CHECKING:
    from hooks.markdown.reader.blocks import Block, Blocks

_ADMONITION = re.compile(r'!!! ?[\w-]+(?: +[\w-]+)*(?: +"(?P<title>.*?)")? *\Z')
_DETAILS = re.compile(
    r'\?{3}\+? ?(?:(?:[\w-]+(?: +[\w-]+)*?)?(?: +"(?P<title>.*?)")|[\w-]+(?: +[\w-]+)*?) *\Z'
)
_TAB = re.compile(r'={3}(?:\+|\+!|!\+|!)? +"(?P<title>.*?)" *\Z')
_LISTS = ("ul", "ol", "dl")


def try_container(
    blocks: Blocks, parent: Node, block: Block, waiting: list[Block], possible: set[str]
) -> bool:
    """Read a block as the start of a container, or as more content of the one before it."""
    for tag, pattern, mark in (("details", _DETAILS, "?"), ("tabs", _TAB, "=")):
        if mark in possible:
            for index, line in enumerate(block):
                match = pattern.match(line[0]) if line[0].startswith(mark) else None
                if match:
                    _start(blocks, parent, block, waiting, tag, index, match)
                    return True
            possible.discard(mark)
        if block[0][0].startswith(INDENT) and _continue(blocks, parent, block, waiting, tag):
            return True
    return False


def is_unknown(text: str) -> bool:
    """Tell whether a line would begin an admonition, which the site does not read."""
    match = _ADMONITION.match(text)  # more than one word without a title is an exclamation
    return match is not None and (match["title"] is not None or len(text[3:].split()) == 1)


def _start(
    blocks: Blocks,
    parent: Node,
    block: Block,
    waiting: list[Block],
    tag: str,
    index: int,
    match: re.Match[str],
) -> None:
    if index:
        blocks.read_blocks(parent, [block[:index]])
    content, rest = detab(block[index + 1 :])
    title: Line = (match["title"] or "", block[index][1], block[index][2])
    if title[0]:
        title = (title[0], title[1], title[2] + match.start("title"))
    if tag == "tabs":
        last = parent.last
        is_new = last is None or last.tag != "tabs" or "!" in match.group(0)[:6]
        tab_set = parent.add("tabs") if is_new or last is None else last
        node = tab_set.add("tab")
    else:
        node = parent.add(tag)
    if title[0]:
        node.add("summary", [title])
    if rest:
        waiting.append(rest)
    blocks.read(node, content)


def _continue(blocks: Blocks, parent: Node, block: Block, waiting: list[Block], tag: str) -> bool:
    """Read an indented block below a container; inside its last list, if indented so far."""
    target = parent.last
    if target is None or target.tag != tag:
        return False
    inner = target.last
    text = block[0][0]
    length = TAB
    while inner is not None and text.startswith(INDENT * 2):
        if inner.tag == "tab":
            inner = inner.last
        if inner is None or inner.tag not in _LISTS or inner.last is None:
            break
        target = inner.last
        inner = target.last
        text = text[TAB:]
        length += TAB
    content, rest = detab(block, length)
    if not content:
        return False
    if target.tag in ("li", "dd"):
        target.wrap_text()
    elif target.tag == "tabs" and target.last is not None:
        target = target.last
    if rest:
        waiting.append(rest)
    blocks.read(target, content)
    return True
