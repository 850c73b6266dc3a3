"""What a page is waited for, whatever the load of the machine: no sleeping, no quick look."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from axe_playwright_python.base import AxeResults
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import FloatRect, Locator, Page

T = TypeVar("T")
PATIENCE_S = 60
"""As long as `expect` waits in these tests: whoever waits in vain fails, however late."""

_DRAWN = """() => document.readyState === "complete" && document.fonts.status === "loaded" &&
  !document.querySelector("pre.mermaid") &&
  [...document.querySelectorAll("article .arithmatex")].every(one => one.querySelector(".katex"))"""
_AT_REST = """() => document.getAnimations().every(one => one.playState !== "running" ||
  one.effect.getComputedTiming().endTime === Infinity)"""
_REACHABLE = """() => [...document.querySelectorAll("pre > code, .md-typeset__scrollwrap, " +
    ".md-typeset__table, .figure__scroll, .mermaid")].every(
  box => box.scrollWidth <= box.clientWidth + 1 || box.hasAttribute("tabindex") ||
    !/auto|scroll/.test(getComputedStyle(box).overflowX))"""
_NEAR_TOP = "h => { const { top } = h.getBoundingClientRect(); return top >= 0 && top < %d; }"
_FITS = "() => document.documentElement.scrollWidth <= window.innerWidth"


def drawn(page: Page) -> None:
    """Wait until the page has loaded and its diagrams and formulas are drawn."""
    page.wait_for_function(_DRAWN)


def at_rest(page: Page) -> None:
    """Wait until nothing fades or slides."""
    page.wait_for_function(_AT_REST)


def reachable(page: Page) -> None:
    """Wait until boxes that scroll have been made reachable by keyboard."""
    page.wait_for_function(_REACHABLE)


def near_top(heading: Locator, within: int = 400) -> None:
    """Wait until a heading stands near the top of the window."""
    heading.page.wait_for_function(_NEAR_TOP % within, arg=heading.element_handle())


def fits(page: Page) -> None:
    """Wait until the page is no wider than the window."""
    page.wait_for_function(_FITS)


def until(page: Page, look: Callable[[], T], holds: Callable[[T], bool], what: str = "") -> T:
    """Look again and again until what is seen holds; return what was seen then.

    For what `expect` has no words for; the page goes on in between.
    """
    end = time.monotonic() + PATIENCE_S
    while not holds(seen := look()):
        assert time.monotonic() < end, f"never {what or 'as wanted'}: {seen!r}"
        page.wait_for_timeout(50)
    return seen


def equal(page: Page, look: Callable[[], T], wanted: T) -> None:
    """Look again and again until what is seen equals what is wanted."""
    until(page, look, lambda seen: seen == wanted, f"equal to {wanted!r}")


def box(one: Locator, holds: Callable[[FloatRect], bool] = lambda _: True) -> FloatRect:
    """Wait until an element is laid out, and its place and size are as they should be."""
    found = until(
        one.page, one.bounding_box, lambda seen: seen is not None and holds(seen), "so large"
    )
    assert found is not None
    return found


def at_least(ones: Locator, width: float = 0, height: float = 0) -> None:
    """Wait until each of the elements, one at least, is large enough for a finger."""
    one_there = ones.first
    one_there.wait_for()
    for one in ones.all():
        box(one, lambda seen: seen["width"] >= width and seen["height"] >= height)


def audit(page: Page, context: Any = None, options: dict[str, Any] | None = None) -> AxeResults:
    """Tell what keeps readers out of the page, once it is drawn, reachable and at rest.

    What fades in has another contrast, and what is not wired up yet cannot be reached. On file://
    the checker could not read style sheets, and asks for none.
    """
    drawn(page)
    reachable(page)
    at_rest(page)
    return Axe().run(page, context, {"preload": not page.url.startswith("file:")} | (options or {}))


def barriers(page: Page) -> list[tuple[str, str, int]]:
    """Return what an audit finds serious: the rule, the first place, the number of places."""
    return [
        (one["id"], one["nodes"][0]["html"][:200], len(one["nodes"]))
        for one in audit(page).response["violations"]
        if one["impact"] in ("serious", "critical")
    ]
