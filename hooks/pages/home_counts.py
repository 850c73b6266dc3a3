"""How much the handbook holds, in one line of the home page."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hooks.notes import Catalogue

_PARTS = {
    "zh": {
        "notes": "{} 篇笔记，中英各一份",
        "measured": "{} 份实测记录，连同命令与程序",
        "calculators": "{} 个计算器",
    },
    "en": {
        "notes": "{} notes, each in Chinese and English",
        "measured": "{} measured records with command and program",
        "calculators": "{} calculators",
    },
}
_PAGES = {"notes": "maps/index", "measured": "", "calculators": "calc/index"}
"""Where each is listed, as far as a page lists it."""
_NOT_NOTES = frozenset(
    {"about", "calc", "glossary", "interview", "learn", "maps", "paths", "resources"}
)


def count(notes: Catalogue) -> dict[str, int]:
    """Return how many notes, measured records and calculators there are."""
    shown = [one for one in notes.notes.values() if one.language == "zh" and not one.is_index]
    topics = [one.topic.partition("/")[0] for one in shown]
    return {
        "notes": sum(bool(topic) and topic not in _NOT_NOTES for topic in topics),
        "measured": sum(
            "/measured/" in file and file.endswith(".json") for file in notes.other_files
        ),
        "calculators": topics.count("calc"),
    }


def line(notes: Catalogue, language: str, *, prefix: str = "") -> str:
    """Return the counts as a Markdown list in a box; each leads to where they are listed."""
    items = []
    for what, number in count(notes).items():
        text = _PARTS[language][what].format(f"**{number}**")
        page = notes.in_language(_PAGES[what], language) if _PAGES[what] else None
        items.append(f"- [{text}]({posixpath.join(prefix, page.path)})" if page else f"- {text}")
    body = "\n".join(items)
    return f'<div class="home-counts" markdown="1">\n\n{body}\n\n</div>'
