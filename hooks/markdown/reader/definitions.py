"""What a note defines beside its text: footnotes, abbreviations, targets of reference links.

Sources: markdown/extensions/footnotes.py and abbr.py, markdown/blockprocessors.py 3.11.
"""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from hooks.markdown.reader.lines import INDENT, Line, cut, loose_detab

if TYPE_CHECKING:
    from hooks.markdown.reader.blocks import Block, Blocks

_FOOTNOTE = re.compile(r" {0,3}\[\^(?P<id>[^\]]*)\]: *")
# The name may even run over lines; the bound keeps hostile text linear.
_ABBREVIATION = re.compile(r"^\*\[[^\\]{0,999}?\] ?: *\n? *(?P<title>.*)$", re.MULTILINE)
_REFERENCE = re.compile(
    r"^ {0,3}\[(?P<label>[^\[\]]*)\]: *(?:\n *)?(?P<target>[^\s]+) *(?:\n *)?"
    r"""(?:(?P<quote>["']).*(?P=quote) *|\(.*\) *)?$""",
    re.MULTILINE,
)
_LONG = 1000
_CLAIMED = frozenset("#-_*+:>|=!?$0123456789" + "\\")


@dataclass(frozen=True, slots=True)
class Definition:
    """A link definition: its label and target as written, and where the target stands."""

    label: str
    target: str
    target_line: Line


def try_footnote(blocks: Blocks, block: Block, waiting: list[Block]) -> bool:
    """Take footnote definitions out of a block; what is indented below belongs to the last."""
    index, match = next(
        ((n, m) for n, line in enumerate(block) if (m := _FOOTNOTE.match(line[0]))), (0, None)
    )
    if match is None:
        return False
    place = ("", block[index][1], block[index][2] + match.start("id"))
    content = [cut(block[index], match.end())]
    after = index + 1
    while after < len(block) and not _FOOTNOTE.match(block[after][0]):
        after += 1
    content += loose_detab(block[index + 1 : after])
    if after < len(block):
        waiting.append(block[after:])
    else:
        while waiting and waiting[-1][0][0].startswith(INDENT):
            more = waiting.pop()
            end = next((n for n, one in enumerate(more) if _FOOTNOTE.match(one[0])), len(more))
            content += [("", more[0][1], 0), *loose_detab(more[:end])]
            if end < len(more):
                waiting.append(more[end:])
                break
    blocks.footnotes.append((match["id"], place, content))
    if index:
        waiting.append(block[:index])
    return True


def try_abbreviation(block: Block, waiting: list[Block]) -> bool:
    """Take a definition such as `*[GPU]: graphics processor` out of a block."""
    text = "\n".join(line[0] for line in block)
    match = _ABBREVIATION.search(text) if "]:" in text or "] :" in text else None
    if match is None or not match["title"].strip():
        return False
    before = text.count("\n", 0, match.start())
    after = text.count("\n", 0, match.end()) + 1
    # Those that follow at once are taken too, which spares joining a long block again and again;
    # where something else may begin, the next pass decides.
    while (
        after + 1 < len(block)
        and block[after + 1][0].startswith("*[")
        and "|" not in block[after][0]
        and (one := _ABBREVIATION.match(block[after][0])) is not None
        and one["title"].strip()
    ):
        after += 1
    if block[after:]:
        waiting.append(block[after:])
    if block[:before]:
        waiting.append(block[:before])
    return True


def try_references(blocks: Blocks, block: Block, waiting: list[Block]) -> bool:
    """Take definitions such as `[label]: target` out of a block."""
    text = "\n".join(line[0] for line in block)
    match = _REFERENCE.search(text)
    if match is None:
        return False
    start = end = match.start()
    # One that spans lines waits for the next pass, as another processor may claim part of it;
    # where none can, all are taken at once, which spares reading a long block again and again.
    is_plain = len(block) > _LONG or not {line[0].lstrip(" ")[:1] for line in block} & _CLAIMED
    starts = [0, *accumulate(len(line[0]) + 1 for line in block)]

    def place(offset: int) -> Line:
        index = bisect.bisect_right(starts, offset) - 1
        return ("", block[index][1], block[index][2] + offset - starts[index])

    for match in _REFERENCE.finditer(text, start):
        between = text[end : match.start()].strip("\n")
        if match.start() > start and (between or ("\n" in match.group() and not is_plain)):
            break
        blocks.definitions.append(
            Definition(
                match["label"],
                match["target"].lstrip("<").rstrip(">"),
                place(match.start("target")),
            )
        )
        end = match.end()
    before = text.count("\n", 0, start)
    after = text.count("\n", 0, end) + 1
    if block[after:]:
        waiting.append(block[after:])
    if block[:before]:
        waiting.append(block[:before])
    return True
