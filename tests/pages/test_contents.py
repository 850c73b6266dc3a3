"""Contents, listings and the map show every note once, in the reader's language."""

from __future__ import annotations

import datetime
from pathlib import Path

from hooks.notes import navigation, new_note
from hooks.notes.note import Catalogue
from hooks.pages import contents, markers, topics
from tests.samples import found_in, note, said, tree

NAV = """\
site_name: x
plugins:
  - i18n: {x: !ENV [X, y]}
  - m: !!python/name:some.thing
nav:
  - index.md
  - 互联:
      - link/index.md
      - 拓扑:
          - link/topo/index.md
          - link/topo/b.md
          - link/topo/a.md
"""


def handbook(tmp_path: Path) -> tuple[Catalogue, tuple[navigation.Entry, ...]]:
    files: dict[str, str | bytes] = {
        "index.md": note("x\n", "首页"),
        "link/index.md": note("x\n", "互联"),
        "link/index.en.md": note("x\n", "Links"),
        "link/topo/index.md": note("<!-- notes -->\n", "拓扑"),
        "link/topo/index.en.md": note("<!-- notes -->\n", "Topology"),
        "link/topo/a.md": note("## 甲 [x](b.md)\n\n### 细节\n\n#### 深\n", "笔记甲"),
        "link/topo/b.md": note("## 乙\n", "笔记乙 `code`"),
        "link/topo/b.en.md": note("## B\n", "Note B"),
    }
    catalogue, problems = tree(tmp_path, files)
    assert problems == []
    (tmp_path / "mkdocs.yml").write_text(NAV, encoding="utf-8")
    return catalogue, navigation.read_navigation(tmp_path / "mkdocs.yml")


def test_contents_follow_the_navigation_and_the_depth(tmp_path: Path) -> None:
    catalogue, entries = handbook(tmp_path)
    assert contents.contents(entries, catalogue, "zh", depth=3, prefix="docs") == (
        '<details markdown="1">\n<summary>互联 / 拓扑 · 2 篇</summary>\n\n'
        "- [笔记乙 \\`code\\`](docs/link/topo/b.md)\n"
        "    - [乙](docs/link/topo/b.md#乙)\n"
        "- [笔记甲](docs/link/topo/a.md)\n"
        "    - [甲 x](docs/link/topo/a.md#甲-x)\n"
        "        - [细节](docs/link/topo/a.md#细节)\n\n"
        "</details>"
    )


def test_english_contents_mark_what_is_not_translated(tmp_path: Path) -> None:
    catalogue, entries = handbook(tmp_path)
    text = contents.contents(entries, catalogue, "en", depth=2)
    assert "<summary>Links / Topology · 2 notes</summary>" in text
    assert "- [Note B](link/topo/b.en.md)\n    - [B](link/topo/b.en.md#b)" in text
    assert "- [笔记甲](link/topo/a.md) (Chinese)" in text


def test_refresh_rewrites_only_the_block(tmp_path: Path) -> None:
    catalogue, entries = handbook(tmp_path)
    text = "before\n<!-- contents depth=2 -->\nold\n<!-- /contents -->\nafter\n"
    fresh = contents.refresh(text, entries, catalogue, language="zh", prefix="docs")
    assert fresh.startswith("before\n<!-- contents depth=2 -->\n\n<details")
    assert fresh.endswith("</details>\n\n<!-- /contents -->\nafter\n")
    assert "old" not in fresh and "细节" not in fresh
    again = contents.refresh(fresh, entries, catalogue, language="zh", prefix="docs")
    assert again == fresh


def test_topic_page_lists_its_notes_from_where_it_stands(tmp_path: Path) -> None:
    catalogue, entries = handbook(tmp_path)
    text = markers.fill_markers(
        "x\n\n<!-- notes -->\n",
        markers.Page("link/topo/index.en.md", "en", catalogue, entries),
    )
    assert "- **[Note B](../../link/topo/b.en.md)**<br>d" in text
    assert "index" not in text


def test_parent_topic_lists_its_subtopics(tmp_path: Path) -> None:
    catalogue, entries = handbook(tmp_path)
    entry = contents.topic_entry(entries, "link/index.md")
    assert entry is not None
    assert contents.topic_listing(entry, catalogue, "zh") == "- **[拓扑](link/topo/index.md)**<br>d"


