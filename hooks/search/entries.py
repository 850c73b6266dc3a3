"""What search finds beside sections: terms, resources, questions, calculators, figures, answers.

Each is a short section of its page. One that a heading of the page opens is that section, told what
it is; any other is added below the heading that it stands under.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from hooks.data import flat
from hooks.search.sections import Section, clean, without_signs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hooks.search.sections import Page

LOWEST: Final = 6
"""The lowest level of a section."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What a reader is told of an entry's kind, and how much its score counts."""

    zh: str
    en: str
    worth: float
    """A short text meets a short query well: less than 1 keeps it behind what explains."""

    def label(self, language: str) -> str:
        """Return the kind's name in a language."""
        return self.en if language == "en" else self.zh


KINDS: Final = {
    "term": Kind("术语", "Term", 0.5),
    "resource": Kind("资源", "Resource", 0.35),
    "question": Kind("面试题", "Question", 1.0),
    "calculator": Kind("计算器", "Calculator", 1.0),
    "figure": Kind("图表", "Figure", 0.15),
    "answer": Kind("快答", "Short answer", 0.7),
    "symptom": Kind("症状", "Symptom", 0.15),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that has a place on a page, in one language."""

    kind: str
    """One of `KINDS`."""
    key: str
    """The same in all languages."""
    page: str
    """The key of its page."""
    language: str
    title: str
    text: str = ""
    anchor: str = ""
    within: str = ""
    """The id of the heading it stands below; empty where that is not known."""
    names: tuple[str, ...] = ()
    """Every name it has, such as the forms of a term."""


def add_entries(pages: Sequence[Page], entries: Iterable[Entry]) -> None:
    """Put entries into the pages where they stand; what is there already is not added again."""
    waiting: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for entry in entries:
        if entry.kind in KINDS:
            waiting[entry.page, entry.language].append(entry)
    for page in pages:
        _add(page, waiting.get((page.key, page.language), ()))


def _add(page: Page, entries: Sequence[Entry]) -> None:
    known = {section.anchor: section for section in page.sections if section.anchor}
    below: dict[str, list[Section]] = defaultdict(list)
    for entry in entries:
        section = known.get(entry.anchor)
        if section is not None:
            section.kind = entry.kind
            section.names = _flat(entry)
        elif entry.kind == "calculator" and entry.page.rpartition("/")[2] == entry.key:
            # Its own page is it.
            page.sections[0].kind = entry.kind
            page.sections[0].text += "\n" + _lines(entry.text)
        else:
            parent = known.get(entry.within)
            level = min(parent.level + 1, LOWEST) if parent else 2
            made = Section(
                entry.anchor,
                level,
                clean(without_signs(entry.title)),
                _lines(entry.text),
                entry.kind,
                _flat(entry),
                f"{entry.kind} {entry.key}",
            )
            below[entry.within if parent else ""].append(made)
    if below:
        page.sections = [
            one
            for number, section in enumerate(page.sections)
            for one in (section, *(below.pop(section.anchor, ()) if number else ()))
        ] + below.pop("", [])


def _flat(entry: Entry) -> tuple[str, ...]:
    return tuple(dict.fromkeys(flat(name) for name in entry.names))


def _lines(text: str) -> str:
    return "\n".join(filter(None, (clean(without_signs(line)) for line in text.split("\n"))))


def of_items(items: Mapping[tuple[str, str], Sequence[tuple[Any, Any]]]) -> list[Entry]:
    """Return the entries of what pages hold, by the id and language of its note."""
    return [
        Entry(
            item.kind,
            item.key,
            note_id,
            language,
            said.title,
            said.summary,
            said.anchor,
            said.within,
            said.names,
        )
        for (note_id, language), those in items.items()
        for item, said in those
    ]
