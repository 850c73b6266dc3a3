"""Remember between runs what each address answered, and how old that is.

The file may be deleted at any time: a run without it asks for everything again, and comes to the
same verdicts. A file that cannot be read is taken for absent.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hooks.links.external.records import Outcome, Reason, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

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
    checked: datetime.datetime
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
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["format"] != _FORMAT:
            return {}
        return {address: _known(entry) for address, entry in data["addresses"].items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def _known(entry: dict[str, Any]) -> Known:
    outcome = dict(entry["outcome"])
    outcome["verdict"] = Verdict(outcome["verdict"])
    outcome["reason"] = Reason(outcome["reason"])
    checked = datetime.datetime.fromisoformat(entry["checked"])
    if checked.tzinfo is None:
        raise ValueError("a time without its zone")
    alive = entry.get("alive")
    return Known(
        Outcome(**outcome),
        checked,
        datetime.date.fromisoformat(entry["since"]),
        datetime.date.fromisoformat(alive) if alive else None,
    )


def save(path: Path, known: Mapping[str, Known]) -> None:
    """Write the cache in one step, so that a run cut short leaves the old one."""
    addresses = {
        address: {
            "outcome": dataclasses.asdict(one.outcome),
            "checked": one.checked.isoformat(timespec="seconds"),
            "since": one.since.isoformat(),
            "alive": one.alive.isoformat() if one.alive else None,
        }
        for address, one in sorted(known.items())
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    data = {"format": _FORMAT, "addresses": addresses}
    draft.write_text(json.dumps(data, ensure_ascii=False, indent=1), encoding="utf-8")
    draft.replace(path)
