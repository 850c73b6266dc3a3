"""Windows of the browser that are kept for later tests: a page of one that is open costs half."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, CDPSession, Page

from tests.conftest import serve

Window = Callable[..., BrowserContext]


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
def window(kept_windows: Callable[[str, dict[str, Any]], Kept]) -> Iterator[Window]:
    """Lend windows to a test: `window(base, **options)` for what is read below the address `base`.

    They come without tabs, cookies and storage. Whatever lasts longer than a tab, such as a script
    for all pages of a window, a worker or a clock of its own, needs `browser.new_context`.
    """
    lent: list[Kept] = []

    def lend(base: str, **options: Any) -> BrowserContext:
        one = kept_windows(base.partition(":")[0], options)
        if one not in lent:
            lent.append(one)
        return one.context

    yield lend
    for one in lent:
        one.empty()
