"""Ask servers, politely: few at a time, with pauses, with limits on time, bytes and redirects."""

from __future__ import annotations

import http.client
import ipaddress
import random
import socket
import ssl
import threading
import time
import urllib.request
from collections import defaultdict
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urldefrag, urljoin, urlsplit

import certifi
import urllib3
from urllib3 import connection, connectionpool, exceptions

from hooks.links.external.records import Reason, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

REDIRECTS = frozenset({301, 302, 303, 307, 308})
PERMANENT = frozenset({301, 308})
_CHUNK = 65536


class NoAnswerError(Exception):
    """No usable answer came. `reason` says of what kind, `str()` in which words."""

    def __init__(self, reason: Reason, message: str = "") -> None:
        super().__init__(message)
        self.reason = reason

    @property
    def is_silence(self) -> bool:
        """Whether nothing at all came from the host."""
        return self.reason in (Reason.DNS, Reason.CONNECT, Reason.PROXY)


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one request."""

    url: str
    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes = b""
    is_whole: bool = True
    """Whether `body` is all there is, rather than cut at a limit or by a failure."""


@dataclass(frozen=True, slots=True)
class Trip:
    """An answer and the redirects that led to it."""

    hops: tuple[Reply, ...]
    end: Reply


class Pace:
    """Keeps requests to one host few and apart. Shared by all threads."""

    def __init__(
        self,
        settings: Settings,
        wait: Callable[[float], object] = time.sleep,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._wait = wait
        self._now = now
        self._lock = threading.Lock()
        self._next: dict[str, float] = defaultdict(float)
        self._slots: dict[str, threading.Semaphore] = defaultdict(
            lambda: threading.Semaphore(settings.per_host)
        )

    @contextmanager
    def turn(self, host: str) -> Iterator[None]:
        """Hold one of the host's slots, entered no sooner than the delay allows."""
        with self._lock:
            slot = self._slots[host]
        with slot:
            with self._lock:
                now = self._now()
                start = max(now, self._next[host])
                self._next[host] = start + self._settings.delay
            if start > now:
                self._wait(start - now)
            yield

    def pause(self, host: str, seconds: float) -> None:
        """Ask nothing of a host for some seconds, in any thread."""
        with self._lock:
            self._next[host] = max(self._next[host], self._now() + seconds)

    def back_off(self, attempt: int) -> None:
        """Wait before retry number `attempt`, counted from 0: exponential, with jitter."""
        factor = random.uniform(0.5, 1.5)
        self._wait(self._settings.back_off * 2**attempt * factor)


class _Guard:
    """What both kinds of connection add to urllib3's: a deadline and a look at the peer."""

    deadline: ClassVar[float] = 45.0
    allow_private: ClassVar[bool] = True
    sock: Any
    proxy: Any

    def connect(self) -> None:
        """Connect, and leave again when a public name led into a private network."""
        super().connect()  # type: ignore[misc]
        if self.allow_private or self.proxy is not None or self.sock is None:
            return
        peer = self.sock.getpeername()[0]
        if is_private(peer):
            self.close()  # type: ignore[attr-defined]
            raise _PrivateError(f"the name leads to the private address {peer}")

    def getresponse(self) -> Any:
        """Wait for the head of an answer; a server that drips it byte by byte is cut off."""
        was_cut = threading.Event()
        timer = threading.Timer(self.deadline, _cut, (self.sock, was_cut))
        timer.daemon = True
        timer.start()
        try:
            response = super().getresponse()  # type: ignore[misc]
        except Exception:
            if was_cut.is_set():
                raise TimeoutError("no end of the answer's head in time") from None
            raise
        finally:
            timer.cancel()
        if was_cut.is_set():  # http.client takes the end of the stream for that of the head
            raise TimeoutError("no end of the answer's head in time")
        return response


class _PrivateError(OSError):
    """A name leads into a private network."""


def _cut(sock: Any, was_cut: threading.Event) -> None:
    was_cut.set()
    if sock is not None:
        with suppress(OSError):
            # The plain socket's method: that of a TLS socket is not for use by other threads.
            socket.socket.shutdown(sock, socket.SHUT_RDWR)


