"""Records of the external link check: addresses, documents, outcomes, settings."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import urldefrag

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
    DNS = "name-not-found"
    CONNECT = "no-connection"
    TIMEOUT = "time-out"
    """Connected, but no answer, or no end of it, in time."""
    TLS = "tls"
    PROTOCOL = "broken-answer"
    PROXY = "proxy"
    LOOP = "redirect-loop"
    HOPS = "too-many-redirects"
    COOKIES = "wants-cookies"
    BAD_REDIRECT = "bad-redirect"
    WAIT = "asks-to-wait"
    FRONT_PAGE = "front-page"
    """A page of its own now leads to the front page of the site: most likely it is gone."""
    HOST_SILENT = "host-silent"
    """Another address of the same host got no answer just before, so this one was not asked."""
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
    final: str = ""
    """The address that answered in the end; what `etag` and `modified` belong to."""
    etag: str = ""
    modified: str = ""
    fragments: dict[str, bool | None] = field(default_factory=dict)
    """Whether the page has each wanted fragment; None where that cannot be told."""
    nearest: dict[str, str] = field(default_factory=dict)
    """For a missing fragment: the id of the page that is most like it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How to ask. Times are seconds."""

    workers: int = 16
    """How many requests run at a time, all hosts together."""
    per_host: int = 2
    """How many run at a time on one host."""
    delay: float = 1.0
    """Between the starts of two requests to one host."""
    retries: int = 2
    """How often to ask again after a failure that may pass."""
    back_off: float = 1.0
    """Before the first retry; doubles with each, times a random factor of 0.5 to 1.5."""
    longest_wait: float = 60.0
    """A server that asks to wait longer is left alone."""
    connect_timeout: float = 10.0
    read_timeout: float = 20.0
    """Between two pieces of an answer."""
    deadline: float = 45.0
    """For the head of an answer, and again for its body."""
    body_limit: int = 2_000_000
    """Bytes of a page read at most, to find fragments in it."""
    redirects: int = 8
    silent_hosts: int = 8
    """So many hosts without any answer, and none with one: this machine has no way out."""
    allow_private: bool = False
    """Whether addresses of this machine and of private networks may be asked."""
    agent: str = AGENT
    tls: ssl.SSLContext | None = None
    """Default: the certificates of the system and of certifi."""
