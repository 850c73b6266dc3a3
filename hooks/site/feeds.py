"""Atom feeds of the notes that were added last, one a language."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from xml.etree import ElementTree

from hooks.site.carry import WORDS, Leaf

NAME = "feed-new.xml"
_XML = "http://www.w3.org/XML/1998/namespace"
_ATOM = "http://www.w3.org/2005/Atom"
_SAYS = {"zh": "新笔记", "en": "new notes"}
_LONGEST = 50


def files(
    leaves: Sequence[Leaf], added: Mapping[str, datetime.date], site_url: str
) -> dict[str, str]:
    """Return the feed of each language, by paths in the site; none while its address is unknown.

    Args:
        leaves: The pages.
        added: The day a page entered the repository, by its address from the site's root.
        site_url: The address the site is published at, which entries must hold.
    """
    made: dict[str, str] = {}
    if not site_url:
        return made
    for language in sorted({leaf.language for leaf in leaves}):
        own = [leaf for leaf in leaves if leaf.language == language and leaf.is_note]
        days = {leaf.page: added[leaf.page] for leaf in own if leaf.page in added}
        path = NAME if language == "zh" else f"{language}/{NAME}"
        made[path] = feed(own, days, path, language, site_url)
    return made


def feed(
    leaves: Sequence[Leaf],
    days: Mapping[str, datetime.date],
    path: str,
    language: str,
    site_url: str,
) -> str:
    """Return a feed of the pages with a day, the latest first; equal input gives equal bytes."""
    ElementTree.register_namespace("", _ATOM)
    title = f"{WORDS[language]['title']} · {_SAYS[language]}"
    root = ElementTree.Element(f"{{{_ATOM}}}feed", {f"{{{_XML}}}lang": language})
    shown = sorted((leaf for leaf in leaves if leaf.page in days), key=lambda leaf: leaf.page)
    shown.sort(key=lambda leaf: days[leaf.page], reverse=True)
    latest = max(days.values(), default=datetime.date(2000, 1, 1))
    _add(root, "title", title)
    _add(root, "id", site_url + path)
    _add(root, "updated", _time(latest))
    _add(root, "link", rel="self", href=site_url + path, type="application/atom+xml")
    home = "index.html" if language == "zh" else f"{language}/index.html"
    _add(root, "link", rel="alternate", href=site_url + home, type="text/html")
    _add(_add(root, "author"), "name", WORDS[language]["title"])
    for leaf in shown[:_LONGEST]:
        day = days[leaf.page]
        entry = _add(root, "entry")
        _add(entry, "title", leaf.title)
        _add(entry, "id", site_url + leaf.page)
        _add(entry, "updated", _time(day))
        _add(entry, "link", rel="alternate", href=site_url + leaf.page, type="text/html")
        _add(entry, "summary", leaf.description)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _add(
    parent: ElementTree.Element, name: str, text: str = "", **attributes: str
) -> ElementTree.Element:
    child = ElementTree.SubElement(parent, f"{{{_ATOM}}}{name}", attributes)
    child.text = text or None
    return child


def _time(day: datetime.date) -> str:
    return f"{day.isoformat()}T00:00:00Z"
