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
from typing import Annotated, Any

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator

from hooks import yaml_loader
from hooks.findings import Finding, has_errors, nearest

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
    try:
        node, data = yaml_loader.read(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        problem = getattr(error, "problem", None) or str(error)
        return [], [Finding(file, line, column, RULE, f"the file is not YAML: {problem}")]
    if node is None:
        return [], []
    if not isinstance(node, yaml.SequenceNode):
        return [], [Finding(file, 1, 1, RULE, "the file must be a list of groups ('- id: …')")]
    groups: list[tuple[Group, yaml.MappingNode]] = []
    findings: list[Finding] = []
    for item, item_node in zip(data, node.value, strict=True):
        if not isinstance(item_node, yaml.MappingNode):
            line, column = item_node.start_mark.line + 1, item_node.start_mark.column + 1
            message = f"a group must be 'field: value' lines, found {item!r}"
            findings.append(Finding(file, line, column, RULE, message))
            continue
        try:
            groups.append((Group.model_validate(item), item_node))
        except ValidationError as error:
            findings += [_finding(one, item_node, file) for one in error.errors()]
    findings += _across(groups, file)
    return [group for group, _ in groups], sorted(findings)


def _places(node: yaml.MappingNode, field: str) -> list[tuple[int, int]]:
    """Return 1-based places of a field's items; of the group when the field is absent."""
    for key, value in node.value:
        if key.value == field:
            nodes = value.value if isinstance(value, yaml.SequenceNode) else [value]
            return [(one.start_mark.line + 1, one.start_mark.column + 1) for one in nodes]
    return [(node.start_mark.line + 1, node.start_mark.column + 1)]


def _finding(error: Any, node: yaml.MappingNode, file: str) -> Finding:
    location = error["loc"]
    name = str(location[0]) if location else ""
    places = _places(node, name)
    number = int(location[1]) if len(location) > 1 else 0
    line, column = places[min(number, len(places) - 1)] if places else _places(node, "")[0]
    if error["type"] == "extra_forbidden":
        for key, _ in node.value:
            if key.value == name:
                line, column = key.start_mark.line + 1, key.start_mark.column + 1
        known = list(Group.model_fields)
        message = f"unknown field '{name}'; known fields: {', '.join(known)}"
        hint = nearest(name, known)
        return Finding(file, line, column, RULE, message, target=name, suggestion=hint)
    if error["type"] == "missing":
        return Finding(file, line, column, RULE, f"field '{name}' is missing", target=name)
    detail = str(error["msg"]).removeprefix("Value error, ")
    message = f"field '{name}': {detail} (found {error['input']!r})"
    return Finding(file, line, column, RULE, message, target=str(error["input"]))


def _across(groups: list[tuple[Group, yaml.MappingNode]], file: str) -> list[Finding]:
    findings = []
    ids: dict[str, int] = {}
    terms: dict[str, tuple[str, str, int]] = {}
    known = [group.id for group, _ in groups]
    for group, node in groups:
        (line, column), *_ = _places(node, "id")
        if group.id in ids:
            message = f"id '{group.id}' is taken by the group at line {ids[group.id]}"
            findings.append(Finding(file, line, column, RULE, message, target=group.id))
        ids.setdefault(group.id, line)
        if not group.forms:
            message = f"group '{group.id}' has no term; give it zh, en or abbr"
            findings.append(Finding(file, line, column, RULE, message, target=group.id))
        for field in ("zh", "en", "abbr", "avoid"):
            for term, (at, across) in zip(
                getattr(group, field), _places(node, field), strict=False
            ):
                other = terms.setdefault(flat(term), (group.id, term, at))
                if other[0] != group.id:
                    message = (
                        f"'{term}' stands in group '{other[0]}' too (line {other[2]});"
                        " join the two, or keep it in one"
                    )
                    findings.append(Finding(file, at, across, RULE, message, target=term))
        for target, (at, across) in zip(group.see, _places(node, "see"), strict=False):
            if target not in known:
                message = f"see: no group has the id '{target}'"
                hint = nearest(target, known)
                findings.append(
                    Finding(file, at, across, RULE, message, target=target, suggestion=hint)
                )
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
