"""Read the parenthesis behind `[text]`: where a link leads, with or without a title.

Python-Markdown allows nearly anything there, blanks included; CommonMark does not. What only the
former takes is marked, because the other view then shows it as text.
Source: markdown/inlinepatterns.py 3.11, `LinkInlineProcessor.getLink`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

_ODD = r"[^\S \t\n\r\f\v]*"
"""Blanks that are none for CommonMark, which keeps them as part of the target."""
_SIMPLE = re.compile(rf"\([ \t\n\r\f\v]*(?P<target>{_ODD}[^\s()<>'\"\\]*{_ODD})[ \t\n\r\f\v]*\)")
_BLANKS = " \t\n\r\f\v"
_ANGLED = re.compile(r"\(\s*<(?P<target>[^<>]*)>\s*(?:(?:'[^']*'|\"[^\"]*\")\s*)?\)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_LONGEST = 2000
_ADDRESS = re.compile(r"https?://|mailto:|\.{1,2}/")
_PATH_END = re.compile(
    r"\.(?:md|html?|png|jpe?g|gif|svg|webp|pdf|zip|ya?ml|json|txt|csv|py|cu|c|cpp|h)(?:#\S*)?\Z"
)


@dataclass(slots=True)
class Budget:
    """How many characters the careful reading may still visit in one run of text."""

    left: int

    def __init__(self, length: int) -> None:
        """Allow a multiple of the run's length, so that hostile text stays linear."""
        self.left = 10 * length + 4 * _LONGEST


class Destination(NamedTuple):
    """A link's target, where it begins, and where the parenthesis ends."""

    text: str
    offset: int
    end: int
    has_spaces: bool = False


def match(
    text: str, offset: int, budget: Budget, *, has_escapes: bool = True
) -> Destination | None:
    """Read the parenthesis at `offset`; None when there is none or it does not close.

    Args:
        text: The run.
        offset: Where the parenthesis opens.
        budget: How much may still be read.
        has_escapes: Whether a backslash hides what follows; not where escapes are blotted out.
    """
    if not text.startswith("(", offset):
        return None
    simple = _SIMPLE.match(text, offset)
    if simple:
        return Destination(simple["target"], simple.start("target"), simple.end())
    angled = _ANGLED.match(text, offset, offset + 2 * _LONGEST)
    if angled:
        target = angled["target"]
        found = target.strip(_BLANKS)
        start = angled.start("target") + len(target) - len(target.lstrip(_BLANKS))
        return Destination(unescape(found) if has_escapes else found, start, angled.end())
    return _careful(text, offset, budget, has_escapes)


def unescape(target: str) -> str:
    """Return a target without the backslashes that escape punctuation."""
    return _ESCAPE.sub(r"\1", target) if "\\" in target else target


def looks_like_path(target: str) -> bool:
    """Tell whether a target with blanks is meant as a path rather than as prose."""
    return _PATH_END.search(target) is not None


def looks_like_address(target: str) -> bool:
    """Tell whether what stands in parentheses is meant as an address rather than as a remark."""
    return _ADDRESS.match(target) is not None or looks_like_path(target)


def _careful(text: str, offset: int, budget: Budget, has_escapes: bool) -> Destination | None:
    """Count parentheses, and read a title in quotes right before the last one."""
    start = offset + 1
    while text[start : start + 1].isspace():
        start += 1
    depth, quoted_depth = 1, 0
    quotes: dict[str, int] = {}  # where each kind of quote first stands
    resume = -1  # where the parenthesis would close if the quote begins no title
    last, last_at = "", -1
    limit = min(len(text), start + _LONGEST)
    at = start
    while at < limit and budget.left > 0:
        budget.left -= 1
        char = text[at]
        if char == "\\" and has_escapes:
            at += 2
            last = ""
            continue
        if char == "(":
            if quotes:
                quoted_depth += 1
            else:
                depth += 1
        elif char == ")":
            if last in quotes and last_at > quotes[last]:
                return _found(text, start, quotes[last], at + 1, has_escapes)
            if not quotes:
                depth -= 1
                if not depth:
                    return _found(text, start, at, at + 1, has_escapes)
            elif resume < 0:
                quoted_depth -= 1
                if quoted_depth <= 0:
                    resume = at
        elif char in "'\"" and char not in quotes:
            if not quotes:
                quoted_depth = depth
            quotes[char] = at
        if char != " ":
            last, last_at = char, at
        at += 1
    return _found(text, start, resume, resume + 1, has_escapes) if resume >= 0 else None


def _found(text: str, start: int, stop: int, end: int, has_escapes: bool) -> Destination:
    target = text[start:stop].rstrip()
    if has_escapes:
        target = unescape(target)
    return Destination(target, start, end, any(char.isspace() for char in target))
