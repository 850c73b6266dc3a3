"""How much of each kind there is: in the whole handbook, and beside the notes of a topic."""

from __future__ import annotations

import posixpath
from collections import Counter
from typing import TYPE_CHECKING

from hooks.pages import glossary, resources

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.pages.items import Item

_SHOWN = {
    # Kind: the words of one and of several, by language, and the page with all of them.
    "note": ("{} 篇笔记", "{} note", "{} notes", "maps/index"),
    "question": (
        "{} 道面试题",
        "{} interview question",
        "{} interview questions",
        "interview/index",
    ),
    "term": ("{} 个术语", "{} term", "{} terms", glossary.PAGE),
    "resource": ("{} 条资源", "{} resource", "{} resources", resources.PAGE),
    "calculator": ("{} 个计算器", "{} calculator", "{} calculators", "calc/index"),
    "figure": ("{} 张图表", "{} figure or chart", "{} figures and charts", ""),
}
_ALSO = {"zh": "这个主题还有：", "en": "Also on this topic: "}
_OF_TOPIC = ("question", "term", "resource", "calculator")


def render(items: Sequence[Item], language: str, page_path: str) -> str:
    """Return one line of what there is of each kind, each with the way to all of it.

    Args:
        items: All items.
        language: The language of the page.
        page_path: The page's path below the docs folder, from which links lead.
    """
    found = Counter(item.kind for item in items if not _is_index(item))
    pages = {item.note for item in items}
    return _line(found, list(_SHOWN), pages, language, posixpath.dirname(page_path))


def also(items: Sequence[Item], index: str, language: str) -> str:
    """Return one line of what an area has beside notes; empty for what is no area's own page."""
    area, _, name = index.partition("/")
    found = Counter(item.kind for item in items if area in item.topics)
    if name != "index" or not any(found[kind] for kind in _OF_TOPIC if kind != "calculator"):
        return ""
    pages = {item.note for item in items}
    line = _line(found, list(_OF_TOPIC), pages, language, area)
    return f"{_ALSO[language]}{line}"


def _is_index(item: Item) -> bool:
    """Tell whether an item is a page that lists others, or one about the handbook."""
    name = item.note.rpartition("/")[2]
    return item.kind == "note" and (name == "index" or not item.topics or item.topics == ("about",))


def _line(
    found: Counter[str], kinds: list[str], pages: set[str], language: str, folder: str
) -> str:
    parts = []
    for kind in kinds:
        count = found[kind]
        if not count:
            continue
        chinese, one, several, page = _SHOWN[kind]
        said = (chinese if language == "zh" else one if count == 1 else several).format(count)
        if page in pages:
            suffix = ".md" if language == "zh" else f".{language}.md"
            said = f"[{said}]({posixpath.relpath(f'{page}{suffix}', folder or '.')})"
        parts.append(said)
    return " · ".join(parts)
