"""Heading ids exactly as GitHub makes them, so that one link works there and on the site.

GitHub lower-cases the heading's text, keeps letters, marks, decimal and letter numbers,
connector punctuation, hyphens and spaces, drops everything else, and turns each space into a
hyphen; a repeated id gets `-1`, `-2`, … (the rule of the `github-slugger` package, read
2026-11-21: it keeps Unicode's Alphabetic, Mark, Decimal_Number and Connector_Punctuation).
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable
from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.extensions import Extension
from markdown.extensions.toc import remove_fnrefs, render_inner_html
from markdown.treeprocessors import Treeprocessor

_KEPT_CATEGORIES = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "Pc"})
# Circled and squared Latin letters are symbols (So) that Unicode calls Alphabetic.
_KEPT = re.compile(
    "[ \\-\u24b6-\u24e9\U0001f130-\U0001f149\U0001f150-\U0001f169\U0001f170-\U0001f189]"
)
_HEADING_TAG = re.compile(r"h[1-6]\Z")
# Not the library's `strip_tags`, which makes one blank of several: GitHub keeps them all.
_TAGS = re.compile(r"<!--.*?-->|<[^>]*>", re.DOTALL)


def github_slug(text: str) -> str:
    """Return the id GitHub gives a heading with this plain text, before counting repeats."""
    kept = (
        one
        for one in text.strip().lower()
        if unicodedata.category(one) in _KEPT_CATEGORIES or _KEPT.match(one)
    )
    return "".join(kept).replace(" ", "-")


class Slugger:
    """Ids for the headings of one page, in order, each different."""

    def __init__(self, given: Iterable[str] = ()) -> None:
        """Start a page that has some ids already."""
        self._seen = dict.fromkeys(given, 0)

    def __call__(self, text: str) -> str:
        """Return the next free id for a heading with this plain text."""
        base = result = github_slug(text)
        while result in self._seen:
            self._seen[base] += 1
            result = f"{base}-{self._seen[base]}"
        self._seen[result] = 0
        return result


class _HeadingIds(Treeprocessor):
    def run(self, root: Element) -> None:
        headings = [element for element in root.iter() if _HEADING_TAG.match(str(element.tag))]
        slugger = Slugger(one.attrib["id"] for one in headings if "id" in one.attrib)
        for heading in headings:
            if "id" not in heading.attrib:
                inner = render_inner_html(remove_fnrefs(heading), self.md)
                heading.attrib["id"] = slugger(html.unescape(_TAGS.sub("", inner)))


class HeadingIdsExtension(Extension):
    """Runs after `attr_list` (8), whose ids win, and before `toc` (5), which keeps ids it finds."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 (the library's name)
        """Register the tree processor."""
        md.treeprocessors.register(_HeadingIds(md), "handbook-heading-ids", 6)
