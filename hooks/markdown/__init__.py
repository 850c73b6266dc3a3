"""One text, as the site and as GitHub read it: headings, links, fences, ids, with places."""

from __future__ import annotations

from hooks.markdown.front_matter import Split, split
from hooks.markdown.mark import Marked, finish, mark
from hooks.markdown.reading import read
from hooks.markdown.rendered import Rendered, read_all, rendered, text_of
from hooks.markdown.site import DATA_FENCES, PLACE, Html, render
from hooks.markdown.slugs import Slugger, github_slug
from hooks.markdown.source import Comment, Fence, Heading, HtmlTag, Label, Link, Odd, Source
from hooks.markdown.text import normal_label, plain_text

__all__ = [
    "DATA_FENCES",
    "PLACE",
    "Comment",
    "Fence",
    "Heading",
    "Html",
    "HtmlTag",
    "Label",
    "Link",
    "Marked",
    "Odd",
    "Rendered",
    "Slugger",
    "Source",
    "Split",
    "finish",
    "github_slug",
    "mark",
    "normal_label",
    "plain_text",
    "read",
    "read_all",
    "render",
    "rendered",
    "split",
    "text_of",
]
