"""The topic map down to its leaves: every note, and the names that readers look for.

Nested folds in plain HTML, so that keyboard, phone and the browser's own search work without a
script. What is planned says so, and leads to the plan.
"""

from __future__ import annotations

import posixpath
from html import escape
from typing import TYPE_CHECKING

from hooks.findings import Finding, nearest
from hooks.markdown import github_slug
from hooks.pages import contents, coverage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.notes import Catalogue, Note
    from hooks.pages.topic_map import Area, Group, Item

_WORDS = {
    "zh": {
        "planned": "计划中",
        "count": "{} 篇",
        "one": "{} 篇",
        "owed": "{} 项计划中",
        "and": "，",
        "all": "整卷：",
        "topic": "主题页：",
        "rest": "其他",
    },
    "en": {
        "planned": "planned",
        "count": "{} notes",
        "one": "{} note",
        "owed": "{} planned",
        "and": ", ",
        "all": "The volume: ",
        "topic": "The topic: ",
        "rest": "Others",
    },
}

FILE = "docs/data/topics.yml"
"""How findings name the map."""


def check(areas: Sequence[Area], notes: Catalogue) -> list[Finding]:
    """Tell which items name a note or heading that does not exist; the rule is `map`."""
    findings = []
    for area in areas:
        for group in area.groups:
            for item in group.items:
                note_id, _, heading = item.at.partition("#")
                note = notes.in_language(note_id, "zh") if item.at else None
                known = [one.id for one in note.source.headings] if note else notes.ids()
                wanted = heading if note else note_id
                if wanted and wanted not in known:
                    message = f"item '{item.title.zh}' of '{area.id}' leads to '{item.at}'"
                    message += ", which does not exist"
                    hint = nearest(wanted, known)
                    findings.append(Finding(FILE, 1, 1, "map", message, item.at, hint))
    return findings


def members(area: Area, notes: Catalogue) -> list[list[str]]:
    """Return the ids of the notes of each group, and last those of the area in no group.

    A note belongs to the group that names it or the nearest folder above it.
    """
    claims = [(name, at) for at, group in enumerate(area.groups) for name in group.notes]
    found: list[list[str]] = [[] for _ in range(len(area.groups) + 1)]
    for note_id in notes.ids():
        note = notes.in_language(note_id, "zh")
        if note is None or note.is_index:
            continue
        near = [(len(name), at) for name, at in claims if f"{note_id}/".startswith(f"{name}/")]
        if near:
            found[max(near)[1]].append(note_id)
        elif note_id.startswith(f"{area.id}/"):
            found[-1].append(note_id)
    for at, group in enumerate(area.groups):  # as named, within a folder by name
        order = {name: number for number, name in enumerate(group.notes)}
        found[at].sort(key=lambda one: (order.get(one, len(order)), one))
    return found


def render(areas: Sequence[Area], notes: Catalogue, language: str, *, prefix: str = "") -> str:
    """Return the tree as nested folds: areas open, their groups folded."""
    folds = "\n\n".join(_area(area, notes, language, prefix) for area in areas)
    return f'<div class="tree" markdown="1">\n\n{folds}\n\n</div>'


def _area(area: Area, notes: Catalogue, language: str, prefix: str) -> str:
    words = _WORDS[language]
    index = notes.in_language(f"{area.id}/index", language)
    plan = _plan(area, notes, language, prefix)
    parts = [f"{words['all']}{contents.link(index, prefix)}"] if index else []
    of_groups = members(area, notes)
    total, owed = 0, 0
    for group, ids in zip(area.groups, of_groups[:-1], strict=True):
        fold, planned = _group(group, ids, notes, language, prefix, plan)
        parts.append(fold)
        total, owed = total + len(ids), owed + planned
    if of_groups[-1]:
        total += len(of_groups[-1])
        lines = _notes(of_groups[-1], notes, language, prefix)
        parts.append(_fold(words["rest"], len(lines), 0, "\n".join(lines), language))
    return _fold(
        area.title.get(language), total, owed, "\n\n".join(parts), language, area.id, is_open=True
    )


def _plan(area: Area, notes: Catalogue, language: str, prefix: str) -> str:
    roadmap = notes.in_language("roadmap", language)
    anchor = github_slug(area.title.get(language))
    return f"{posixpath.join(prefix, roadmap.path)}#{anchor}" if roadmap else ""


def _group(
    group: Group, ids: list[str], notes: Catalogue, language: str, prefix: str, plan: str
) -> tuple[str, int]:
    """Return the fold of a group, and how many of its items are planned."""
    words = _WORDS[language]
    lines = []
    for name in group.notes:
        index = notes.in_language(f"{name}/index", language)
        if index is not None:
            lines.append(f"- {words['topic']}{contents.link(index, prefix)}")
    lines += _notes(ids, notes, language, prefix)
    items = [_item(item, notes, language, prefix, plan) for item in group.items]
    lines += [line for line, _ in items]
    owed = sum(is_owed for _, is_owed in items)
    title = group.title.get(language)
    if not lines:
        lines, owed = [_planned(title, language, plan)], 1
    return _fold(title, len(ids), owed, "\n".join(lines), language), owed


def _notes(ids: list[str], notes: Catalogue, language: str, prefix: str) -> list[str]:
    shown: list[Note] = [note for one in ids if (note := notes.in_language(one, language))]
    return [f"- {contents.link(note, prefix)}" for note in shown]


def _item(item: Item, notes: Catalogue, language: str, prefix: str, plan: str) -> tuple[str, bool]:
    title = item.title.in_language(language)
    at = item.at or (item.planned if notes.in_language(item.planned, "zh") else "")
    if not at:
        return _planned(title, language, plan), True
    target = coverage.link(at, notes, language, prefix).rpartition("](")[2]
    return f"- [{contents.escape(title)}]({target}", False


def _planned(title: str, language: str, plan: str) -> str:
    text = f"[{contents.escape(title)}]({plan})" if plan else contents.escape(title)
    return f'- {text} <small class="planned">{_WORDS[language]["planned"]}</small>'


def _fold(
    title: str,
    count: int,
    owed: int,
    body: str,
    language: str,
    name: str = "",
    *,
    is_open: bool = False,
) -> str:
    words = _WORDS[language]
    said = [words["one" if count == 1 else "count"].format(count)] if count else []
    said += [words["owed"].format(owed)] if owed else []
    attributes = (f' id="{name}"' if name else "") + (" open" if is_open else "")
    return (
        f'<details markdown="1"{attributes}>\n<summary>{escape(title)} '
        f"<small>{words['and'].join(said)}</small></summary>\n\n{body}\n\n</details>"
    )
