"""Lines of a note that remember where they stood, whatever is cut off in front of them.

Block structure is found by cutting: indentation, `>` and list markers go, what is left is read
again. A line is therefore its text with the number and the column at which that text begins.
"""

from __future__ import annotations

from collections.abc import Sequence

Line = tuple[str, int, int]
"""Text, 0-based number of the line, 0-based column of the text (tabs expanded)."""

TAB = 4
INDENT = " " * TAB
# What a stage has taken out stands as a mark that no source can hold (see `split`).
MARK_OPEN, MARK_CLOSE = "\x02", "\x03"


def split(text: str) -> list[Line]:
    """Return the lines of a text as Python-Markdown normalises them."""
    text = text.replace(MARK_OPEN, "\ufffd").replace(MARK_CLOSE, "\ufffd")
    if "\t" in text:
        text = text.expandtabs(TAB)
    lines = text.split("\n")
    # The first line keeps its blanks, and so is no blank line.
    return [
        ("" if number and line.isspace() else line, number, 0) for number, line in enumerate(lines)
    ]


def cut(line: Line, length: int) -> Line:
    """Return the line without its first `length` characters."""
    return (line[0][length:], line[1], line[2] + length)


def strip(line: Line) -> Line:
    """Return the line without blanks at either end."""
    text = line[0].lstrip()
    return (text.rstrip(), line[1], line[2] + len(line[0]) - len(text))


def detab(block: Sequence[Line], length: int = TAB) -> tuple[list[Line], list[Line]]:
    """Cut the indentation off the leading lines that have it; return them and the rest."""
    indent = " " * length
    for index, line in enumerate(block):
        if not line[0].startswith(indent) and line[0]:
            return [cut(one, length) for one in block[:index]], list(block[index:])
    return [cut(one, length) for one in block], []


def loose_detab(block: Sequence[Line], level: int = 1) -> list[Line]:
    """Cut up to `level` tabs off every line that has them all, and keep the others."""
    length = TAB * level
    indent = " " * length
    return [cut(line, length) if line[0].startswith(indent) else line for line in block]


def chunks(lines: Sequence[Line]) -> list[list[Line]]:
    """Split lines at blank ones into blocks.

    A block behind two blank lines or more begins with one: footnotes end there.
    """
    blocks: list[list[Line]] = []
    block: list[Line] = []
    blank = 0
    for line in lines:
        if line[0]:
            if blank > 1 and not block:
                block.append(("", line[1], 0))
            block.append(line)
            blank = 0
        else:
            blank += 1
            if block:
                blocks.append(block)
                block = []
    if block:
        blocks.append(block)
    return blocks


def raw_column(raw: str, column: int) -> int:
    """Return where a column of the line with its tabs expanded stands in the line as written."""
    if "\t" not in raw:
        return column
    at = 0
    for index, char in enumerate(raw):
        if at >= column:
            return index
        at += TAB - at % TAB if char == "\t" else 1
    return len(raw)
