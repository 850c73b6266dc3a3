"""Contents, listings and the map show every note once, in the reader's language."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from hooks import cli, handbook
from hooks.findings import Finding
from hooks.notes import Catalogue, Entry, drafts, navigation, twins
from hooks.notes import catalogue as reader
from hooks.pages import contents, topics
from hooks.pages.view import View
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
TOPICS = """\
- id: link
  title: {zh: 互联, en: Links}
  groups:
    - {title: {zh: 拓扑, en: Topology}, notes: [link/topo], covers: {zh: 某, en: c}}
    - {title: {zh: PCIe, en: PCIe}, notes: [link/pcie], covers: {zh: 某, en: c}}
"""
Made = tuple[Catalogue, tuple[Entry, ...]]


@pytest.fixture
def made(tmp_path: Path) -> Made:
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
    notes, problems = tree(tmp_path, files)
    assert problems == []
    (tmp_path / "mkdocs.yml").write_text(NAV, encoding="utf-8")
    return notes, navigation.read_navigation(tmp_path / "mkdocs.yml")


def test_contents_follow_the_navigation_and_the_depth(made: Made) -> None:
    notes, entries = made
    assert contents.contents(View(notes, "zh", "docs"), entries) == (
        '<details markdown="1">\n<summary>互联 / 拓扑 · 2 篇</summary>\n\n'
        "- [笔记乙 \\`code\\`](docs/link/topo/b.md)\n"
        "    - [乙](docs/link/topo/b.md#乙)\n"
        "- [笔记甲](docs/link/topo/a.md)\n"
        "    - [甲 x](docs/link/topo/a.md#甲-x)\n"
        "        - [细节](docs/link/topo/a.md#细节)\n\n"
        "</details>"
    )
    assert contents.contents(View(notes, "en"), entries, depth=2) == (
        '<details markdown="1">\n<summary>Links / Topology · 2 notes</summary>\n\n'
        "- [Note B](link/topo/b.en.md)\n"
        "    - [B](link/topo/b.en.md#b)\n"
        "- [笔记甲](link/topo/a.md) (Chinese)\n"
        "    - [甲 x](link/topo/a.md#甲-x)\n\n"
        "</details>"
    )


def test_refresh_rewrites_only_the_block(made: Made) -> None:
    view = View(made[0], "zh", "docs")
    text = "before\n<!-- contents depth=2 -->\nold\n<!-- /contents -->\nafter\n"
    fresh = contents.refresh(text, view, made[1])
    assert fresh.startswith("before\n<!-- contents depth=2 -->\n\n<details")
    assert fresh.endswith("</details>\n\n<!-- /contents -->\nafter\n")
    assert "old" not in fresh and "细节" not in fresh
    assert contents.refresh(fresh, view, made[1]) == fresh


STALE = [Finding("README.md", 3, 1, "stale-contents", "the contents are stale")]


@pytest.mark.parametrize(
    ("arguments", "found", "status", "told"),
    [
        ([], STALE, 1, "README.md:3:1: error[stale-contents]"),
        ([], [], 0, "contents: 0 stale"),
        (["--write"], STALE, 0, "contents: written"),
        (["--write"], [], 0, "contents: fresh already"),
    ],
)
def test_the_command_tells_what_is_stale_or_mends_it(
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    found: list[Finding],
    status: int,
    told: str,
) -> None:
    monkeypatch.setattr(handbook, "read_tree", lambda root: None)
    monkeypatch.setattr(cli, "_contents", lambda *_, **__: found)
    result = CliRunner().invoke(cli.main, ["contents", *arguments])
    assert result.exit_code == status
    assert told in result.output


@pytest.mark.parametrize(
    ("page", "language", "listed"),
    [
        (
            "link/topo/index.md",
            "en",
            ["[Note B](../link/topo/b.en.md)", "[笔记甲](../link/topo/a.md)"],
        ),
        ("link/index.md", "zh", ["[拓扑](../link/topo/index.md)"]),
        ("link/topo/a.md", "zh", None),  # the page of no topic
    ],
)
def test_a_topic_lists_its_notes_and_subtopics(
    made: Made, page: str, language: str, listed: list[str] | None
) -> None:
    text = contents.topic_listing(View(made[0], language, ".."), made[1], page)
    assert text == ("" if listed is None else "\n".join(f"- **{one}**<br>d" for one in listed))


def test_navigation_and_notes_must_agree(made: Made, tmp_path: Path) -> None:
    config = tmp_path / "mkdocs.yml"
    config.write_text(NAV.replace("topo/b.md", "topo/bb.md"), encoding="utf-8")
    entries = navigation.read_navigation(config)
    assert said(navigation.check_navigation(entries, made[0])) == [
        ("nav-absent", 1, "link/topo/b.en.md", ""),
        ("nav-absent", 1, "link/topo/b.md", ""),
        ("nav-missing", 11, "link/topo/bb.md", "link/topo/b.md"),
    ]


def test_new_note_is_written_registered_and_clean(made: Made, tmp_path: Path) -> None:
    files = drafts.new_note(tmp_path, "link/topo/fresh-note")
    assert [path.name for path in files] == ["fresh-note.md", "fresh-note.en.md", "mkdocs.yml"]
    entries = navigation.read_navigation(tmp_path / "mkdocs.yml")
    pages = [page.path for entry in entries for page in entry.pages()]
    assert pages[-2:] == ["link/topo/a.md", "link/topo/fresh-note.md"]
    notes, problems = reader.load(tmp_path / "docs", tmp_path)
    assert problems == []
    findings = [*found_in(notes), *twins.check_pairs(notes)]
    assert [one for one in findings if "fresh" in one.file] == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Bad Id", "not a note id"),
        ("alone", "not a note id"),
        ("link/cv/x", "two letters"),
        ("nowhere/x", "no docs/nowhere/index.md"),
        ("link/topo/a", "exists already"),
    ],
)
@pytest.mark.usefixtures("made")
def test_new_note_refuses_what_would_not_work(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(drafts.ScaffoldError, match=words):
        drafts.new_note(tmp_path, name)


def test_map_links_what_exists_and_says_what_is_planned(made: Made, tmp_path: Path) -> None:
    path = tmp_path / "topics.yml"
    path.write_text(TOPICS, encoding="utf-8")
    areas, problems = topics.load(path, "docs/data/topics.yml")
    assert problems == []
    text = topics.boxes(View(made[0], "zh"), areas)
    assert "**[互联](link/index.md)**" in text
    live, _, planned = text.partition("<summary>计划中 · 1</summary>")
    assert "- [拓扑](link/topo/index.md)" in live and "PCIe" not in live
    assert "- PCIe" in planned
    assert topics.offered(areas, made[0], "en") == [
        ["Topology", "en/link/topo/index.html", "c 拓扑 Links"],
        ["PCIe", "", "c PCIe Links"],
    ]
    path.write_text(TOPICS.replace("title", "titel", 1), encoding="utf-8")
    areas, problems = topics.load(path, "docs/data/topics.yml")
    assert areas == [] and {one.rule for one in problems} == {"map"}
