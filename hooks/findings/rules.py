"""Every rule of the checks, from `rules.yml`: its severity, what it says, why, how to mend it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml

OFF = "off"
"""The severity, in other trees, of a rule that is only ours."""
FILE = Path(__file__).with_name("rules.yml")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Words(NamedTuple):
    """What is said of a rule in one language."""

    what: str
    """What is reported."""
    why: str
    """What a reader would suffer."""
    mend: str
    """How to put it right."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A named rule, or a family of them: `facts-*`."""

    name: str
    words: Mapping[str, Words]
    """By language."""
    here: str = "error"
    """Severity in this handbook."""
    elsewhere: str = "error"
    """Severity in other trees; `off` for rules that are only ours."""
    apart: Mapping[str, str] = field(default_factory=dict)
    """Severity here of those in the family that differ, by their full names."""


@cache
def all_rules() -> tuple[Rule, ...]:
    """Return every rule, families (`facts-*`) last."""
    found = []
    for name, row in yaml.load(FILE.read_bytes(), Loader=_LOADER).items():
        words = {language: Words(**row.pop(language)) for language in ("zh", "en")}
        found.append(Rule(name, words, **row))
    return tuple(found)


@cache
def find(name: str) -> Rule | None:
    """Return the rule of a finding."""
    for rule in all_rules():
        if rule.name == name or (rule.name.endswith("*") and name.startswith(rule.name[:-1])):
            return rule
    return None


def severity(name: str) -> str:
    """Return a rule's severity in this handbook; unknown rules are errors."""
    rule = find(name)
    return rule.apart.get(name, rule.here) if rule else "error"


def severity_elsewhere(name: str) -> str:
    """Return a rule's severity in a tree that is not this handbook; unknown rules are ours."""
    rule = find(name)
    return rule.elsewhere if rule else OFF


def as_text() -> str:
    """Return the list of rules for people."""
    notes = {OFF: " (only in this handbook)", "warning": " (a warning in other trees)"}
    parts = []
    for rule in all_rules():
        what, why, mend = rule.words["en"]
        head = f"{rule.name}{notes.get(rule.elsewhere, '')}"
        parts.append(f"{head}\n    what: {what}\n    why:  {why}\n    mend: {mend}")
    return "\n".join(parts)
