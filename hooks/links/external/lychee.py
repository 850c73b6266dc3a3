"""Ask other people's sites by lychee, and say in the words of the report what they answered"""

from __future__ import annotations

import html
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag, urlsplit

import click

from hooks.links.external.records import Document, Outcome, Reason, Settings, Verdict, host_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_GONE = frozenset({404, 410})
# 999 is what LinkedIn says to robots.
_FORBIDDEN = frozenset({401, 403, 405, 406, 418, 429, 999})
_NO_FRAGMENT = "Cannot find fragment"
# Lines of code, comments that load late, pages of a PDF: a script or a viewer answers for these.
_SCRIPTED = re.compile(r"\A(?:!|/|.*=|:~:|L\d+)")
_WORDS = (
    (Reason.TIMEOUT, ("timed out", "timeout")),
    (Reason.TLS, ("certificate", "tls", "ssl", "corrupt message", "handshake")),
    (Reason.CONNECT, ("refused", "connection failed", "dns", "unreachable")),
    (Reason.BAD_ADDRESS, ("cannot parse",)),
)
"""What lychee says of a request that failed; anything else is a broken answer."""


class MissingError(click.ClickException):
    """lychee is not installed."""

    exit_code = 2


def program() -> str:
    """Return the path of lychee: beside this Python, or on the path of the system."""
    found = shutil.which("lychee", path=str(Path(sys.executable).parent)) or shutil.which("lychee")
    if found is None:
        raise MissingError("lychee is not installed: `make links` installs it and runs this check")
    return found


@dataclass
class Checker:
    """Checks documents: a process of lychee for each host, several hosts at a time."""

    settings: Settings
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    """By address, as they come in; those of a run cut short are kept."""
    answered: set[str] = field(default_factory=set)
    """Hosts that gave any answer."""
    silent: set[str] = field(default_factory=set)

    @property
    def is_offline(self) -> bool:
        """Whether several hosts were asked and none answered at all: there is no way out."""
        return not self.answered and len(self.silent) >= self.settings.silent_hosts

    def check(self, wanted: Sequence[Document]) -> None:
        """Ask for documents, and add what they answered to `outcomes`."""
        if not wanted:
            return
        lychee = program()
        hosts: dict[str, list[Document]] = defaultdict(list)
        for document in wanted:
            hosts[host_of(document.address)].append(document)
        with ThreadPoolExecutor(self.settings.workers) as pool:
            # The longest first: they decide how long the whole takes.
            ordered = sorted(hosts, key=lambda host: len(hosts[host]), reverse=True)
            futures = [pool.submit(self._host, lychee, host, hosts[host]) for host in ordered]
            try:
                for future in futures:
                    future.result()
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def _host(self, lychee: str, host: str, documents: list[Document]) -> None:
        if self.is_offline:
            silence = Outcome(Verdict.UNREACHABLE, Reason.OFFLINE)
            self.outcomes.update({one.address: silence for one in documents})
            return
        first = self._batch(lychee, host, documents[:1])
        if host in self.silent and first.reason in (Reason.CONNECT, Reason.TIMEOUT):
            # A host that is not there is asked once.
            self.outcomes.update({one.address: first for one in documents})
        elif documents[1:]:
            self._batch(lychee, host, documents[1:])

    def _batch(self, lychee: str, host: str, documents: list[Document]) -> Outcome:
        """Ask for documents of one host, and return the outcome of the first."""
        addresses = [address for one in documents for address in _addresses(one)]
        answers = _ask(lychee, addresses, self.settings)
        outcomes = {one.address: outcome(one, answers) for one in documents}
        (self.answered if any(one.status for one in outcomes.values()) else self.silent).add(host)
        self.outcomes.update(outcomes)
        return outcomes[documents[0].address]


def _addresses(document: Document) -> Iterator[str]:
    """Yield the document's address, and one for each fragment that its page can answer for."""
    yield document.address
    # On GitHub a script draws most headings: a page without the id says nothing.
    if host_of(document.address).removeprefix("www.") != "github.com":
        for fragment in document.fragments:
            if not _SCRIPTED.match(fragment):
                yield f"{document.address}#{fragment}"


