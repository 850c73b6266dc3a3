"""No address of a release dies unseen, and those that moved lead on."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from hooks import handbook
from hooks.data import Layout
from hooks.links import moved
from hooks.notes import published as published_notes
from hooks.notes.note import Catalogue
from tests.samples import note, tree


@pytest.fixture
def notes(tmp_path: Path) -> Catalogue:
    catalogue, problems = tree(
        tmp_path,
        {
            "topic/one.md": note("## 甲\n\n## 乙\n", "一"),
            "topic/one.en.md": note("## A\n\n## B\n", "One"),
            "topic/two.md": note("## 丙\n", "二"),
        },
    )
    assert problems == []
    return catalogue


def test_every_page_and_heading_of_both_languages_has_an_address(notes: Catalogue) -> None:
    assert moved.current(notes) == {
        *("topic/one", "topic/one#一", "topic/one#甲", "topic/one#乙"),
        *("topic/one#one", "topic/one#a", "topic/one#b"),
        *("topic/two", "topic/two#二", "topic/two#丙"),
    }


@pytest.mark.parametrize(
    ("address", "entries", "is_lost"),
    [
        ("topic/one#甲", "", False),
        ("topic/one#丁", "", True),
        ("topic/one#丁", "topic/one#丁: topic/one#甲", False),
        ("topic/old", "", True),
        ("topic/old", "topic/old: topic/one", False),
        ("topic/old#a", "topic/old: topic/one", False),
        ("topic/old#c", "topic/old: topic/one", True),
        ("topic/old#c", "topic/old: topic/one\ntopic/one#c: topic/one#a", False),
    ],
)
def test_what_no_longer_answers_is_reported(
    notes: Catalogue, address: str, entries: str, is_lost: bool
) -> None:
    former, problems = moved.load(entries, "m.yml", notes)
    assert problems == []
    found = moved.check(["topic/one", address], "p.txt", notes, former)
    assert [(one.line, one.target) for one in found] == [(2, address)] * is_lost


@pytest.mark.parametrize(
    ("entries", "line"),
    [
        ("topic/one: topic/two", 1),  # in use
        ("a: topic/two\nb: topic/gone", 2),
        ("topic/one#c: topic/one#d", 1),
        ("topic/one#c: topic/two#丙", 1),
        ("topic/one#c: topic/one\n- x", 2),
        ("topic/old: [1]", 1),
    ],
)
def test_entries_that_lead_to_nothing(notes: Catalogue, entries: str, line: int) -> None:
    (finding,) = moved.load(entries, "m.yml", notes)[1]
    assert (finding.rule, finding.line) == (moved.RULE, line)


def test_a_release_writes_its_addresses_once(tmp_path: Path, notes: Catalogue) -> None:
    published = tmp_path / "docs/data/published.txt"
    published.parent.mkdir()
    (tmp_path / "docs/data/moved.yml").write_text("topic/old: topic/two\n", encoding="utf-8")
    site = handbook.read_tree(tmp_path)
    layout = Layout(tmp_path / "docs")
    shown = published_notes(site.notes)
    assert moved.publish(layout, shown, site.moved)
    assert not moved.publish(layout, shown, site.moved)
    lines = published.read_text(encoding="utf-8").splitlines()
    assert lines == sorted(moved.current(notes) | {"topic/old"})
    (tmp_path / "docs/data/moved.yml").unlink()
    (tmp_path / "docs/topic/two.md").write_text(note("## 丁\n", "二"), encoding="utf-8")
    found = handbook.read_tree(tmp_path).findings
    assert [one.target for one in found if one.rule == moved.RULE] == ["topic/old", "topic/two#丙"]


@pytest.mark.parametrize("heading", ['<h2 id="b">', '<h2 id="x"><span class="twin-alias" id="b">'])
def test_headings_answer_to_former_ids(heading: str) -> None:
    html = f'<h2 id="a">A</h2>{heading}B</h2>'
    former = {"t/one#old": "t/one#b", "t/two#old": "t/two#a", "t/old": "t/one"}
    anchor = '<span class="twin-alias" id="old"></span>'
    assert moved.add_anchors(html, "t/one", former) == html.replace("B</h2>", f"{anchor}B</h2>")


@pytest.mark.browser
def test_former_address_leads_to_the_section(small_site: Path, browser: Browser) -> None:
    page = browser.new_page()
    for old in ("topic/old.html", "elsewhere/deep/old.html", "en/topic/old.html"):
        page.goto(f"{(small_site / old).as_uri()}#显存带宽")
        prefix = "en/" if old.startswith("en/") else ""
        page.wait_for_url(f"**/site/{prefix}topic/one.html#*")
        expect(page.locator("#显存带宽")).to_have_count(1)
    page.close()
