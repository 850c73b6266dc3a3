"""Marks at terms in a rendered note: a link to the glossary, whose sentence a script shows.

The first use of a term in a section of level 2 is marked, in running text alone: never in code,
headings, links, figures, formulas, heads of tables or summaries. The sentences stand once, hidden,
at the end of the page, where links name them as their descriptions; search and a reader who copies
text do not meet them.
"""

from __future__ import annotations

import re
from html import escape
from typing import NamedTuple

import ahocorasick

from hooks.data import Glossary, Term
from hooks.notes import Note
from hooks.pages import glossary as entries

MOST = 12
"""Marks in a section; a page with more looks freckled."""
_TAG = re.compile(
    r"<!--.*?-->|</[^>]*>|<([a-zA-Z][a-zA-Z0-9]*)((?:[^<>\"']++|\"[^\"]*\"|'[^']*')*+)>", re.DOTALL
)
_SKIPPED = frozenset(
    "a abbr audio button caption code dt figcaption figure h1 h2 h3 h4 h5 h6 kbd label math"
    " nav option pre samp script select style sub summary sup svg template textarea th var"
    " video".split()
)
_SKIPPED_CLASS = re.compile(
    r"class=\"(?:[^\"]* )?(?:admonition-title|arithmatex|calc|facts|footnote|highlight"
    r"|measured|mermaid|tabbed-labels|topic-map|value-sources)[ \"]"
)
_VOID = frozenset("area br col embed hr img input link meta source track wbr".split())
_WORD = re.compile(r"[A-Za-z0-9_]")


class _Form(NamedTuple):
    text: str
    term: str
    is_word: bool
    """Whether it begins and ends as words of Latin letters do."""
    has_case: bool


class Marks:
    """The words of a glossary, ready to be found."""

    def __init__(self, glossary: Glossary) -> None:
        self.glossary = glossary
        self._found: dict[str, ahocorasick.Automaton] = {}

    def automaton(self, language: str) -> ahocorasick.Automaton:
        """Return what finds every form: those without an entry too, for they are longer words."""
        if language not in self._found:
            found = self._found[language] = ahocorasick.Automaton()
            for term in self.glossary.terms.values():
                for form in (*term.en, *term.abbr, *(term.zh if language == "zh" else ())):
                    key, ends = form.lower(), (form[0], form[-1])
                    is_word = form.isascii() or any(map(_WORD.match, ends))
                    known = found.get(key, ())
                    found.add_word(key, (*known, _Form(form, term.id, is_word, form != key)))
            found.make_automaton()
        return self._found[language]

    def mark(self, html: str, note: Note) -> str:
        """Return a note's HTML with its terms marked; as it is, where there is none."""
        return _Page(self, note).marked(html) if self._takes_marks(note) else html

    def _takes_marks(self, note: Note) -> bool:
        is_note = note.meta is not None and note.meta.kind != "map"
        is_ours = is_note and bool(note.topic) and note.topic not in ("about", "glossary")
        return is_ours and bool(self.glossary.terms)


class _Page:
    def __init__(self, marks: Marks, note: Note) -> None:
        self.terms, self.note = marks.glossary.terms, note
        self.automaton = marks.automaton(note.language)
        self.seen: set[str] = set()
        """Terms of the section that are marked, or are not to be."""
        self.count = 0
        self.used: dict[str, Term] = {}
        self.parts: list[str] = []

    def marked(self, html: str) -> str:
        at = 0
        while match := _TAG.search(html, at):
            start = match.start()
            self.text(html[at:start])
            at = match.end()
            name, rest = match.groups()
            is_bare = not name or name in _VOID
            if not is_bare and (name in _SKIPPED or _SKIPPED_CLASS.search(rest)):
                at = _end(html, name, at)
                if name == "h2":
                    self.seen, self.count = set(), 0
            self.parts.append(html[start:at])
        self.text(html[at:])
        return "".join(self.parts) + self.sentences() if self.used else html

    def text(self, text: str) -> None:
        """Add a text between tags, with what is marked in it."""
        at = 0
        is_asked = self.count < MOST and len(text) > 1  # one character is no term
        for start, end, name in self.found(text) if is_asked else ():
            if name in self.seen or self.count >= MOST:
                continue
            self.seen.add(name)
            term = self.terms[name]
            if self.is_marked(term):
                self.count += 1
                self.used[name] = term
                target = escape(entries.address(name, self.note.id))
                self.parts.append(
                    f'{text[at:start]}<a class="term" href="{target}"'
                    f' aria-describedby="says-{name}">{text[start:end]}</a>'
                )
                at = end
        self.parts.append(text[at:])

    def is_marked(self, term: Term) -> bool:
        if term.says is None or term.defined.partition("#")[0] == self.note.id:
            return False
        if isinstance(term.tooltip, bool):
            return term.tooltip
        return any(entries.is_within(self.note.id, place) for place in term.tooltip)

    def found(self, text: str) -> list[tuple[int, int, str]]:
        """Return the words in a text from left to right: of those that overlap the longest."""
        lower = text.lower()
        if len(lower) != len(text):  # a letter whose small form is two
            lower = "".join(one if len(low := one.lower()) > 1 else low for one in text)
        hits = []
        for last, forms in self.automaton.iter(lower):
            for form in forms:
                start = last + 1 - len(form.text)
                if end := _fits(form, text, start, last + 1):
                    hits.append((start, -end, form.term))
        found, at = [], 0
        for start, negative, name in sorted(hits):
            if start >= at:
                at = -negative
                found.append((start, at, name))
        return found

    def sentences(self) -> str:
        language = self.note.language
        items = "".join(
            f'<p id="says-{name}" data-name="{escape(entries.head(term, language))}">'
            f"{escape(getattr(term.says, language))}</p>"
            for name, term in sorted(self.used.items())
        )
        return f'<div class="term-sentences" hidden data-search-exclude>{items}</div>'


def _fits(form: _Form, text: str, start: int, end: int) -> int:
    """Return where a word ends that is the form, a plural's s included; 0 where it is none."""
    if form.has_case and text[start:end] != form.text:
        return 0
    if not form.is_word:
        return end
    before = text[start - 1 : start]
    if _WORD.match(form.text[0]) and (before in ("-", "&") or _WORD.match(before)):
        return 0
    if not _WORD.match(form.text[-1]):
        return end
    if text[end : end + 1] == "s" and form.text.isascii():
        end += 1
    after = text[end : end + 1]
    return 0 if after == "-" or _WORD.match(after) else end


def _end(html: str, name: str, at: int) -> int:
    """Return where an element ends whose opening tag ends at a place."""
    depth = 1
    for match in re.compile(rf"<(/?){name}(?=[\s>/])[^>]*>", re.IGNORECASE).finditer(html, at):
        depth += -1 if match[1] else 0 if match[0].endswith("/>") else 1
        if not depth:
            return match.end()
    return len(html)
