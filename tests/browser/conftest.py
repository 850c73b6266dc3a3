"""Windows of the browser that are kept for later tests: a page of one that is open costs half."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, CDPSession, Page

from tests.conftest import ROOT, serve

ASSETS = ROOT / "docs/assets"
PHONE = {"width": 390, "height": 844}
Window = Callable[..., BrowserContext]
Open = Callable[..., Page]


@dataclass
class Kept:
    """A window with a tab for each way to read, whose process serves the tabs of later tests."""

    context: BrowserContext
    anchors: dict[str, Page]
    session: CDPSession

    def empty(self) -> None:
        """Close what a test has opened, and forget what it has left in cookies and storage."""
        for page in self.context.pages:
            if page not in self.anchors.values():
                page.close()
        self.context.unroute_all()
        self.context.clear_cookies()
        everything = {"origin": "*", "storageTypes": "all"}
        self.session.send("Storage.clearDataForOrigin", everything)


@dataclass
class Ear:
    """What the windows of a test ask for and complain about."""

    own: list[str] = field(default_factory=lambda: ["data:", "blob:", "about:"])
    asked: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def listen(self, context: BrowserContext) -> Callable[[], None]:
        """Begin to listen; return what ends it."""

        def complain(said: str, where: str, holds: bool = True) -> None:
            if holds:
                self.complaints.append(f"{said} {where}")

        hear: dict[Any, Callable[[Any], None]] = {
            "request": lambda one: self.asked.append(one.url),
            "weberror": lambda one: complain(str(one.error), one.page.url if one.page else ""),
            "console": lambda one: complain(one.text, one.location["url"], one.type == "error"),
            "response": lambda one: complain(str(one.status), one.url, one.status >= 400),
            # A request that was under way when the next page was opened is no complaint.
            "requestfailed": lambda one: complain(
                one.failure, one.url, one.failure != "net::ERR_ABORTED"
            ),
        }
        for name, heard in hear.items():
            context.on(name, heard)

        def end() -> None:
            for name, heard in hear.items():
                context.remove_listener(name, heard)

        return end

    def check(self) -> None:
        """Nothing was asked of others, and nothing went wrong."""
        assert [url for url in self.asked if not url.startswith(tuple(self.own))] == []
        assert self.complaints == []


@pytest.fixture(scope="session")
def kept_windows(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str, dict[str, Any]], Kept]]:
    """Windows by their options."""
    folder = tmp_path_factory.mktemp("anchor")
    (folder / "index.html").write_text("<!doctype html><title>anchor</title>", encoding="utf-8")
    kept: dict[str, Kept] = {}
    with serve(folder) as address:
        starts = {"http": f"{address}index.html", "file": (folder / "index.html").as_uri()}

        def take(scheme: str, options: dict[str, Any]) -> Kept:
            key = repr(sorted(options.items()))
            if key not in kept:
                context = browser.new_context(**options)
                first = context.new_page()
                kept[key] = Kept(context, {scheme: first}, context.new_cdp_session(first))
                first.goto(starts[scheme])
            one = kept[key]
            if scheme not in one.anchors:
                one.anchors[scheme] = one.context.new_page()
                one.anchors[scheme].goto(starts[scheme])
            return one

        yield take
        for one in kept.values():
            one.context.close()


@pytest.fixture
def ear() -> Ear:
    """What windows ask for and complain about; a test that means to be refused clears it."""
    return Ear()


@pytest.fixture
def window(kept_windows: Callable[[str, dict[str, Any]], Kept], ear: Ear) -> Iterator[Window]:
    """Lend windows to a test: `window(base, **options)` for what is read below the address `base`.

    They come without tabs, cookies and storage. Whatever lasts longer than a tab, such as a script
    for all pages of a window, a worker or a clock of its own, needs `browser.new_context`. A page
    that asks others for anything, or complains, fails the test.
    """
    lent: list[Kept] = []
    ends: list[Callable[[], None]] = []

    def lend(base: str, **options: Any) -> BrowserContext:
        one = kept_windows(base.partition(":")[0], options)
        ear.own.append(base)
        if one not in lent:
            lent.append(one)
            ends.append(ear.listen(one.context))
        return one.context

    yield lend
    for one, end in zip(lent, ends, strict=True):
        end()
        one.empty()
    ear.check()


@pytest.fixture
def from_file(window: Window) -> Open:
    """Open an address on file://, with the network off, as the offline handbook is read."""

    def open_it(address: str, *, init: str = "", **options: Any) -> Page:
        page = window("file:", offline=True, **options).new_page()
        if init:
            page.add_init_script(init)
        page.goto(address)
        return page

    return open_it


def page_of(
    body: str, language: str = "en", *, styles: Sequence[str] = (), scripts: Sequence[str] = ()
) -> str:
    """Return a page with style sheets and scripts of the handbook, without its frame."""
    sheets = (f'<link rel="stylesheet" href="{_asset("stylesheets", one)}">' for one in styles)
    ends = (f'<script src="{_asset("javascripts", one)}"></script>' for one in scripts)
    return (
        f'<!doctype html><html lang="{language}" data-md-color-scheme="default"><head>'
        '<meta charset="utf-8"><title>t</title>'
        f'<meta name="viewport" content="width=device-width">{"".join(sheets)}</head>'
        f'<body><main class="md-typeset"><h1>t</h1>{body}</main>{"".join(ends)}</body></html>'
    )


def _asset(folder: str, name: str) -> str:
    return (ASSETS / folder / name).as_uri()
