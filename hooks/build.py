"""One build of the site: what it remembers between pages and languages, and what it adds to them.

Pages come in as Markdown, with their paths in the sources and in the site; nothing here knows which
generator made them. One page by itself: `handbook.fill` its Markdown, `recall_page`, hand what it
leaves to `merge`, and end it with `foot`, which knows the other notes.
"""

from __future__ import annotations

import datetime
import functools
import gzip
import os
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hooks.cache import code, digest, of_files
from hooks.calc import engine, presets
from hooks.data import downloads
from hooks.drawings import diagrams
from hooks.links import moved
from hooks.markdown import generated, split, text_of
from hooks.notes import draft_ids, drafts, history, minutes, published
from hooks.pages import (
    Effects,
    Shared,
    View,
    calculator,
    catalogue,
    messages,
    questions,
    term_marks,
    topics,
)
from hooks.pages import foot as feet
from hooks.pages import page as a_page
from hooks.search import entries, install
from hooks.site import carry, check, kit, publish, to_markdown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hooks.findings import Finding
    from hooks.handbook import Tree
    from hooks.pages import Item, Place, Said
    from hooks.search import sections


@dataclass
class Build:
    """What one run remembers between events and languages."""

    tree: Tree
    """What is checked and, but in a preview, without drafts."""
    shared: Shared
    site: Path
    """Where the site goes once it is known to be good."""
    is_serving: bool
    days: dict[str, datetime.date]
    """When each file of a note was changed last."""
    today: datetime.date
    pages: int
    """How many pages a language has."""
    items: dict[tuple[str, str], list[tuple[Item, Said]]]
    """What readers may look for on each page, by the id and language of its note."""
    effects: Effects = field(default_factory=Effects)
    """What the page being built has left."""
    ways: dict[str, feet.Ways] = field(default_factory=dict)
    """The ways between notes, by language."""
    found: list[Finding] = field(default_factory=list)
    """What was found in rendered pages."""
    searched: dict[str, sections.Page] = field(default_factory=dict)
    """What search will find: the pages as rendered, by the paths of their notes."""
    files: dict[str, str | bytes] = field(default_factory=dict)
    """What pages lead to, by paths in the site."""
    asked: dict[str, list[Any]] = field(default_factory=dict)
    """Interview questions as rendered, by the folder of their pages in the site."""
    about: dict[str, str] = field(default_factory=dict)
    """What the site says of itself, by language."""
    written: list[carry.Leaf] = field(default_factory=list)
    """Pages as Markdown."""
    counts: Counter[str] = field(default_factory=Counter)
    """How many pages of each language are rendered."""
    said: float = field(default_factory=time.monotonic)
    """When that was told last."""

    @functools.cached_property
    def stamp(self) -> str:
        """What any page may depend on beside its own text."""
        tree, notes = self.tree, self.tree.notes
        others = [tree.root / "mkdocs.yml", *(tree.docs / path for path in notes.other_files)]
        titles = sorted((path, note.title) for path, note in notes.notes.items())
        held = [self.is_serving, *sorted(self.shared.held)]
        return digest(code(), of_files(others, tree.root), tree.data.stamp, titles, held)

    def progress(self, language: str) -> str:
        """Count a page; return what to say of it now and then, or a stage is taken for a hang."""
        self.counts[language] += 1
        if self.counts[language] != self.pages and time.monotonic() - self.said < 10:
            return ""
        self.said = time.monotonic()
        return f"pages ({language}): {self.counts[language]} of {self.pages}"

    def calc_scripts(self, content: str) -> list[str]:
        """Return the scripts that the calculators of a page need; overrides/main.html asks."""
        return calculator.scripts_of(content)

    def minutes(self, source: str) -> int:
        """Return how long a page takes to read; 0 where it is no note. note-facts.html asks."""
        note = self.tree.notes.notes.get(source)
        return minutes(note) if note is not None else 0

    def changed(self, source: str) -> datetime.date:
        """Return when a page was changed last; of what git does not know, today."""
        return self.days.get(f"{self.tree.docs.name}/{source}", self.today)


def begin(tree: Tree, site: Path, *, is_serving: bool) -> Build:
    """Return a new build of what is published; a preview shows drafts too."""
    held = draft_ids(tree.notes)
    if held and not is_serving:
        shown = drafts.published_entries(tree.entries, held)
        tree = replace(tree, notes=published(tree.notes), entries=shown)
    now = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    data, marks, drawings = tree.data, term_marks.Marks(tree.glossary), diagrams.Drawings(tree.docs)
    shared = Shared(data, tree.notes, held, drawings, marks, tree.moved)
    return Build(
        tree,
        shared,
        site,
        is_serving,
        days=history.days(tree.root),
        today=datetime.datetime.fromtimestamp(now, datetime.UTC).date(),
        pages=len(tree.notes.ids()),
        items=catalogue.by_page(data.items),
    )


