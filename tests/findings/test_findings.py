"""The same finding, said three ways."""

from __future__ import annotations

import json

from hooks.findings.finding import Finding, has_errors
from hooks.findings.formats import as_github, as_json

FINDING = Finding("docs/a.md", 4, 17, "dead-anchor", "100% of 'x#y' is gone", "x#y", "x#z", "error")


def test_text_names_place_rule_and_repair() -> None:
    assert FINDING.text == (
        "docs/a.md:4:17: error[dead-anchor] 100% of 'x#y' is gone; did you mean 'x#z'?"
    )


def test_github_annotation_is_escaped() -> None:
    odd = Finding("docs/a,b:c.md", 1, 0, "r", "50%\nmore")
    assert as_github([odd]) == "::error file=docs/a%2Cb%3Ac.md,line=1,title=r::50%25%0Amore"


def test_json_holds_every_field() -> None:
    (row,) = json.loads(as_json([FINDING]))
    assert row == {
        "file": "docs/a.md",
        "line": 4,
        "column": 17,
        "rule": "dead-anchor",
        "message": "100% of 'x#y' is gone",
        "severity": "error",
        "target": "x#y",
        "suggestion": "x#z",
    }


def test_only_errors_fail() -> None:
    assert has_errors([FINDING])
    assert not has_errors([Finding("a", 0, 0, "r", "m", severity="warning")])