def is_private(host: str) -> bool:
    """Tell whether a host is named by an address that is not public, or as this machine."""
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return not ipaddress.ip_address(name.partition("%")[0]).is_global
    except ValueError:
        return False


def default_tls() -> ssl.SSLContext:
    """Return a context that trusts what the system trusts, and what certifi lists."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


@dataclass
class Client:
    """Sends requests. Safe to share between threads."""

    settings: Settings
    pace: Pace
    answered: set[str] = field(default_factory=set)
    """Hosts that gave any answer."""
    silent: set[str] = field(default_factory=set)
    """Hosts of which some request got none."""

    def __post_init__(self) -> None:
        limits = {
            "deadline": self.settings.deadline,
            "allow_private": self.settings.allow_private,
        }
        plain = type("_Http", (_Guard, connection.HTTPConnection), limits)
        secure = type("_Https", (_Guard, connection.HTTPSConnection), limits)
        self._pools = {
            "http": type(
                "_HttpPool", (connectionpool.HTTPConnectionPool,), {"ConnectionCls": plain}
            ),
            "https": type(
                "_HttpsPool", (connectionpool.HTTPSConnectionPool,), {"ConnectionCls": secure}
            ),
        }
        self._options: dict[str, Any] = {
            "num_pools": self.settings.workers * 2,
            "maxsize": self.settings.per_host,
            "ssl_context": self.settings.tls or default_tls(),
            "timeout": urllib3.Timeout(
                connect=self.settings.connect_timeout, read=self.settings.read_timeout
            ),
            "retries": False,
        }
        self._lock = threading.Lock()
        self._managers: dict[str, urllib3.PoolManager] = {}
        self._proxies = urllib.request.getproxies()

    def _manager(self, url: str) -> urllib3.PoolManager:
        """Return the pools for an address: those of a proxy where the environment names one."""
        parts = urlsplit(url)
        proxy = self._proxies.get(parts.scheme, "")
        if proxy and urllib.request.proxy_bypass(parts.hostname or ""):
            proxy = ""
        with self._lock:
            if proxy not in self._managers:
                manager = (
                    urllib3.ProxyManager(proxy, **self._options)
                    if proxy
                    else urllib3.PoolManager(**self._options)
                )
                manager.pool_classes_by_scheme = self._pools
                self._managers[proxy] = manager
            return self._managers[proxy]

    def ask(
        self, method: str, url: str, headers: Mapping[str, str] | None = None, limit: int = 0
    ) -> Reply:
        """Send one request and read at most `limit` bytes of what comes; follow nothing.

        Raises:
            NoAnswerError: No answer, or none that can be read.
        """
        host = host_of(url)
        if not self.settings.allow_private and is_private(urlsplit(url).hostname or ""):
            raise NoAnswerError(Reason.PRIVATE, f"{host} is not a public address")
        try:
            with self.pace.turn(host):
                reply = self._ask(method, url, headers or {}, limit)
        except NoAnswerError as failure:
            if failure.is_silence:
                with self._lock:
                    self.silent.add(host)
            raise
        with self._lock:
            self.answered.add(host)
        return reply

    def _ask(self, method: str, url: str, headers: Mapping[str, str], limit: int) -> Reply:
        sent = {
            "User-Agent": self.settings.agent,
            "Accept": "text/html,application/xhtml+xml,*/*;q=0.8",
            "Accept-Language": "en,zh;q=0.8",
            "Accept-Encoding": "gzip, deflate" if limit else "identity",
            **headers,
        }
        try:
            response = self._manager(url).request(
                method, url, headers=sent, redirect=False, preload_content=False
            )
        except (exceptions.HTTPError, http.client.HTTPException, OSError, ValueError) as error:
            raise as_failure(error) from error
        try:
            body, is_whole = self._body(response, limit) if limit else (b"", method == "HEAD")
            names = {name.lower(): value for name, value in response.headers.items()}
            return Reply(url, response.status, names, body, is_whole)
        finally:
            if method == "HEAD":
                response.release_conn()
            else:
                response.close()  # rather than read the rest: it may be gigabytes

    def _body(self, response: urllib3.BaseHTTPResponse, limit: int) -> tuple[bytes, bool]:
        """Read up to `limit` decoded bytes. A failure on the way ends the body, nothing more."""
        parts: list[bytes] = []
        size = 0
        end = time.monotonic() + self.settings.deadline
        try:
            while size < limit and time.monotonic() < end:
                part = response.read1(min(_CHUNK, limit - size), decode_content=True)
                if not part:
                    return b"".join(parts), True
                parts.append(part)
                size += len(part)
        except (exceptions.HTTPError, http.client.HTTPException, OSError, ValueError):
            pass  # the page answered, which is what counts; its fragments cannot be told
        return b"".join(parts), False

    def follow(
        self,
        method: str,
        url: str,
        conditions: Mapping[str, Mapping[str, str]] | None = None,
        limit: int = 0,
    ) -> Trip:
        """Send a request and follow redirects to the end.

        Args:
            method: `HEAD` or `GET`.
            url: Where to begin.
            conditions: Headers to send to one address of the chain only, such as its `ETag`.
            limit: Bytes of the last answer to read.

        Raises:
            NoAnswerError: No answer, a loop, too many redirects, or one that leads nowhere.
        """
        hops: list[Reply] = []
        seen = {url}
        has_cookie = False
        while True:
            reply = self.ask(method, url, (conditions or {}).get(url), limit)
            if reply.status not in REDIRECTS:
                return Trip(tuple(hops), reply)
            hops.append(reply)
            has_cookie = has_cookie or "set-cookie" in reply.headers
            url = location(reply)
            chain = " → ".join([hop.url for hop in hops] + [url])
            if url in seen:
                reason = Reason.COOKIES if has_cookie else Reason.LOOP
                raise NoAnswerError(reason, chain)
            if len(hops) > self.settings.redirects:
                raise NoAnswerError(Reason.HOPS, chain)
            seen.add(url)


def location(reply: Reply) -> str:
    """Return where a redirect leads, without fragment.

    Raises:
        NoAnswerError: It leads nowhere, or away from the web.
    """
    written = reply.headers.get("location", "").strip()
    if not written:
        raise NoAnswerError(Reason.BAD_REDIRECT, f"status {reply.status} without a Location")
    with suppress(UnicodeError):
        # Header bytes are read as Latin-1; servers that do not encode their addresses send UTF-8.
        written = written.encode("latin-1").decode("utf-8")
    try:
        target = urldefrag(urljoin(reply.url, written)).url
        parts = urlsplit(target)
        is_web = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_web = False
    if not is_web:
        raise NoAnswerError(Reason.BAD_REDIRECT, f"leads to '{written}'")
    return target


def host_of(url: str) -> str:
    """Return host and, where one is written, port: what limits are kept for."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2].lower()
    except ValueError:
        return url


