"""Drafts: what a scaffold writes, what of it is reported, and what the site leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest

from hooks.findings import Finding
from hooks.links import moved
from hooks.notes import drafts, history, navigation
from hooks.notes.note import Catalogue
from hooks.search.index import build_index
from tests.samples import found_in, note, said, tree

NAV = "nav:\n  - t/index.md\n  - 甲:\n      - t/a.md\n      - t/b.md\n"
DRAFT = note("## 甲\n\n等待\n", "B").replace("kind: note\n", "kind: note\ndraft: true\n")
FILES: dict[str, str | bytes] = {
    "t/index.md": note("x\n", "主题"),
    "t/a.md": note("## 甲\n\n[乙](b.md)\n", "A"),
    "t/b.md": DRAFT,
}


def scaffold(tmp_path: Path, edit: dict[str, str]) -> tuple[Catalogue, list[Finding]]:
    """Start a note, replace text in both its files, and read the tree."""
    (tmp_path / "mkdocs.yml").write_text(NAV, encoding="utf-8")
    tree(tmp_path, FILES)
    for path in drafts.new_note(tmp_path, "t/example")[:2]:
        text = path.read_text(encoding="utf-8")
        for old, new in edit.items():
            assert old in text
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")
    notes, findings = tree(tmp_path, {})
    return notes, findings + drafts.check_drafts(notes)


@pytest.mark.parametrize(
    ("edit", "rules"),
    [
        ({}, {("scaffold", "warning")}),
        ({"draft: true\n": ""}, {("scaffold", "error"), ("front-matter", "error")}),
        (
            {"draft: true\n": "", "verified:": "verified: 2026-01-02"},
            {("scaffold", "error"), ("front-matter", "error")},  # tags are empty
        ),
        (
            {"draft: true\n": "", "verified:": "verified: 2026-01-02", "[]\nv": "[a, b]\nv"},
            {("scaffold", "error")},
        ),
    ],
)
def test_a_scaffold_is_reported(
    tmp_path: Path, edit: dict[str, str], rules: set[tuple[str, str]]
) -> None:
    _, findings = scaffold(tmp_path, edit)
    ours = [one for one in findings if "example" in one.file]
    assert {(one.rule, one.severity) for one in ours} == rules


def test_a_scaffold_publishes_nothing(tmp_path: Path) -> None:
    notes, _ = scaffold(tmp_path, {})
    shown = drafts.published(notes)
    assert drafts.draft_ids(notes) == {"t/b", "t/example"}
    assert set(shown.notes) == {"t/index.md", "t/a.md"}
    assert not any("example" in one for one in moved.current(shown))
    (found,) = build_index(tmp_path / "docs").parts["zh"]
    assert [page[0] for page in found["pages"]] == ["t/a", "t/index"]


def test_navigation_without_drafts(tmp_path: Path) -> None:
    (tmp_path / "mkdocs.yml").write_text(NAV, encoding="utf-8")
    entries = navigation.read_navigation(tmp_path / "mkdocs.yml")
    kept = drafts.published_entries(entries, frozenset({"t/b"}))
    assert [page.path for entry in kept for page in entry.pages()] == ["t/index.md", "t/a.md"]
    assert navigation.as_written(kept) == ["t/index.md", {"甲": ["t/a.md"]}]


@pytest.mark.parametrize(
    ("files", "found"),
    [(FILES, [("draft-link", 12, "b.md", "")]), (FILES | {"t/b.md": note("## 甲\n", "B")}, [])],
)
def test_a_link_to_a_draft_is_reported(
    tmp_path: Path, files: dict[str, str | bytes], found: list[tuple[str, int, str, str]]
) -> None:
    notes, _ = tree(tmp_path, files)
    findings = found_in(notes)
    assert said([one for one in findings if one.rule == "draft-link"]) == found


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"docs/a.md"}, ["docs/a.md"]),
        ({"docs/a.en.md"}, ["docs/a.en.md"]),
        ({"docs/a.md", "docs/a.en.md"}, []),
        ({"docs/b.md"}, []),  # it has no twin
        (set(), []),
    ],
)
def test_a_change_in_one_language_is_told(
    tmp_path: Path, changed: set[str], told: list[str]
) -> None:
    notes, _ = tree(
        tmp_path, {"a.md": note("x\n"), "a.en.md": note("y\n"), "b.md": note("z\n", "B")}
    )
    assert [one.file for one in history.one_language(notes, changed)] == told
