"""A server on this machine that plays what the external link check may meet.

PYTEST_DONT_REWRITE: tests import from here before pytest loads the fixtures; nothing is asserted.
"""

from __future__ import annotations

import contextlib
import dataclasses
import http.server
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hooks.links.external.lychee import Checker
from hooks.links.external.records import Document, Outcome, Settings

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

    def __init__(self) -> None:
        self.routes: dict[str, Route] = {}
        self.log: list[tuple[str, str, dict[str, str]]] = []
        self.lock = threading.Lock()
        self.end = threading.Event()
        """Set when the test is over: a route that hangs waits for it."""
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.stage = self  # type: ignore[attr-defined]
        self.port = self.server.server_port
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        """Return an address of this server."""
        return f"http://{host}:{self.port}{path}"

    def always(self, path: str, status: int, body: str | bytes = b"", **headers: str) -> None:
        """Answer the same to every request."""
        self.routes[path] = lambda handler: handler.reply(status, body, **headers)

    def asked(self, path: str) -> list[str]:
        """Return the methods of the requests for a path, in order."""
        return [method for method, asked, _ in self.log if asked == path]

    def headers(self) -> list[dict[str, str]]:
        """Return the headers of each request, names in small letters."""
        return [{name.lower(): value for name, value in one.items()} for _, _, one in self.log]

    def close(self) -> None:
        """Stop."""
        self.end.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def stage() -> Iterator[Stage]:
    """A server."""
    stage = Stage()
    yield stage
    stage.close()


def ask(*documents: Document, **settings: Any) -> list[Outcome]:
    """Ask for documents, waiting for nothing but answers, and return what came."""
    quick = Settings(delay=0.0, retries=0, allow_private=True)
    checker = Checker(dataclasses.replace(quick, **settings))
    checker.check(documents)
    return [checker.outcomes[document.address] for document in documents]
