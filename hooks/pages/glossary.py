"""The glossary: an entry for each term that is explained, and an index of their names."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from html import escape
from typing import TYPE_CHECKING

from hooks.data import VENDORS, flat
from hooks.findings import nearest
from hooks.pages import html
from hooks.pages.items import Item, Said, area_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hooks.data import Glossary, Term
    from hooks.findings import Finding
    from hooks.markdown import Heading
    from hooks.notes import Catalogue, Note

    Uses = dict[str, list[tuple[Note, Heading | None]]]
    """The sections that use a term, by its id; None for the text above a note's headings."""

PAGE = "glossary/index"
"""The id of the page that holds the entries."""
_WORDS = {
    "zh": {
        "also": "又称",
        "defined": "详见",
        "see": "相关",
        "used": "用到它的小节",
        "colon": "：",
        "comma": "、",
        "list": "，",
        "stop": "。",
        "open": "（",
        "close": "）",
        "heading": "：",
        "index": "按字母与拼音查",
        "count": "共 {} 个词条，{} 个名称。",
        "anchor": "本词条的固定链接",
        "concept": "概念",
        "sources": "来源",
        "none": "没有对应的名字，或没有读到",
        "read": "，{} 读",
    },
    "en": {
        "also": "Also",
        "defined": "More in",
        "see": "Related",
        "used": "Used in",
        "colon": ": ",
        "comma": ", ",
        "list": ", ",
        "stop": ". ",
        "open": " (",
        "close": ")",
        "heading": ": ",
        "index": "By letter",
        "count": "{} entries, {} names.",
        "anchor": "Link to this entry",
        "concept": "Concept",
        "sources": "Sources",
        "none": "no name of its own, or none that we read",
        "read": ", read {}",
    },
}


def anchor(term: str) -> str:
    """Return the id of a term's entry on the page."""
    return f"term-{term}"


def address(term: str, page_id: str) -> str:
    """Return the address of a term's entry, from a page of the same language."""
    return f"{page(PAGE, page_id)}#{anchor(term)}"


def page(to: str, page_id: str) -> str:
    """Return the address of a page, from another one of the same language."""
    return posixpath.relpath(f"{to}.html", posixpath.dirname(page_id) or ".")


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
    words = _WORDS[language]
    rest = [form for form in _names(term, language)[1:] if form]
    inside = f"{words['open']}{words['list'].join(rest)}{words['close']}" if rest else ""
    return f"{term.name(language)}{inside}"


def _names(term: Term, language: str) -> list[str]:
    other = term.name("en" if language == "zh" else "zh")
    if language == "en":
        names = [term.name("en"), term.short, other if term.zh else ""]
    else:
        names = [term.name("zh"), other, term.short]
    return list(dict.fromkeys(names))


def items(glossary: Glossary) -> list[Item]:
    """Return the entries of the glossary."""
    return [
        Item(
            "term",
            term.id,
            PAGE,
            {
                language: Said(
                    head(term, language),
                    "\n".join([getattr(term.says, language), " · ".join(_shown(term, language))]),
                    anchor(term.id),
                    subject,
                    tuple(term.forms),
                )
                for language in ("zh", "en")
            },
            (area_of(term.defined),) if term.defined else (),
        )
        for subject, group in glossary.subjects.items()
        for term in group.terms
        if term.says is not None
    ]


def _shown(term: Term, language: str) -> list[str]:
    """Return the words of a term that a language's entry shows beside its names."""
    names = {*_names(term, language), *term.avoid}
    return [
        form for form in term.forms if form not in names and (language == "zh" or form.isascii())
    ]


def render(glossary: Glossary, notes: Catalogue, language: str, uses: Uses | None = None) -> str:
    """Return the index, and a section of entries for each subject, as Markdown.

    `uses` are the sections that an entry names as those that use its term.
    """
    entries = glossary.entries
    back: dict[str, list[str]] = defaultdict(list)
    for one in entries.values():
        for name in one.see:
            back[name].append(one.id)
    parts = [_index(entries, language)]
    for name, subject in glossary.subjects.items():
        terms = [term for term in subject.terms if term.says is not None]
        if not terms:
            continue
        items = "\n".join(
            _entry(term, glossary, notes, language, back)
            + _used((uses or {}).get(term.id, ()), language)
            for term in terms
        )
        title = subject.title.in_language(language)
        parts.append(f'## {title} {{ #{name} }}\n\n<div class="glossary">\n{items}\n</div>')
    return "\n\n".join(parts)


def _entry(
    term: Term, glossary: Glossary, notes: Catalogue, language: str, back: Mapping[str, list[str]]
) -> str:
    words = _WORDS[language]
    says = term.says
    assert says is not None
    here = anchor(term.id)
    names = _names(term, language)
    other = "zh" if language == "en" else "en"
    shown = escape(names[0])
    for form in names[1:]:
        if form:
            tongue = other if form == term.name(other) else "en"
            shown += f' <small lang="{tongue}">{escape(form)}</small>'
    link = f'<a class="headerlink" href="#{here}" title="{words["anchor"]}">¶</a>'
    lines = [
        f'<h3 id="{here}">{shown}{link}</h3>',
        f"<p>{escape(says.zh if language == 'zh' else says.en)}</p>",
    ]
    more = [
        _also([form for form in term.forms if form not in {*names, *term.avoid}], language),
        _vendors(term, language),
        _defined(term, notes, language),
        _related(term, glossary, language, back.get(term.id, [])),
    ]
    if any(more):
        lines.append(f'<p class="glossary__more">{" · ".join(one for one in more if one)}</p>')
    return "\n".join(lines)


