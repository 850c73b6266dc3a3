"""The tree that block parsing builds, as far as it decides what is read as inline Markdown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from hooks.markdown.reader.lines import Line

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
CODE = frozenset({"pre", "math"})
"""Elements whose text is not read."""
LISTS = frozenset({"ul", "ol"})


@dataclass(slots=True)
class Node:
    """An element: its own lines, its children, and the lines that follow it in its parent."""

    tag: str
    text: list[Line] = field(default_factory=list)
    children: list[Node] = field(default_factory=list)
    tail: list[Line] = field(default_factory=list)

    def add(self, tag: str, text: list[Line] | None = None) -> Node:
        """Append a child and return it."""
        child = Node(tag, text or [])
        self.children.append(child)
        return child

    @property
    def last(self) -> Node | None:
        """The last child, if there is one."""
        return self.children[-1] if self.children else None

    def wrap_text(self) -> None:
        """Move the text into a paragraph before the other children, as loose items have it."""
        if self.text:
            self.children.insert(0, Node("p", self.text))
            self.text = []


class Run(NamedTuple):
    """Lines that are read together as inline Markdown, and the element they belong to."""

    tag: str
    lines: list[Line]
    may_end_block: bool = True
    """Whether an attribute list at the end would be one of the element."""


def runs(root: Node) -> list[Run]:
    """Return the runs of a tree in the order of the document."""
    result: list[Run] = []
    stack: list[tuple[Node, bool, bool]] = [(root, False, False)]
    while stack:
        node, is_tail, may_end = stack.pop()
        if is_tail:
            # The line break in front is part of what follows a block.
            start = ("", *node.tail[0][1:])
            result.append(Run("", [start, *node.tail], may_end))
            continue
        children = node.children
        is_item = node.tag == "li"
        has_list = is_item and any(child.tag in LISTS for child in children)
        if node.text and node.tag not in CODE:
            # Behind its text stand blocks: then the list belongs to none, but for an inner list.
            alone = not children or (is_item and children[0].tag in LISTS)
            result.append(Run(node.tag, node.text, alone))
        for number in range(len(children) - 1, -1, -1):
            child = children[number]
            if child.tail:
                stack.append((child, True, number == len(children) - 1 and not has_list))
            stack.append((child, False, False))
    return result
