"""What readers see as it is written, and what only one of the two views shows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hooks.markdown.github import View
from hooks.markdown.mark import Marked, blank
from hooks.markdown.source import Odd
from hooks.markdown.text import COMMENT, place_in

_REFERENCE = re.compile(
    r"(?<![\w)\]\\])(?P<bang>!?)\[(?P<words>[^\[\]]*)\]\[(?P<label>[^\[\]]*)\]", re.ASCII
)
_RAW_LINK = re.compile(
    r"(?<![\w)\]\\])(?P<words>!?\[(?!\^)(?P<inner>[^\[\]\n]{1,300})\])(?P<gap> ?)"
    r"(?P<open>[(（])(?P<target>[^\s()（）<>]{1,500})(?P<close>[)）])",
    re.ASCII,
)
_NO_WORDS = re.compile(r"\s*(?:[xX]|\d[\d,，、\s–-]*)?\s*")
"""A box to tick, or the numbers of citations, behind which parentheses are meant as such."""
_LIKE_ADDRESS = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*://|mailto:|#|\.{0,2}/|[^\s]*\.(?:md|html?|png|jpe?g|svg|pdf)(?:#|\Z)"
)
_ROW = re.compile(r"^\|.*", re.MULTILINE)
_CONTAINER = re.compile(
    r"^[ \t]*(?P<text>(?:!!!|\?\?\?\+?|===)(?:[ \t]+[\w-]+)?(?:[ \t]+\"[^\"\n]*\")?)[ \t]*$",
    re.MULTILINE,
)
_NUMBERS = re.compile(r"\d+(?:\s*[-,–]\s*\d+)*\Z")


def raw(body: str, marked: Marked) -> Iterator[Odd]:
    """Yield marks that are no such thing on the site, so that readers see them as written."""
    for fence in marked.fences:
        if fence.reason:
            text = marked.masked.split("\n")[fence.line - 1].strip()
            why = f"this is no fence on the site, though GitHub shows one: {fence.reason}"
            yield Odd("fence", text, fence.line, 1, why)
    for match in _REFERENCE.finditer(body):
        words, label = match["words"].strip(), match["label"].strip()
        is_cited = _NUMBERS.match(words) and _NUMBERS.match(label)
        # A footnote without a definition is told as such.
        if (words or label) and not is_cited and label[:1] != "^":
            text = f"{match['bang']}[{words}][{label}]"
            why = f"reference '{text}' is not defined"
            line, column = place_of(marked, text, f"][{label}]", "][")
            column += text.rindex("[") + 1
            yield Odd("undefined-reference", label or words, line, column, why)
    prose = COMMENT.sub(blank, marked.prose)
    for match in _RAW_LINK.finditer(prose):
        is_link = not match["gap"] and match["open"] + match["close"] == "()"
        is_meant = _LIKE_ADDRESS.match(match["target"]) and not _NO_WORDS.fullmatch(match["inner"])
        if is_meant and not is_link:
            start, end = match.span()
            text = marked.masked[start:end]
            why = _as_written(text, "a link needs '(' right behind ']', and ')', of half width")
            repair = f"{marked.masked[start : match.end('words')]}({match['target']})"
            yield Odd("link-syntax", text, *place_in(prose, start), why, repair)
    for row in _ROW.finditer(marked.masked):
        bar = next((at for at in range(*row.span()) if prose[at] != row.string[at] == "|"), None)
        if bar is not None:
            why = "a bar in code splits the row on GitHub or shows a backslash: say it in words"
            yield Odd("view-difference", row[0], *place_in(prose, bar), why)
    for match in _CONTAINER.finditer(body):
        text = match["text"]
        if text.strip("!?+=") and ('"' in text or text[0] != "="):
            why = _as_written(text, "this renderer has no such blocks; write '> [!NOTE]'")
            yield Odd("admonition", text, *place_of(marked, text), why)


def _as_written(text: str, why: str) -> str:
    return f"'{text}' is shown as it is written: {why}"


def place_of(marked: Marked, *needles: str) -> tuple[int, int]:
    """Return the place of the first of some texts that a note holds, best outside code."""
    for needle in needles:
        for text in (marked.prose, marked.masked):
            at = text.find(needle)
            if at >= 0:
                return place_in(text, at)
    return 1, 1


def one_view(
    marked: Marked, view: View, linked: set[int], left: set[int], html: str
) -> Iterator[Odd]:
    """Yield links that GitHub makes and the site does not, and tags that stay as they are."""
    used = {marked.marks[number].label for number in linked}
    for number in sorted(view.linked - linked):
        mark = marked.marks[number]
        if number in left:
            why = (
                f"'{mark.target}' inside raw HTML stays plain text on the site, though GitHub "
                'makes a link of it; write markdown="1" into the tag at the start of a line'
            )
            yield Odd("markdown-in-html", mark.target, mark.line, mark.column, why)
        elif mark.kind == "definition" and mark.label not in used:
            why = (
                f"'[{mark.label}]' is a link on GitHub alone: the site finds no definition for a "
                "label with code or an escape in it; write '[words][label]' with a plain label"
            )
            at = place_of(marked, f"[{mark.label}]")
            yield Odd("view-difference", mark.label, at[0], at[1] + 1, why)
    for tag in view.tags:
        left_raw = rf"""<{tag.name}\b[^<>]*\smarkdown(?:=["']?(?!0)\w+["']?)?[\s>]"""
        if dict(tag.attributes).get("markdown", "0") != "0" and re.search(left_raw, html):
            why = _as_written(tag.text, 'the tag around it needs markdown="1", first in its line')
            yield Odd("markdown-in-html", tag.text, tag.line, tag.column, why)
