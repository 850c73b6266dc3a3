"""Plain text of inline Markdown, as heading ids and reference labels are made from."""

from __future__ import annotations

import html
import re
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_MARKUP = re.compile(r"[\\`*_\[\]<>&~!]")
_REFERENCE = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{0,31});")
_OLD_REFERENCE = re.compile(
    r"&(?:#[0-9]{1,7};?|#[xX][0-9a-fA-F]{1,6};?|[A-Za-z][A-Za-z0-9]{0,31}(?:;|(?![A-Za-z0-9=])))"
)
COMMENT = re.compile(r"<!--(?P<text>.*?)-->", re.DOTALL)
_LONGEST = 1000
# A heading longer than this keeps its markup: nobody writes one, and hostile ones cost time.


@cache
def _inline() -> MarkdownIt:
    # Loaded when there is markup to read: most runs of a warm check meet none.
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("strikethrough")


def normal_label(label: str) -> str:
    """Return a reference label as CommonMark compares it: folded case, single spaces."""
    return " ".join(label.split()).casefold()


def plain_text(markup: str, references: Mapping[str, Any] | None = None) -> str:
    """Return the text of inline Markdown without its markup, as a heading's id is made from.

    Args:
        markup: The text as written.
        references: The parser's own record of link definitions, if there are any.
    """
    if len(markup) > _LONGEST or _MARKUP.search(markup) is None:
        return markup
    tokens = _inline().parseInline(markup, {"references": dict(references or {})})
    return "".join(_token_text(token) for token in tokens[0].children or [])


def _token_text(token: Token) -> str:
    if token.type in ("text", "code_inline"):
        return token.content
    if token.type in ("softbreak", "hardbreak"):
        return " "
    if token.type == "image":
        return ""
    return "".join(_token_text(child) for child in token.children or [])


def decoded(address: str, *, in_attribute: bool = False) -> str:
    """Return an address with its character references decoded; each ends in `;`.

    `html.unescape` would read `&copy=2` of a query as a sign. In an attribute browsers know some
    old names without `;`.
    """
    if "&" not in address:
        return address
    pattern = _OLD_REFERENCE if in_attribute else _REFERENCE
    return pattern.sub(lambda match: html.unescape(match.group()), address)


def place_in(text: str, offset: int) -> tuple[int, int]:
    """Return line and column of an offset, 1-based."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
