"""No address that was ever published dies unseen."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from hooks.links import addresses
from hooks.notes.note import Catalogue
from tests.samples import note, tree


def handbook(tmp_path: Path, **more: str) -> Catalogue:
    files: dict[str, str | bytes] = {
        "topic/one.md": note("## 甲\n\n<a id='former'></a>\n\n## 乙\n", "一"),
        "topic/one.en.md": note("## A\n\n<a id='former'></a>\n\n## B\n", "One"),
        "topic/two.md": note("## 丙\n", "二"),
    }
    files.update(more)
    catalogue, problems = tree(tmp_path, files)
    assert problems == []
    return catalogue


def test_every_page_and_heading_has_an_address_in_both_languages(tmp_path: Path) -> None:
    found = addresses.current(handbook(tmp_path))
    for address in (
        "topic/one.html",
        "topic/one.html#甲",
        "topic/one.html#a",  # the twin's id
        "topic/one.html#former",
        "en/topic/one.html#a",
        "en/topic/one.html#甲",
        "en/topic/two.html#丙",  # shown in Chinese for want of a translation
    ):
        assert address in found


@pytest.mark.parametrize(
    ("line", "words", "suggestion"),
    [
        ("topic/one.html#甲乙丙", "put '<a id=\"甲乙丙\"></a>' above", "topic/one.html#甲"),
        ("topic/gone.html", "add its id to 'aliases'", ""),
        ("en/topic/gone.html#x", "add its id to 'aliases'", ""),
    ],
)
def test_lost_addresses_are_reported_with_the_repair(
    tmp_path: Path, line: str, words: str, suggestion: str
) -> None:
    (finding,) = addresses.check_register(["# head", "", line], handbook(tmp_path), "r.txt")
    assert (finding.file, finding.line, finding.rule) == ("r.txt", 3, addresses.RULE)
    assert words in finding.message
    assert finding.suggestion == suggestion


def test_moved_notes_and_renamed_headings_stay_reachable(tmp_path: Path) -> None:
    moved = note("## 甲\n\n<a id='旧名'></a>\n\n## 新名\n", "三")
    moved = moved.replace("kind: note", "kind: note\naliases: [topic/old]")
    catalogue = handbook(tmp_path, **{"topic/three.md": moved})
    lines = ["topic/old.html", "topic/old.html#甲", "topic/three.html#旧名", "en/topic/old.html#甲"]
    assert addresses.check_register(lines, catalogue, "r.txt") == []
    assert addresses.redirects(catalogue) == {
        "topic/old.html": "topic/three.html",
        "en/topic/old.html": "en/topic/three.html",
    }


def test_an_alias_may_not_hide_a_note(tmp_path: Path) -> None:
    text = note("x\n", "三").replace("kind: note", "kind: note\naliases: [topic/two]")
    other = note("x\n", "四").replace("kind: note", "kind: note\naliases: [topic/old]")
    again = note("x\n", "五").replace("kind: note", "kind: note\naliases: [topic/old]")
    catalogue = handbook(
        tmp_path, **{"topic/three.md": text, "topic/four.md": other, "topic/five.md": again}
    )
    found = addresses.check_aliases(catalogue)
    assert {one.target for one in found} == {"topic/two", "topic/old"}


def test_register_only_grows(tmp_path: Path) -> None:
    text = addresses.merged(["topic/gone.html"], handbook(tmp_path))
    assert "topic/gone.html\n" in text and "topic/one.html#甲\n" in text
    assert addresses.merged(text.splitlines(), handbook(tmp_path)) == text


@pytest.mark.browser
def test_former_address_leads_to_the_section(small_site: Path, browser: Browser) -> None:
    page = browser.new_page()
    for old in ("topic/old.html", "elsewhere/deep/old.html", "en/topic/old.html"):
        page.goto(f"{(small_site / old).as_uri()}#显存带宽")
        prefix = "en/" if old.startswith("en/") else ""
        page.wait_for_url(f"**/site/{prefix}topic/one.html#*")
        expect(page.locator("#显存带宽")).to_have_count(1)
    page.close()
