"""One build of the site: what it remembers between pages and languages, and what it adds to them.

Pages come in as Markdown and as HTML, with their paths in the sources and in the site; nothing
here knows which generator made them.

One page by itself: `fill` its Markdown, let a renderer make HTML of that (which calls
`Build.show` for fences), give the HTML to `complete_page`. That returns what the page shows and,
as `Effects`, all that it left for the rest of the site; both may be of an earlier build. `merge`
hands the effects to the build, and `foot` ends the page, which knows the other notes.
"""

from __future__ import annotations

import datetime
import functools
import html as html_lib
import os
import re
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hooks.cache import code, digest, of_files
from hooks.drawings import drawn, figures
from hooks.findings import Finding
from hooks.links import moved, safety
from hooks.markdown import PLACE, Rendered, finish, put_in, rendered, split, text_of
from hooks.notes import draft_ids, drafts, history, minutes, published, twins
from hooks.pages import (
    aliases,
    answers,
    blocks,
    catalogue,
    footnotes,
    questions,
    tables,
    takeaway,
    term_marks,
)
from hooks.pages import calculator as calc_page
from hooks.pages import fences as data_fences
from hooks.pages import foot as feet
from hooks.pages.values import links
from hooks.search import from_html
from hooks.search.sections import Page
from hooks.site import carry, plain, progress
from hooks.tree import fill as fill_page

if TYPE_CHECKING:
    from collections.abc import Callable

    from hooks.notes import Catalogue
    from hooks.pages import Item, Said
    from hooks.tree import Tree


@dataclass(frozen=True)
class Place:
    """A page that is being built."""

    source: str
    """Its file below the folder of the notes."""
    page: str
    """Its path in the site."""
    title: str
    sections: tuple[str, ...]
    """Titles of the sections of the navigation that it stands in, the outermost first."""
    url_of: Callable[[str], str | None]
    """The address, from this page, of the note with an id; None where it is not in the site."""
    address: Callable[[str], str]
    """The address, from this page, of what a link in Markdown names."""


@dataclass
class Effects:
    """What a rendered page leaves for the rest of the site."""

    found: list[Finding] = field(default_factory=list)
    """What is wrong with it."""
    searched: list[Page] = field(default_factory=list)
    """What search will find of it."""
    fallback: str = ""
    """Where the note is shown in place of its missing twin."""
    files: dict[str, str | bytes] = field(default_factory=dict)
    """What it leads to, by paths in the site."""
    asked: list[Any] = field(default_factory=list)
    """Its interview questions."""
    shown: dict[tuple[str, str], str] = field(default_factory=dict)
    """The HTML of its fences by kind and text."""
    carried: str = ""
    """The page as Markdown."""


@dataclass(frozen=True, slots=True)
class Made:
    """A page that is complete, as it is kept."""

    html: str
    contents: tuple[Any, ...]
    """Its table of contents, as the renderer has it."""
    effects: Effects


