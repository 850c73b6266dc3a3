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
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field, field_validator, model_validator

from hooks.data.wording import Strict, Text

if TYPE_CHECKING:
    from pydantic import ValidationInfo

    from hooks.findings import Document

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
