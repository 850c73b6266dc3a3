"""The page of resources: every entry once, with its id and its words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from hooks.data import KINDS, LEVELS, Library, Resource, load_resources
from hooks.pages import resources, topics
from hooks.search import from_html
from hooks.search.sections import Page

ROOT = Path(__file__).resolve().parents[2]
AREAS, _ = topics.load(ROOT / "docs/data/topics.yml", "docs/data/topics.yml")
OURS, _ = load_resources(ROOT / "docs/data/resources", {area.id for area in AREAS})
LANGUAGES = pytest.mark.parametrize("language", ["zh", "en"])


def entry(url: str, topic: str = "chip", **fields: object) -> Resource:
    given: dict[str, object] = {
        "title": "A <title>",
        "url": url,
        "kind": "tool",
        "level": "intro",
        "topics": (topic,),
        "gives": {"zh": "查得到 & 看得懂", "en": "to look up & understand"},
    }
    return Resource.model_validate(given | fields)


def page_of(library: Library, language: str = "en") -> LexborHTMLParser:
    return LexborHTMLParser(resources.render(library, AREAS, language))


LIBRARY = {
    "repo": entry("https://github.com/x/repo"),
    "site": entry("https://site.example"),
    "host": entry("https://github.com/"),
    "paper": entry("https://arxiv.org/abs/1234.56789", "general"),
    "moved": entry("https://new.example/y", was=("https://old.example/y",)),
}


def test_a_row_says_what_and_where() -> None:
    page = page_of(LIBRARY)
    row = page.css("tr#repo")[0]
    link = row.css("a")[0]
    assert link.text() == "A <title>" and link.attributes["href"] == "https://github.com/x/repo"
    assert "to look up & understand" in row.text()
    assert row.attributes["data-state"] == "unchecked" and "unchecked" in row.text()


def test_topics_come_in_the_order_of_the_map() -> None:
    shown = resources.render(LIBRARY, AREAS, "zh")
    assert re.findall(r"^## (.+)$", shown, re.MULTILINE) == ["贯通全栈", "芯片"]
    assert "共 5 条：贯通全栈 1，芯片 4" in shown


@LANGUAGES
def test_every_entry_of_ours_is_shown_once(language: str) -> None:
    page = page_of(OURS, language)
    rows = page.css("tbody > tr")
    assert sorted(str(row.attributes["id"]) for row in rows) == sorted(OURS)
    ids = [node.attributes["id"] for node in page.css("[id]")]
    assert len(ids) == len(set(ids))
    for row in rows:
        cells = row.css("td")
        one = OURS[str(row.attributes["id"])]
        assert len(cells) == 5
        assert cells[1].attributes["data-sort"] == str(KINDS.index(one.kind))
        assert cells[2].attributes["data-sort"] == str(LEVELS.index(one.level))
        assert one.gives.in_language(language) in cells[0].text()
        assert one.note is None or one.note.in_language(language) in cells[0].text()


def test_no_entry_has_the_id_of_a_heading_of_the_page() -> None:
    names = {name.en.casefold().replace(" ", "-") for name in resources.topics(AREAS).values()}
    assert not names & set(OURS)


def test_search_finds_each_entry_by_itself() -> None:
    html = resources.render(LIBRARY, AREAS, "en")
    html = re.sub(r"^## (.+)$", r'<h2 id="x">\1</h2>', html, flags=re.MULTILINE)
    page = from_html.read_html(Page("l", resources.PAGE, "en", "t"), html)
    assert [(one.title, one.text) for one in page.sections] == [
        ("t", ""),
        ("Across the field", ""),
        ("Chips", ""),
    ]
    found = {one.key: one.said["en"] for one in resources.items(LIBRARY)}
    assert found.keys() == LIBRARY.keys()
    for key, one in found.items():
        assert (one.anchor, one.title) == (key, "A <title>")
        assert one.summary.startswith("to look up & understand")
        assert "unchecked" not in one.summary and "One & only" not in one.summary
