"""What vendors call the same thing: a table of the terms that say so."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from hooks.data import VENDORS
from hooks.pages import glossary as entries

if TYPE_CHECKING:
    from hooks.data import Glossary, Term

_WORDS = {
    "zh": ("概念", "来源", "没有对应的名字，或没有读到", "，{} 读"),
    "en": ("Concept", "Sources", "no name of its own, or none that we read", ", read {}"),
}


def render(glossary: Glossary, language: str, page_id: str) -> str:
    """Return the table as HTML, a body for each subject."""
    concept, title_of_sources, none, read = _WORDS[language]
    sources: dict[str, str] = {}
    heads = [concept, *(entries.vendor(name, language) for name in VENDORS), title_of_sources]
    bodies = []
    for subject in glossary.subjects.values():
        rows = [
            _row(term, language, page_id, none, sources) for term in subject.terms if term.vendors
        ]
        if rows:
            title = escape(subject.title.in_language(language))
            group = f'<tr><th colspan="{len(heads)}" scope="colgroup">{title}</th></tr>'
            bodies.append(f"<tbody>{group}{''.join(rows)}</tbody>")
    head = "".join(f'<th scope="col">{escape(one)}</th>' for one in heads)
    label = escape(concept)
    items = "".join(
        f'<li id="vendor-source-{number}"><a href="{escape(url)}">'
        f"{escape(url.removeprefix('https://'))}</a>{read.format(day)}</li>"
        for number, (url, day) in enumerate(sources.items(), 1)
    )
    return (
        f'<div class="facts__scroll" role="region" tabindex="0" aria-label="{label}">'
        f'<table class="facts__table vendor-terms"><thead><tr>{head}</tr></thead>'
        f"{''.join(bodies)}</table></div>"
        f'<h2 id="vendor-sources">{title_of_sources}</h2><ol class="vendor-sources">{items}</ol>'
    )


def _row(term: Term, language: str, page_id: str, none: str, sources: dict[str, str]) -> str:
    assert term.vendors is not None
    names = term.vendors.names
    empty = (
        '<td class="facts__none"><span aria-hidden="true">—</span>'
        f'<span class="facts__hidden"> {none}</span></td>'
    )
    cells = [f"<td>{escape(names[key])}</td>" if key in names else empty for key in VENDORS]
    for url in term.vendors.source:
        sources.setdefault(url, term.vendors.read.isoformat())
    numbers = [list(sources).index(url) + 1 for url in term.vendors.source]
    links = " ".join(f'<a href="#vendor-source-{n}">{n}</a>' for n in sorted(numbers))
    name = escape(term.name(language))
    target = escape(entries.address(term.id, page_id))
    head = f'<th scope="row"><a href="{target}">{name}</a></th>'
    return f"<tr>{head}{''.join(cells)}<td>{links}</td></tr>"
