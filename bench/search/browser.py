"""Waiting times and memory of the search, in Chromium, as a reader has them.

Each measurement starts a browser of its own, so that nothing is warm. Variants take turns within
a round: whatever else the machine does meets all of them.

- `first_ms`: from the moment the search box gets the focus to the first result on the page, for a
  word typed at once; the page has loaded just before.
- `key_ms`: from a key to the first change of the result list, for queries typed letter by letter.
- `memory_mb`: what the renderer processes hold more (proportional set size, after a garbage
  collection) once the queries were typed than with the page loaded and search kept from starting.
"""

from __future__ import annotations

import contextlib
import functools
import http.server
import statistics
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import Browser, CDPSession, Page, sync_playwright
from playwright.sync_api import Error as BrowserError

from tools import browser as browser_tool

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-features=SpareRendererForSitePerProcess",
    "--no-first-run",
]
SCHEMES = ("file", "http")
BASELINE = "search blocked"
"""How memory before was taken; records without it measured http after search had started."""
QUIET_MS = 60
"""A result list that has not changed for so long has its answer."""
LONGEST_MS = 8000

_WATCH = """
() => {
  const list = document.querySelector(".md-search-result__list");
  const state = { focus: null, first: null, key: null, times: [], last: 0 };
  window.__bench = state;
  new MutationObserver(() => {
    const now = performance.now();
    state.last = now;
    if (state.first === null && state.focus !== null && list.querySelector("a")) {
      state.first = now;
    }
    if (state.key !== null) { state.times.push(now - state.key); state.key = null; }
  }).observe(list, { childList: true, subtree: true });
  const input = document.querySelector("[data-md-component=search-query]");
  input.addEventListener("focus", () => { state.focus ??= performance.now(); }, true);
  for (const kind of ["keydown", "input"]) {
    input.addEventListener(kind, (event) => {
      // A key that changes nothing in the box starts no search.
      if (kind === "keydown" && event.key === "Shift") { return; }
      state.key ??= performance.now();
    }, true);
  }
}
"""
_IS_QUIET = """
([quiet, longest, since]) => {
  const state = window.__bench, now = performance.now();
  if (state.key !== null) { return now - state.key > longest; }
  return now - state.last > quiet && now - since > quiet;
}
"""


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def _served(site: Path) -> Iterator[str]:
    handler = functools.partial(_Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def _renderers(session: CDPSession) -> list[int]:
    found = session.send("SystemInfo.getProcessInfo")["processInfo"]
    return [one["id"] for one in found if one["type"] == "renderer"]


def _memory_mb(browser: Browser, page: Page) -> float:
    page_session = page.context.new_cdp_session(page)
    for _ in range(2):
        page_session.send("HeapProfiler.collectGarbage")
    page_session.detach()
    session = browser.new_browser_cdp_session()
    total = 0
    for pid in _renderers(session):
        with contextlib.suppress(psutil.Error):
            info = psutil.Process(pid).memory_full_info()
            total += getattr(info, "pss", 0) or info.rss
    session.detach()
    return total / 1e6


def _settle(page: Page) -> None:
    since = page.evaluate("performance.now()")
    page.wait_for_function(
        _IS_QUIET, arg=[QUIET_MS, LONGEST_MS, since], polling=20, timeout=LONGEST_MS * 2
    )
    page.evaluate("() => { window.__bench.key = null; }")


def _type(page: Page, letter: str) -> None:
    if letter.isascii():
        page.keyboard.press("Space" if letter == " " else letter)
    else:
        page.keyboard.insert_text(letter)
        page.keyboard.press("Shift")  # Material's own search starts when a key goes up


def _without_search(browser: Browser, page: Page, address: str) -> float:
    """Return the memory of a loaded page whose search cannot start, and leave the page.

    Over http Material starts its worker as soon as a page is there, before anybody searches.
    """
    page.route("**/workers/**", lambda route: route.abort())
    page.goto(address, wait_until="load")
    page.wait_for_timeout(300)
    found = _memory_mb(browser, page)
    page.unroute("**/workers/**")
    page.goto("about:blank")
    return found


def once(browser: Browser, address: str, queries: Sequence[str]) -> dict[str, Any]:
    """Measure one site once: the first of the queries cold, then every query by letters.

    `address` is that of a page of the site.
    """
    # The worker that stores pages for reading offline is the same in all variants, and when it runs
    # differs from one start to the next: it is no part of what search takes.
    context = browser.new_context(
        locale="zh-CN", viewport={"width": 1280, "height": 800}, service_workers="block"
    )
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    try:
        before = _without_search(browser, page, address)
        page.goto(address, wait_until="load")
        page.evaluate(_WATCH)
        page.evaluate(
            "() => { document.querySelector('[data-md-toggle=search]').checked = true;"
            " document.querySelector('[data-md-toggle=search]')"
            ".dispatchEvent(new Event('change'));"
            " document.querySelector('[data-md-component=search-query]').focus(); }"
        )
        for letter in queries[0]:
            _type(page, letter)
        page.wait_for_function("() => window.__bench.first !== null", timeout=60_000)
        first = page.evaluate("() => window.__bench.first - window.__bench.focus")
        _settle(page)
        page.wait_for_timeout(500)  # what loads after the first answer does not count as a key
        times: list[float] = []
        for query in queries:
            page.keyboard.press("Control+A")
            page.keyboard.press("Delete")
            _settle(page)
            page.evaluate("() => { window.__bench.times = []; }")
            for letter in query:
                _type(page, letter)
                _settle(page)
            times += page.evaluate("() => window.__bench.times")
        after = _memory_mb(browser, page)
    finally:
        context.close()
    return {"first": first, "keys": times, "memory": after - before, "problems": problems}


def measure(
    variants: Mapping[str, Path], page: str, queries: Sequence[str], *, rounds: int = 3
) -> dict[str, Any]:
    """Measure every variant of a site on file:// and over http.

    Args:
        variants: The sites by name.
        page: The page the reader is on, relative to the site.
        queries: What is typed; the first one cold.
        rounds: How often each is measured.

    Returns, by scheme and variant, medians over the rounds, and the browser's version.
    """
    runs: dict[str, dict[str, list[dict[str, Any]]]] = {
        scheme: {name: [] for name in variants} for scheme in SCHEMES
    }
    version = ""
    with sync_playwright() as playwright:
        for number in range(rounds):
            for scheme in SCHEMES:
                for name, site in variants.items():
                    browser = playwright.chromium.launch(
                        executable_path=browser_tool.find(), args=FLAGS
                    )
                    version = browser.version
                    try:
                        with _address(scheme, site) as base:
                            run = once(browser, f"{base}/{page}", queries)
                    except BrowserError as error:
                        print(
                            f"search: {scheme} {name} round {number + 1}: {error}", file=sys.stderr
                        )
                        continue
                    finally:
                        browser.close()
                    runs[scheme][name].append(run)
    return {
        "browser": f"Chromium {version}",
        "rounds": rounds,
        "baseline": BASELINE,
        "typed": list(queries),
        **{
            scheme: {name: _summary(found) for name, found in by_name.items()}
            for scheme, by_name in runs.items()
        },
    }


@contextlib.contextmanager
def _address(scheme: str, site: Path) -> Iterator[str]:
    if scheme == "file":
        yield site.resolve().as_uri()
    else:
        with _served(site) as base:
            yield base


def _summary(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    if not runs:
        return {"runs": 0}
    keys = sorted(time for run in runs for time in run["keys"])
    return {
        "runs": len(runs),
        "first_ms": round(statistics.median(run["first"] for run in runs), 1),
        "first_all_ms": [round(run["first"], 1) for run in runs],
        "key_median_ms": round(statistics.median(keys), 1),
        "key_p95_ms": round(keys[min(len(keys) - 1, int(len(keys) * 0.95))], 1),
        "key_max_ms": round(keys[-1], 1),
        "keys": len(keys),
        "memory_mb": round(statistics.median(run["memory"] for run in runs), 1),
        "memory_all_mb": [round(run["memory"], 1) for run in runs],
        "problems": sorted({problem for run in runs for problem in run["problems"]}),
    }
