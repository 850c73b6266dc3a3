"""What a phone shows of every page: letters of 9 pixels in drawings, and what goes on sideways."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import PHONE

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.release]

MEASURE = """async () => {
  document.querySelectorAll("article details").forEach((fold) => { fold.open = true; });
  await document.fonts.ready;
  const found = [];
  for (const svg of document.querySelectorAll("article :is(figure, .calc) svg")) {
    const heights = [...svg.querySelectorAll("text")].filter((one) => one.getClientRects().length)
      .map((one) => parseFloat(getComputedStyle(one).fontSize) * one.getScreenCTM().a);
    if (heights.some((one) => one > 0 && one < 8.95)) found.push("small letters");
  }
  for (const box of document.querySelectorAll("article *")) {
    if (box.scrollWidth <= box.clientWidth + 1 || !box.clientWidth ||
        !/auto|scroll/.test(getComputedStyle(box).overflowX)) continue;
    const cell = box.querySelector("tbody tr > :first-child:not([colspan])");
    if (cell) {
      const isHeld = getComputedStyle(cell).position === "sticky";
      const isNarrow = cell.offsetWidth <= 0.4 * box.clientWidth;
      found.push(isHeld && isNarrow ? "table" : "table without its first column");
    } else if (!box.closest("pre, .highlight") && !box.querySelector("pre")) {
      found.push(box.querySelector(".katex") ? "formula" : "drawing");
    }
  }
  for (const one of document.querySelectorAll("article.is-asked tr > :first-child"))
    if (one.offsetWidth > 0.42 * one.parentNode.offsetWidth) found.push("wide question");
  if (document.documentElement.scrollWidth > innerWidth) found.push("page");
  return found;
}"""


@pytest.mark.parametrize(("language", "share"), [("zh", 0.25), ("en", 0.3)])
def test_nothing_is_too_small_and_little_goes_on_sideways(
    browser: Browser, site: Path, language: str, share: float
) -> None:
    """Most of what scrolls are tables with six columns and more, whose first column stays: `share`
    for each page, English words being wider.
    """
    every = {path: path.is_relative_to(site / "en") for path in site.rglob("*.html")}
    pages = [path for path, is_english in every.items() if is_english == (language == "en")]
    phone: Any = PHONE
    tab = browser.new_page(viewport=phone, offline=True)
    seen: Counter[str] = Counter()
    where: list[str] = []
    for path in pages:
        tab.goto(path.as_uri())
        found = Counter(tab.evaluate(MEASURE))
        seen += found
        where += [f"{path.relative_to(site)}: {kind}" for kind in found if kind != "table"]
    tab.context.close()
    assert where == []
    assert seen["table"] <= share * len(pages)
