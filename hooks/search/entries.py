"""What search finds beside sections: terms, resources, questions, calculators, figures, symptoms.

Each is a short section of its page. One that a heading of the page opens is that section, told what
it is; any other is added below the heading that it stands under.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from hooks.search.sections import Section, clean, without_signs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hooks.search.sections import Page


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
    "symptom": Kind("症状", "Symptom", 0.15),
}


def add_entries(
    pages: Sequence[Page], items: Mapping[tuple[str, str], Sequence[tuple[Any, Any]]]
) -> None:
    """Put what pages hold into them; what is there already is told what it is.

    Args:
        pages: The pages, to be completed.
        items: By the key and language of a page, its items with what they say (`pages.items`).
    """
    for page in pages:
        _add(
            page, [one for one in items.get((page.key, page.language), ()) if one[0].kind in KINDS]
        )


def _add(page: Page, items: Sequence[tuple[Any, Any]]) -> None:
    known = {section.anchor: section for section in page.sections if section.anchor}
    below: dict[str, list[Section]] = defaultdict(list)
    for item, said in items:
        section, parent = known.get(said.anchor), known.get(said.within)
        if section is not None:
            section.kind = item.kind
        elif item.kind == "calculator" and page.key.rpartition("/")[2] == item.key:
            # Its own page is it.
            page.sections[0].kind = item.kind
            page.sections[0].text += "\n" + _lines(said.summary)
        else:
            level = min(parent.level + 1, 6) if parent else 2
            title, text = clean(without_signs(said.title)), _lines(said.summary)
            key = f"{item.kind} {item.key}"
            made = Section(said.anchor, level, title, text, item.kind, key)
            below[said.within if parent else ""].append(made)
    if below:
        page.sections = [
            one
            for number, section in enumerate(page.sections)
            for one in (section, *(below.pop(section.anchor, ()) if number else ()))
        ] + below.pop("", [])


def _lines(text: str) -> str:
    return "\n".join(filter(None, (clean(without_signs(line)) for line in text.split("\n"))))
