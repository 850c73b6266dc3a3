"""One word for one thing: forms that Chinese notes do not write."""

from __future__ import annotations

from pathlib import Path

import pytest

from hooks.data import check_terms
from hooks.search.words.term_forms import check_note
from tests.samples import FIRST_LINE, note, said, tree

TERMS = """\
title: 甲
terms:
- {id: multicast, zh: [组播], avoid: [多播], en: [multicast]}
- {id: mesh, zh: [混合立方网格], avoid: [混合立方网]}
- {id: default, zh: [默认], avoid: [缺省]}
"""


@pytest.mark.parametrize(
    ("name", "body", "expected"),
    [
        ("a.md", "交换机多播一次。\n", [("term-form", FIRST_LINE, "多播", "组播")]),
        ("a.md", "x\n\n缺省值\n", [("term-form", FIRST_LINE + 2, "缺省", "默认")]),
        ("a.md", "接成混合立方网。\n", [("term-form", FIRST_LINE, "混合立方网", "混合立方网格")]),
        ("a.md", "接成混合立方网格，默认组播。\n", []),
        ("a.md", "`多播` 与 [组播](b.md#多播)，“多播”是别名。\n", []),
        ("a.md", "```text\n多播\n```\n", []),
        ("a.en.md", "called 多播 in Chinese\n", []),
    ],
)
def test_forms(
    tmp_path: Path, name: str, body: str, expected: list[tuple[str, int, str, str]]
) -> None:
    glossary, findings = check_terms({"a.yml": TERMS})
    assert findings == []
    read = tree(tmp_path, {name: note(body)})[0].notes[name]
    assert said(list(check_note(read, list(glossary.terms.values())))) == expected


def test_a_form_to_avoid_is_searched_by_all_the_same() -> None:
    glossary, _ = check_terms({"a.yml": TERMS})
    assert glossary.terms["multicast"].forms == ["组播", "multicast", "多播"]
