"""The page of resources: tables by topic, each entry with an id."""

from __future__ import annotations

from collections.abc import Sequence

from hooks.data import GENERAL, KINDS, LEVELS, Library, Resource, Text
from hooks.notes import LANGUAGES
from hooks.pages.frame import fill, row_of, words_of
from hooks.pages.topics import Area
from hooks.pages.view import Item, Said

PAGE = "resources/index"
"""The note that shows the library."""


def topics(areas: Sequence[Area]) -> dict[str, Text]:
    """Return the topics in the order of the page, with their names."""
    general = {one: words_of("resources", one)["general"] for one in LANGUAGES}
    return {GENERAL: Text(**general)} | {area.id: area.title for area in areas}


def items(library: Library) -> list[Item]:
    """Return the entries of the library."""

    def said(key: str, one: Resource, language: str) -> Said:
        note = one.note.in_language(language) if one.note else ""
        about = filter(None, [one.gives.in_language(language), _by(one, language), note])
        return Said(one.title.in_language(language), "\n".join(about), key)

    return [
        Item("resource", key, PAGE, {each: said(key, one, each) for each in LANGUAGES}, one.topics)
        for key, one in library.items()
    ]


def render(library: Library, areas: Sequence[Area], language: str) -> str:
    """Return a heading and a table for each topic that has entries, as Markdown and HTML."""
    words = words_of("resources", language)

    def order(key: str) -> tuple[int, int, str]:
        one = library[key]
        title = one.title.in_language(language).casefold()
        return KINDS.index(one.kind), LEVELS.index(one.level), title

    tables = []
    for topic, name in topics(areas).items():
        keys = sorted((key for key, one in library.items() if one.topics[0] == topic), key=order)
        if keys:
            rows = [_row(key, library[key], language) for key in keys]
            tables.append((name.in_language(language), rows))
    counts = words["comma"].join(f"{title} {len(rows)}" for title, rows in tables)
    return fill(
        "resources.html",
        words=words,
        language=language,
        total=words["count"].format(len(library)) + counts,
        tables=tables,
        **{key: row_of("resources", key, language) for key in ("head", "kinds", "levels")},
    ).rstrip()


def _row(key: str, one: Resource, language: str) -> dict[str, object]:
    """Return what the template shows of an entry beside its own fields."""
    words = words_of("resources", language)
    is_same = one.language == language or one.title.zh != one.title.en
    return {
        "key": key,
        "entry": one,
        "lang": "" if is_same else one.language,
        "by": _by(one, language),
        "kind": KINDS.index(one.kind),
        "level": LEVELS.index(one.level),
        "language": words.get(f"in_{one.language}", one.language),
        "state": " ".join(filter(None, [words.get(one.state, ""), f"{one.checked or ''}"])),
    }


def _by(one: Resource, language: str) -> str:
    """Return who made an entry, and when."""
    words = words_of("resources", language)
    *first, last = (one.by or "").split(" and ")
    end = f" {words['others']}" if last == "others" else ""
    names = words["and"].join(first if end else [*first, last]) + end
    return words["comma"].join(filter(None, [names, str(one.year or "")]))
