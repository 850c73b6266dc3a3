"""Heading ids exactly as GitHub makes them, so that one link works there and on the site.

GitHub lower-cases the heading's text, keeps letters, marks, decimal and letter numbers,
connector punctuation, hyphens and spaces, drops everything else, and turns each space into a
hyphen; a repeated id gets `-1`, `-2`, … (the rule of the `github-slugger` package, read
2026-11-21: it keeps Unicode's Alphabetic, Mark, Decimal_Number and Connector_Punctuation).
"""

from __future__ import annotations

import unicodedata

_KEPT_CATEGORIES = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "Pc"})
# Circled and squared Latin letters are symbols (So) that Unicode calls Alphabetic.
_ALPHABETIC_SYMBOLS = ((0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189))


def _is_kept(char: str) -> bool:
    if char in " -" or unicodedata.category(char) in _KEPT_CATEGORIES:
        return True
    return any(first <= ord(char) <= last for first, last in _ALPHABETIC_SYMBOLS)


def github_slug(text: str) -> str:
    """Return the id GitHub gives a heading with this plain text, before counting repeats."""
    return "".join(char for char in text.strip().lower() if _is_kept(char)).replace(" ", "-")


class Slugger:
    """Ids for the headings of one page, in order, each different."""

    def __init__(self) -> None:
        """Start a page on which no heading has an id yet."""
        self._seen: dict[str, int] = {}

    def reserve(self, identifier: str) -> None:
        """Count an id that was given explicitly."""
        self._seen.setdefault(identifier, 0)

    def __call__(self, text: str) -> str:
        """Return the next free id for a heading with this plain text."""
        base = github_slug(text)
        result = base
        while result in self._seen:
            self._seen[base] += 1
            result = f"{base}-{self._seen[base]}"
        self._seen[result] = 0
        return result