def _also(forms: list[str], language: str) -> str:
    words = _WORDS[language]
    if language == "en":
        forms = [form for form in forms if form.isascii()]
    if not forms:
        return ""
    return f"{words['also']}{words['colon']}{escape(words['comma'].join(forms))}"


def vendor(name: str, language: str) -> str:
    """Return what a vendor is called in a language."""
    return "Huawei Ascend" if name == "ascend" and language == "en" else VENDORS[name]


def _vendors(term: Term, language: str) -> str:
    if term.vendors is None:
        return ""
    colon = _WORDS[language]["colon"]
    return " · ".join(
        f'<span class="glossary__vendor">{vendor(key, language)}{colon}{escape(name)}</span>'
        for key, name in term.vendors.names.items()
    )


def vendor_table(glossary: Glossary, language: str) -> str:
    """Return what vendors call the same thing, subject by subject, with the sources, as HTML."""
    sources: dict[str, int] = {}
    days: dict[str, str] = {}
    subjects = []
    for subject in glossary.subjects.values():
        rows = []
        for term in subject.terms:
            if term.vendors is None:
                continue
            for url in term.vendors.source:
                sources.setdefault(url, len(sources) + 1)
                days.setdefault(url, term.vendors.read.isoformat())
            names = [term.vendors.names.get(key, "") for key in VENDORS]
            numbers = sorted(sources[url] for url in term.vendors.source)
            rows.append((anchor(term.id), term.name(language), names, numbers))
        if rows:
            subjects.append((subject.title.in_language(language), rows))
    return html.render(
        "vendor_terms.html",
        words=_WORDS[language],
        vendors=[vendor(name, language) for name in VENDORS],
        subjects=subjects,
        sources=days.items(),
    )


def _defined(term: Term, notes: Catalogue, language: str) -> str:
    if not term.defined:
        return ""
    words = _WORDS[language]
    note_id, _, heading = term.defined.partition("#")
    chinese, note = notes.in_language(note_id, "zh"), notes.in_language(note_id, language)
    if chinese is None or note is None:
        return ""
    target, text = page(note_id, PAGE), note.title
    if heading:
        # Twins have the same headings in the same order.
        at = [one.id for one in chinese.source.headings].index(heading)
        section = note.source.headings[at]
        target, text = f"{target}#{section.id}", f"{text}{words['heading']}{section.text}"
    return f'{words["defined"]}{words["colon"]}<a href="{escape(target)}">{escape(text)}</a>'


def _used(sections: Sequence[tuple[Note, Heading | None]], language: str) -> str:
    words = _WORDS[language]
    links = []
    for note, heading in sections:
        target, text = page(note.id, PAGE), note.title
        if heading is not None:
            target, text = f"{target}#{heading.id}", f"{text}{words['heading']}{heading.text}"
        links.append(f'<a href="{escape(target)}">{escape(text)}</a>')
    if not links:
        return ""
    said = f"{words['used']}{words['colon']}{words['comma'].join(links)}"
    return f'\n<p class="glossary__more" data-search-exclude>{said}</p>'


def _related(term: Term, glossary: Glossary, language: str, back: Sequence[str]) -> str:
    """Return links to what an entry names, and to those that name it, `back`."""
    words = _WORDS[language]
    terms = glossary.terms
    known = [one for one in dict.fromkeys([*term.see, *back]) if terms[one].says is not None]
    links = [
        f'<a href="#{anchor(name)}">{escape(glossary.terms[name].name(language))}</a>'
        for name in known
    ]
    return f"{words['see']}{words['colon']}{words['comma'].join(links)}" if links else ""


def _index(entries: dict[str, Term], language: str) -> str:
    """Return every name of every entry by its first letter; Chinese names by their sound."""
    words = _WORDS[language]
    letters: dict[str, dict[str, tuple[str, str]]] = defaultdict(dict)
    for term in entries.values():
        for form in _unlike([*term.en, *term.abbr, *(term.zh if language == "zh" else ())]):
            key = sound(form)
            letter = key[0].upper() if key[:1].isascii() and key[:1].isalpha() else "#"
            letters[letter].setdefault(key, (form, term.id))
    lines = []
    for letter in sorted(letters):
        links = " · ".join(
            f'<a href="#{anchor(term)}">{escape(form)}</a>'
            for _, (form, term) in sorted(letters[letter].items())
        )
        lines.append(f"<p><b>{letter}</b> {links}</p>")
    count = words["count"].format(len(entries), sum(map(len, letters.values())))
    return (
        f'<details class="glossary__index" data-search-exclude><summary>{words["index"]}'
        f"{words['open']}{count.rstrip('。.')}{words['close']}</summary>\n"
        + "\n".join(lines)
        + "\n</details>"
    )


def _unlike(forms: list[str]) -> list[str]:
    """Return the forms without plurals and other spellings of those before them."""
    seen: dict[str, str] = {}
    for form in forms:
        seen.setdefault(flat(form).removesuffix("s"), form)
    return list(seen.values())


def sound(form: str) -> str:
    """Return what a name is sorted by: its letters in lower case, Chinese as it sounds."""
    import pypinyin  # its tables are slow to load

    return " ".join(pypinyin.lazy_pinyin(form)).lower().lstrip("-α ")
