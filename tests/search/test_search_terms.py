"""The data file of terms: what it means, and how its mistakes are reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from hooks.search.words.terms import TermsError, check_terms, load_terms

GOOD = """\
- id: zero-copy
  zh: [零拷贝]
  en: [zero-copy, zero copy]
  see: [dma]
- id: dma
  zh: [直接内存访问]
  abbr: [DMA]
"""


def test_groups_hold_every_form_in_order() -> None:
    groups, findings = check_terms(GOOD)
    assert findings == []
    assert [(group.id, group.forms, group.see) for group in groups] == [
        ("zero-copy", ["零拷贝", "zero-copy", "zero copy"], ["dma"]),
        ("dma", ["直接内存访问", "DMA"], []),
    ]


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("- id: a\n  zh: [甲]\n  zz: [x]\n", (3, 3), ["unknown field 'zz'", "did you mean 'zh'"]),
        ("- zh: [甲]\n", (1, 3), ["'id' is missing"]),
        ("- id: Zero Copy\n  zh: [甲]\n", (1, 7), ["'Zero Copy' is not an id"]),
        ("- id: a\n  zh: [甲, 1]\n", (2, 11), ["valid string", "found 1"]),
        ("- id: a\n  zh: [甲, '—']\n", (2, 11), ["holds no letter"]),
        ("- id: a\n", (1, 7), ["group 'a' has no term"]),
        ("- id: a\n  zh: [甲]\n- id: a\n  zh: [乙]\n", (3, 7), ["'a' is taken", "line 1"]),
        (
            "- id: a\n  en: [Zero-copy]\n- id: b\n  en:\n    - x\n    - zero copy\n",
            (6, 7),
            ["'zero copy' stands in group 'a' too (line 2)"],
        ),
        (
            "- id: zero-copy\n  zh: [甲]\n- id: b\n  zh: [乙]\n  see: [zero-cpy]\n",
            (5, 9),
            ["no group has the id 'zero-cpy'", "did you mean 'zero-copy'"],
        ),
        ("- 甲\n", (1, 3), ["must be 'field: value' lines", "'甲'"]),
        ("id: a\n", (1, 1), ["must be a list"]),
        ("- id: [a\n", (2, 1), ["not YAML"]),
    ],
    ids="field missing id type empty none twice two-groups see item mapping yaml".split(),
)
def test_mistakes_are_named_with_their_place(
    text: str, place: tuple[int, int], words: list[str]
) -> None:
    _, findings = check_terms(text, "docs/terms.yml")
    assert [(finding.line, finding.column) for finding in findings] == [place]
    for word in words:
        assert word in findings[0].text
    assert findings[0].text.startswith("docs/terms.yml:")


def test_load_refuses_a_file_with_mistakes(tmp_path: Path) -> None:
    path = tmp_path / "terms.yml"
    path.write_text("- id: a\n  zz: []\n- id: a\n  zh: [甲]\n", encoding="utf-8")
    with pytest.raises(TermsError, match=r"terms\.yml:2:3: .*unknown field 'zz'"):
        load_terms(path)
    path.write_text("", encoding="utf-8")
    assert load_terms(path) == []


def test_the_handbooks_own_file_is_good() -> None:
    path = Path(__file__).resolve().parents[2] / "docs/terms.yml"
    if not path.is_file():
        pytest.skip("the handbook has no terms yet")
    _, findings = check_terms(path.read_text(encoding="utf-8"))
    assert [finding.text for finding in findings] == []
