"""The glossary: an entry for each term that is explained, and an index of their names."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Mapping

from hooks.data import Glossary, Term, flat
from hooks.findings import Finding, nearest
from hooks.markdown import Heading
from hooks.notes import LANGUAGES, Catalogue, Note
from hooks.pages.frame import fill, way, words_of
from hooks.pages.view import Item, Said, View, areas_of

PAGE = "glossary/index"
"""The id of the page that holds the entries."""


def anchor(term: str) -> str:
    """Return the id of a term's entry on the page."""
    return f"term-{term}"


def address(term: str, page_id: str) -> str:
    """Return the address of a term's entry, from a page of the same language."""
    return f"{page(PAGE, page_id)}#{anchor(term)}"


def page(to: str, page_id: str) -> str:
    """Return the address of a page, from another one of the same language."""
    return way(f"{to}.html", posixpath.dirname(page_id))


def check(glossary: Glossary, notes: Catalogue) -> list[Finding]:
    """Tell which terms name a note, a heading or a folder that does not exist."""
    findings = []
    ids = notes.ids()
    for name, term in glossary.terms.items():
        document, at = glossary.places[name]
        note_id, _, heading = term.defined.partition("#")
        note = notes.in_language(note_id, "zh") if note_id else None
        if note_id and note is None:
            message = f"term '{name}' is defined in '{note_id}', which does not exist"
            hint = nearest(note_id, ids)
            findings.append(document.finding("terms", (*at, "defined"), message, note_id, hint))
        elif note is not None and heading:
            known = [one.id for one in note.source.headings]
            if heading not in known:
                message = f"term '{name}' names a heading that {note.file} does not have"
                hint = nearest(heading, known)
                findings.append(document.finding("terms", (*at, "defined"), message, heading, hint))
        for number, place in enumerate(term.tooltip if isinstance(term.tooltip, list) else ()):
            if not any(is_within(one, place) for one in ids):
                message = f"tooltip: no note lies in '{place}'"
                findings.append(document.finding("terms", (*at, "tooltip", number), message, place))
    return findings


def is_within(note_id: str, place: str) -> bool:
    """Tell whether a note is the one named, or lies in the folder named."""
    return note_id == place or note_id.startswith(f"{place}/")


def head(term: Term, language: str) -> str:
    """Return a term's names in one line: that of the language, the other one, the short one."""
    words = words_of("glossary", language)
    rest = words["comma"].join(_names(term, language)[1:])
    return term.name(language) + (f"{words['open']}{rest}{words['close']}" if rest else "")


def _names(term: Term, language: str) -> list[str]:
    other = term.name("en" if language == "zh" else "zh")
    rest = [other, term.short] if language == "zh" else [term.short, other if term.zh else ""]
    return list(dict.fromkeys([term.name(language), *filter(None, rest)]))


def _also(term: Term, language: str) -> list[str]:
    """Return the words of a term that a language's entry shows beside its names."""
    names = {*_names(term, language), *term.avoid}
    return [
        form for form in term.forms if form not in names and (language == "zh" or form.isascii())
    ]


def items(glossary: Glossary) -> list[Item]:
    """Return the entries of the glossary."""

    def said(term: Term, subject: str, language: str) -> Said:
        summary = f"{getattr(term.says, language)}\n{' · '.join(_also(term, language))}"
        return Said(head(term, language), summary, anchor(term.id), subject)

    return [
        Item(
            "term",
            term.id,
            PAGE,
            {language: said(term, subject, language) for language in LANGUAGES},
            areas_of(term.defined),
        )
        for subject, group in glossary.subjects.items()
        for term in group.terms
        if term.says is not None
    ]


def render(view: View, glossary: Glossary) -> str:
    """Return the index, and a section of entries for each subject, as Markdown."""
    entries, words, language = glossary.entries, view.words("glossary"), view.language
    back: dict[str, list[str]] = defaultdict(list)
    for one in entries.values():
        for name in one.see:
            back[name].append(one.id)

    def link(note: Note, heading: Heading | None) -> tuple[str, str]:
        target = page(note.id, PAGE)
        if heading is None:
            return target, note.title
        return f"{target}#{heading.id}", f"{note.title}{words['colon']}{heading.text}"

    def entry(term: Term) -> dict[str, object]:
        names, other = _names(term, language), "zh" if language == "en" else "en"
        related = [one for one in dict.fromkeys([*term.see, *back[term.id]]) if one in entries]
        return {
            "anchor": anchor(term.id),
            "name": names[0],
            "forms": [(other if form == term.name(other) else "en", form) for form in names[1:]],
            "says": getattr(term.says, language),
            "also": _also(term, language),
            "defined": [link(*place) for place in _defined(term, view)],
            "see": [(f"#{anchor(one)}", entries[one].name(language)) for one in related],
        }

    subjects = [
        (subject.title.in_language(language), name, terms)
        for name, subject in glossary.subjects.items()
        if (terms := [entry(term) for term in subject.terms if term.says is not None])
    ]
    letters = _letters(entries, language)
    filled = fill(
        "glossary.html",
        words=words,
        count=words["count"].format(len(entries), sum(map(len, letters.values()))),
        letters=[
            (letter, [(form, anchor(term)) for _, (form, term) in sorted(names.items())])
            for letter, names in sorted(letters.items())
        ],
        subjects=subjects,
    )
    return filled.rstrip("\n")


def _defined(term: Term, view: View) -> list[tuple[Note, Heading | None]]:
    """Return the section that defines a term, where there is one."""
    note_id, _, heading = term.defined.partition("#")
    chinese, note = view.notes.in_language(note_id, "zh"), view.note(note_id)
    if chinese is None or note is None:
        return []
    # Twins have the same headings in the same order; one that is gone is a finding of its own.
    pairs = zip(chinese.source.headings, note.source.headings, strict=False)
    return [(note, next((theirs for ours, theirs in pairs if ours.id == heading), None))]


def _letters(entries: Mapping[str, Term], language: str) -> dict[str, dict[str, tuple[str, str]]]:
    """Return every name and its term by first letter and sound; Chinese names by their sound."""
    letters: dict[str, dict[str, tuple[str, str]]] = defaultdict(dict)
    for term in entries.values():
        unlike: dict[str, str] = {}  # without plurals and other spellings
        for form in (*term.en, *term.abbr, *(term.zh if language == "zh" else ())):
            unlike.setdefault(flat(form).removesuffix("s"), form)
        for form in unlike.values():
            key = _sound(form)
            letter = key[0].upper() if key[:1].isascii() and key[:1].isalpha() else "#"
            letters[letter].setdefault(key, (form, term.id))
    return letters


def _sound(form: str) -> str:
    """Return what a name is sorted by: its letters in lower case, Chinese as it sounds."""
    import pypinyin  # its tables are slow to load

    return " ".join(pypinyin.lazy_pinyin(form)).lower().lstrip("-α ")
