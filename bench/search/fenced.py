"""Tell the lines of Markdown that stand in fenced blocks from the others."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FENCE = re.compile(r"^[ \t>]*(?P<mark>`{3,}|~{3,})(?P<rest>.*)$")


def marked(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each line and whether it belongs to a fenced block, its fences included.

    A block that is never closed ends with the page.
    """
    fence = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        yield line, bool(fence or found)
        if found is None:
            continue
        mark = found["mark"]
        if not fence:
            fence = mark
        elif mark[0] == fence[0] and len(mark) >= len(fence) and not found["rest"].strip():
            fence = ""
