"""The roadmap, from the topic map and the notes there are: what exists, and what is to come.

Nothing here is written by hand, so that no note is called missing once it stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hooks.pages import contents, coverage, topic_tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.notes import Catalogue
    from hooks.pages.topic_map import Area, Group, Item

_WORDS = {
    "zh": {
        "head": ("主题", "已有", "计划中"),
        "count": "{} {} 篇",
        "total": "已有 {} 篇笔记：{}。",
        "none": "还没有笔记的领域：{}。",
        "and": "、",
        "end": "",
    },
    "en": {
        "head": ("Topic", "Exists", "Planned"),
        "count": "{} {}",
        "total": "There are {} notes: {}.",
        "none": "Fields without a note yet: {}.",
        "and": ", ",
        "end": " ",
    },
}
_NONE = "—"


def summary(areas: Sequence[Area], notes: Catalogue, language: str) -> str:
    """Return in two sentences how many notes each area has, and which areas have none."""
    words = _WORDS[language]
    counts = [(area, sum(map(len, topic_tree.members(area, notes)))) for area in areas]
    held = [str(words["count"]).format(area.title.get(language), n) for area, n in counts if n]
    bare = [area.title.get(language) for area, n in counts if not n]
    total = sum(count for _, count in counts)
    join = str(words["and"]).join
    said = [str(words["total"]).format(total, join(held))] if held else []
    said += [str(words["none"]).format(join(bare))] if bare else []
    return str(words["end"]).join(said)


def plan(area: Area, notes: Catalogue, language: str, *, prefix: str = "") -> str:
    """Return the groups of an area as a table: what exists of each, what is planned."""
    head = _WORDS[language]["head"]
    lines = [f"| {' | '.join(head)} |", "|---|---|---|"]
    of_groups = topic_tree.members(area, notes)
    for group, ids in zip(area.groups, of_groups[:-1], strict=True):
        join = str(_WORDS[language]["and"]).join
        there = join(_there(group, ids, notes, language, prefix))
        owed = [_title(one, language) for one in group.items if not _where(one, notes)]
        if not there and not owed:
            owed = [contents.escape(group.covers.get(language))]
        title = contents.escape(group.title.get(language))
        lines.append(f"| {title} | {there or _NONE} | {join(owed) or _NONE} |")
    return "\n".join(lines)


def _there(
    group: Group, ids: Sequence[str], notes: Catalogue, language: str, prefix: str
) -> list[str]:
    """Return links to what exists of a group: topic pages, else notes, and named headings."""
    parts = []
    for name in group.notes:
        index = notes.in_language(f"{name}/index", language)
        note = notes.in_language(name, language)
        if index is not None:
            count = sum(one.startswith(f"{name}/") for one in ids)
            link = contents.link(index, prefix)
            parts.append(f"{link}{_count(count, language)}")
        elif note is not None:
            parts.append(contents.link(note, prefix))
    for item in group.items:
        at = _where(item, notes)
        if at and at.partition("#")[0] not in ids:
            target = coverage.link(at, notes, language, prefix).rpartition("](")[2]
            parts.append(f"[{_title(item, language)}]({target}")
    return parts


def _count(count: int, language: str) -> str:
    if language == "zh":
        return f"（{count} 篇）"
    return f" ({count} note{'s' if count != 1 else ''})"


def _where(item: Item, notes: Catalogue) -> str:
    """Return the note or heading that tells of an item; blank while it is planned."""
    return item.at or (item.planned if notes.in_language(item.planned, "zh") else "")


def _title(item: Item, language: str) -> str:
    return contents.escape(item.title.in_language(language))
