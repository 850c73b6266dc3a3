"""Addresses that a note names outside its text: in diagrams and in front matter."""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml

from hooks.findings import Fast
from hooks.markdown import Link, split
from hooks.notes import Note

_CLICK = re.compile(
    r"^[ \t]*(?:click[ \t]+[^\s\"]+[ \t]+(?:href[ \t]+)?|link[ \t]+[^\s\":]+[ \t]+)"
    r"\"(?P<target>[^\"]+)\"",
    re.MULTILINE,
)
_PATH = re.compile(
    r"(?![A-Za-z][A-Za-z0-9+.-]*:)(?:\.{0,2}/)?[^\s:*?\"<>|{}\[\]()]+"
    r"\.(?:md|html?|png|jpe?g|gif|svg|webp|avif|pdf|mp4|webm|zip)(?:#\S*)?\Z",
    re.IGNORECASE,
)
_LINK = re.compile(r"\]\((?P<target>[^()\s]+)\)")


def of_diagrams(note: Note) -> Iterator[Link]:
    """Yield the addresses of `click` lines in mermaid fences."""
    lines = note.text.split("\n")
    for fence in note.source.fences:
        if fence.info.partition(" ")[0] != "mermaid":
            continue
        for match in _CLICK.finditer(fence.text):
            target = match["target"]
            number = fence.line + fence.text.count("\n", 0, match.start("target"))
            column = lines[number - 1].find(f'"{target}"') + 2
            yield Link(target, number, column, where="diagram")


def of_fields(note: Note) -> Iterator[Link]:
    """Yield what front matter names: whole values that are paths, and Markdown links in values."""
    text = split(note.text).yaml_text
    if not text or not re.search(r"\.\w{2,4}\b|\]\(", text):
        return
    try:
        waiting = [yaml.compose(text, Loader=Fast)]
    except (yaml.YAMLError, ValueError, RecursionError):
        return  # the front matter itself is reported elsewhere
    for _ in range(10_000):  # anchors and aliases can make a tree endless
        if not waiting:
            return
        node = waiting.pop()
        if isinstance(node, yaml.MappingNode):
            waiting += [value for _, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.ScalarNode):
            # +2: marks are 0-based, and the opening `---` is a line of its own.
            line = node.start_mark.line + 2
            column = node.start_mark.column + 1 + (node.style in ("'", '"'))
            if _PATH.match(node.value):
                yield Link(node.value, line, column, where="field")
            for match in _LINK.finditer(node.value):
                yield Link(match["target"], line, column + match.start("target"), where="field")