def test_newest_first(tmp_path: Path) -> None:
    catalogue, _ = handbook(tmp_path)
    added = {
        "docs/link/topo/a.md": datetime.date(2026, 1, 2),
        "docs/link/topo/b.md": datetime.date(2026, 3, 4),
    }
    lines = contents.newest(catalogue, "zh", added).split("\n")
    assert lines == [
        "- [笔记乙 \\`code\\`](link/topo/b.md) · 新增于 2026-03-04",
        "- [笔记甲](link/topo/a.md) · 新增于 2026-01-02",
    ]


def test_navigation_and_notes_must_agree(tmp_path: Path) -> None:
    catalogue, _ = handbook(tmp_path)
    config = tmp_path / "mkdocs.yml"
    config.write_text(NAV.replace("topo/b.md", "topo/bb.md"), encoding="utf-8")
    entries = navigation.read_navigation(config)
    assert said(navigation.check_navigation(entries, catalogue)) == [
        ("nav-absent", 1, "link/topo/b.en.md", ""),
        ("nav-absent", 1, "link/topo/b.md", ""),
        ("nav-missing", 11, "link/topo/bb.md", "link/topo/b.md"),
    ]


def test_new_note_is_written_registered_and_clean(tmp_path: Path) -> None:
    handbook(tmp_path)
    files = new_note.new_note(tmp_path, "link/topo/fresh-note")
    assert [path.name for path in files] == ["fresh-note.md", "fresh-note.en.md", "mkdocs.yml"]
    entries = navigation.read_navigation(tmp_path / "mkdocs.yml")
    pages = [page.path for entry in entries for page in entry.pages()]
    assert pages[-2:] == ["link/topo/a.md", "link/topo/fresh-note.md"]
    from hooks.notes import catalogue as reader
    from hooks.notes import twins

    notes, problems = reader.load(tmp_path / "docs", tmp_path)
    assert problems == []
    fresh = [one for one in found_in(notes) if "fresh" in one.file]
    assert fresh == []
    assert [one for one in twins.check_pairs(notes) if "fresh" in one.file] == []


def test_new_note_refuses_what_would_not_work(tmp_path: Path) -> None:
    handbook(tmp_path)
    for note_id, words in (
        ("Bad Id", "not a note id"),
        ("alone", "not a note id"),
        ("link/cv/x", "two letters"),
        ("nowhere/x", "no docs/nowhere/index.md"),
        ("link/topo/a", "exists already"),
    ):
        try:
            new_note.new_note(tmp_path, note_id)
        except new_note.ScaffoldError as error:
            assert words in str(error)
        else:
            raise AssertionError(note_id)


def test_map_links_what_exists_and_says_what_is_planned(tmp_path: Path) -> None:
    catalogue, _ = handbook(tmp_path)
    path = tmp_path / "docs" / "topics.yml"
    path.write_text(
        "- id: link\n  title: {zh: 互联, en: Links}\n  groups:\n"
        "    - {title: {zh: 拓扑, en: Topology}, notes: [link/topo], covers: {zh: 某, en: c}}\n"
        "    - {title: {zh: PCIe, en: PCIe}, notes: [link/pcie], covers: {zh: 某, en: c}}\n",
        encoding="utf-8",
    )
    areas, problems = topics.load(path, "docs/data/topics.yml")
    assert problems == []
    text = topics.boxes(areas, catalogue, "zh")
    assert "**[互联](link/index.md)**" in text
    live, _, planned = text.partition("<summary>计划中 · 1</summary>")
    assert "- [拓扑](link/topo/index.md)" in live and "PCIe" not in live
    assert "- PCIe" in planned
    assert topics.offered(areas, catalogue, "en") == [
        ["Topology", "en/link/topo/index.html", "c 拓扑 Links"],
        ["PCIe", "", "c PCIe Links"],
    ]


def test_map_with_a_typo_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "topics.yml"
    path.write_text("- id: link\n  titel: {zh: a, en: b}\n", encoding="utf-8")
    areas, problems = topics.load(path, "docs/data/topics.yml")
    assert areas == [] and {one.rule for one in problems} == {"map"}
