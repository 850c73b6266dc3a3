"""Anchors with the ids of the other language's headings, put into a page."""

from __future__ import annotations

import html
import re

_HEADING_OPEN = re.compile(r'<h(?P<level>[1-6])\b[^>]*?\bid="(?P<id>[^"]+)"[^>]*>')


def add_aliases(page_html: str, aliases: dict[str, str]) -> str:
    """Put an empty anchor with the twin's id at the start of each heading that has one."""

    def with_alias(match: re.Match[str]) -> str:
        alias = aliases.get(html.unescape(match["id"]))
        if alias is None:
            return match.group(0)
        anchor = f'<span class="twin-alias" id="{html.escape(alias, quote=True)}"></span>'
        return match.group(0) + anchor

    return _HEADING_OPEN.sub(with_alias, page_html)
