"""Addresses that a note names in its diagrams."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hooks.markdown import Link, place_in
from hooks.notes import Note

_CLICK = re.compile(
    r"^[ \t]*(?:click[ \t]+[^\s\"]+[ \t]+(?:href[ \t]+)?|link[ \t]+[^\s\":]+[ \t]+)"
    r"\"(?P<target>[^\"]+)\"",
    re.MULTILINE,
)


def of_diagrams(note: Note) -> Iterator[Link]:
    """Yield the addresses of `click` lines in mermaid fences."""
    lines = note.text.split("\n")
    for fence in note.source.fences:
        for match in _CLICK.finditer(fence.text) if fence.info.split(" ")[0] == "mermaid" else ():
            target = match["target"]
            line = fence.line + place_in(fence.text, match.start("target"))[0] - 1
            yield Link(target, line, lines[line - 1].find(f'"{target}"') + 2, where="diagram")
