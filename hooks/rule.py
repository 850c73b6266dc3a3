"""What is said of a rule: a record."""

from __future__ import annotations

from dataclasses import dataclass

OFF = "off"
"""The severity, in other trees, of a rule that is only ours."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A named rule."""

    name: str
    what: str
    """What is reported."""
    why: str
    """What a reader would suffer."""
    mend: str
    """How to put it right."""
    elsewhere: str = "error"
    """Severity in trees that are not this handbook: `error`, `warning`, or `off` for rules that
    are only ours."""
