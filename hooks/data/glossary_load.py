"""Read and check the terms: no word in two groups, no reference to none, no id twice."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hooks.data.glossary import Glossary, Subject, Term, flat
from hooks.findings import Document, Finding, has_errors, load, nearest, validate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hooks.data.glossary import Steps

RULE = "terms"
_NUMBER = re.compile(r"\A\d+-")


class TermsError(ValueError):
    """The files cannot be used; the message holds every finding, one a line."""


def check_terms(texts: dict[str, str]) -> tuple[Glossary, list[Finding]]:
    """Read subjects from the texts of files, by their names; return what is good.

    Every finding has the rule `terms`. A word in two groups, an id given twice, and a `see`
    that leads nowhere are errors.
    """
    glossary, findings = Glossary(places={}), []
    read: list[tuple[Document, Steps, Term]] = []
    known: set[str] = set()
    for file, text in texts.items():
        document, problems = load(text, file, RULE)
        findings += problems
        if document is None or document.node is None:
            continue
        subject, problems = validate(Subject, document, RULE)
        findings += problems
        if subject is not None:
            stem = file.rpartition("/")[2].removesuffix(".yml")
            glossary.subjects[_NUMBER.sub("", stem)] = subject
        read += _terms(document)
        known |= {str(term.get("id")) for term in _raw(document) if isinstance(term, dict)}
    places: dict[str, tuple[Document, Steps]] = {}
    for document, at, term in read:
        glossary.terms.setdefault(term.id, term)
        places.setdefault(term.id, (document, at))
    glossary = Glossary(glossary.subjects, glossary.terms, places)
    return glossary, sorted([*findings, *_across(read, known)])


def _terms(document: Document) -> Iterator[tuple[Document, Steps, Term]]:
    """Yield the terms of a file that are good: what is wrong with the others is said already."""
    for number in range(len(_raw(document))):
        at = ("terms", number)
        term, _ = validate(Term, document, RULE, at)
        if term is not None:
            yield document, at, term


def _raw(document: Document) -> list[Any]:
    terms = document.data.get("terms") if isinstance(document.data, dict) else None
    return terms if isinstance(terms, list) else []


def _across(read: list[tuple[Document, Steps, Term]], known: set[str]) -> list[Finding]:
    findings = []
    ids: dict[str, str] = {}
    words: dict[str, tuple[str, str]] = {}
    for document, at, term in read:

        def say(
            steps: Steps,
            message: str,
            target: str,
            hint: str = "",
            document: Document = document,
            at: Steps = at,
        ) -> None:
            place = (*at, *steps)
            findings.append(document.finding(RULE, place, message, target, hint, of_value=True))

        def where(*steps: str | int, document: Document = document, at: Steps = at) -> str:
            return f"{document.file}:{document.place((*at, *steps), of_value=True)[0]}"

        if term.id in ids:
            say(("id",), f"id '{term.id}' is taken by the term at {ids[term.id]}", term.id)
        ids.setdefault(term.id, where("id"))
        if not term.forms:
            say(("id",), f"term '{term.id}' has no word; give it zh, en or abbr", term.id)
        for name in ("zh", "en", "abbr", "avoid"):
            for index, form in enumerate(getattr(term, name)):
                other, place = words.setdefault(flat(form), (term.id, where(name, index)))
                if other != term.id:
                    message = (
                        f"'{form}' stands in term '{other}' too ({place});"
                        " join the two, or keep it in one"
                    )
                    say((name, index), message, form)
        for index, target in enumerate(term.see):
            if target not in known:
                message = f"see: no term has the id '{target}'"
                say(("see", index), message, target, nearest(target, known))
    return findings


def read_glossary(folder: Path, name: str = "docs/data/terms") -> tuple[Glossary, list[Finding]]:
    """Read every subject of a folder, in the order of the files' names; none is no mistake."""
    return check_terms(
        {
            f"{name}/{path.name}": path.read_text(encoding="utf-8")
            for path in sorted(folder.glob("*.yml"))
        }
    )


def load_terms(folder: Path) -> list[Term]:
    """Return the terms of a folder.

    Raises TermsError with every finding when there is an error; OSError when a file cannot
    be read.
    """
    glossary, findings = read_glossary(folder, folder.as_posix())
    if has_errors(findings):
        raise TermsError("\n".join(finding.text for finding in findings))
    return list(glossary.terms.values())
