"""Firefox and WebKitGTK for tests, driven by what comes with them: no driver is downloaded.

Playwright drives builds of its own only. Firefox listens to Marionette (JSON over TCP) by itself,
and the distribution's WebKitGTK comes with a driver for the W3C's WebDriver protocol; both know
the same few commands.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tools import browser as browser_tool

DEAD_PROXY: Final = "127.0.0.1", 9
"""Whoever is asked besides the test's own server cannot be reached."""
PATIENCE: Final = 60.0
_PREFERENCES: Final[dict[str, object]] = {
    "marionette.port": 0,
    "app.normandy.enabled": False,
    "app.update.disabledForTesting": True,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "intl.accept_languages": "zh-CN",
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.proxy.http": DEAD_PROXY[0],
    "network.proxy.http_port": DEAD_PROXY[1],
    "network.proxy.ssl": DEAD_PROXY[0],
    "network.proxy.ssl_port": DEAD_PROXY[1],
    "network.proxy.type": 1,
    "services.settings.server": "data:,#remote-settings-dummy/v1",
    "toolkit.telemetry.enabled": False,
}


class EngineError(RuntimeError):
    """A browser did not start, or did not do what it was told."""


def wait_for(what: str, condition: Any, patience: float = PATIENCE) -> Any:
    """Return the first true value of `condition()`; raises EngineError, which names `what`."""
    until = time.monotonic() + patience
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > until:
            raise EngineError(f"waited {patience:.0f} s in vain for {what}")
        time.sleep(0.05)


class Engine(ABC):
    """A browser window."""

    @abstractmethod
    def open(self, address: str) -> None:
        """Go to a page and wait until it has loaded."""

    @abstractmethod
    def run(self, script: str, *arguments: object) -> Any:
        """Return what the body of a function returns in the page."""

    @abstractmethod
    def actions(self, actions: list[dict[str, Any]]) -> None:
        """Use the keyboard."""

    @abstractmethod
    def close(self) -> None:
        """End the browser."""

    def value(self, expression: str, *arguments: object) -> Any:
        """Return the value of an expression in the page, which must not be an element."""
        return self.run(f"return {expression};", *arguments)

    def until(self, expression: str, *arguments: object) -> Any:
        """Wait until an expression is true in the page; return it."""

        def condition() -> Any:
            with contextlib.suppress(EngineError):  # between two pages there is nothing to ask
                return self.value(expression, *arguments)

        return wait_for(expression, condition)

    def type(self, text: str) -> None:
        """Press keys, one after the other."""
        presses = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self.actions([{"type": "key", "id": "keys", "actions": presses}])


