"""Bad front matter is an error that names the line and the repair."""

from __future__ import annotations

import pytest

from hooks.markdown import split
from hooks.notes import fields

GOOD = "title: T\ndescription: d\nkind: note\nverified: 2026-01-02\n"


def test_good() -> None:
    record, findings = fields.parse(GOOD + "tags: [a]\nprerequisites: [link/topo/x]\n", "n")
    assert findings == []
    assert record is not None
    assert (record.title, record.kind, record.tags) == ("T", "note", ["a"])


@pytest.mark.parametrize(
    ("text", "line", "words", "suggestion"),
    [
        (None, 1, "no front matter", ""),
        ("title: [\n", 3, "not YAML", ""),
        ("title: T\n\tx: y\n", 3, "not YAML", ""),
        ("- a\n- b\n", 2, "'field: value' lines", ""),
        (GOOD + "titel: x\n", 6, "unknown field 'titel'", "title"),
        (GOOD.replace("kind: note", "kind: notes"), 4, "'kind'", ""),
        (GOOD.replace("2026-01-02", "yesterday"), 5, "must be a date", ""),
        (GOOD.replace("2026-01-02", "2999-01-02"), 5, "lies in the future", ""),
        (GOOD.replace("2026-01-02", "2026-13-40"), 5, "month must be in 1..12", ""),
        (GOOD.replace("title: T\n", ""), 1, "'title' is missing", ""),
        (GOOD.replace("title: T", "title: ''"), 2, "'title'", ""),
        (GOOD + "title: U\n", 6, "stands twice", ""),
        (GOOD + "tags: x\n", 6, "'tags'", ""),
        (GOOD + "prerequisites: [ok/x, Not An Id]\n", 6, "not a note id", ""),
        (GOOD + "hide: [everything]\n", 6, "'hide'", ""),
    ],
)
def test_bad(text: str | None, line: int, words: str, suggestion: str) -> None:
    record, findings = fields.parse(text, "docs/n.md")
    assert record is None
    assert len(findings) == 1
    finding = findings[0]
    assert (finding.rule, finding.line, finding.suggestion) == ("front-matter", line, suggestion)
    assert words in finding.message


def test_split_keeps_line_numbers() -> None:
    parts = split("---\ntitle: T\n---\n# T\n")
    assert parts.yaml_text == "title: T\n"
    assert parts.body.split("\n")[3] == "# T"


@pytest.mark.parametrize("text", ["# T\n", "--\ntitle: T\n--\n", "\n---\ntitle: T\n---\n"])
def test_text_without_front_matter_is_left_alone(text: str) -> None:
    assert split(text) == (None, text)
