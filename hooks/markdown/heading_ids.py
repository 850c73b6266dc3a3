"""A Python-Markdown extension that gives headings GitHub's ids."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from markdown.extensions import Extension
from markdown.extensions.toc import remove_fnrefs, render_inner_html
from markdown.treeprocessors import Treeprocessor

from hooks.markdown.slugs import Slugger

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from markdown import Markdown

_HEADING_TAG = re.compile(r"h[1-6]\Z")
# Not the library's `strip_tags`, which makes one blank of several: GitHub keeps them all.
_TAGS = re.compile(r"<!--.*?-->|<[^>]*>", re.DOTALL)


class _HeadingIds(Treeprocessor):
    def run(self, root: Element) -> None:
        slugger = Slugger()
        headings = [element for element in root.iter() if _HEADING_TAG.match(str(element.tag))]
        for heading in headings:
            if "id" in heading.attrib:
                slugger.reserve(heading.attrib["id"])
        for heading in headings:
            if "id" not in heading.attrib:
                inner = render_inner_html(remove_fnrefs(heading), self.md)
                heading.attrib["id"] = slugger(html.unescape(_TAGS.sub("", inner)))


class HeadingIdsExtension(Extension):
    """Runs after `attr_list` (8), whose ids win, and before `toc` (5), which keeps ids it finds."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 (the library's name)
        """Register the tree processor."""
        md.treeprocessors.register(_HeadingIds(md), "handbook-heading-ids", 6)
