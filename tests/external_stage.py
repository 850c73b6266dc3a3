"""A server on this machine that plays what the external link check may meet, and quick checkers.

PYTEST_DONT_REWRITE: tests import from here before pytest loads the fixtures; nothing is asserted.
"""

from __future__ import annotations

import contextlib
import dataclasses
import http.server
import socket
import ssl
import threading
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hooks.links.external.check import Checker
from hooks.links.external.http import Client, Pace
from hooks.links.external.records import Document, Outcome, Settings

QUICK = Settings(
    delay=0.0, connect_timeout=60.0, read_timeout=60.0, deadline=60.0, allow_private=True
)
"""Waits for nothing but an answer, and for that long enough on a busy machine."""

Route = Callable[["Handler"], None]


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers by the routes of its server."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Play the route, whatever the method."""
        stage: Stage = self.server.stage  # type: ignore[attr-defined]
        with stage.lock:
            stage.log.append((self.command, self.path, dict(self.headers.items())))
        route = stage.routes.get(self.path)
        with contextlib.suppress(OSError):
            if route is None:
                self.reply(404)
            else:
                route(self)

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, *args: object) -> None:
        """Say nothing."""

    def reply(self, status: int, body: str | bytes = b"", **headers: str) -> None:
        """Answer; a name such as `content_type` becomes `content-type`."""
        data = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        headers.setdefault("content_length", str(len(data)))
        headers.setdefault("content_type", "text/html; charset=utf-8")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


class Server(http.server.ThreadingHTTPServer):
    """Many requests at a time; a client that hangs up is no news."""

    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing."""


class Stage:
    """A running server, its routes, and what it was asked."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.routes: dict[str, Route] = {}
        self.log: list[tuple[str, str, dict[str, str]]] = []
        self.lock = threading.Lock()
        self.end = threading.Event()
        """Set when the test is over: a route that hangs waits for it."""
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.stage = self  # type: ignore[attr-defined]
        if tls is not None:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.scheme = "http" if tls is None else "https"
        self.port = self.server.server_port
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        """Return an address of this server."""
        return f"{self.scheme}://{host}:{self.port}{path}"

    def always(self, path: str, status: int, body: str | bytes = b"", **headers: str) -> None:
        """Answer the same to every request."""
        self.routes[path] = lambda handler: handler.reply(status, body, **headers)

    def asked(self, path: str) -> list[str]:
        """Return the methods of the requests for a path, in order."""
        return [method for method, asked, _ in self.log if asked == path]

    def close(self) -> None:
        """Stop."""
        self.end.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Resolve names here alone: `*.lab.org` is this machine, every other name unknown."""

    def resolve(host: Any, port: Any, *_: Any, **__: Any) -> list[Any]:
        if host == "127.0.0.1" or str(host).endswith("lab.org"):
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", int(port)))]
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(urllib.request, "getproxies", dict)


@pytest.fixture
def stage() -> Iterator[Stage]:
    """A server."""
    stage = Stage()
    yield stage
    stage.close()


@pytest.fixture
def other() -> Iterator[Stage]:
    """A second one: another host, as it has another port."""
    stage = Stage()
    yield stage
    stage.close()


class Waits:
    """Stands in for `time.sleep`: remembers, and does not wait."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def checker(waits: Waits | None = None, **settings: Any) -> Checker:
    """Return a checker that is quick and waits for nothing."""
    chosen = dataclasses.replace(QUICK, **settings)
    return Checker(Client(chosen, Pace(chosen, waits or Waits(), lambda: 0.0)))


def judge(
    address: str,
    *fragments: str,
    known: Outcome | None = None,
    waits: Waits | None = None,
    **settings: Any,
) -> Outcome:
    """Judge one document."""
    return checker(waits, **settings).judge(Document(address, fragments), known)


def said(outcome: Outcome) -> tuple[str, str, int]:
    """Return what a table of cases compares."""
    return outcome.verdict.value, outcome.reason.value, outcome.status
