"""Pages of interview questions: the form, and everything that breaks it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hooks.findings.finding import Finding
from hooks.notes import questions
from tests.samples import note, tree

QUESTION = """## How much

<!-- question level=2 asks=estimate -->

**Thirty seconds**

Half of it.

**Three minutes**

Because.

**Follow-ups**

- And then? No.

**The common wrong answer**

All of it.

**Read**

[B](b.en.md)
"""
CHINESE = QUESTION
for ours, theirs in zip(questions.LABELS["en"], questions.LABELS["zh"], strict=True):
    CHINESE = CHINESE.replace(f"**{ours}**", f"**{theirs}**")
CHINESE = CHINESE.replace("b.en.md", "b.md")
WORDS = "one two three four five "
HAN = "互联网络带"


def found(tmp_path: Path, files: dict[str, str]) -> list[Finding]:
    texts = {
        name: note(body).replace("kind: note", "kind: questions") for name, body in files.items()
    }
    catalogue, findings = tree(tmp_path, {**texts, "b.md": note("x", "B")})
    assert findings == []
    return questions.check_questions(catalogue)


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("", "", 0, ""),
        ("## How much", "## How much\n\n### A part of it", 0, ""),
        ("[B](b.en.md)", "[B](b.en.md)\n\n## References\n\nx", 0, ""),
        ("Because.", "x\n\n```text\n**Bold**\n**Read**\n```", 0, ""),
        ("<!-- question level=2 asks=estimate -->", "", 10, "has no marker"),
        ("level=2", "level=4", 12, "level=1|2|3"),
        ("level=2", "", 12, "level=1|2|3"),
        ("asks=estimate", "asks=guess", 12, "asks=explain|estimate|diagnose|decide"),
        ("asks=estimate", "asks=estimate by=me", 12, "level=1|2|3"),
        ("**Follow-ups**", "", 10, "lacks 'Follow-ups'"),
        ("**Read**\n\n[B](b.en.md)", "", 10, "lacks 'Read'"),
        ("**Follow-ups**", "**Follow up**", 22, "opens no part"),
        (
            "**Follow-ups**",
            "**Read**\n\n[B](b.en.md)\n\n**Follow-ups**",
            22,
            "'Follow-ups' belongs",
        ),
        ("[B](b.en.md)", "[B](b.en.md)\n\n**Read**\n\n[B](b.en.md)", 34, "is there twice"),
        ("Half of it.", "", 14, "is empty"),
        ("[B](b.en.md)", "[B](https://a.example/b.md)", 30, "links to no note"),
        ("Half of it.", WORDS * 16 + "six more", 0, ""),
        ("Half of it.", WORDS * 17, 14, "has 85 words, more than 82"),
        ("Because.", WORDS * 70, 0, ""),
        ("Because.", WORDS * 70 + "six", 18, "has 351 words, more than 350"),
    ],
)
def test_form(tmp_path: Path, old: str, new: str, line: int, said: str) -> None:
    findings = found(tmp_path, {"q.en.md": QUESTION.replace(old, new, 1) if old else QUESTION})
    if not said:
        assert findings == []
        return
    assert any(said in one.message and one.line == line for one in findings), findings
    assert {one.rule for one in findings} == {"question"}


@pytest.mark.parametrize(("characters", "reported"), [(140, False), (141, True)])
def test_chinese_is_counted_in_characters(tmp_path: Path, characters: int, reported: bool) -> None:
    text = CHINESE.replace("Half of it.", (HAN * 29)[:characters])
    findings = found(tmp_path, {"q.md": text})
    assert [one.target for one in findings] == ([str(characters)] if reported else [])


def test_a_label_nearly_right_is_suggested(tmp_path: Path) -> None:
    findings = found(tmp_path, {"q.en.md": QUESTION.replace("Thirty seconds", "Thirty second")})
    assert "Thirty seconds" in [one.suggestion for one in findings]


def test_twins_have_equal_markers(tmp_path: Path) -> None:
    files = {"q.md": CHINESE, "q.en.md": QUESTION}
    assert found(tmp_path, files) == []
    findings = found(tmp_path, {**files, "q.en.md": QUESTION.replace("level=2", "level=3")})
    assert [(one.file, one.line) for one in findings] == [("docs/q.en.md", 12)]


def test_other_kinds_are_free(tmp_path: Path) -> None:
    catalogue, _ = tree(tmp_path, {"a.en.md": note("## What\n\n**Anything**\n\nx")})
    assert questions.check_questions(catalogue) == []


def test_reading_keeps_what_is_written(tmp_path: Path) -> None:
    (one,) = questions.read_questions(
        tree(tmp_path, {"a.en.md": note(QUESTION)})[0].notes["a.en.md"]
    )
    assert (one.heading.text, one.level, one.asks) == ("How much", 2, "estimate")
    assert tuple(part.label for part in one.parts) == questions.LABELS["en"]
    assert one.parts[0].text.strip() == "Half of it."


@pytest.mark.parametrize(("day", "told"), [("2026-01-01", 0), ("2026-01-02", 0), ("2026-01-03", 1)])
def test_a_note_verified_later_is_told_once(tmp_path: Path, day: str, told: int) -> None:
    text = note(CHINESE + "\n[b](b.md)\n").replace("kind: note", "kind: questions")
    later = note("x", "B").replace("2026-01-02", day)
    catalogue, _ = tree(tmp_path, {"a.md": text, "b.md": later})
    found = [one for one in questions.check_questions(catalogue) if one.rule == "question-stale"]
    assert [one.target for one in found] == ["b.md"] * told
