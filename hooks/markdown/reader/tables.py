"""Split table rows into cells where the site does: at pipes outside code.

Source: markdown/extensions/tables.py 3.11.
"""

from __future__ import annotations

import re
from collections import deque

from hooks.markdown.reader.lines import Line, strip

_CODE_OR_PIPE = re.compile(r"\\\\|(?P<escaped>\\`+)|(?P<ticks>`+)|\\\||(?P<pipe>\|)")
_END_BORDER = re.compile(r"(?<!\\)(?:\\\\)*\|\Z")


def cells(block: list[Line]) -> list[tuple[str, Line]] | None:
    """Return (`th` or `td`, text) of each cell when the block is a table, else None."""
    rows = [strip(line) for line in block]
    header = rows[0][0]
    has_border = header.startswith("|") or _END_BORDER.search(header) is not None
    heads = _split(rows[0], has_border)
    if len(heads) < 2:
        bordered = (row[0].startswith("|") or _END_BORDER.search(row[0]) for row in rows[1:])
        if not (has_border and all(bordered)):
            return None
    separator = _split(rows[1], has_border)
    if len(separator) != len(heads) or set("".join(one[0] for one in separator)) - set("|:- "):
        return None
    found = [("th", strip(cell)) for cell in heads]
    for row in rows[2:]:
        found.extend(("td", strip(cell)) for cell in _split(row, has_border)[: len(heads)])
    return [(tag, cell) for tag, cell in found if cell[0]]


def _split(row: Line, has_border: bool) -> list[Line]:
    text, number, column = row
    start, end = 0, len(text)
    if has_border:
        if text.startswith("|"):
            start = 1
        border = _END_BORDER.search(text, start)
        if border:
            end = border.start()
    found, base = [], start
    for pipe in _pipes(text[start:end]):
        found.append((text[start : base + pipe], number, column + start))
        start = base + pipe + 1
    found.append((text[start:end], number, column + start))
    return found


def _pipes(row: str) -> list[int]:
    """Return the offsets of pipes that separate cells."""
    pipes: list[int] = []
    ticks: list[tuple[int, int, int, int]] = []  # start, end, size as closer, size as opener
    for match in _CODE_OR_PIPE.finditer(row):
        if match["pipe"]:
            pipes.append(match.start())
        elif match["ticks"]:
            size = len(match["ticks"])
            ticks.append((match.start(), match.end(), size, size))
        elif match["escaped"]:
            size = len(match["escaped"]) - 1
            ticks.append((match.start(), match.end(), size, size - 1))
    regions = _regions(ticks)
    kept, index = [], 0
    for pipe in pipes:
        while index < len(regions) and regions[index][1] <= pipe:
            index += 1
        if index == len(regions) or pipe < regions[index][0]:
            kept.append(pipe)
    return kept


def _regions(ticks: list[tuple[int, int, int, int]]) -> list[tuple[int, int]]:
    """Pair runs of ticks of one size, each with the next that fits."""
    later: dict[int, deque[int]] = {}
    for index, tick in enumerate(ticks):
        later.setdefault(tick[2], deque()).append(index)
    regions, position = [], 0
    while position < len(ticks):
        size = ticks[position][3]
        queue = later.get(size, deque())
        while queue and queue[0] <= position:
            queue.popleft()
        if size and queue:
            regions.append((ticks[position][0], ticks[queue[0]][1]))
            position = queue[0] + 1
        else:
            position += 1
    return regions
