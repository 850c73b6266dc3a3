"""Character references in addresses: `html.unescape` would read `&copy=2` of a query as a sign."""

from __future__ import annotations

import html
import re

_REFERENCE = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{0,31});")

_OLD_REFERENCE = re.compile(
    r"&(?:#[0-9]{1,7};?|#[xX][0-9a-fA-F]{1,6};?|[A-Za-z][A-Za-z0-9]{0,31}(?:;|(?![A-Za-z0-9=])))"
)


def decoded(address: str) -> str:
    """Return an address of Markdown with its character references decoded; each ends in `;`."""
    if "&" not in address:
        return address
    return _REFERENCE.sub(lambda match: html.unescape(match.group()), address)


def in_attribute(value: str) -> str:
    """Return an attribute's value as a browser decodes it: some old names need no `;`."""
    if "&" not in value:
        return value
    return _OLD_REFERENCE.sub(lambda match: html.unescape(match.group()), value)
