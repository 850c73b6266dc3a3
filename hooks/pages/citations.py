"""How a page names a source: link, date, whether it is at first hand."""

from __future__ import annotations

import posixpath
from html import escape

from hooks.data import Cell, Source

_WORDS = {
    "zh": {
        "announced": "已发布未出货",
        "none": "没有可靠来源",
        "note": "注",
        "sources": "来源与阅读日期",
        "read": "{} 读",
        "secondary": "二手来源",
        "confidence": "可信度 {}",
        "legend": "可信度 A：见于厂商或作者自己的文字或代码；B：二手来源，或由来源中的数字算得。",
        "bibliography": "书目",
        "data": "全部数据",
        "colon": "：",
        "semicolon": "；",
        "comma": "，",
    },
    "en": {
        "announced": "announced",
        "none": "no reliable source",
        "note": "note",
        "sources": "Sources and when they were read",
        "read": "read {}",
        "secondary": "secondary",
        "confidence": "confidence {}",
        "legend": (
            "Confidence A: in the vendor's or authors' own words or code; "
            "B: at second hand, or computed from figures of the source."
        ),
        "bibliography": "bibliography",
        "data": "All data",
        "colon": ": ",
        "semicolon": "; ",
        "comma": ", ",
    },
}


def downloads(files: dict[str, str], before: str, page_dir: str) -> str:
    """Return a line of links to files of the site, by their names."""
    links = " · ".join(
        f'<a href="{escape(posixpath.relpath(path, page_dir or "."))}" download>{escape(name)}</a>'
        for name, path in files.items()
    )
    return f'<p class="facts__data">{escape(before)}{links}</p>'


def cited(cell: Cell, source: Source, language: str) -> str:
    """Return in one line where a figure was read, when, and with which confidence."""
    words = _WORDS[language]
    confidence = words["confidence"].format(cell.confidence)
    read = words["read"].format(cell.read.isoformat())
    return words["semicolon"].join([cited_source(source, language), read, confidence])


def cited_source(source: Source, language: str) -> str:
    """Return publisher, title and date of a source in one line."""
    words = _WORDS[language]
    title = source.title.in_language(language)
    cited = f"{source.publisher.in_language(language)}{words['colon']}{title}"
    return f"{cited}{words['comma']}{source.date}" if source.date else cited


PAGE = "about/sources"
"""The id of the page that holds the marker."""


def anchor(key: str) -> str:
    """Return the id of a source's entry on the page."""
    return f"source-{key}"


def page_of(language: str) -> str:
    """Return the address of the page in the site."""
    return f"{PAGE}.html" if language == "zh" else f"{language}/{PAGE}.html"
