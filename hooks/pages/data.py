"""The data that pages show, each part read when somebody first asks for it."""

from __future__ import annotations

import contextlib
import re
from functools import cached_property, partial
from pathlib import Path

from hooks.cache import Cache, digest, of_files
from hooks.calc import engine, registry
from hooks.data import BlockError, Layout, facts, glossary, glossary_load, load, resources
from hooks.findings import Finding
from hooks.notes import Catalogue, Note, published
from hooks.pages import blocks, catalogue, facts_table
from hooks.pages.fences import DataFences
from hooks.pages.items import Item
from hooks.pages.values import check as value_check
from hooks.pages.values import values

_PROGRAM = re.compile(rb'"path": "([^"\\]+)"')
_NO_DATA = re.compile(
    r"assets/(?!javascripts/calc/)|data/(?:raw|external|published|moved)"
    r"|.*\.(?:svg|png|jpe?g|webp|pdf)\Z"
)
"""Files that no figure on a page is taken from."""


class Data:
    """The data that pages show: each part is read when somebody first asks for it."""

    def __init__(
        self, root: Path, notes: Catalogue, library: resources.Library, cache: Cache, docs: Path
    ) -> None:
        """Note where the data lie; nothing is read yet."""
        self.root, self.docs, self.notes, self.library = root, docs, notes, library
        self.cache = cache
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
        """Renders the fences that show data; what the check has rendered is there already."""
        return DataFences(self.facts[0], self.docs, self.root, self.notes, self.cache)

    @cached_property
    def resolver(self) -> values.Resolver:
        """Looks up the numbers in prose, likewise."""
        return values.Resolver(self.fences)

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """All that readers may look for, of every kind."""
        notes, calculators = published(self.notes), engine.default(self.facts[0])
        return catalogue.gather(notes, self.glossary[0], self.library, self.fences, calculators)

    def users(self, language: str) -> dict[str, list[Note]]:
        """Return the notes of a language that rest on each source, by its key."""
        if language not in self._users:
            found: dict[str, list[Note]] = {}
            for note in self.notes.notes.values():
                for key in self._sources_of(note) if note.language == language else ():
                    found.setdefault(key, []).append(note)
            self._users[language] = found
        return self._users[language]

    def _sources_of(self, note: Note) -> set[str]:
        """Return the keys of the sources of the tables, charts and numbers in a note's prose."""
        keys = value_check.sources_of(note, self.resolver)
        for fence in note.source.fences:
            kind, text = blocks.kind_of(fence), blocks.text_of(fence)
            with contextlib.suppress(BlockError):  # the checks say what is wrong
                if kind == "facts":
                    keys.update(facts_table.used_sources(text, self.facts[0]))
                elif kind == "chart":
                    keys.update(self.fences.chart(text, note.language).sources)
        return keys

    def forget(self) -> None:
        """Forget what was concluded from the texts of notes."""
        vars(self).pop("items", None)
        self._users.clear()

    @cached_property
    def stamp(self) -> str:
        """A hash of everything beside a note and its twin that the numbers on pages rest on: data,
        records, the programs that they name, calculators, and the names of all notes.
        """
        files = [self.docs / one for one in self.notes.other_files if not _NO_DATA.match(one)]
        records = [one for one in files if one.suffix == ".json" and "measured" in one.parts]
        named = {name.decode() for one in records for name in _PROGRAM.findall(one.read_bytes())}
        programs = [self.root / one for one in named if not one.startswith(f"{self.docs.name}/")]
        files += [*programs, *registry.scripts()]
        titles = [(note.path, note.title) for note in self.notes.notes.values()]
        return digest(of_files(files, self.root), titles)
