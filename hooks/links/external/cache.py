"""Remember between runs what each address answered, and how old that is.

The file may be deleted at any time: a run without it asks for everything again, and comes to the
same verdicts. A file that cannot be read is taken for absent.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import AwareDatetime, TypeAdapter, ValidationError

from hooks.links.external.records import Outcome, Verdict

_FORMAT = 1
FRESH_DAYS = {
    Verdict.ALIVE: 14,
    Verdict.MOVED: 14,
    Verdict.FRAGMENT: 14,
    Verdict.FORBIDDEN: 14,
    Verdict.GONE: 2,
    Verdict.UNREACHABLE: 0,
}
"""For how many days a verdict is believed without asking again."""


@dataclass(frozen=True, slots=True)
class Known:
    """An outcome and its age."""

    outcome: Outcome
    checked: AwareDatetime
    since: datetime.date
    """The first day of an unbroken run of this verdict."""
    alive: datetime.date | None = None
    """The last day on which the address answered well."""

    def is_fresh(self, now: datetime.datetime, fragments: tuple[str, ...] = ()) -> bool:
        """Tell whether the outcome still holds, and answers for these fragments."""
        age = now - self.checked
        days = FRESH_DAYS.get(self.outcome.verdict, 0)
        answered = all(one in self.outcome.fragments for one in fragments)
        if not answered and self.outcome.verdict not in (Verdict.GONE, Verdict.FORBIDDEN):
            return False
        return datetime.timedelta(0) <= age < datetime.timedelta(days=days)


@dataclass(frozen=True)
class _File:
    format: int
    addresses: dict[str, Known]


_FILE = TypeAdapter(_File)


def remember(earlier: Known | None, outcome: Outcome, now: datetime.datetime) -> Known:
    """Return what is known after a check, carrying on the dates of what was known before."""
    today = now.date()
    is_same = earlier is not None and earlier.outcome.verdict is outcome.verdict
    since = earlier.since if earlier is not None and is_same else today
    alive = earlier.alive if earlier is not None else None
    if outcome.verdict in (Verdict.ALIVE, Verdict.MOVED, Verdict.FRAGMENT):
        alive = today
    return Known(outcome, now, since, alive)


def load(path: Path) -> dict[str, Known]:
    """Read the cache; empty when it is absent, of another format, or damaged."""
    try:
        data = _FILE.validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return {}
    return data.addresses if data.format == _FORMAT else {}


def save(path: Path, known: Mapping[str, Known]) -> None:
    """Write the cache in one step, so that a run cut short leaves the old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    data = _File(_FORMAT, dict(sorted(known.items())))
    draft.write_bytes(_FILE.dump_json(data, indent=1))
    draft.replace(path)