@dataclass
class Build:
    """What one run remembers between events and languages."""

    tree: Tree
    """What is checked and, but in a preview, without drafts."""
    held: frozenset[str]
    """The ids of drafts."""
    site: Path
    """Where the site goes once it is known to be good."""
    is_serving: bool
    days: history.Days
    """When each file of a note was added, and changed last."""
    today: datetime.date
    """The day of the build."""
    pace: progress.Pace
    marks: term_marks.Marks
    drawings: drawn.Drawings
    language: str = "zh"
    anchors: dict[tuple[str, str], str] = field(default_factory=dict)
    """The ids of the fences of the page being rendered, by kind and text."""
    page_dir: str = ""
    """Folder of the page being rendered, in the site; what fences link to starts there."""
    filled: str = ""
    """The Markdown of that page with its lists."""
    effects: Effects = field(default_factory=Effects)
    """What that page has left so far."""
    ways: dict[str, feet.Ways] = field(default_factory=dict)
    """The ways between notes, by language."""
    found: list[Finding] = field(default_factory=list)
    """What was found in rendered pages."""
    searched: dict[str, Page] = field(default_factory=dict)
    """What search will find: the pages as rendered, by the paths of their notes."""
    items: dict[tuple[str, str], list[tuple[Item, Said]]] = field(default_factory=dict)
    """What readers may look for on each page, by the id and language of its note."""
    files: dict[str, str | bytes] = field(default_factory=dict)
    """What pages lead to, by paths in the site."""
    asked: dict[str, list[Any]] = field(default_factory=dict)
    """Interview questions as rendered, by the folder of their pages in the site."""
    about: dict[str, str] = field(default_factory=dict)
    """What the site says of itself, by language."""
    written: dict[str, tuple[carry.Leaf, str]] = field(default_factory=dict)
    """Pages as Markdown, their lists filled in, with the paths of their notes, by their own."""

    @functools.cached_property
    def stamp(self) -> str:
        """What any page may depend on beside its own text."""
        tree, notes = self.tree, self.tree.notes
        others = [tree.root / "mkdocs.yml", *(tree.docs / path for path in notes.other_files)]
        titles = sorted((path, note.title) for path, note in notes.notes.items())
        held = [self.is_serving, *sorted(self.held)]
        return digest(code(), of_files(others, tree.root), tree.data.stamp, titles, held)

    @functools.cached_property
    def shown_notes(self) -> Catalogue:
        """The notes that the site shows."""
        return published(self.tree.notes)

    def calc_scripts(self, content: str) -> list[str]:
        """Return the scripts that the calculators of a page need; overrides/main.html asks."""
        return calc_page.scripts_of(content)

    def minutes(self, source: str) -> int:
        """Return how long a page takes to read; 0 where it is no note. note-facts.html asks."""
        note = self.tree.notes.notes.get(source)
        return minutes(note) if note is not None else 0

    def changed(self, source: str) -> datetime.date:
        """Return when a page was changed last; of what git does not know, today."""
        return self.days.last.get(f"{self.tree.docs.name}/{source}", self.today)

    def show(self, kind: str, text: str) -> str:
        """Return the HTML of a fence that shows data, on the page being rendered."""
        drawn = self.tree.fences.show(kind, text, self.language, self.page_dir)
        self.effects.files |= drawn.files
        html = blocks.with_id(drawn.html, self.anchors.pop((kind, text), ""))
        self.effects.shown[kind, text] = html
        return html


def begin(tree: Tree, site: Path, *, is_serving: bool) -> Build:
    """Return a new build of what is published; a preview shows drafts too."""
    held = draft_ids(tree.notes)
    if held and not is_serving:
        entries = drafts.published_entries(tree.entries, held)
        tree = replace(tree, notes=published(tree.notes), entries=entries)
    pace = progress.Pace(len(tree.notes.ids()))
    marks = term_marks.Marks(tree.glossary)
    now = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    today = datetime.datetime.fromtimestamp(now, datetime.UTC).date()
    drawings = drawn.Drawings(tree.docs)
    items = catalogue.by_page(tree.items)
    days = history.days(tree.root)
    return Build(tree, held, site, is_serving, days, today, pace, marks, drawings, items=items)


def forget(build: Build) -> None:
    """Forget what was concluded from the texts of notes: a preview has read one of them again."""
    build.ways.clear()
    vars(build).pop("shown_notes", None)
    build.tree.data.forget()
    build.items = catalogue.by_page(build.tree.items)
    build.pace = progress.Pace(sys.maxsize)


def fill(build: Build, markdown: str, place: Place) -> str:
    """Return a page's Markdown with the generated lists at their markers; keep it to carry away."""
    tree = build.tree
    build.page_dir = Path(place.page).parent.as_posix()
    build.effects = Effects()
    note = tree.notes.notes.get(place.source)
    build.anchors = blocks.anchors(note) if note is not None else {}
    filled = fill_page(tree, markdown, place.source, build.language, build.days.first)
    build.filled = filled
    if note is not None and note.meta is not None and not build.is_serving:
        leaf = carry.Leaf(
            place.page,
            note.id,
            build.language,
            note.title,
            note.meta.description,
            note.meta.verified.isoformat() if note.meta.verified else "",
            place.sections,
            filled,
            note.meta.kind,
        )
        build.written[place.page] = (leaf, note.path)
    return filled


def recall_page(build: Build, markdown: str, place: Place) -> Made:
    """Return a page of an earlier build, or else make it.

    `markdown` is what goes to the renderer, once plugins have read what `fill` returned.
    """
    notes = build.tree.notes
    note = notes.notes.get(place.source)
    twin = notes.twin(note, "en" if note.language == "zh" else "zh") if note is not None else None
    texts = [one.text if one is not None else "" for one in (note, twin)]
    # A page may stand in for its missing twin: the language is that of the frame.
    where = (place.source, place.page, build.language, place.title, place.sections)
    those = build.items.get((note.id, note.language), []) if note is not None else []
    key = (*where, markdown, build.filled, *texts, [said.anchor for _, said in those])

    def make() -> Made:
        page = read_page(build, markdown, place)
        html, effects = complete_page(build, finish_page(build, page, place), place)
        return Made(html, page.html.contents, effects)

    return build.tree.data.cache.recall("page", key, make, build.stamp)


