"""One text, as the site and as GitHub read it: headings, links, fences, ids, with places."""

from __future__ import annotations

from hooks.markdown.front_matter import Split, split
from hooks.markdown.heading_ids import HeadingIdsExtension
from hooks.markdown.site import parse
from hooks.markdown.slugs import Slugger, github_slug
from hooks.markdown.source import (
    Anchor,
    Comment,
    Fence,
    Heading,
    HtmlTag,
    Link,
    LinkKind,
    Raw,
    Source,
)  # fmt: skip
from hooks.markdown.text import normal_label, plain_text

__all__ = [
    "Anchor",
    "Comment",
    "Fence",
    "Heading",
    "HeadingIdsExtension",
    "HtmlTag",
    "Link",
    "LinkKind",
    "Raw",
    "Slugger",
    "Source",
    "Split",
    "github_slug",
    "normal_label",
    "parse",
    "plain_text",
    "split",
]
