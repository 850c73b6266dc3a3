"""What a page is waited for, whatever the load of the machine: no sleeping, no quick look."""

from __future__ import annotations

from playwright.sync_api import Locator, Page

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
