"""The maintainer's list: verdicts that are known and accepted for a time, and archived copies.

allowed:
  - address: https://host.example/page      # or a beginning, with * at its end
    verdicts: [forbidden-to-robots]
    reason: answers browsers only; opened by hand on 2026-11-21
    until: 2027-05-21
archived:
  - address: https://gone.example/paper.pdf
    date: 2024-03-09                        # day of the copy in the Wayback Machine
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainValidator

from hooks.findings import Finding, schema
from hooks.links.external.records import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hooks.data import Layout

RULE = "external-allow-list"
_LONGEST_DAYS = 366
Accepted = Literal[
    Verdict.MOVED, Verdict.GONE, Verdict.FRAGMENT, Verdict.FORBIDDEN, Verdict.UNREACHABLE
]


Day = Annotated[datetime.date, PlainValidator(schema.day)]
Address = Annotated[str, Field(pattern=r"^https?://[^\s<>\"]+$")]


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


class Allowed(_Record):
    """A verdict that needs no mending for now."""

    address: Address
    verdicts: list[Accepted] = Field(min_length=1)
    reason: str = Field(min_length=10)
    until: Day

    def covers(self, address: str) -> bool:
        """Tell whether the entry is about an address."""
        if self.address.endswith("*"):
            return address.startswith(self.address[:-1])
        return address == self.address


class Archived(_Record):
    """A copy that is known to exist in the Internet Archive."""

    address: Address
    date: Day

    @property
    def copy_address(self) -> str:
        """Where the copy is."""
        return f"https://web.archive.org/web/{self.date:%Y%m%d}/{self.address}"


class _List(_Record):
    allowed: list[Allowed] = []
    archived: list[Archived] = []


@dataclass(frozen=True, slots=True)
class AllowList:
    """What the list says on a given day."""

    allowed: tuple[Allowed, ...] = ()
    """Entries in force."""
    archived: dict[str, str] = field(default_factory=dict)
    """The copy's address by the address."""

    def accepts(self, address: str, verdict: Verdict) -> Allowed | None:
        """Return the entry that accepts a verdict on an address."""
        for entry in self.allowed:
            if verdict in entry.verdicts and entry.covers(address):
                return entry
        return None


def load(
    layout: Layout, today: datetime.date, addresses: Iterable[str] | None = None
) -> tuple[AllowList, list[Finding]]:
    """Read the list.

    Args:
        layout: Where the file is; it may be absent.
        today: Entries whose last day is before this day are left out, with a warning.
        addresses: Every address in use; entries about none of them get a warning.

    Returns:
        What is in force, and findings of rule `external-allow-list`: errors for what cannot be
        read (the whole file is then left out), warnings for what is out of date.
    """
    path = layout.allowed
    name = layout.name(path)
    if not path.is_file():
        return AllowList(), []
    try:
        document, findings = schema.load(path.read_text(encoding="utf-8"), name, RULE)
    except UnicodeDecodeError:
        return AllowList(), [Finding(name, 1, 1, RULE, "the file is not UTF-8")]
    if document is None or document.node is None:
        return AllowList(), findings
    data, mistakes = schema.validate(_List, document, RULE)
    if data is None or findings:
        return AllowList(), findings + mistakes
    used = None if addresses is None else list(addresses)
    in_force = []
    for number, entry in enumerate(data.allowed):
        is_used = used is None or any(entry.covers(address) for address in used)
        message = _out_of_date(entry, today, is_used)
        if message:
            at = ("allowed", number)
            findings.append(document.finding(RULE, at, message, entry.address, severity="warning"))
        if entry.until >= today:
            in_force.append(entry)
    for number, copy in enumerate(data.archived):
        if used is not None and copy.address not in used:
            message = f"'{copy.address}' is in no note or data file; remove the entry"
            at = ("archived", number)
            findings.append(document.finding(RULE, at, message, copy.address, severity="warning"))
    archived = {copy.address: copy.copy_address for copy in data.archived}
    return AllowList(tuple(in_force), archived), findings


def _out_of_date(entry: Allowed, today: datetime.date, is_used: bool) -> str:
    if entry.until < today:
        return (
            f"the entry for '{entry.address}' expired on {entry.until}; "
            "look at the address again, then renew or remove the entry"
        )
    if entry.until > today + datetime.timedelta(days=_LONGEST_DAYS):
        return f"the entry for '{entry.address}' runs until {entry.until}; a year is the most"
    if not is_used:
        return f"'{entry.address}' is in no note or data file; remove the entry"
    return ""
