"""Read and check the terms: no word in two groups, no reference to none, no id twice."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from hooks.data.glossary import Glossary, Subject, Term, flat
from hooks.findings import Document, Finding, has_errors, load, nearest, validate

if TYPE_CHECKING:
    from hooks.data.glossary import Steps

RULE = "terms"
_NUMBER = re.compile(r"\A\d+-")


class TermsError(ValueError):
    """The files cannot be used; the message holds every finding, one a line."""


@dataclass(frozen=True, slots=True)
class _Written:
    """A term that is good by itself, and where it stands."""

    term: Term
    document: Document
    at: Steps

    def where(self, *steps: str | int) -> str:
        line, _ = self.document.place((*self.at, *steps), of_value=True)
        return f"{self.document.file}:{line}"

    def finding(self, steps: Steps, message: str, target: str, hint: str = "") -> Finding:
        at = (*self.at, *steps)
        return self.document.finding(RULE, at, message, target, hint, of_value=True)


def check_terms(texts: dict[str, str]) -> tuple[Glossary, list[Finding]]:
    """Read subjects from the texts of files, by their names; return what is good.

    Every finding has the rule `terms`. A word in two groups, an id given twice, and a `see`
    that leads nowhere are errors.
    """
    glossary = Glossary()
    findings: list[Finding] = []
    good: list[_Written] = []
    ids: set[str] = set()  # of bad terms too: they are there, and their mistakes are said
    for file, text in texts.items():
        document, problems = load(text, file, RULE)
        findings += problems
        if document is None or document.node is None:
            continue
        subject, problems = validate(Subject, document, RULE)
        findings += problems
        if subject is not None:
            glossary.subjects[_NUMBER.sub("", PurePosixPath(file).stem)] = subject
        terms = document.data.get("terms") if isinstance(document.data, dict) else None
        for number, raw in enumerate(terms if isinstance(terms, list) else []):
            if isinstance(raw, dict):
                ids.add(str(raw.get("id")))
            term, _ = validate(Term, document, RULE, ("terms", number))
            if term is not None:
                good.append(_Written(term, document, ("terms", number)))
    for one in good:
        glossary.terms.setdefault(one.term.id, one.term)
        glossary.places.setdefault(one.term.id, (one.document, one.at))
    return glossary, sorted([*findings, *_across(good, ids)])


def _across(good: Iterable[_Written], known: set[str]) -> Iterator[Finding]:
    ids: dict[str, str] = {}
    words: dict[str, tuple[str, str]] = {}
    for one in good:
        term = one.term
        if term.id in ids:
            message = f"id '{term.id}' is taken by the term at {ids[term.id]}"
            yield one.finding(("id",), message, term.id)
        ids.setdefault(term.id, one.where("id"))
        if not term.forms:
            message = f"term '{term.id}' has no word; give it zh, en or abbr"
            yield one.finding(("id",), message, term.id)
        for name in ("zh", "en", "abbr", "avoid"):
            for index, form in enumerate(getattr(term, name)):
                other, place = words.setdefault(flat(form), (term.id, one.where(name, index)))
                if other != term.id:
                    message = (
                        f"'{form}' stands in term '{other}' too ({place});"
                        " join the two, or keep it in one"
                    )
                    yield one.finding((name, index), message, form)
        for index, target in enumerate(term.see):
            if target not in known:
                message, hint = f"see: no term has the id '{target}'", nearest(target, known)
                yield one.finding(("see", index), message, target, hint)


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
