"""Terms that mean the same, in either language: for search, for the glossary, for its marks.

`docs/data/terms/*.yml` holds a subject each, whose terms are groups of words that mean the same:

    title: {zh: 芯片, en: Chips}
    terms:
      - id: warp
        zh: [线程束]
        en: [warp]
        see: [wavefront]
        says: {zh: 三十二个线程……。, en: Thirty-two threads ….}
        defined: hpc/cuda/04-execution-model#simd-与-simt

What has `says` is an entry of the glossary; the others are known to search alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field, field_validator, model_validator

from hooks.data.wording import Strict, Text
from hooks.findings import Document, Finding, has_errors, load, nearest, validate

if TYPE_CHECKING:
    from pydantic import ValidationInfo

Steps = tuple[str | int, ...]
"""What leads to a value in a file: keys, and numbers of items."""
MOST_HAN = 60
MOST_WORDS = 30
_ID = re.compile(r"[a-z0-9][a-z0-9-]*\Z")
_HAN = re.compile(r"[㐀-鿿]")
_SHORT = re.compile(r"[A-Z0-9][A-Z0-9/+-]*\Z")


def flat(term: str) -> str:
    """Return what a term is compared by: letters, digits and characters, in lower case."""
    text = unicodedata.normalize("NFKC", term).lower()
    return "".join(char for char in text if char.isalnum() or char in "+#./")


def _holds_something(term: str) -> str:
    if not flat(term):
        raise ValueError(f"'{term}' holds no letter, digit or Chinese character")
    return term


Form = Annotated[str, AfterValidator(_holds_something)]


class Says(Strict):
    """What a term means, in one sentence of each language."""

    zh: str
    en: str

    @field_validator("zh", "en")
    @classmethod
    def _is_a_short_sentence(cls, value: str, info: ValidationInfo) -> str:
        count, most, what = len(value.split()), MOST_WORDS, "words"
        end, inner = ".", ". "
        if info.field_name == "zh":
            count, most, what = len(_HAN.findall(value)), MOST_HAN, "Chinese characters"
            end = inner = "。"
        if count > most:
            raise ValueError(f"has {count} {what}; {most} are the most")
        if not value.endswith(end) or inner in value.removesuffix(end):
            raise ValueError(f"must be one sentence that ends with '{end}'")
        return value


class Term(Strict):
    """Words that mean the same."""

    id: str
    """Lower-case words joined by hyphens."""
    zh: list[Form] = Field(default_factory=list)
    en: list[Form] = Field(default_factory=list)
    abbr: list[Form] = Field(default_factory=list)
    """Abbreviations and code names, in either language."""
    avoid: list[Form] = Field(default_factory=list)
    """Chinese forms that are searched by and not written; the first of `zh` is."""
    see: list[str] = Field(default_factory=list)
    """Ids of related terms."""
    says: Says | None = None
    defined: str = Field(default="", pattern=r"^([a-z0-9-]+(/[a-z0-9-]+)*(#\S+)?)?$")
    """The section that defines it: a note, with or without a heading of its Chinese file."""
    tooltip: bool | list[str] = True
    """Whether notes mark it; or the folders or notes in which an ambiguous word means this."""

    @field_validator("id")
    @classmethod
    def _is_id(cls, value: str) -> str:
        if not _ID.match(value):
            raise ValueError(f"'{value}' is not an id such as zero-copy")
        return value

    @model_validator(mode="after")
    def _is_entry(self) -> Term:
        if self.says is None and (self.defined or self.tooltip is not True):
            raise ValueError("needs 'says': only entries of the glossary have the other fields")
        return self

    @property
    def forms(self) -> list[str]:
        """Return every word of the group once, in order."""
        return list(dict.fromkeys([*self.zh, *self.en, *self.abbr, *self.avoid]))

    @property
    def short(self) -> str:
        """Return the abbreviation, if there is one beside a name."""
        every = [*self.abbr, *(form for form in self.en if _SHORT.match(form))]
        return next((form for form in every if form != self.name("en")), "")

    def name(self, language: str) -> str:
        """Return the word to write in a language; the other language's where it has none."""
        full = [form for form in self.en if not _SHORT.match(form)]
        if language == "zh" and self.zh:
            return self.zh[0]
        return (full or self.en or self.abbr or self.zh)[0]


class Subject(Strict):
    """A file of terms."""

    title: Text
    terms: list[Term]


RULE = "terms"
_NUMBER = re.compile(r"\A\d+-")


@dataclass(frozen=True, slots=True)
class Glossary:
    """Every subject, by the name of its file without number, and every term by its id."""

    subjects: dict[str, Subject] = field(default_factory=dict)
    terms: dict[str, Term] = field(default_factory=dict)
    places: dict[str, tuple[Document, Steps]] = field(default_factory=dict)
    """Where each term stands."""

    @property
    def entries(self) -> dict[str, Term]:
        """Return the terms that the glossary explains."""
        return {name: term for name, term in self.terms.items() if term.says is not None}


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