class Firefox(Engine):
    """Firefox by Marionette: messages are `LENGTH:JSON`, JSON is [0, number, command, values]."""

    def __init__(self, program: str) -> None:
        """Start it with a profile of its own."""
        self._folder = tempfile.TemporaryDirectory()
        profile = Path(self._folder.name)
        lines = (f"user_pref({json.dumps(k)}, {json.dumps(v)});" for k, v in _PREFERENCES.items())
        (profile / "user.js").write_text("\n".join(lines), encoding="utf-8")
        self._process = subprocess.Popen(
            [program, "--headless", "--marionette", "--no-remote", "--profile", str(profile)],
            env={**os.environ, "HOME": str(profile)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        port = profile / "MarionetteActivePort"
        wait_for("Firefox to listen", lambda: port.is_file() and port.read_text(), 90)
        self._socket = socket.create_connection(("127.0.0.1", int(port.read_text())), timeout=90)
        self._file = self._socket.makefile("rb")
        self._number = 0
        self._receive()  # it greets
        self._do("WebDriver:NewSession")

    def _receive(self) -> Any:
        length = b""
        while (byte := self._file.read(1)) != b":":
            if not byte:
                raise EngineError("Firefox has closed the connection")
            length += byte
        return json.loads(self._file.read(int(length)))

    def _do(self, command: str, **values: object) -> Any:
        self._number += 1
        message = json.dumps([0, self._number, command, values]).encode()
        self._socket.sendall(b"%d:%s" % (len(message), message))
        _, _, error, result = self._receive()
        if error:
            raise EngineError(f"{command}: {error['error']}: {error['message']}")
        return result

    def open(self, address: str) -> None:
        """Go to a page and wait until it has loaded."""
        self._do("WebDriver:Navigate", url=address)

    def run(self, script: str, *arguments: object) -> Any:
        """Return what the body of a function returns in the page."""
        values = {"script": script, "args": list(arguments), "newSandbox": False, "sandbox": None}
        return self._do("WebDriver:ExecuteScript", **values)["value"]

    def actions(self, actions: list[dict[str, Any]]) -> None:
        """Use the keyboard."""
        self._do("WebDriver:PerformActions", actions=actions)

    def close(self) -> None:
        """End the browser."""
        self._file.close()
        self._socket.close()
        self._process.terminate()
        self._process.wait(30)
        with contextlib.suppress(OSError):
            self._folder.cleanup()


class WebKit(Engine):
    """WebKitGTK by its own driver, on a screen that nobody sees."""

    def __init__(self, driver: str, window: str) -> None:
        """Start the driver, which starts the window."""
        self._folder = tempfile.TemporaryDirectory()
        number, log = os.pipe()
        self._screen = subprocess.Popen(
            ["Xvfb", "-displayfd", str(log), "-screen", "0", "1280x900x24", "-nolisten", "tcp"],
            pass_fds=[log],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(log)
        with os.fdopen(number, encoding="ascii") as file:
            display = file.readline().strip()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        proxy = "http://{}:{}".format(*DEAD_PROXY)
        self._process = subprocess.Popen(
            [driver, f"--port={port}"],
            env={
                **os.environ,
                "DISPLAY": f":{display}",
                "HOME": self._folder.name,
                "LIBGL_ALWAYS_SOFTWARE": "1",
                "http_proxy": proxy,
                "https_proxy": proxy,
                "no_proxy": "127.0.0.1",
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._base = f"http://127.0.0.1:{port}/session"
        options = {"binary": window, "args": ["--automation"]}
        wanted = {"browserName": "MiniBrowser", "webkitgtk:browserOptions": options}

        def start() -> Any:
            with contextlib.suppress(urllib.error.URLError):
                return self._ask("", {"capabilities": {"alwaysMatch": wanted}})

        self._base += "/" + wait_for("WebKit's driver to listen", start, 60)["sessionId"]

    def _ask(self, path: str, values: dict[str, Any] | None = None, method: str = "POST") -> Any:
        request = urllib.request.Request(
            self._base + path,
            method=method,
            data=json.dumps(values or {}).encode(),
            headers={"Content-Type": "application/json"},
        )
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
                request, timeout=90
            ) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise EngineError(f"{path}: {error.read().decode(errors='replace')}") from None

    def open(self, address: str) -> None:
        """Go to a page and wait until it has loaded."""
        self._ask("/url", {"url": address})

    def run(self, script: str, *arguments: object) -> Any:
        """Return what the body of a function returns in the page."""
        return self._ask("/execute/sync", {"script": script, "args": list(arguments)})

    def actions(self, actions: list[dict[str, Any]]) -> None:
        """Use the keyboard."""
        self._ask("/actions", {"actions": actions})

    def close(self) -> None:
        """End the browser."""
        with contextlib.suppress(EngineError, OSError):
            self._ask("", method="DELETE")
        for process in (self._process, self._screen):
            process.terminate()
            process.wait(30)
        with contextlib.suppress(OSError):
            self._folder.cleanup()


@contextlib.contextmanager
def started(name: str) -> Iterator[Engine | None]:
    """Start `firefox` or `webkit`; None where it is not installed."""
    engine: Engine | None = None
    if name == "firefox":
        program = browser_tool.find_firefox()
        engine = Firefox(program) if program else None
    else:
        programs = browser_tool.find_webkit()
        engine = WebKit(*programs) if programs and shutil.which("Xvfb") else None
    try:
        yield engine
    finally:
        if engine is not None:
            engine.close()
