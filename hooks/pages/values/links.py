"""Make the numbers before markers links to their sources, in a page that is rendered."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from hooks.pages.frame import way, words_of
from hooks.pages.values.markers import KINDS, MarkerError, Truth, compare, is_marker, parse
from hooks.pages.values.values import Resolver

_HTML_MARKER = re.compile(r"<!--\s*(?P<text>(?:(?!-->).)*?)\s*-->", re.DOTALL)


def render(
    html: str, resolver: Resolver, *, language: str, page_dir: str = ""
) -> tuple[str, list[str]]:
    """Return a page's HTML with the numbers before markers linked, and what went wrong.

    Markers in code are text by now (`&lt;!--`) and stay. Sources are listed at the end.
    """
    if not any(f"<!-- {kind} " in html for kind in KINDS):
        return html, []
    parts: list[str] = []
    problems: list[str] = []
    listed: dict[tuple[str, str], int] = {}  # two records may have the same title
    position = 0
    for match in _HTML_MARKER.finditer(html):
        # A comment holds no character references: `&micro` in it is an axis, not the micro sign.
        text = match["text"]
        if not is_marker(text):
            continue
        before = html[position : match.start()]
        try:
            marker = parse(text)
            found = resolver.resolve(marker, language)
            start, end = compare(before, found, marker, language)
        except MarkerError as error:
            problems.append(f"'<!-- {text} -->': {error}")
            continue
        address, shown = _address(found, page_dir), before[start:end]
        key, is_source = (found.title, address), marker.kind == "message"
        at = 0 if is_source else listed.setdefault(key, len(listed) + 1)
        parts += [before[:start], _link(shown, found, address, at, language), before[end:]]
        position = match.end()
    sources = _list(listed, language) if listed else ""
    return "".join([*parts, html[position:], sources]), problems


def _address(found: Truth, page_dir: str) -> str:
    if not found.href or found.href.startswith(("http://", "https://")):
        return found.href
    path, mark, query = found.href.partition("?")
    return way(path, page_dir) + mark + query


def _link(shown: str, found: Truth, address: str, number: int, language: str) -> str:
    kind = f"value value--{found.grade}" + (" value--stale" if found.stale else "")
    # Table cells are read as Markdown no more at this point, but attributes must stay one line.
    title = escape(" ".join(found.title.split()))
    attributes = f'class="{kind}" title="{title}"' + (f' data-ref="S{number}"' if number else "")
    said = words_of("values", language)["stale"]
    stale = f'<span class="value__stale">{said}</span>' if found.stale else ""
    if address:
        return f'<a {attributes} href="{escape(address)}">{shown}</a>{stale}'
    return f'<abbr {attributes} tabindex="0">{shown}</abbr>{stale}'


def _list(listed: Iterable[tuple[str, str]], language: str) -> str:
    said = [
        f'<a href="{escape(address)}">{escape(title)}</a>' if address else escape(title)
        for title, address in listed
    ]
    return (
        '<details class="facts__sources value-sources" data-search-exclude>'
        f"<summary>{words_of('values', language)['sources']} ({len(said)})</summary>"
        f"<ol>{''.join(f'<li>{one}</li>' for one in said)}</ol></details>"
    )
