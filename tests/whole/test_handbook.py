"""The handbook itself, built: every page, in both languages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from hooks.findings.finding import has_errors
from hooks.handbook import Tree
from hooks.notes import navigation, published
from hooks.pages import contents
from tests.conftest import ADDRESS, ROOT

ENTRIES = navigation.read_navigation(ROOT / "mkdocs.yml")


def page_of(note_path: str) -> str:
    """Return the built page of a note's file."""
    if note_path.endswith(".en.md"):
        return f"en/{note_path.removesuffix('.en.md')}.html"
    return note_path.removesuffix(".md") + ".html"


def parsed(site: Path, page: str) -> LexborHTMLParser:
    return LexborHTMLParser((site / page).read_text(encoding="utf-8"))


def first(tree: LexborHTMLParser, selector: str) -> LexborNode:
    """Return the first node that a selector fits; there must be one."""
    node = tree.css_first(selector)
    assert node is not None, selector
    return node


def test_sources_are_clean(handbook: Tree) -> None:
    written = contents.check_root(ROOT, handbook.entries, published(handbook.notes))
    assert not has_errors([*handbook.findings, *written])


def test_every_note_has_its_page_in_its_language(site: Path, handbook: Tree) -> None:
    for path, note in handbook.notes.notes.items():
        tree = parsed(site, page_of(path))
        assert first(tree, "html").attributes["lang"] == note.language, path
        assert first(tree, "article h1").text(strip=True).startswith(note.title), path
        assert note.title in first(tree, "title").text(), path
        description = first(tree, 'meta[name="description"]').attributes["content"]
        assert note.meta is not None and description == note.meta.description, path
        twin = handbook.notes.twin(note)
        assert twin is not None, path
        ids = {node.attributes.get("id") for node in tree.css("article [id]")}
        wanted = {heading.id for heading in (*note.source.headings, *twin.source.headings)}
        assert wanted <= ids, wanted - ids  # headings answer to both languages
        canonical = first(tree, 'link[rel="canonical"]').attributes["href"]
        assert canonical == ADDRESS + page_of(path)
        chinese = page_of(path.replace(".en.md", ".md"))
        assert {
            node.attributes["hreflang"]: node.attributes["href"]
            for node in tree.css('link[rel~="alternate"][hreflang]')
        } == {
            "zh": ADDRESS + chinese,
            "en": f"{ADDRESS}en/{chinese}",
            "x-default": ADDRESS + chinese,
        }, path


@pytest.mark.parametrize(("folder", "language"), [("", "zh"), ("en/", "en")])
def test_the_contents_hold_every_note_and_heading(
    site: Path, handbook: Tree, folder: str, language: str
) -> None:
    maps = parsed(site, f"{folder}maps/index.html")
    held = {node.attributes.get("href") for node in maps.css(".contents a")}
    shown = 0
    for note in handbook.notes.notes.values():
        if note.language != language or note.is_index or note.topic in ("", "about"):
            continue
        shown += note.topic not in ("calc", "interview", "messages")
        address = page_of(note.path).removeprefix("en/")
        assert f"../{address}" in held, address
        for heading in note.source.headings:
            if 2 <= heading.level <= 3:
                assert f"../{address}#{heading.id}" in held, f"{address}#{heading.id}"
    assert f"{shown} " in first(parsed(site, f"{folder}index.html"), ".home-counts").text()


def test_sitemap_lists_every_page_with_alternates(site: Path, handbook: Tree) -> None:
    text = (site / "sitemap.xml").read_text(encoding="utf-8")
    listed = set(re.findall(r"<loc>https://handbook\.example/base/([^<]+)</loc>", text))
    assert {page_of(path) for path in handbook.notes.notes} <= listed
    assert 'hreflang="en" href="https://handbook.example/base/en/link/topo/nvswitch.html"' in text


def test_topic_pages_list_their_notes_with_descriptions(site: Path, handbook: Tree) -> None:
    for entry in ENTRIES:
        for page in entry.pages():
            note = handbook.notes.notes.get(page.path)
            if note is None or not note.is_index or not note.topic:
                continue
            text = first(parsed(site, page_of(page.path)), "article").text()
            for other in handbook.notes.notes.values():
                is_child = other.topic == note.topic and not other.is_index
                if is_child and other.language == "zh":
                    assert other.title in text and other.meta is not None
                    assert other.meta.description in text, other.path


def test_what_leads_to_a_note_stands_at_its_foot(site: Path, handbook: Tree) -> None:
    box = first(parsed(site, "link/topo/nvswitch-failures.html"), "aside.order")
    links = {node.attributes["href"]: node.text() for node in box.css("a")}
    source = handbook.notes.notes["link/topo/nvswitch.md"]
    assert "](nvswitch-failures.md" in source.text
    assert links["nvswitch.html"] == source.title


def test_navigation_is_pruned(site: Path) -> None:
    sidebar = first(parsed(site, "about/index.html"), ".md-sidebar--primary")
    links = [node.attributes.get("href") or "" for node in sidebar.css("a")]
    assert not any(link.endswith("nvswitch.html") for link in links)


def test_figures_are_inline_in_the_page_language(site: Path) -> None:
    chinese = parsed(site, "link/topo/nvlink-generations.html").css("figure svg")
    english = parsed(site, "en/link/topo/nvlink-generations.html").css("figure svg")
    assert len(chinese) == len(english) >= 1
    for drawing in chinese:
        assert drawing.attributes.get("aria-label")
        assert not drawing.css("switch")
    assert any(re.search(r"[\u4e00-\u9fff]", drawing.text()) for drawing in chinese)
    assert not any(re.search(r"[\u4e00-\u9fff]", drawing.text()) for drawing in english)


def test_diagrams_are_drawings_and_no_page_loads_mermaid(site: Path) -> None:
    texts = [path.read_text(encoding="utf-8") for path in site.rglob("*.html")]
    assert any('<figure class="figure figure--diagram">' in html for html in texts)
    assert not any('<pre class="mermaid">' in html or "mermaid.min.js" in html for html in texts)
    assert not (site / "assets/vendor/mermaid/mermaid.min.js").exists()


def test_404_speaks_both_languages(site: Path) -> None:
    text = first(parsed(site, "404.html"), "body").text()
    assert "页面" in text and "page" in text.lower()


def test_licences_travel_with_the_site(site: Path) -> None:
    for name in ("mermaid/LICENSE", "katex/LICENSE", "iframe-worker/LICENSE"):
        assert (site / "assets" / "vendor" / name).stat().st_size > 500
    for name in ("LICENSE", "NOTICE", "Apache-2.0.txt", "CC-BY-4.0.txt", "OFL-1.1.txt"):
        assert (site / "licences" / name).stat().st_size > 500
