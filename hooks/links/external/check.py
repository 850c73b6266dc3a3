"""Judge external addresses: which request to send, when to ask again, and what answers mean."""

from __future__ import annotations

import datetime
import email.utils
import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from hooks.links.external.fragments import check_fragments
from hooks.links.external.http import PERMANENT, Client, NoAnswerError, Trip, host_of, location
from hooks.links.external.records import Document, Outcome, Reason, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_GONE = frozenset({404, 410})
# 999 is what LinkedIn says to robots.
_FORBIDDEN = frozenset({401, 403, 405, 406, 418, 429, 999})
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Status codes that may be others in a moment."""
_SLOW_DOWN = frozenset({429, 503})
_PASSING_REASONS = frozenset({Reason.DNS, Reason.CONNECT, Reason.TIMEOUT, Reason.PROTOCOL})


@dataclass
class Checker:
    """Checks documents, many at a time."""

    client: Client
    stop: threading.Event = field(default_factory=threading.Event)
    """Set when the rest is not to be asked: no way out, or the user interrupts."""
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    """By address, as they come in; those of a run cut short are kept."""
    on_outcome: Callable[[str, Outcome], object] = lambda address, outcome: None

    @property
    def is_offline(self) -> bool:
        """Whether several hosts were asked and none answered at all: there is no way out."""
        silent, answered = self.client.silent, self.client.answered
        return not answered and len(silent) >= self.client.settings.silent_hosts

    def check(
        self, wanted: Sequence[Document], known: Mapping[str, Outcome] | None = None
    ) -> dict[str, Outcome]:
        """Check documents and return their outcomes by address.

        Args:
            wanted: What to check.
            known: Earlier outcomes; their `ETag` or date makes a request conditional.
        """
        lanes: dict[tuple[str, int], list[Document]] = defaultdict(list)
        count: dict[str, int] = defaultdict(int)
        for document in wanted:
            host = host_of(document.address)
            lanes[host, count[host] % self.client.settings.per_host].append(document)
            count[host] += 1
        # The longest queues first: they decide how long the whole takes.
        ordered = sorted(lanes.values(), key=len, reverse=True)
        with ThreadPoolExecutor(self.client.settings.workers) as pool:
            futures = [pool.submit(self._lane, lane, known or {}) for lane in ordered]
            try:
                for future in futures:
                    future.result()
            except BaseException:
                self.stop.set()
                pool.shutdown(cancel_futures=True)
                raise
        return self.outcomes

    def _lane(self, lane: Sequence[Document], known: Mapping[str, Outcome]) -> None:
        """Check documents of one host, one after another."""
        silence: Outcome | None = None
        for document in lane:
            if self.is_offline:
                outcome = Outcome(Verdict.UNREACHABLE, Reason.OFFLINE)
            elif self.stop.is_set():
                return
            elif silence is not None:
                outcome = replace(silence, reason=Reason.HOST_SILENT)
            else:
                outcome = self.judge(document, known.get(document.address))
                host = host_of(document.address)
                if outcome.reason in _SILENT and host not in self.client.answered:
                    silence = outcome
            self.outcomes[document.address] = outcome
            self.on_outcome(document.address, outcome)

    def judge(self, document: Document, known: Outcome | None = None) -> Outcome:
        """Ask for one document, again after failures that may pass, and say what it is.

        HEAD first; GET where HEAD is refused or fails, or where fragments must be looked for.
        """
        method = "GET" if document.fragments else "HEAD"
        attempt = 0
        while True:
            outcome, pause, host = self._try(method, document, known)
            if method == "HEAD" and _may_be_about_head(outcome):
                method = "GET"
                if outcome.status not in _SLOW_DOWN:
                    continue
            may_pass = outcome.status in _PASSING or outcome.reason in _PASSING_REASONS
            is_over = attempt >= self.client.settings.retries or self.stop.is_set()
            if not may_pass or is_over or self.is_offline:
                return outcome
            if pause is None:
                self.client.pace.back_off(attempt)
            elif pause > self.client.settings.longest_wait:
                return replace(outcome, reason=Reason.WAIT, detail=f"{pause:.0f} s")
            else:
                self.client.pace.pause(host, pause)
            attempt += 1

    def _try(
        self, method: str, document: Document, known: Outcome | None
    ) -> tuple[Outcome, float | None, str]:
        """Return an outcome, how long the server asks to wait, and which host that is."""
        try:
            trip = self._trip(method, document, known)
        except NoAnswerError as failure:
            is_for_people = failure.reason is Reason.COOKIES
            verdict = Verdict.FORBIDDEN if is_for_people else Verdict.UNREACHABLE
            return Outcome(verdict, failure.reason, str(failure)), None, ""
        pause = retry_after(trip.end.headers.get("retry-after", ""))
        return as_outcome(trip, document, known), pause, host_of(trip.end.url)

    def _trip(self, method: str, document: Document, known: Outcome | None) -> Trip:
        limit = self.client.settings.body_limit if document.fragments else 0
        conditions: dict[str, dict[str, str]] = {}
        if known is not None and _answers_for(known, document):
            headers = {}
            if known.etag:
                headers["If-None-Match"] = known.etag
            if known.modified:
                headers["If-Modified-Since"] = known.modified
            if headers:
                conditions[known.final] = headers
        return self.client.follow(method, document.address, conditions, limit)


_SILENT = (Reason.DNS, Reason.CONNECT, Reason.TIMEOUT, Reason.PROXY)


def _answers_for(known: Outcome, document: Document) -> bool:
    """Tell whether an earlier outcome stands as a whole if the page has not changed."""
    is_good = known.verdict in (Verdict.ALIVE, Verdict.MOVED, Verdict.FRAGMENT)
    return is_good and bool(known.final) and set(document.fragments) <= set(known.fragments)


def _may_be_about_head(outcome: Outcome) -> bool:
    """Tell whether the failure may be one of HEAD only: many servers treat it badly."""
    if outcome.reason in (*_SILENT, Reason.TLS, Reason.PRIVATE, Reason.BAD_ADDRESS):
        return outcome.reason is Reason.TIMEOUT
    return outcome.verdict not in (Verdict.ALIVE, Verdict.MOVED)


def retry_after(value: str, now: datetime.datetime | None = None) -> float | None:
    """Return the seconds that a `Retry-After` asks for; None when it says nothing readable."""
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        when = email.utils.parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError):
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=datetime.UTC)
    now = now or datetime.datetime.now(datetime.UTC)
    return max((when - now).total_seconds(), 0.0)


def as_outcome(trip: Trip, document: Document, known: Outcome | None = None) -> Outcome:
    """Say what the end of a trip means."""
    status = trip.end.status
    if status == 304 and known is not None:
        return _with_move(replace(known, status=status), trip)
    if 200 <= status < 300:
        headers = trip.end.headers
        fragments, hints = check_fragments(trip.end, document.fragments)
        outcome = Outcome(
            Verdict.ALIVE,
            status=status,
            final=trip.end.url,
            etag=headers.get("etag", ""),
            modified=headers.get("last-modified", ""),
            fragments=fragments,
            nearest=hints,
        )
        return _with_move(outcome, trip)
    if status in _GONE:
        return Outcome(Verdict.GONE, Reason.STATUS, status=status)
    if status in _FORBIDDEN or _is_challenge(trip):
        return Outcome(Verdict.FORBIDDEN, Reason.STATUS, status=status)
    return Outcome(Verdict.UNREACHABLE, Reason.STATUS, status=status)


def _is_challenge(trip: Trip) -> bool:
    """Tell whether a gatekeeper asks for proof of a human, which it does with 503 too."""
    headers = trip.end.headers
    return headers.get("cf-mitigated", "") == "challenge" or "x-amzn-waf-action" in headers


def _with_move(outcome: Outcome, trip: Trip) -> Outcome:
    """Say where the permanent redirects at the beginning of a trip lead, if there are any."""
    new = ""
    for hop in trip.hops:
        if hop.status not in PERMANENT:
            break
        new = location(hop)
    if not new:
        return replace(outcome, verdict=Verdict.ALIVE, reason=Reason.NONE, new="")
    was_page = urlsplit(trip.hops[0].url).path not in ("", "/")
    is_front = was_page and urlsplit(new).path in ("", "/") and not urlsplit(new).query
    reason = Reason.FRONT_PAGE if is_front else Reason.NONE
    return replace(outcome, verdict=Verdict.MOVED, reason=reason, new=new)


def for_address(outcome: Outcome, fragment: str) -> Outcome:
    """Return a document's outcome as that of an address with a fragment."""
    good = outcome.verdict in (Verdict.ALIVE, Verdict.MOVED)
    if good and fragment and outcome.fragments.get(fragment) is False:
        return replace(outcome, verdict=Verdict.FRAGMENT, reason=Reason.NONE)
    return outcome
