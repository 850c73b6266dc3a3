"""One text, as the site and as GitHub read it: headings, links, fences, ids, with places."""

from __future__ import annotations

from hooks.markdown.heading_ids import github_slug
from hooks.markdown.mark import finish, mark
from hooks.markdown.reading import read
from hooks.markdown.site import PLACE, Rendered, generated, read_all, render, rendered, text_of
from hooks.markdown.source import Comment, Fence, Heading, HtmlTag, Label, Link, Source
from hooks.markdown.text import place_in, plain_text, split
