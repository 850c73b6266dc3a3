"""The page of resources: tables by topic, each entry with an id and with the notes that cite it."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from hooks.data import GENERAL, KINDS, LEVELS, Text, plain_address
from hooks.links import bare_addresses
from hooks.pages.html import fill
from hooks.pages.items import Item, Said

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hooks.data import FactBase, Library, Resource
    from hooks.notes import Catalogue, Note
    from hooks.pages.topics import Area

PAGE = "resources/index"
"""The note that shows the library; its own links, and those of pages about us, cite nothing."""
_GENERAL = Text(zh="贯通全栈", en="Across the field")
_WORDS = {
    "zh": {
        "count": "共 {} 条：",
        "others": "等",
        "and": "、",
        "comma": "，",
        "cited": "引用它的笔记（{}）",
        "archive": "存档",
        "moved": "已搬家",
        "dated": "内容已旧",
        "dead": "已失效",
        "unchecked": "未核对",
        "live": "",
    },
    "en": {
        "count": "{} entries: ",
        "others": "et al.",
        "and": ", ",
        "comma": ", ",
        "cited": "Notes that cite it ({})",
        "archive": "archived copy",
        "moved": "moved",
        "dated": "dated",
        "dead": "gone",
        "unchecked": "unchecked",
        "live": "",
    },
}
_HEAD = {
    "zh": ("资源与读者得到什么", "类型", "程度", "语言", "核对"),
    "en": ("Resource, and what you get", "Kind", "Level", "Language", "Checked"),
}
_KINDS = {
    "zh": "书 课程 文档 规范 论文 工具 代码 清单 文章 演讲 作者 新闻".split(),
    "en": "book,course,docs,specification,paper,tool,code,list,post,talk,author,news".split(","),
}
_LEVELS = {"zh": "入门 进阶 深入".split(), "en": "introductory,working,in depth".split(",")}
_LANGUAGES = {"zh": {"zh": "中文", "en": "英文"}, "en": {"zh": "Chinese", "en": "English"}}


def topics(areas: Sequence[Area]) -> dict[str, Text]:
    """Return the topics in the order of the page, with their names."""
    return {GENERAL: _GENERAL} | {
        area.id: Text(zh=area.title.zh, en=area.title.en) for area in areas
    }


def citing(
    library: Library,
    notes: Catalogue,
    language: str,
    base: FactBase,
    users: Mapping[str, Sequence[Note]],
) -> dict[str, list[Note]]:
    """Return the notes of a language that cite each entry, by its key.

    A note cites an entry if it names its address or one below it (a file of a repository), or
    shows figures from a source at such an address.

    Args:
        library: The entries.
        notes: All notes.
        language: Whose notes to look at.
        base: The facts, whose sources have addresses.
        users: The notes that rest on a source, by its key.
    """
    keys = {plain_address(one): key for key, entry in library.items() for one in entry.addresses}
    found: dict[str, dict[str, Note]] = {}

    def name(address: str, note: Note) -> None:
        if key := _entry_at(plain_address(address), keys):
            found.setdefault(key, {})[note.id] = note

    for note in notes.notes.values():
        if note.language == language and note.id != PAGE and not note.id.startswith("about/"):
            for _, address in bare_addresses(note.text):
                name(address, note)
    for source, those in users.items():
        for note in those:
            name(base.sources[source].url, note)
    return {key: [those[name] for name in sorted(those)] for key, those in found.items()}


def items(library: Library) -> list[Item]:
    """Return the entries of the library."""
    return [
        Item(
            "resource",
            key,
            PAGE,
            {language: _said(key, one, language) for language in ("zh", "en")},
            one.topics,
        )
        for key, one in library.items()
    ]


def _said(key: str, one: Resource, language: str) -> Said:
    words = _WORDS[language]
    by = words["comma"].join(filter(None, [_names(one, language), str(one.year or "")]))
    note = one.note.in_language(language) if one.note else ""
    summary = "\n".join(filter(None, [one.gives.in_language(language), by, note]))
    return Said(one.title.in_language(language), summary, key)


def _entry_at(address: str, keys: Mapping[str, str]) -> str | None:
    """Return the entry at an address, or at the nearest one above it that is no whole site."""
    found = keys.get(address)
    while found is None and "/" in (address := address.rpartition("/")[0]):
        found = keys.get(address)
    return found


def render(
    library: Library, areas: Sequence[Area], cited: Mapping[str, Sequence[Note]], language: str
) -> str:
    """Return a heading and a table for each topic that has entries, as Markdown and HTML."""
    words = _WORDS[language]
    tables = []
    for topic, name in topics(areas).items():
        chosen = {key: one for key, one in library.items() if one.topics[0] == topic}
        if chosen:
            keys = sorted(chosen, key=lambda key: _order(chosen[key], language))
            rows = [_row(key, chosen[key], cited.get(key, ()), language) for key in keys]
            tables.append((name.in_language(language), rows))
    counts = words["comma"].join(f"{title} {len(rows)}" for title, rows in tables)
    return fill(
        "resources.html",
        words=words,
        language=language,
        total=words["count"].format(len(library)) + counts,
        head=_HEAD[language],
        kinds=_KINDS[language],
        levels=_LEVELS[language],
        tables=tables,
    ).rstrip()


def _folder(language: str) -> str:
    folder = posixpath.dirname(PAGE)
    return folder if language == "zh" else f"{language}/{folder}"


def _order(one: Resource, language: str) -> tuple[int, int, str]:
    title = one.title.in_language(language).casefold()
    return KINDS.index(one.kind), LEVELS.index(one.level), title


def _row(key: str, one: Resource, notes: Sequence[Note], language: str) -> dict[str, object]:
    """Return what the template shows of an entry beside its own fields."""
    words = _WORDS[language]
    return {
        "key": key,
        "entry": one,
        "lang": _lang(one, language),
        "by": words["comma"].join(filter(None, [_names(one, language), str(one.year or "")])),
        "cited": [(_address(note, language), note.title) for note in notes],
        "kind": KINDS.index(one.kind),
        "level": LEVELS.index(one.level),
        "language": _LANGUAGES[language].get(one.language, one.language),
        "state": " ".join(filter(None, [words[one.state], f"{one.checked or ''}"])),
    }


def _lang(one: Resource, language: str) -> str:
    same = one.language == language or one.title.zh != one.title.en
    return "" if same else one.language


def _names(one: Resource, language: str) -> str:
    names = (one.by or "").split(" and ")
    words = _WORDS[language]
    if names[-1] == "others":
        first = words["and"].join(names[:-1])
        return f"{first} {words['others']}"
    return words["and"].join(names)


def _address(note: Note, language: str) -> str:
    page = f"{note.id}.html" if language == "zh" else f"{language}/{note.id}.html"
    return posixpath.relpath(page, _folder(language))
