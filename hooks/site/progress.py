"""How far a build is: a line now and then, so that a long stage is not taken for a hang."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

EVERY = 10.0
"""Seconds between lines."""


@dataclass(slots=True)
class Pace:
    """Counts the pages of each language."""

    total: int
    """Pages of a language."""
    counts: dict[str, int] = field(default_factory=dict)
    said: float = field(default_factory=time.monotonic)

    def step(self, language: str, now: float | None = None) -> str:
        """Count a page; return what to say of it, if it is time to say anything."""
        now = time.monotonic() if now is None else now
        count = self.counts[language] = self.counts.get(language, 0) + 1
        if count < self.total and now - self.said < EVERY:
            return ""
        self.said = now
        return f"pages ({language}): {count} of {self.total}"