def _ask(lychee: str, addresses: list[str], settings: Settings) -> dict[str, Any]:
    """Run lychee on addresses of one host; return its answers by address, none in time missing."""
    options = {
        "format": "json",
        "max-retries": settings.retries,
        "max-redirects": settings.redirects,
        "timeout": math.ceil(settings.timeout),
        "host-concurrency": settings.per_host,
        "max-concurrency": settings.per_host,
        "host-request-interval": f"{round(settings.delay * 1000)}ms",
        "user-agent": settings.agent,
        "include-fragments": "anchor-only",
    }
    command = [lychee, "--verbose", "--no-progress", *(f"--{k}={v}" for k, v in options.items())]
    if not settings.allow_private:
        command.append("--exclude-all-private")
    # It sends a token that it finds there to GitHub; this check is nobody's.
    environment = {key: value for key, value in os.environ.items() if key != "GITHUB_TOKEN"}
    with tempfile.TemporaryDirectory() as folder:
        lines = [f'<a href="{html.escape(address)}"></a>\n' for address in addresses]
        Path(folder, "addresses.html").write_text("".join(lines), encoding="utf-8")
        try:
            done = subprocess.run(
                [*command, "addresses.html"],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                # A server may ask to wait for an hour, which lychee would do.
                timeout=settings.longest_wait + len(addresses) * (settings.delay + 2),
            )
        except subprocess.TimeoutExpired:
            return {}
    try:
        said = json.loads(done.stdout)
    except ValueError:
        raise click.ClickException(f"lychee: {done.stderr.strip()[:500]}") from None
    rows = [row for name in _MAPS for part in said[name].values() for row in part]
    return {addresses[row["span"]["line"] - 1]: row for row in rows}


_MAPS = ("success_map", "error_map", "timeout_map", "excluded_map")


def outcome(document: Document, answers: dict[str, Any]) -> Outcome:
    """Say what lychee's answers mean for a document and its fragments."""
    row = answers.get(document.address)
    if row is None:
        return Outcome(Verdict.UNREACHABLE, Reason.TIMEOUT)
    status = row["status"].get("code", 0)
    detail = row["status"].get("details", "")
    if row["status"]["text"] == "Excluded":
        return Outcome(Verdict.UNREACHABLE, Reason.PRIVATE)
    if not status:
        plain = detail.lower()
        known = (reason for reason, words in _WORDS if any(word in plain for word in words))
        return Outcome(Verdict.UNREACHABLE, next(known, Reason.PROTOCOL), detail)
    if 200 <= status < 300:
        good = Outcome(Verdict.ALIVE, status=status, fragments=_fragments(document, answers))
        return _with_move(good, document.address, row.get("redirects", {}).get("redirects", []))
    if 300 <= status < 400:
        return Outcome(Verdict.UNREACHABLE, Reason.HOPS, status=status)
    verdict = Verdict.GONE if status in _GONE else Verdict.UNREACHABLE
    verdict = Verdict.FORBIDDEN if status in _FORBIDDEN else verdict
    return Outcome(verdict, Reason.STATUS, status=status)


def _fragments(document: Document, answers: dict[str, Any]) -> dict[str, bool | None]:
    """Return whether the page has each fragment; None where that cannot be told."""
    found: dict[str, bool | None] = dict.fromkeys(document.fragments)
    for fragment in document.fragments:
        status = answers.get(f"{document.address}#{fragment}", {}).get("status", {})
        if status.get("code"):
            found[fragment] = True
        elif status.get("details") == _NO_FRAGMENT:
            found[fragment] = False
    return found


def _with_move(good: Outcome, address: str, hops: list[dict[str, Any]]) -> Outcome:
    """Say where the permanent redirects at the beginning lead, if there are any."""
    new = ""
    for hop in hops:
        if hop["code"] not in (301, 308):
            break
        new = urldefrag(hop["url"]).url
    if not new:
        return good
    parts = urlsplit(new)
    is_front = parts.path in ("", "/") and not parts.query
    was_page = urlsplit(address).path not in ("", "/")
    reason = Reason.FRONT_PAGE if was_page and is_front else Reason.NONE
    return replace(good, verdict=Verdict.MOVED, reason=reason, new=new)
