"""Front matter and body, places in a text, what inline Markdown and references stand for."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

_FRONT_MATTER = re.compile(
    r"\A---[ \t]*\r?\n(?P<yaml>.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)
_REFERENCE = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{0,31});")
_OLD_REFERENCE = re.compile(
    r"&(?:#[0-9]{1,7};?|#[xX][0-9a-fA-F]{1,6};?|[A-Za-z][A-Za-z0-9]{0,31}(?:;|(?![A-Za-z0-9=])))"
)
_INLINE = MarkdownIt("commonmark").enable("strikethrough")
COMMENT = re.compile(r"<!--(?P<text>.*?)-->", re.DOTALL)


class Split(NamedTuple):
    """A source text taken apart."""

    yaml_text: str | None
    """The YAML between the two `---` lines; None when the text has no front matter."""
    body: str
    """The text with the front matter blanked out: line numbers stay those of the file."""


def split(text: str) -> Split:
    """Separate front matter from body, keeping line numbers."""
    match = _FRONT_MATTER.match(text)
    if match is None:
        return Split(None, text)
    return Split(match["yaml"], "\n" * match.group().count("\n") + text[match.end() :])


def place_in(text: str, offset: int) -> tuple[int, int]:
    """Return line and column of an offset, 1-based."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def plain_text(markup: str) -> str:
    """Return the text of inline Markdown without its markup."""
    return visible(_INLINE.parseInline(markup)[0].children or [])


def visible(tokens: Iterable[Token]) -> str:
    """Return the text that a reader sees of inline tokens; pictures have none."""
    parts = []
    for token in tokens:
        if token.type in ("text", "code_inline", "math_inline"):
            parts.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif token.type != "image":
            parts.append(visible(token.children or []))
    return "".join(parts)


def decoded(address: str, *, in_attribute: bool = False) -> str:
    """Return an address with its character references decoded; each ends in `;`.

    `html.unescape` would read `&copy=2` of a query as a sign. In an attribute browsers know some
    old names without `;`.
    """
    pattern = _OLD_REFERENCE if in_attribute else _REFERENCE
    return pattern.sub(lambda match: html.unescape(match.group()), address)
