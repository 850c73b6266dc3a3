"""Every rule of the checks, from `rules.yml`: its severity, what it says, why, how to mend it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml

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
    """Its severity."""
    apart: Mapping[str, str] = field(default_factory=dict)
    """Severity of those in the family that differ, by their full names."""


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
    """Return a rule's severity; unknown rules are errors."""
    rule = find(name)
    return rule.apart.get(name, rule.here) if rule else "error"
