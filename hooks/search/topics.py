"""What the search box offers when nothing is found: the topics there are, and what is planned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from hooks.search.pages import location_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.notes import Catalogue


class _Name(Protocol):
    def get(self, language: str) -> str: ...


class _Text(Protocol):
    def in_language(self, language: str) -> str: ...


class _Item(Protocol):
    @property
    def title(self) -> _Text: ...
    @property
    def planned(self) -> str: ...


class _Group(Protocol):
    @property
    def title(self) -> _Name: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def covers(self) -> _Name: ...
    @property
    def items(self) -> Sequence[_Item]: ...


class Area(Protocol):
    """An area of the topic map (`hooks.pages.topic_map`)."""

    @property
    def title(self) -> _Name:
        """Its name."""
        ...

    @property
    def groups(self) -> Sequence[_Group]:
        """Its groups."""
        ...


def topics(areas: Sequence[Area], notes: Catalogue, language: str) -> list[list[Any]]:
    """Return `[name, address, words]` of each group, and of what is planned within one.

    The address is empty for what is planned; for a group it is that of its topic page, else of
    its first note. The words are what else it is about, in both languages.
    """
    found: list[list[Any]] = []
    for area in areas:
        for group in area.groups:
            other = "zh" if language == "en" else "en"
            words = [group.covers.get(language), group.title.get(other), area.title.get(language)]
            there = _place(group, notes, language)
            found.append([group.title.get(language), there, " ".join(words)])
            for item in group.items:
                if item.planned and notes.in_language(item.planned, "zh") is None:
                    title = item.title.in_language(language)
                    found.append([title, "", item.title.in_language(other)])
    return found


def _place(group: _Group, notes: Catalogue, language: str) -> str:
    for name in group.notes:
        for note_id in (f"{name}/index", name):
            note = notes.in_language(note_id, language)
            if note is not None:
                return location_of(note.path)
    return ""
