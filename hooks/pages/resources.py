"""The page of resources: tables by topic, each entry with an id and with the notes that cite it."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence

from hooks.data import GENERAL, KINDS, LEVELS, FactBase, Library, Resource, Text, plain_address
from hooks.links import bare_addresses, page_address
from hooks.notes import LANGUAGES, Catalogue, Note
from hooks.pages.frame import fill, row_of, way, words_of
from hooks.pages.topics import Area
from hooks.pages.view import Item, Said

PAGE = "resources/index"
"""The note that shows the library; its own links, and those of pages about us, cite nothing."""


def topics(areas: Sequence[Area]) -> dict[str, Text]:
    """Return the topics in the order of the page, with their names."""
    general = {one: words_of("resources", one)["general"] for one in LANGUAGES}
    return {GENERAL: Text(**general)} | {area.id: area.title for area in areas}


def citing(
    library: Library,
    notes: Catalogue,
    language: str,
    base: FactBase,
    users: Mapping[str, Sequence[Note]],
) -> dict[str, list[Note]]:
    """Return the notes of a language that cite each entry, by its key.

    A note cites an entry if it names its address or one below it (a file of a repository), or
    shows figures from a source at such an address: `users` are the notes that rest on each source.
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

    def said(key: str, one: Resource, language: str) -> Said:
        note = one.note.in_language(language) if one.note else ""
        about = filter(None, [one.gives.in_language(language), _by(one, language), note])
        return Said(one.title.in_language(language), "\n".join(about), key)

    return [
        Item("resource", key, PAGE, {each: said(key, one, each) for each in LANGUAGES}, one.topics)
        for key, one in library.items()
    ]


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
    words = words_of("resources", language)

    def order(key: str) -> tuple[int, int, str]:
        one = library[key]
        title = one.title.in_language(language).casefold()
        return KINDS.index(one.kind), LEVELS.index(one.level), title

    tables = []
    for topic, name in topics(areas).items():
        keys = sorted((key for key, one in library.items() if one.topics[0] == topic), key=order)
        if keys:
            rows = [_row(key, library[key], cited.get(key, ()), language) for key in keys]
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


def _row(key: str, one: Resource, notes: Sequence[Note], language: str) -> dict[str, object]:
    """Return what the template shows of an entry beside its own fields."""
    here = posixpath.dirname(page_address(PAGE, language))
    words = words_of("resources", language)
    is_same = one.language == language or one.title.zh != one.title.en
    return {
        "key": key,
        "entry": one,
        "lang": "" if is_same else one.language,
        "by": _by(one, language),
        "cited": [(way(page_address(note.id, language), here), note.title) for note in notes],
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
