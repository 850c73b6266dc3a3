"""The sources of a site, read once: its notes, and the data of pages, read when asked for."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path

from hooks.cache import Cache, of_files
from hooks.calc import engine as calc_engine
from hooks.data import Layout, facts, glossary, glossary_load, load, paths, resources
from hooks.findings import Finding
from hooks.markdown import rendered, split, text_of
from hooks.notes import Catalogue, Note, navigation, published
from hooks.pages import DataFences, Item, markers, source_use, term_marks, topics
from hooks.pages import catalogue as everything
from hooks.pages import glossary as glossary_page
from hooks.pages import resources as resources_page
from hooks.pages import sources as bibliography
from hooks.pages.values import values


class Data:
    """The data that pages show: each part is read when somebody first asks for it."""

    def __init__(
        self,
        root: Path,
        docs: Path,
        notes: Catalogue,
        library: resources.Library,
        cache: Cache | None = None,
    ) -> None:
        """Note where the data lie; nothing is read yet."""
        self.root, self.docs, self.notes, self.library = root, docs, notes, library
        self.cache = cache or Cache()
        self.stamp = ""
        """A hash of everything beside notes that their numbers rest on, once it is known."""
        self._users: dict[str, dict[str, list[Note]]] = {}

    @cached_property
    def facts(self) -> tuple[facts.FactBase, list[Finding]]:
        """The facts, and what is wrong with them."""
        folder = Layout(self.docs).data
        key = of_files([folder], self.docs)
        return self.cache.recall("facts", key, partial(load.load_facts, folder))

    @cached_property
    def glossary(self) -> tuple[glossary.Glossary, list[Finding]]:
        """The terms, and what is wrong with them."""
        return glossary_load.read_glossary(Layout(self.docs).terms)

    @cached_property
    def fences(self) -> DataFences:
        """Renders the fences that show data."""
        return DataFences(self.facts[0], self.docs, self.root, self.notes, cache=self.cache)

    @cached_property
    def resolver(self) -> values.Resolver:
        """Looks up the numbers in prose."""
        pages = frozenset(self.notes.ids())
        known = self.fences.known
        return values.Resolver(self.facts[0], self.docs, self.root, pages, known=known)

    def users(self, language: str) -> dict[str, list[Note]]:
        """Return the notes of a language that rest on each source, by its key."""
        if language not in self._users:
            self._users[language] = source_use.users(self.notes, language, self._sources_of)
        return self._users[language]

    def _sources_of(self, note: Note) -> list[str]:
        def find() -> list[str]:
            return source_use.of_note(note, self.facts[0], self.resolver)

        return find()

    def forget(self) -> None:
        """Forget what was concluded from the texts of notes."""
        vars(self).pop("items", None)
        self._users.clear()

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """All that readers may look for, of every kind."""
        notes, calculators = published(self.notes), calc_engine.default(self.facts[0])
        return everything.gather(notes, self.glossary[0], self.library, self.fences, calculators)


@dataclass(frozen=True, slots=True)
class Tree:
    """The sources of a site, read once."""

    root: Path
    docs: Path
    notes: Catalogue
    entries: tuple[navigation.Entry, ...]
    data: Data
    areas: list[topics.Area]
    paths: tuple[paths.LearningPath, ...]
    """Learning paths; empty where they are bad or absent."""
    library: resources.Library
    """The library of resources, as far as it is valid."""
    findings: list[Finding]
    """Everything the checks found, sorted."""
    moved: Mapping[str, str]
    """What took the place of pages and headings that are gone since a release."""

    @property
    def facts(self) -> facts.FactBase:
        """The facts, as far as they are valid."""
        return self.data.facts[0]

    @property
    def glossary(self) -> glossary.Glossary:
        """The terms, as far as they are valid."""
        return self.data.glossary[0]

    @property
    def fences(self) -> DataFences:
        """Renders the fences that show data; what the check has rendered is there already."""
        return self.data.fences

    @property
    def resolver(self) -> values.Resolver:
        """Looks up the numbers in prose, likewise."""
        return self.data.resolver

    @property
    def items(self) -> tuple[Item, ...]:
        """All that readers may look for, of every kind."""
        return self.data.items


def fill(
    tree: Tree,
    markdown: str,
    path: str,
    language: str,
    added: Mapping[str, datetime.date] | None = None,
) -> str:
    """Return a page's Markdown with what is generated at its markers.

    Args:
        tree: The sources.
        markdown: The page's text.
        path: The note's path below the docs folder.
        language: The language of the page.
        added: The day on which each file of a note was added, where it matters.
    """
    if not markers.are_in(markdown):
        return markdown

    def users(language: str) -> dict[str, list[Note]]:
        return tree.data.users(language)

    def library(language: str) -> str:
        cited = resources_page.citing(
            tree.library, tree.notes, language, tree.facts, users(language)
        )
        return resources_page.render(tree.library, tree.areas, cited, language)

    def uses(language: str) -> glossary_page.Uses:
        order = [page.path.removesuffix(".md") for one in tree.entries for page in one.pages()]
        marks = term_marks.Marks(tree.glossary)
        return marks.uses(published(tree.notes), order, language)

    page = markers.Page(
        path,
        language,
        published(tree.notes),
        tree.entries,
        added or {},
        tree.areas,
        Layout(tree.docs).report,
        sources=lambda language: bibliography.render(tree.facts, users(language), language),
        learning=tree.paths,
        resources=library,
        terms=tree.glossary,
        items=tree.items,
        uses=uses if added is not None else None,
    )
    return markers.fill_markers(markdown, page)


def generated_ids(tree: Tree, made_from: str = "") -> Callable[[Note], frozenset[str]]:
    """Return what gives the ids that a build adds to a note's page: by items, and at markers.

    Args:
        tree: The sources.
        made_from: A hash of all that ids depend on, notes and data alike; empty: nothing is kept.
    """
    those = cache(lambda: everything.by_page(tree.items))

    def make(note: Note) -> frozenset[str]:
        found = everything.ids(those(), note)
        body = split(note.text).body
        filled = fill(tree, body, note.path, note.language)
        if filled != body:
            found |= rendered(text_of(filled, tree.docs)).source.ids
        return found

    @cache
    def of_path(path: str) -> frozenset[str]:
        note = tree.notes.notes[path]
        if not made_from:
            return make(note)
        return tree.data.cache.recall("ids", (made_from, path), partial(make, note))

    return lambda note: of_path(note.path)