def as_failure(error: Exception) -> NoAnswerError:
    """Say in our words what urllib3 or the system raised."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, _PrivateError):
            return NoAnswerError(Reason.PRIVATE, str(cause))
        cause = cause.__cause__ or cause.__context__
    for kinds, reason in _REASONS:
        if isinstance(error, kinds):
            return NoAnswerError(reason, _words(error))
    return NoAnswerError(Reason.PROTOCOL, _words(error))


_REASONS: tuple[tuple[tuple[type[Exception], ...], Reason], ...] = (
    ((exceptions.ProxyError,), Reason.PROXY),
    ((exceptions.NameResolutionError, socket.gaierror), Reason.DNS),
    ((exceptions.NewConnectionError, exceptions.ConnectTimeoutError), Reason.CONNECT),
    ((exceptions.TimeoutError, TimeoutError), Reason.TIMEOUT),
    ((exceptions.SSLError, ssl.SSLError), Reason.TLS),
    ((exceptions.LocationValueError, http.client.InvalidURL, ValueError), Reason.BAD_ADDRESS),
)


def _words(error: Exception) -> str:
    """Return the innermost words of an error, without the objects that urllib3 prints."""
    if isinstance(error, exceptions.SSLError) and error.args and error.args[0] is not error:
        inner = error.args[0]
        message = getattr(inner, "verify_message", "") or getattr(inner, "reason", "")
        return str(message or inner)
    text = str(error)
    return text.rpartition(">: ")[2] or type(error).__name__
