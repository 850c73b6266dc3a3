"""What the public documents ask, row by row: whole, addressed, and shown as it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hooks.data import Coverage, Library, Resource, load_coverage, load_facts, load_resources
from hooks.findings import Document
from hooks.findings.finding import Finding
from hooks.markdown import Heading
from hooks.notes import catalogue
from hooks.notes.note import Catalogue
from hooks.pages import coverage as page
from hooks.pages import markers, topic_map
from hooks.tree import Tree
from tests.samples import note, said, tree

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "docs/data/coverage.yml"
IDS = (ROOT / "tests/fixtures/coverage/ids.txt").read_text(encoding="utf-8").split()
LANGUAGES = pytest.mark.parametrize("language", ["zh", "en"])
TWICE = "rows:\n  000-1: {what: w, planned: a/x}\n  000-1: {what: w, planned: a/y}\n"
ENTRY = {"title": "T", "url": "https://a.example/t", "kind": "tool", "level": "intro"}
LIBRARY = {
    "tool": Resource.model_validate(
        {**ENTRY, "topics": ("general",), "gives": {"zh": "查", "en": "look up"}}
    )
}
DOCUMENT = 'documents:\n  "000": {title: D, url: https://a.example/b}\n'


@pytest.fixture(scope="module")
def notes(handbook: Tree) -> Catalogue:
    return handbook.notes


@pytest.fixture(scope="module")
def library() -> Library:
    areas, _ = topic_map.load(ROOT / "docs/data/topics.yml", "docs/data/topics.yml")
    found, findings = load_resources(ROOT / "docs/data/resources", {one.id for one in areas})
    assert findings == []
    return found


def ours() -> tuple[Coverage, Document]:
    coverage, document, findings = load_coverage(FILE, "docs/data/coverage.yml")
    assert findings == [] and coverage is not None and document is not None
    return coverage, document


def test_every_item_of_the_documents_has_one_row() -> None:
    coverage, _ = ours()
    assert len(IDS) == len(set(IDS)) == 379
    assert list(coverage.rows) == IDS
    assert sum(len(coverage.of(key)) for key in coverage.documents) == len(IDS)


def test_every_answer_names_a_note_a_heading_or_a_resource_that_exists(
    notes: Catalogue, library: Library
) -> None:
    coverage, document = ours()
    assert page.check(coverage, document, notes, library) == []


def test_every_document_has_an_address_or_the_day_it_was_sought() -> None:
    coverage, _ = ours()
    assert list(coverage.documents) == ["000", "001", "002", "003", "004"]
    for key, origin in coverage.documents.items():
        assert bool(origin.url) != bool(origin.sought), key
        assert origin.author or not origin.url, "who is linked is named"


@LANGUAGES
def test_the_page_shows_the_counts_of_the_data(
    notes: Catalogue, library: Library, language: str
) -> None:
    coverage, _ = ours()
    shown = page.render(coverage, notes, library, language, prefix="..")
    ids = set(notes.ids())
    together = [0, 0, 0]
    for key, origin in coverage.documents.items():
        rows = coverage.of(key).values()
        answered = sum(bool(row.answers or row.resource) or row.planned in ids for row in rows)
        counts = [len(rows), answered, len(rows) - answered]
        together = [one + other for one, other in zip(together, counts, strict=True)]
        title = origin.title.in_language(language)
        line = next(line for line in shown.split("\n") if line.startswith("|") and title in line)
        assert line.endswith("| {} | {} | {} |".format(*counts))
        assert [
            int(n) for n in re.findall(r"\d+", shown.split(f"<summary>{title}")[1])[:3]
        ] == counts
        assert f"]({origin.url})" in line or origin.url is None
    assert "| {} | {} | {} |".format(*together) in shown and together[0] == len(IDS)
    owed = sum(bool(row.planned) and row.planned not in ids for row in coverage.rows.values())
    assert shown.count('class="planned"') == owed >= together[2]
    assert shown.count('data-search-exclude=""') == len(coverage.documents)
    folded = re.findall(r"<details markdown.*?</details>", shown, re.DOTALL)
    assert sum(fold.count("\n| ") for fold in folded) == len(IDS) + 2 * len(folded)


@LANGUAGES
def test_links_of_the_page_lead_to_headings_of_that_language(
    notes: Catalogue, library: Library, language: str
) -> None:
    coverage, _ = ours()
    text = markers.fill_markers(
        "<!-- coverage -->\n",
        page_path="about/coverage.md",
        language=language,
        entries=(),
        notes=notes,
        added={},
        areas=[],
        asked=coverage,
        library=library,
    )
    links = re.findall(r"\]\(\.\./([^)#]+)(?:#([^)]*))?\)", text)
    assert len(links) >= sum(len(row.answers) for row in coverage.rows.values())
    for path, heading in links:
        found = notes.notes[path]
        assert found.language == language
        ids = library if found.id == "resources/index" else map(_id, found.source.headings)
        assert not heading or heading in set(ids)


def _id(heading: Heading) -> str:
    return heading.id


def checked(tmp_path: Path, text: str) -> list[Finding]:
    """Return what is said of a file beside two notes."""
    files: dict[str, str | bytes] = {
        "a/one.md": note("## 甲\n\n## 乙\n"),
        "a/one.en.md": note("## First\n\n## Second\n"),
        "a/two.md": note("x\n", "U"),
        "data/coverage.yml": text,
    }
    found, problems = tree(tmp_path, files)
    assert problems == []
    path = tmp_path / "docs/data/coverage.yml"
    coverage, document, findings = load_coverage(path, "docs/data/coverage.yml")
    if coverage is not None and document is not None:
        findings += page.check(coverage, document, found, LIBRARY)
    assert {one.rule for one in findings} <= {"coverage"}
    assert {one.file for one in findings} <= {"docs/data/coverage.yml"}
    return findings


CASES = {
    "an id twice": (
        f"{DOCUMENT}{TWICE}",
        (5, "000-1", ""),
        "key '000-1' stands twice; keep one",
    ),
    "an unknown note": (
        f"{DOCUMENT}rows:\n  000-1:\n    what: w\n    answers: [a/one, a/tow]\n",
        (6, "a/tow", "a/two"),
        "row '000-1' names the note 'a/tow', which does not exist",
    ),
    "a dead heading": (
        f"{DOCUMENT}rows:\n  000-1:\n    what: w\n    answers: ['a/one#甲', 'a/one#甲乙']\n",
        (6, "a/one#甲乙", "甲"),
        "row '000-1' names a heading that docs/a/one.md does not have: '甲乙'",
    ),
    "the heading of the English file": (
        f"{DOCUMENT}rows:\n  000-1:\n    what: w\n    answers: ['a/one#second']\n",
        (6, "a/one#second", ""),
        "row '000-1' names a heading that docs/a/one.md does not have: 'second'",
    ),
    "a document without address": (
        'documents:\n  "000": {title: D}\nrows: {}\n',
        (2, "000", ""),
        "document '000' has no address; give 'url', or 'sought' with the day on which it was "
        "looked for in vain",
    ),
    "an address that is none": (
        'documents:\n  "000": {title: D, url: a.example}\nrows: {}\n',
        (2, "a.example", ""),
        "'url' in 'documents.000': String should match pattern '^https://[^/\\s]+/\\S*$' "
        "(found 'a.example')",
    ),
    "a row of no document": (
        f"{DOCUMENT}rows:\n  001-1: {{what: w, planned: a/x}}\n",
        (4, "001-1", "000"),
        "row '001-1' belongs to no document; its id must begin with the key of one",
    ),
    "a row that neither answers nor plans": (
        f"{DOCUMENT}rows:\n  000-1: {{what: w}}\n",
        (4, "", ""),
        "'000-1' in 'rows' must have 'answers', 'planned' or 'resource' (found {'what': 'w'})",
    ),
    "a row that answers and plans": (
        f"{DOCUMENT}rows:\n  000-1: {{what: w, answers: [a/one], planned: a/x}}\n",
        (4, "", ""),
        "'000-1' in 'rows' must have 'answers' or 'planned', not both "
        "(found {'answers': ['a/one'], 'planned': 'a/x', 'what': 'w'})",
    ),
    "an unknown resource": (
        f"{DOCUMENT}rows:\n  000-1:\n    what: w\n    resource: tol\n",
        (6, "tol", "tool"),
        "row '000-1' names the resource 'tol', which does not exist",
    ),
    "no YAML": ("rows: [\n", (2, "", ""), ""),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_wrong_is_said_at_its_place(tmp_path: Path, case: str) -> None:
    text, (line, target, hint), message = CASES[case]
    findings = checked(tmp_path, text)
    assert said(findings) == [("coverage", line, target, hint)]
    assert message in findings[0].message
    assert findings[0].severity == "error"


def test_what_is_right_is_not_complained_of(tmp_path: Path) -> None:
    text = (
        'documents:\n  "000": {title: D, sought: 2026-11-23}\n'
        "rows:\n  000-1: {what: w, answers: [a/one, 'a/one#乙', a/two]}\n"
        "  000-2: {what: {zh: 问, en: q}, planned: b/three}\n"
    )
    assert checked(tmp_path, text) == []


def test_without_the_file_nothing_is_said(tmp_path: Path) -> None:
    assert load_coverage(tmp_path / "none.yml", "none.yml") == (None, None, [])


def test_a_planned_note_that_exists_is_the_answer(tmp_path: Path) -> None:
    rows = "rows:\n  000-1: {what: w, planned: a/two}\n  000-2: {what: v, planned: b/x}\n"
    assert checked(tmp_path, DOCUMENT + rows) == []
    found = catalogue.load(tmp_path / "docs", tmp_path)[0]
    coverage = load_coverage(tmp_path / "docs/data/coverage.yml", "f")[0]
    assert coverage is not None
    shown = page.render(coverage, found, {}, "zh")
    assert "| [D](https://a.example/b) | 未署名 | 2 | 1 | 1 |" in shown
    assert "| w | [U](a/two.md) |" in shown
    assert '| v | <small class="planned">计划中</small> `b/x` |' in shown


def test_the_file_is_no_family_of_facts(tmp_path: Path) -> None:
    checked(tmp_path, f"{DOCUMENT}rows: {{}}\n")
    base, findings = load_facts(tmp_path / "docs/data")
    assert base.families == {} and findings == []


def test_a_resource_answers_beside_a_note_that_is_owed(tmp_path: Path) -> None:
    rows = "rows:\n  000-1: {what: w, resource: tool, planned: b/x}\n"
    assert checked(tmp_path, DOCUMENT + rows) == []
    found = catalogue.load(tmp_path / "docs", tmp_path)[0]
    coverage = load_coverage(tmp_path / "docs/data/coverage.yml", "f")[0]
    assert coverage is not None
    shown = page.render(coverage, found, LIBRARY, "en")
    assert "| unnamed | 1 | 1 | 0 |" in shown
    assert "| w | [T](https://a.example/t); <small" in shown
