"""The bibliography: every source once, with what rests on it."""

from __future__ import annotations

import markdown
import pytest
from selectolax.lexbor import LexborHTMLParser

from hooks.handbook import Tree
from hooks.pages import sources


@pytest.fixture(scope="module", params=["zh", "en"])
def page(request: pytest.FixtureRequest, handbook: Tree) -> LexborHTMLParser:
    """The list of the handbook itself, in each language."""
    users = handbook.data.users(request.param)
    text = sources.render(handbook.facts, users, request.param)
    return LexborHTMLParser(markdown.markdown(text, extensions=["md_in_html"]))


def test_every_source_has_one_entry_with_link_and_kind(
    page: LexborHTMLParser, handbook: Tree
) -> None:
    base = handbook.facts
    entries = page.css("ul.sources > li[id]")
    ids = [entry.attributes["id"] or "" for entry in entries]
    assert sorted(ids) == sorted(f"source-{key}" for key in base.sources)
    for entry in entries:
        link = entry.css_first("a")
        source = base.sources[(entry.attributes["id"] or "").removeprefix("source-")]
        assert link is not None
        assert link.attributes["href"] == source.url
        kind = entry.css_first(".source-mark")
        assert kind is not None
        assert kind.text() in ({"一手", "primary"} if source.kind == "primary" else
                               {"二手", "secondary"})  # fmt: skip


def test_entries_name_families_and_notes_that_use_them(page: LexborHTMLParser) -> None:
    entry = page.css_first("#source-h100-whitepaper")
    assert entry is not None
    links = [link.attributes["href"] or "" for link in entry.css("a")]
    assert any(link.endswith("data/nvlink.csv") for link in links)
    assert "../link/topo/nvlink-generations.html" in links


def test_publishers_of_several_sources_are_headings(page: LexborHTMLParser) -> None:
    heads = [head.text() for head in page.css("h2")]
    assert "NVIDIA" in heads
    assert heads[-1] in ("其他发布者", "Other publishers")
