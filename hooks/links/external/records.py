"""Records of the external link check: addresses, documents, outcomes, settings."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from urllib.parse import urldefrag, urlsplit

AGENT = "ai-infra-hpc-handbook-links/1.0"
"""How the check names itself to servers: the project, and nobody's address."""


class Verdict(StrEnum):
    """What the check says of an address."""

    ALIVE = "alive"
    MOVED = "moved-permanently"
    GONE = "gone"
    FRAGMENT = "fragment-missing"
    FORBIDDEN = "forbidden-to-robots"
    UNREACHABLE = "unreachable-from-here"
    UNCHECKED = "not-checked-yet"
    """`--limit` or `--host` left it out, and no earlier run knows it."""


class Reason(StrEnum):
    """Why a verdict was given, where the verdict alone does not say it."""

    NONE = ""
    STATUS = "status"
    """The status code says it."""
    CONNECT = "no-connection"
    TIMEOUT = "time-out"
    """No answer, or no end of it, in time."""
    TLS = "tls"
    PROTOCOL = "broken-answer"
    HOPS = "too-many-redirects"
    FRONT_PAGE = "front-page"
    """A page of its own now leads to the front page of the site: most likely it is gone."""
    OFFLINE = "no-way-out"
    PRIVATE = "private-address"
    BAD_ADDRESS = "not-an-address"


@dataclass(frozen=True, order=True, slots=True)
class Place:
    """Where an address is written."""

    file: str
    """Path from the repository root, with forward slashes."""
    line: int
    column: int


@dataclass(frozen=True, order=True, slots=True)
class Use:
    """An external address at one place."""

    address: str
    place: Place


@dataclass(frozen=True, slots=True)
class Document:
    """What one request can answer: an address without fragment, and the fragments wanted in it."""

    address: str
    fragments: tuple[str, ...] = ()


def documents(addresses: set[str]) -> list[Document]:
    """Group addresses by the document they lead to, sorted."""
    wanted: dict[str, set[str]] = {}
    for address in addresses:
        base, fragment = urldefrag(address)
        wanted.setdefault(base, set()).update({fragment} - {""})
    return [Document(base, tuple(sorted(parts))) for base, parts in sorted(wanted.items())]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is known of a document."""

    verdict: Verdict
    reason: Reason = Reason.NONE
    detail: str = ""
    """The words of the failure, in English, such as `certificate has expired`."""
    status: int = 0
    """The last status code; 0 when there was no answer."""
    new: str = ""
    """Where permanent redirects lead."""
    fragments: dict[str, bool | None] = field(default_factory=dict)
    """Whether the page has each wanted fragment; None where that cannot be told."""


def for_address(outcome: Outcome, fragment: str) -> Outcome:
    """Return a document's outcome as that of an address with a fragment."""
    good = outcome.verdict in (Verdict.ALIVE, Verdict.MOVED)
    if good and fragment and outcome.fragments.get(fragment) is False:
        return replace(outcome, verdict=Verdict.FRAGMENT, reason=Reason.NONE)
    return outcome


def host_of(url: str) -> str:
    """Return host and, where one is written, port: what limits are kept for."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2].lower()
    except ValueError:
        return url


@dataclass(frozen=True, slots=True)
class Settings:
    """How to ask. Times are seconds."""

    workers: int = 16
    """How many hosts are asked at a time."""
    per_host: int = 2
    """How many requests run at a time on one host."""
    delay: float = 1.0
    """Between the starts of two requests to one host."""
    retries: int = 2
    """How often to ask again after a failure that may pass."""
    longest_wait: float = 120.0
    """For a host, beside what its requests take: one that asks to wait longer is left alone."""
    timeout: float = 20.0
    """For one answer."""
    redirects: int = 8
    silent_hosts: int = 8
    """So many hosts without any answer, and none with one: this machine has no way out."""
    allow_private: bool = False
    """Whether addresses of this machine and of private networks may be asked."""
    agent: str = AGENT
