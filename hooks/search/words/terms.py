"""Terms that mean the same, in either language: one data file for search and the glossary.

`docs/terms.yml` is a list of groups. The terms of a group mean the same; `see` names groups
that are related, which search counts for less:

    - id: zero-copy
      zh: [零拷贝]
      en: [zero-copy, zero copy]
      abbr: []
      see: [dma]

`avoid` holds Chinese forms that readers search by and notes do not write: `term_forms` finds them.
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from hooks.findings import Finding, has_errors, nearest, schema

_ID = re.compile(r"[a-z0-9][a-z0-9-]*\Z")
RULE = "terms"


class TermsError(ValueError):
    """The data file cannot be used; the message holds every finding, one a line."""


def _holds_something(term: str) -> str:
    if not flat(term):
        raise ValueError(f"'{term}' holds no letter, digit or Chinese character")
    return term


Term = Annotated[str, AfterValidator(_holds_something)]


class Group(BaseModel):
    """Terms that mean the same."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    id: str
    """Lower-case words joined by hyphens."""
    zh: list[Term] = Field(default_factory=list)
    en: list[Term] = Field(default_factory=list)
    abbr: list[Term] = Field(default_factory=list)
    """Abbreviations and code names, in either language."""
    avoid: list[Term] = Field(default_factory=list)
    """Chinese forms that are searched by and not written; the first of `zh` is."""
    see: list[str] = Field(default_factory=list)
    """Ids of related groups."""

    @field_validator("id")
    @classmethod
    def _is_id(cls, value: str) -> str:
        if not _ID.match(value):
            raise ValueError(f"'{value}' is not an id such as zero-copy")
        return value

    @property
    def forms(self) -> list[str]:
        """Return every term of the group once, in order."""
        return list(dict.fromkeys([*self.zh, *self.en, *self.abbr, *self.avoid]))


def flat(term: str) -> str:
    """Return what a term is compared by: letters, digits and characters, in lower case."""
    text = unicodedata.normalize("NFKC", term).lower()
    return "".join(char for char in text if char.isalnum() or char in "+#./")


def check_terms(text: str, file: str = "docs/terms.yml") -> tuple[list[Group], list[Finding]]:
    """Read the data file's text; return the groups that are good and what is wrong with it.

    Every finding has the rule `terms`. A term in two groups, an id given twice, and a `see`
    that leads nowhere are errors.
    """
    document, findings = schema.load(text, file, RULE)
    if document is None or document.node is None:
        return [], findings
    if not isinstance(document.data, list):
        message = "the file must be a list of groups ('- id: …')"
        return [], [*findings, Finding(file, 1, 1, RULE, message)]
    groups: dict[int, Group] = {}
    for number in range(len(document.data)):
        group, mistakes = schema.validate(Group, document, RULE, (number,))
        findings += mistakes
        if group is not None:
            groups[number] = group
    findings += _across(groups, document)
    return list(groups.values()), sorted(findings)


def _across(groups: dict[int, Group], document: schema.Document) -> list[Finding]:
    findings = []

    def say(at: schema.Path, message: str, target: str, hint: str = "") -> None:
        findings.append(document.finding(RULE, at, message, target, hint, of_value=True))

    ids: dict[str, int] = {}
    terms: dict[str, tuple[str, int]] = {}
    known = [group.id for group in groups.values()]
    for number, group in groups.items():
        line, _ = document.place((number, "id"), of_value=True)
        if group.id in ids:
            message = f"id '{group.id}' is taken by the group at line {ids[group.id]}"
            say((number, "id"), message, group.id)
        ids.setdefault(group.id, line)
        if not group.forms:
            message = f"group '{group.id}' has no term; give it zh, en or abbr"
            say((number, "id"), message, group.id)
        for field in ("zh", "en", "abbr", "avoid"):
            for index, term in enumerate(getattr(group, field)):
                at = (number, field, index)
                other, line = terms.setdefault(flat(term), (group.id, document.place(at)[0]))
                if other != group.id:
                    message = (
                        f"'{term}' stands in group '{other}' too (line {line});"
                        " join the two, or keep it in one"
                    )
                    say(at, message, term)
        for index, target in enumerate(group.see):
            if target not in known:
                message = f"see: no group has the id '{target}'"
                say((number, "see", index), message, target, nearest(target, known))
    return findings


def load_terms(path: Path) -> list[Group]:
    """Return the groups of a data file.

    Raises TermsError with every finding when the file has an error; OSError when it cannot
    be read.
    """
    groups, findings = check_terms(path.read_text(encoding="utf-8"), path.as_posix())
    if has_errors(findings):
        raise TermsError("\n".join(finding.text for finding in findings))
    return groups