def forget(build: Build) -> None:
    """Forget what was concluded from the texts of notes: a preview has read one of them again."""
    build.ways.clear()
    build.tree.data.forget()
    build.items = catalogue.by_page(build.tree.data.items)
    build.said = float("inf")  # how far one page is need not be told


def recall_page(build: Build, markdown: str, place: Place) -> tuple[str, tuple[Any, ...], Effects]:
    """Return a page of an earlier build, or else make it: its HTML, its table of contents as the
    renderer has it, and what it leaves.

    `markdown` is what goes to the renderer, once plugins have read what `handbook.fill` returned.
    """
    notes = build.tree.notes
    note = notes.notes.get(place.source)
    twin = notes.twin(note) if note is not None else None
    texts = [one.text if one is not None else "" for one in (note, twin)]
    where = (place.source, place.page, place.language, place.title, place.sections)
    those = build.items.get((note.id, note.language), []) if note is not None else []
    key = (*where, markdown, *texts, [said.anchor for _, said in those])

    def make() -> tuple[str, tuple[Any, ...], Effects]:
        body = split(note.text).body if note is not None else ""
        if note is not None and body.strip("\n") == markdown.strip("\n"):
            page = note.rendered  # the check has read it
        else:
            page = generated(text_of(markdown.strip("\n"), build.tree.docs))
        html, effects = a_page.complete(page, place, build.shared)
        if not build.is_serving:
            effects.carried = to_markdown.to_markdown(effects.plain, place.page)
        effects.plain = ""  # nobody asks for it again
        return html, page.html.contents, effects

    return build.tree.data.cache.recall("page", key, make, build.stamp)


def merge(build: Build, effects: Effects, place: Place) -> None:
    """Hand what a page has left to the build; pages come in the order of the site."""
    build.found += effects.found
    for page in effects.searched:
        build.searched[place.source] = replace(page)
    if effects.fallback and place.source in build.searched:
        build.searched[place.source].fallback = effects.fallback
    build.files |= effects.files
    if effects.asked:
        build.asked.setdefault(place.folder, []).extend(effects.asked)
    note = build.tree.notes.notes.get(place.source)
    if note is not None and note.meta is not None and not build.is_serving:
        leaf = carry.Leaf(
            place.page,
            note.id,
            place.language,
            note.title,
            note.meta.description,
            note.meta.verified.isoformat() if note.meta.verified else "",
            place.sections,
            effects.carried,
        )
        build.written.append(leaf)


def foot(build: Build, place: Place) -> str:
    """Return what stands below a page: what to read before and next, and what leads to it."""
    tree, language = build.tree, place.language
    note = tree.notes.notes.get(place.source)
    if note is None:
        return ""
    if language not in build.ways:
        build.ways[language] = feet.ways(View(tree.notes, language), tree.entries)
    return feet.foot(build.ways[language], note.id, place.url_of)


def complete_site(
    build: Build,
    staged: Path,
    theme_dirs: Sequence[str],
    queries: Mapping[str, Sequence[str]],
    site_url: str,
) -> list[Finding]:
    """Write what pages lead to beside them, and return what is wrong with the finished pages.

    All pages are on disk, in `staged`; `queries` are what the search suggests while nothing is
    typed, by language; `site_url` is empty while unknown.
    """
    tree, cache, found = build.tree, build.tree.data.cache, list(build.searched.values())
    entries.add_entries(found, build.items)
    offered = {
        one: {"queries": queries[one], "topics": topics.offered(tree.areas, tree.notes, one)}
        for one in ("zh", "en")
    }
    terms = list(tree.glossary.terms.values())
    searched = install.files(staged, theme_dirs, found, terms, offered, cache)
    publish.add_files(staged, dict(searched))
    publish.add_licences(tree.root, staged)
    places = [page.path.removesuffix(".md") for one in tree.entries for page in one.pages()]
    order = {note: number for number, note in enumerate(places)}
    leaves = sorted(build.written, key=lambda one: order.get(one.note, len(order)))
    for files in (
        moved.redirect_pages(tree.moved, site_url),
        carry.files(leaves, build.about, site_url),
        downloads.files(tree.facts),
        kit.files(tree.docs, tree.data.kit[0].table, site_url),
        build.files,
        questions.files(build.asked, site_url),
        presets.files(engine.default(tree.facts).data),
        messages.scripts(tree.data.messages[0], tree.notes, tree.facts),
    ):
        publish.add_files(staged, files)
    sitemap = staged / "sitemap.xml"
    if sitemap.is_file():  # again, without the day of the build in its head
        packed = gzip.compress(sitemap.read_bytes(), mtime=0)
        publish.add_files(staged, {"sitemap.xml.gz": packed})
    if not build.is_serving:
        publish.prune(staged)
    return sorted({*build.found, *check.check_site(staged, site_url=site_url, cache=cache)})
