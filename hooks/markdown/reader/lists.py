"""Lists, definition lists, and what is indented below their items, as Python-Markdown reads them.

A list needs a blank line before it, and four blanks before what belongs to an item.
Sources: markdown/blockprocessors.py and markdown/extensions/def_list.py 3.11.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hooks.markdown.reader.lines import INDENT, chunks, cut, detab, loose_detab, strip
from hooks.markdown.reader.nodes import Node

if TYPE_CHECKING:
    from hooks.markdown.reader.blocks import Block, Blocks

_ORDERED = re.compile(r" {0,3}\d+\. +")
_UNORDERED = re.compile(r" {0,3}[*+-] +")
_ITEM = re.compile(r" {0,3}(?:\d+\.|[*+-]) +")
_NESTED_ITEM = re.compile(r" {4,7}(?:\d+\.|[*+-]) +")
_DEFINITION_ITEM = re.compile(r" {0,3}: {1,3}")
_FLUSH = re.compile(r" {0,3}[^ :]")


def try_item_content(
    blocks: Blocks, parent: Node, block: Block, items: tuple[str, ...], lists: tuple[str, ...]
) -> bool:
    """Read an indented block below a list item as more of that item."""
    if blocks.is_in("detabbed"):
        return False
    last = parent.last
    if parent.tag not in items and (last is None or last.tag not in lists):
        return False
    level, sibling = _item_level(blocks, parent, block, items, lists)
    block = loose_detab(block, level)
    blocks.states.append("detabbed")
    if parent.tag in items:
        target = last if last is not None and last.tag in lists else parent
        blocks.read_blocks(target, [block])
    elif sibling.tag in items:
        blocks.read_blocks(sibling, [block])
    elif sibling.last is not None and sibling.last.tag in items:
        sibling.last.wrap_text()
        blocks.read(sibling.last, block)
    else:
        blocks.read_blocks(sibling.add(items[0]), [block])
    blocks.states.pop()
    return True


def _item_level(
    blocks: Blocks, parent: Node, block: Block, items: tuple[str, ...], lists: tuple[str, ...]
) -> tuple[int, Node]:
    text = block[0][0]
    indent = (len(text) - len(text.lstrip(" "))) // len(INDENT)
    level = 1 if blocks.is_in("list") else 0
    while indent > level:
        child = parent.last
        if child is None or child.tag not in (*lists, *items):
            break
        if child.tag in lists:
            level += 1
        parent = child
    return level, parent


def try_list(blocks: Blocks, parent: Node, block: Block) -> bool:
    """Read a block that begins with a list marker; items join the list before it."""
    is_ordered = _ORDERED.match(block[0][0]) is not None
    if not is_ordered and not _UNORDERED.match(block[0][0]):
        return False
    items = _items(block)
    sibling = parent.last
    if sibling is not None and sibling.tag in ("ol", "ul"):
        target = sibling
        if target.last is not None:
            target.last.wrap_text()
            inner = target.last.last
            if inner is not None and inner.tail:
                target.last.add("p", inner.tail)
                inner.tail = []
        blocks.in_state("looselist", target.add("li"), [items.pop(0)])
    elif parent.tag in ("ol", "ul"):
        target = parent
    else:
        target = parent.add("ol" if is_ordered else "ul")
    for item in items:
        is_inner = item and item[0][0].startswith(INDENT) and target.last is not None
        inside = target.last if is_inner else target.add("li")
        assert inside is not None
        blocks.in_state("list", inside, [item])
    return True


def try_definition_list(blocks: Blocks, parent: Node, block: Block, waiting: list[Block]) -> bool:
    """Read a block that holds `: definition` below its terms."""
    index, match = next(
        ((n, m) for n, line in enumerate(block) if (m := _DEFINITION_ITEM.match(line[0]))),
        (0, None),
    )
    if match is None:
        return False
    terms = [strip(line) for line in block[:index]]
    sibling = parent.last
    if not terms and sibling is None:
        return False
    rest = block[index + 1 :]
    if rest and not _FLUSH.match(rest[0][0]):
        content, rest = detab(rest)
    else:
        content, rest = rest, []
    state = "list"
    if not terms and sibling is not None and sibling.tag == "p":
        state = "looselist"
        terms = [strip(line) for line in sibling.text]
        parent.children.pop()
        sibling = parent.last
    if sibling is not None and sibling.tag == "dl":
        target = sibling
        last = target.last
        if not terms and last is not None and last.tag == "dd" and last.children:
            state = "looselist"
    else:
        target = parent.add("dl")
    for term in terms:
        target.add("dt", [term])
    item = [cut(block[index], match.end()), *content]
    blocks.in_state(state, target.add("dd"), chunks(item))
    if rest:
        waiting.append(rest)
    return True


def _items(block: Block) -> list[Block]:
    """Split a block that begins with a list marker into its items."""
    items: list[Block] = []
    for line in block:
        match = _ITEM.match(line[0])
        if match:
            items.append([cut(line, match.end())])
        elif _NESTED_ITEM.match(line[0]) and not items[-1][0][0].startswith(INDENT):
            items.append([line])
        else:
            items[-1].append(line)
    return [[line for line in item if line[0]] for item in items]
