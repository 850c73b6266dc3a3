"""The library of resources: what else to read, watch and use, what it gives, and whether it opens.

`docs/data/resources/*.yml` hold one list together: a key stands in one file only, and an address
in one entry only. Which topics exist is for the map to say, where it is known; here is the form.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal, get_args
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from hooks.data.wording import Day, Strict, Text
from hooks.findings import Finding, load, nearest, validate

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

RULE = "resources"
GENERAL = "general"
"""The topic of what belongs to no area of the map alone."""

Kind = Literal[  # in the order in which a topic shows them
    "book", "course", "docs", "spec", "paper", "tool", "code", "list",
    "post", "talk", "person", "news",
]  # fmt: skip
Level = Literal["intro", "working", "deep"]
State = Literal["live", "moved", "dated", "dead", "unchecked"]
KINDS: tuple[str, ...] = get_args(Kind)
LEVELS: tuple[str, ...] = get_args(Level)

_HAN = re.compile(r"[\u3400-\u9fff]")
_Address = Annotated[str, Field(pattern=r"^https?://[^/\s]+\.[^/\s]+(/\S*)?$")]


class Resource(Strict):
    """A book, a paper, a tool, a person's channel: where it is, and what a reader gets."""

    title: Text
    by: str | None = None
    """Who wrote it, as BibTeX has it: `Ada Lovelace and Charles Babbage and others`."""
    year: int | None = Field(default=None, ge=1940, le=2100)
    url: _Address
    was: tuple[_Address, ...] = ()
    """Addresses at which it stood before, or under which others still name it."""
    archive: _Address | None = None
    language: str = Field(default="en", pattern=r"^[a-z]{2}$")
    kind: Kind
    level: Level
    topics: tuple[str, ...] = Field(min_length=1)
    """Ids of the map's areas, or `general`; it is shown at the first."""
    gives: Text
    """What a reader gets, in our words."""
    state: State = "unchecked"
    checked: Day | None = None
    note: Text | None = None
    """What is wrong or dated, there or in what others say of it."""

    @model_validator(mode="after")
    def _whole(self) -> Resource:
        if (self.state == "unchecked") == bool(self.checked):
            raise ValueError("must have 'checked' (a date) unless its state is 'unchecked'")
        if self.state == "moved" and not self.was:
            raise ValueError("must have 'was' (the former address) where its state is 'moved'")
        if self.state == "dead" and not (self.archive or self.note):
            raise ValueError("must have 'archive', or a 'note' on what to read instead, if dead")
        if self.kind == "paper" and not (self.by and self.year):
            raise ValueError("must have 'by' and 'year', as a paper")
        if not _HAN.search(self.gives.zh) or _HAN.search(self.gives.en):
            raise ValueError("must have 'gives' in both languages: {zh: …, en: …}")
        return self


Library = dict[str, Resource]
"""Resources by their keys, which are ids on the page."""
_Files = dict[Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")], Resource]


def plain(address: str) -> str:
    """Return an address without what names the same: scheme, `www.`, fragment, last slash.

    A paper on arXiv has one, whichever form and version of it is named.
    """
    parts = urlsplit(address)
    host = parts.netloc.lower().removeprefix("www.").removeprefix("browse.")
    path = parts.path.rstrip("/").removesuffix("/index.html").removesuffix(".git")
    if host in ("arxiv.org", "ar5iv.labs.arxiv.org"):
        host = "arxiv.org"
        path = re.sub(r"^/(?:html|pdf)/", "/abs/", path).removesuffix(".pdf")
        path = re.sub(r"(\d)v\d+$", r"\1", path)
    query = f"?{parts.query}" if parts.query else ""
    return host + path + query


def load_resources(folder: Path, topics: Collection[str]) -> tuple[Library, list[Finding]]:
    """Read every file of a folder; return the valid entries and findings of the rule `resources`.

    `topics` are the ids of the map's areas.
    """
    library: Library = {}
    findings: list[Finding] = []
    owners: dict[str, str] = {}
    for path in sorted(folder.glob("*.yml")):
        file = f"docs/data/{folder.name}/{path.name}"
        document, problems = load(path.read_text(encoding="utf-8"), file, RULE)
        findings += problems
        if document is None:
            continue
        entries, problems = validate(_Files, document, RULE)
        findings += problems
        for key, resource in (entries or {}).items():
            if key in library:
                message = f"'{key}' stands in another file already; keep one"
                findings.append(document.finding(RULE, (key,), message, key))
            for topic in resource.topics:
                if topic not in (*topics, GENERAL):
                    message = f"'{key}' names the topic '{topic}', which docs/data/topics.yml lacks"
                    hint = nearest(topic, [*topics, GENERAL])
                    findings.append(document.finding(RULE, (key, "topics"), message, topic, hint))
            for address in (resource.url, *resource.was):
                other = owners.setdefault(plain(address), key)
                if other != key:
                    message = f"'{key}' has the address of '{other}'; merge the two"
                    findings.append(document.finding(RULE, (key, "url"), message, address))
            library.setdefault(key, resource)
    return library, findings
