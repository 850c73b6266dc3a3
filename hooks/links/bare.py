"""Addresses that stand bare in a text, as in most footnotes: Markdown knows no such links."""

from __future__ import annotations

import re
from collections.abc import Iterator

_BARE = re.compile(
    r"""(?<![A-Za-z0-9])https?://
    (?:\[[0-9A-Fa-f:.]+\]|[^\W_][\w.-]*)      # host
    (?::\d+)?
    (?:[/?\#][^\s<>"`|\\\[\]{}^
        \u2000-\u206f\u3000-\u303f\uff00-\uff65\uffe0-\uffef]*)?""",
    re.VERBOSE,
)
_HOST = re.compile(r"https?://(?:\[[^\]]*\]|[A-Za-z0-9._-]+)")
# Han, kana and Hangul belong to an address behind a separator (`/wiki/显存`), else to the sentence
# that goes on behind it (`https://host/page的说明`).
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_TRAILING = "?!.,:;*_~'"


def bare_addresses(text: str) -> Iterator[tuple[int, str]]:
    """Yield (offset, address) for each address that stands in a text without any markup.

    An address ends at a blank, at full-width or other CJK punctuation, at Han behind a letter or
    digit, and before marks that end a sentence; brackets belong to it when they are balanced.
    """
    for match in _BARE.finditer(text):
        host = _HOST.match(match.group())
        if host is None:
            continue
        rest = match.group()[host.end() :]
        if rest and rest[0] not in "/?#:":
            rest = ""  # Han right behind the host: the sentence goes on
        for wide in _WIDE.finditer(rest):
            before = rest[: wide.start()]
            if before[-1:].isascii() and before[-1:].isalnum():
                rest = before
                break
        address = (host.group() + rest).rstrip(_TRAILING)
        while address.endswith(")") and address.count(")") > address.count("("):
            address = address[:-1].rstrip(_TRAILING)
        yield match.start(), address
