"""The data that pages show, and the fences that show data.

A fence is right when it can be rendered, so the check renders it as the page will show it; the
page then finds the HTML made already. What is kept here lives as long as one build.
"""

from __future__ import annotations

import contextlib
import posixpath
import re
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

from hooks.cache import Cache, digest, of_files
from hooks.calc import CalcError, engine, registry
from hooks.data import BlockError, Layout, facts, glossary, kit, load, messages, resources
from hooks.drawings import Chart
from hooks.drawings.charts import spec
from hooks.findings import Finding
from hooks.links import page_address
from hooks.markdown import Fence
from hooks.notes import Catalogue, Note, published
from hooks.pages import blocks, calculator, catalogue, chart, facts_table, measured_table
from hooks.pages.chart import Drawn
from hooks.pages.frame import Stock
from hooks.pages.values import check as value_check
from hooks.pages.values import values
from hooks.pages.view import Item

_PROGRAM = re.compile(rb'"path": "([^"\\]+)"')
_NO_DATA = re.compile(
    r"assets/(?!javascripts/calc/)|data/(?:raw|published|moved)"
    r"|.*\.(?:svg|png|jpe?g|webp|pdf)\Z"
)
"""Files that no figure on a page is taken from."""
KINDS = ("facts", "measured", "calc", "chart")
"""The first word of such a fence."""
ERRORS = (BlockError, CalcError)
"""What a fence raises that asks for what is not there."""


@dataclass(eq=False)
class DataFences(Stock):
    """Renders the data fences of one build."""

    _made: dict[tuple[str, ...], str] = field(default_factory=dict)
    _charts: dict[tuple[str, str], Chart] = field(default_factory=dict)

    def check(self, kind: str, fence: Fence, note: Note) -> None:
        """Render a fence as the page of its note will show it; charts are read, not drawn.

        BlockError or CalcError where it asks for what is not there.
        """
        if kind == "chart":
            self.chart(blocks.text_of(fence), note.language)
        else:
            folder = posixpath.dirname(page_address(note.id, note.language)) or "."
            self._html(kind, blocks.text_of(fence), note.language, folder)

    def show(self, kind: str, text: str, language: str, page_dir: str) -> Drawn:
        """Return the HTML of a fence, and the files that a chart leads to; raises as `check` does.

        `language` is that of the page's frame, `page_dir` its folder in the site: `.` at the root.
        """
        if kind != "chart":
            return Drawn(self._html(kind, text, language, page_dir))
        return chart.draw(self.chart(text, language), text, self, language, page_dir)

    def chart(self, text: str, language: str) -> Chart:
        """Return what a `chart` fence shows; BlockError as for `show`."""
        key = (text, language)
        if key not in self._charts:
            self._charts[key] = spec.read(text, self.base, self.docs, language)
        return self._charts[key]

    def _html(self, *key: str) -> str:
        if key not in self._made:
            self._made[key] = self._render(*key)
        return self._made[key]

    def _render(self, kind: str, text: str, language: str, page_dir: str) -> str:
        if kind == "facts":
            return facts_table.render(text, self.base, language, page_dir)
        draw = measured_table.render if kind == "measured" else calculator.render
        return draw(text, self, language, page_dir)


@dataclass(eq=False)
class Data:
    """The data that pages show: each part is read when somebody first asks for it."""

    root: Path
    notes: Catalogue
    library: resources.Library
    cache: Cache
    docs: Path
    _users: dict[str, dict[str, list[Note]]] = field(default_factory=dict)

    @cached_property
    def facts(self) -> tuple[facts.FactBase, list[Finding]]:
        """The facts, and what is wrong with them."""
        folder = Layout(self.docs).data
        key = of_files([folder], self.docs)
        return self.cache.recall("facts", key, partial(load.load_facts, folder))

    @cached_property
    def glossary(self) -> tuple[glossary.Glossary, list[Finding]]:
        """The terms, and what is wrong with them."""
        return glossary.read_glossary(Layout(self.docs).terms)

    @cached_property
    def messages(self) -> tuple[messages.Messages, list[Finding]]:
        """What programs print, and what is wrong with it."""
        folder = Layout(self.docs).messages
        read = partial(messages.read_messages, folder, Layout(self.docs).name(folder))
        return self.cache.recall("messages", of_files([folder], self.docs), read)

    @cached_property
    def kit(self) -> tuple[kit.Kit, list[Finding]]:
        """What the field kit is given and what readers sent, and what is wrong with it."""
        return kit.read_kit(self.docs, self.facts[0])

    @cached_property
    def fences(self) -> DataFences:
        """Renders the fences that show data; what the check has rendered is there already."""
        said = (self.notes, self.messages[0], self.cache)
        return DataFences(self.facts[0], self.docs, self.root, *said)

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
