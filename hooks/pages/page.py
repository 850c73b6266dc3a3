"""In which order a page is completed, once its text is rendered: each step is one call."""

from __future__ import annotations

import html as html_lib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hooks.drawings import diagrams, figures
from hooks.findings import Finding
from hooks.links import moved, safety
from hooks.markdown import PLACE, Rendered, finish
from hooks.notes import Catalogue, Note, drafts, is_takeaway, twins
from hooks.pages import answers, blocks, footnotes, questions
from hooks.pages.data import ERRORS, Data
from hooks.pages.term_marks import Marks
from hooks.pages.values import links
from hooks.search import formulas, from_html, sections

_CORNER = re.compile(r"<th((?: style=\"[^\"]*\")?)></th>")
"""An empty corner of a table, which a screen reader must not announce as a column's heading."""


_FORMULA = re.compile(r'(class="arithmatex")>(\\[(\[].*?\\[)\]])<', re.DOTALL)
_ASKED = re.compile(r"<!-- asked:.*?-->\n?", re.DOTALL)
_HEADING = re.compile(r'<h[1-6]\b[^>]*?\bid="(?P<id>[^"]+)"[^>]*>')
AFTER = "<!-- after the takeaway -->"
"""Where overrides/partials/content.html puts what may be done with the page."""


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
    language: str
    """That of its frame: a page may stand in for its missing twin."""
    url_of: Callable[[str], str | None]
    """The address, from this page, of the note with an id; None where it is not in the site."""
    address: Callable[[str], str]
    """The address, from this page, of what a link in Markdown names."""

    @property
    def folder(self) -> str:
        """Its folder in the site; what fences link to starts there."""
        return Path(self.page).parent.as_posix()


@dataclass(frozen=True)
class Shared:
    """What the pages of a site have in common."""

    data: Data
    notes: Catalogue
    """Those that the site shows."""
    held: frozenset[str]
    """The ids of drafts."""
    drawings: diagrams.Drawings
    marks: Marks
    moved: Mapping[str, str]
    """What took the place of headings that are gone since a release."""


@dataclass
class Effects:
    """What a rendered page leaves for the rest of the site."""

    found: list[Finding] = field(default_factory=list)
    """What is wrong with it."""
    searched: list[sections.Page] = field(default_factory=list)
    """What search will find of it."""
    fallback: str = ""
    """Where the note is shown in place of its missing twin."""
    files: dict[str, str | bytes] = field(default_factory=dict)
    """What it leads to, by paths in the site."""
    asked: list[Any] = field(default_factory=list)
    """Its interview questions."""
    plain: str = ""
    """The page with its data, before anything that only the site shows."""
    carried: str = ""
    """The page as Markdown."""


def complete(page: Rendered, place: Place, shared: Shared) -> tuple[str, Effects]:
    """Return the HTML of a rendered page with all that it shows, and what it leaves."""
    effects, notes = Effects(), shared.notes
    note = notes.notes.get(place.source)
    if note is None:
        return finish(page.html.html, page.marked, place.address), effects
    html = effects.plain = _with_data(page, note, place, shared, effects)
    effects.found += safety.check_rendered(html, note.file, note.text)
    html = footnotes.complete(html, note)
    twin = notes.twin(note)
    if twin is not None:
        html = add_aliases(html, twins.twin_ids(note, twin))
    html = moved.add_anchors(html, note.id, shared.moved)
    docs = shared.data.docs
    html = figures.inline_figures(
        html, page_dir=docs / place.folder, docs_dir=docs, language=place.language
    )
    html, problems = links.render(
        html, shared.data.resolver, language=note.language, page_dir=place.folder
    )
    effects.found += [Finding(note.file, 0, 0, "value-marker", one) for one in problems]
    is_own = note.language == place.language
    if note.meta is not None and note.meta.kind == "questions":
        html, cards = questions.fold(html, note, twin)
        effects.asked = cards if is_own else []
    html = answers.put_ids(blocks.number_figures(html), note, notes)
    if is_own:
        where, title, trail = place.page, place.title or note.title, place.sections
        effects.searched = [from_html.read(html, note, location=where, title=title, trail=trail)]
    else:
        effects.fallback = place.page
    html = free_corners(html)
    if note.id in shared.held:
        html = drafts.notice(place.language) + html
    html = shared.drawings.put_in(html, note.language)  # search has collected the diagram's text
    html = shared.marks.mark(html, note)  # after search has collected: it finds the text alone
    return _FORMULA.sub(_in_words, _ASKED.sub("", card(html, note))), effects


def _in_words(match: re.Match[str]) -> str:
    """Return a formula as a line of text, which math.js draws from its TeX."""
    said = html_lib.escape(formulas.plain(html_lib.unescape(match[2])), quote=False)
    return f'{match[1]} data-tex="{html_lib.escape(html_lib.unescape(match[2]))}">{said}<'


def add_aliases(html: str, aliases: Mapping[str, str]) -> str:
    """Put an empty anchor with the twin's id at the start of each heading that has one."""

    def with_alias(match: re.Match[str]) -> str:
        alias = html_lib.escape(aliases.get(html_lib.unescape(match["id"]), ""))
        return match[0] + (f'<span class="twin-alias" id="{alias}"></span>' if alias else "")

    return _HEADING.sub(with_alias, html)


def card(html: str, note: Note) -> str:
    """Return a page with its takeaway, its first section of level 2, in a box; else as it is."""
    first = next((one for one in note.source.headings if one.level == 2), None)
    before, start, rest = html.partition("<h2")
    if first is None or not is_takeaway(first.text) or not start:
        return html
    section, start_of_next, rest = rest.partition("<h2")
    box = f'<section class="takeaway">\n<h2{section}</section>{AFTER}\n'
    return before + box + start_of_next + rest


def free_corners(html: str) -> str:
    """Return the page with empty heading cells as plain cells, which announce nothing."""
    return _CORNER.sub(r"<td\1></td>", html)


def _with_data(page: Rendered, note: Note, place: Place, shared: Shared, effects: Effects) -> str:
    """Return the HTML of a page with the final addresses of its links, and its data."""
    anchors = blocks.anchors(note)

    def show(match: re.Match[str]) -> str:
        kind, text = page.html.places[int(match["number"])]
        try:
            drawn = shared.data.fences.show(kind, text, place.language, place.folder)
        except ERRORS:  # a preview goes on: the check has said what is wrong
            return f"<pre><code>{html_lib.escape(text)}</code></pre>"
        effects.files |= drawn.files
        return blocks.with_id(drawn.html, anchors.pop((kind, text), ""))

    return PLACE.sub(show, finish(page.html.html, page.marked, place.address))
