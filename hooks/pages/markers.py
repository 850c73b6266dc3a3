"""What a page gets at markers in its own text: lists, tables, maps."""

from __future__ import annotations

import datetime
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hooks.data import Coverage, Glossary, LearningPath, Library
from hooks.findings import rules
from hooks.links import external
from hooks.notes import Catalogue, Entry
from hooks.pages import (
    contents,
    counts,
    coverage,
    graph,
    paths,
    questions,
    roadmap,
    topic_map,
    topic_tree,
    vendor_terms,
)
from hooks.pages import glossary as glossary_page
from hooks.pages.items import Item

_MARKER = re.compile(
    r"^<!-- (?P<name>contents|notes|newest|verified|map|plan|external-links|sources"
    r"|check-rules|coverage|questions|resources|glossary|vendor-terms|paths|path-cards|counts"
    r"|tree|graph)"
    r"(?: depth=(?P<depth>\d))?(?: area=(?P<area>[a-z]+))? -->[ \t]*$",
    re.MULTILINE,
)
_RULES_WORDS = {
    "zh": ("规则", "报告什么", "怎样修正"),
    "en": ("Rule", "What is reported", "How to mend it"),
}


def are_in(markdown: str) -> bool:
    """Tell whether a page has markers."""
    return _MARKER.search(markdown) is not None


def fill_markers(
    markdown: str,
    *,
    page_path: str,
    language: str,
    entries: Sequence[Entry],
    notes: Catalogue,
    added: Mapping[str, datetime.date],
    areas: list[topic_map.Area],
    report: Path | None = None,
    sources: Callable[[str], str] | None = None,
    asked: Coverage | None = None,
    learning: Sequence[LearningPath] = (),
    library: Library | None = None,
    resources: Callable[[str], str] | None = None,
    glossary: Glossary | None = None,
    items: Sequence[Item] = (),
    uses: Callable[[str], glossary_page.Uses] | None = None,
) -> str:
    """Replace each marker line by the list it names.

    `<!-- contents depth=3 -->`: every topic, note and heading. `<!-- notes -->`: the notes of the
    topic whose index page this is. `<!-- newest -->`, `<!-- verified -->`: the latest six.
    `<!-- map -->`: every area of the field. `<!-- plan area=link -->`: what of an area exists and
    what is planned; without an area, how many notes there are and where none.
    `<!-- external-links -->`: what the last check of external links found. `<!-- sources -->`:
    what `sources` returns for the language, the bibliography of the data.
    `<!-- check-rules -->`: every rule of the checks. `<!-- coverage -->`: what is `asked`, and
    which notes and entries of the `library` answer it. `<!-- questions -->`: the interview
    questions, by subject, a place to practise them, and the deck where there is one.
    `<!-- resources -->`: what `resources` returns for the language, the whole library.
    `<!-- glossary -->`: the entries of the `glossary`, with an index and the `uses` of each.
    `<!-- vendor-terms -->`: what vendors call the same thing.
    `<!-- paths -->`: the paths of `learning`;
    `<!-- path-cards -->`: the same in short.
    `<!-- tree -->`: the topic map down to notes. `<!-- graph -->`: notes and links.
    `<!-- counts -->`: how many `items` of each kind there are.
    """
    prefix = posixpath.relpath(".", posixpath.dirname(page_path) or ".")

    def block(match: re.Match[str]) -> str:
        name = match["name"]
        if name == "contents":
            depth = int(match["depth"] or 3)
            return contents.contents(entries, notes, language, depth=depth, prefix=prefix)
        if name == "map":
            return topic_map.as_map(areas, notes, language, prefix=prefix)
        if name == "plan":
            chosen = next((area for area in areas if area.id == match["area"]), None)
            if match["area"] is None:
                return roadmap.summary(areas, notes, language)
            return roadmap.plan(chosen, notes, language, prefix=prefix) if chosen else ""
        if name == "external-links":
            return external.render(report, language) if report else ""
        if name == "sources":
            return sources(language) if sources else ""
        if name == "check-rules":
            return rules_table(language)
        if name == "coverage":
            if asked is None:
                return ""
            return coverage.render(asked, notes, library or {}, language, prefix=prefix)
        if name == "questions":
            return questions.listing(notes, language, prefix=prefix)
        if name == "resources":
            return resources(language) if resources else ""
        if name == "glossary":
            found = uses(language) if uses else None
            return glossary_page.render(glossary, notes, language, found) if glossary else ""
        if name == "vendor-terms":
            here = page_path.removesuffix(".md").removesuffix(".en")
            return vendor_terms.render(glossary, language, here) if glossary else ""
        if name == "paths":
            return paths.render(learning, notes, language, prefix=prefix)
        if name == "counts":
            return counts.render(items, language, page_path)
        if name == "path-cards":
            return paths.cards(learning, notes, language, prefix=prefix)
        if name == "tree":
            return topic_tree.render(areas, notes, language, prefix=prefix)
        if name == "graph":
            return graph.place(notes, language, prefix=prefix)
        if name == "newest":
            return contents.newest(notes, language, added, prefix=prefix)
        if name == "verified":
            return contents.last_verified(notes, language, prefix=prefix)
        index = page_path.replace(".en.md", ".md")
        entry = contents.topic_entry(entries, index)
        listing = contents.topic_listing(entry, notes, language, prefix=prefix) if entry else ""
        also = counts.also(items, index.removesuffix(".md"), language)
        return f"{listing}\n\n{also}" if also else listing

    return _MARKER.sub(block, markdown)


def rules_table(language: str) -> str:
    """Return every rule as a table: its name, what is reported, how to mend it."""
    lines = [f"| {' | '.join(_RULES_WORDS[language])} |", "| --- | --- | --- |"]
    for rule in rules.all_rules():
        said = rule.words[language]
        lines.append(f"| `{rule.name}` | {_cell(said.what)} | {_cell(said.mend)} |")
    return "\n".join(lines)


def _cell(text: str) -> str:
    """Return text that a cell of a table shows as it is."""
    text = re.sub(r"([\\`*_\[\]|{}$~])", r"\\\1", text)
    return text.replace("<", "&lt;").replace(">", "&gt;")