def read_page(build: Build, markdown: str, place: Place) -> Rendered:
    """Return a page's Markdown as read and rendered: the check has done so, or lists were added."""
    note = build.tree.notes.notes.get(place.source)
    if note is not None and split(note.text).body.strip("\n") == markdown.strip("\n"):
        return note.rendered
    return rendered(text_of(markdown, build.tree.docs))


def finish_page(build: Build, page: Rendered, place: Place) -> str:
    """Return the HTML of a page with the final addresses of its links and its data."""

    def show(match: re.Match[str]) -> str:
        kind, text = page.html.places[int(match["number"])]
        try:
            return build.show(kind, text)
        except data_fences.ERRORS:  # a preview goes on: the check has said what is wrong
            return f"<pre><code>{html_lib.escape(text)}</code></pre>"

    return PLACE.sub(show, finish(page.html.html, page.marked, place.address))


def complete_page(build: Build, html: str, place: Place) -> tuple[str, Effects]:
    """Check a page's HTML; return it with its twin's ids, drawings, links of numbers and term
    marks, and what it leaves for the rest of the site.
    """
    tree, effects = build.tree, build.effects
    note = tree.notes.notes.get(place.source)
    if note is None:
        return html, effects
    effects.found += safety.check_rendered(html, note.file, note.text)
    html = footnotes.complete(html, note)
    twin = tree.notes.twin(note, "en" if note.language == "zh" else "zh")
    if twin is not None:
        html = aliases.add_aliases(html, twins.twin_ids(note, twin))
    html = moved.add_anchors(html, note.id, tree.moved)
    html = figures.inline_figures(
        html, page_dir=tree.docs / build.page_dir, docs_dir=tree.docs, language=build.language
    )
    html, problems = links.render(
        html, tree.resolver, language=note.language, page_dir=build.page_dir
    )
    effects.found += [Finding(note.file, 0, 0, "value-marker", one) for one in problems]
    if note.meta is not None and note.meta.kind == "questions":
        html, cards = questions.fold(html, note, twin)
        if note.language == build.language:
            effects.asked = cards
    html = answers.put_ids(blocks.number_figures(html), note, tree.notes)
    if note.language == build.language:
        effects.searched = [
            from_html.read(
                html,
                location=place.page,
                title=place.title or note.title,
                note=note,
                language=build.language,
                trail=list(place.sections),
            )
        ]
    else:
        effects.fallback = place.page
    html = tables.free_corners(html)
    if place.page in build.written:
        effects.carried = _carry(build, place.page)
    effects.shown = {}  # nobody asks for it again, and drawings are large
    if note.id in build.held:
        html = drafts.notice(build.language) + html
    html = build.drawings.put_in(html, note.language)  # search has collected the diagram's text
    html = build.marks.mark(html, note)  # after search has collected: it finds the text alone
    return takeaway.card(html, note), effects


def merge(build: Build, effects: Effects, place: Place) -> None:
    """Hand what a page has left to the build; pages come in the order of the site."""
    build.found += effects.found
    for page in effects.searched:
        build.searched[place.source] = replace(page)
    if effects.fallback and place.source in build.searched:
        build.searched[place.source].fallback = effects.fallback
    build.files |= effects.files
    if effects.asked:
        folder = Path(place.page).parent.as_posix()
        build.asked.setdefault(folder, []).extend(effects.asked)
    if place.page in build.written:
        leaf, path = build.written[place.page]
        build.written[place.page] = (replace(leaf, text=effects.carried), path)


def foot(build: Build, place: Place) -> str:
    """Return what stands below a page: what to read before and next, and what leads to it."""
    tree, language = build.tree, build.language
    note = tree.notes.notes.get(place.source)
    if note is None:
        return ""
    if language not in build.ways:
        build.ways[language] = feet.ways(tree.notes, tree.entries, language)
    ways = build.ways[language]
    return feet.foot(ways, tree.paths, note.id, tree.notes, language, place.url_of)


def _carry(build: Build, page: str) -> str:
    """Return a page as Markdown that needs nothing of the site."""
    leaf, path = build.written[page]
    include = functools.partial(put_in, docs=build.tree.docs)
    return plain.plain(
        build.filled, plain.Reading(page, path, leaf.language, build.effects.shown, include)
    )
