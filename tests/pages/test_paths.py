"""Learning paths: their file and their page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from hooks.data import LearningPath, load_facts, load_paths
from hooks.findings.finding import Finding
from hooks.handbook import Tree
from hooks.notes.note import Catalogue
from hooks.pages import paths as page
from hooks.pages.view import View
from tests.pages import cases
from tests.samples import note, said, tree

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = pytest.mark.parametrize("language", ["zh", "en"])
WANTED = {"t/one": "", "t/two": "t/one", "t/three": "t/two", "o/side": "t/one"}
HEAD = "paths:\n  - id: p\n    title: {zh: 路, en: Path}\n    reader: {zh: 谁, en: Who}\n"


@pytest.fixture(scope="module")
def ours() -> tuple[LearningPath, ...]:
    paths, document, findings = load_paths(ROOT / "docs/data/paths.yml", "f")
    assert findings == [] and document is not None
    return paths


def small(tmp_path: Path, text: str) -> tuple[Catalogue, tuple[LearningPath, ...], list[Finding]]:
    """Return four notes in both languages, the paths of a file beside them, and what is said."""
    files: dict[str, str | bytes] = {"data/paths.yml": text}
    for name, wanted in WANTED.items():
        for end, body in ((".md", "字" * 1000), (".en.md", "word " * 300)):
            title = name.rpartition("/")[2] + end.removesuffix(".md")
            files[name + end] = note(f"{body}\n", title).replace(
                "kind: note\n", f"kind: note\nprerequisites: [{wanted}]\n"
            )
    found, problems = tree(tmp_path, files)
    assert problems == []
    paths, document, findings = load_paths(tmp_path / "docs/data/paths.yml", "paths.yml")
    if document is not None:
        findings += page.check(paths, document, found)
    return found, paths, findings


CASES = cases("paths")


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_is_wrong_is_said_at_its_place(tmp_path: Path, case: dict[str, Any]) -> None:
    _, _, findings = small(tmp_path, case["text"])
    assert said(findings) == [("paths", *one) for one in case["said"]]
    assert all(case["message"] in one.message for one in findings)


def test_without_the_file_there_are_no_paths(tmp_path: Path) -> None:
    assert load_paths(tmp_path / "none.yml", "none.yml") == ((), None, [])


def test_the_file_is_no_family_of_facts(tmp_path: Path) -> None:
    small(tmp_path, f"{HEAD}    notes: [t/one, t/two]\n")
    base, findings = load_facts(tmp_path / "docs/data")
    assert base.families == {} and findings == []


@LANGUAGES
def test_a_path_shows_order_minutes_sum_and_needs(tmp_path: Path, language: str) -> None:
    text = f"{HEAD}    notes:\n      - o/side\n      - {{note: t/two, why: {{zh: 因, en: why}}}}\n"
    found, paths, findings = small(tmp_path, text)
    assert findings == []
    shown = page.render(View(found, language, ".."), paths)
    end = "" if language == "zh" else ".en"
    minutes = {"zh": 2, "en": 1}[language]  # 1,000 characters are 2.5 at 400; 300 words 1.4 at 220
    lines = [line for line in shown.split("\n") if line.startswith("1. ")]
    assert [
        f'data-done="{one}" data-minutes="{minutes}"' in line
        for one, line in zip(["o/side", "t/two"], lines, strict=True)
    ] == [True, True]
    assert f"[side{end}](../o/side{end}.md)" in lines[0]
    assert ("：因" if language == "zh" else ": why") in lines[1]
    assert all(f"[one{end}](../t/one{end}.md)" in line for line in lines)
    assert ("2 篇，约 4 分钟" if language == "zh" else "2 notes, about 2 minutes") in shown
    assert f"## {'路' if language == 'zh' else 'Path'} {{: #p }}" in shown


@LANGUAGES
def test_ours_are_five_and_the_page_lists_them_all(
    handbook: Tree, ours: tuple[LearningPath, ...], language: str
) -> None:
    assert len(ours) == 5
    text = page.render(View(handbook.notes, language, ".."), ours)
    assert text.count("data-done=") == sum(len(path.notes) for path in ours)
    for target in re.findall(r"\]\(\.\./([^)]+)\)", text):
        assert handbook.notes.notes[target].language == language
