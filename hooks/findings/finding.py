"""What a check found: where, by which rule, and the repair."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from hooks.findings import rules

_LONGEST = 300
"""Characters; nothing like a longer word is looked for."""
_MOST = 300
"""How many words are compared in full; of more, those that share the most letters."""


@dataclass(frozen=True, order=True, slots=True)
class Finding:
    """One thing that a reader or contributor must be told."""

    file: str
    """Path from the repository root, with forward slashes."""
    line: int
    """1-based; 0 means the file as a whole."""
    column: int
    """1-based; 0 means the line as a whole."""
    rule: str
    message: str
    target: str = ""
    """The offending text, exactly as written."""
    suggestion: str = ""
    """The repair, as text that could replace the target."""
    severity: str = ""
    """`error` fails a check and a build; `warning` is said and passes. Its rule says which; given
    only where one rule has both."""

    def __post_init__(self) -> None:
        """Take the severity from the rule."""
        if not self.severity:
            object.__setattr__(self, "severity", rules.severity(self.rule))

    @property
    def place(self) -> str:
        """`file:line:column`, without the parts that are not known."""
        return ":".join([self.file, *(str(n) for n in (self.line, self.column) if n)])

    @property
    def advice(self) -> str:
        """The message with the repair."""
        return self.message + (f"; did you mean '{self.suggestion}'?" if self.suggestion else "")

    @property
    def text(self) -> str:
        """The finding in one line."""
        return f"{self.place}: {self.severity}[{self.rule}] {self.advice}"


def has_errors(findings: Iterable[Finding]) -> bool:
    """Tell whether any finding is of severity error."""
    return any(finding.severity == "error" for finding in findings)


def nearest(word: str, known: Iterable[str], cutoff: float = 0.5) -> str:
    """Return the known word most like `word`, or an empty string when none is close."""
    if len(word) > _LONGEST:
        return ""
    # Only words of like length can be close: that spares most comparisons in large trees.
    longest = len(word) * (2 / max(cutoff, 0.1) - 1)
    alike = [one for one in known if cutoff <= 0 or len(one) <= longest]
    if len(alike) > _MOST:
        letters = set(word)
        alike.sort(key=lambda one: (-len(letters & set(one)), abs(len(one) - len(word)), one))
        alike = alike[:_MOST]
    matches = difflib.get_close_matches(word, alike, n=1, cutoff=cutoff)
    return matches[0] if matches else ""
