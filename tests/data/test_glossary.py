"""The terms: what their files mean, and how mistakes are reported."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from hooks.data import Glossary, TermsError, check_terms, load_terms, read_glossary
from hooks.data.glossary import Term
from hooks.handbook import Tree
from hooks.pages import glossary as page
from tests.samples import note, read_yaml, said, tree

ROOT = Path(__file__).resolve().parents[2]
FILE = "docs/data/terms/01-a.yml"
HEAD = "title: {zh: 甲, en: A}\nterms:\n"
GOOD = """\
  - id: zero-copy
    zh: [零拷贝]
    en: [zero-copy, zero copy]
    see: [dma]
  - id: dma
    zh: [直接内存访问]
    abbr: [DMA]
"""
SAYS = "says: {zh: 甲。, en: A.}"


def read(body: str) -> tuple[Glossary, list[str], list[tuple[int, int]]]:
    glossary, findings = check_terms({FILE: HEAD + body})
    places = [(one.line, one.column) for one in findings]
    return glossary, [one.text for one in findings], places


WRONG = read_yaml(Path(__file__).with_name("terms.yml"))


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case["terms"])
def test_mistakes_are_named_with_their_place(case: dict[str, Any]) -> None:
    _, texts, places = read(case["terms"])
    assert len(texts) == 1, texts
    for word in case["words"]:
        assert word in texts[0]
    assert places == [tuple(case["place"])] and texts[0].startswith(f"{FILE}:")


def test_terms_hold_every_word_in_order() -> None:
    glossary, findings, _ = read(GOOD)
    assert findings == []
    assert list(glossary.subjects) == ["a"]
    assert [(term.id, term.forms, term.see) for term in glossary.terms.values()] == [
        ("zero-copy", ["零拷贝", "zero-copy", "zero copy"], ["dma"]),
        ("dma", ["直接内存访问", "DMA"], []),
    ]
    assert glossary.entries == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- {id: a, zh: [甲]}\n", "must be 'field: value' lines"),
        ("terms: []\n", "'title' is missing"),
        ("title: [a\n", "not YAML"),
    ],
)
def test_a_file_is_a_subject(text: str, words: str) -> None:
    _, findings = check_terms({FILE: text})
    assert len(findings) == 1 and words in findings[0].text


def test_words_and_references_are_looked_up_in_every_file() -> None:
    texts = {
        FILE: HEAD + "  - {id: a, zh: [甲], see: [b, c]}\n",
        "docs/data/terms/02-b.yml": HEAD + "  - {id: b, zh: [甲]}\n  - {id: c, zz: [bad]}\n",
    }
    _, findings = check_terms(texts)
    assert [(one.file, one.line) for one in findings] == [
        ("docs/data/terms/02-b.yml", 3),
        ("docs/data/terms/02-b.yml", 4),  # 'c' is bad, but is there: no second finding at 'see'
    ]
    assert "stands in term 'a' too (docs/data/terms/01-a.yml:3)" in findings[0].message


def test_load_refuses_a_folder_with_mistakes(tmp_path: Path) -> None:
    path = tmp_path / "a.yml"
    path.write_text(HEAD + "  - {id: a, zz: []}\n", encoding="utf-8")
    with pytest.raises(TermsError, match=r"a\.yml:3:13: .*unknown field 'zz'"):
        load_terms(tmp_path)
    path.write_text(HEAD + GOOD, encoding="utf-8")
    assert [term.id for term in load_terms(tmp_path)] == ["zero-copy", "dma"]
    assert load_terms(tmp_path / "none") == []


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (f"defined: t/one#显存, {SAYS}", []),
        (f"defined: t/one, {SAYS}, tooltip: [t]", []),
        (f"defined: t/on, {SAYS}", [("terms", 3, "t/on", "t/one")]),
        (f"defined: t/one#显有, {SAYS}", [("terms", 3, "显有", "显存")]),
        (f"tooltip: [u], {SAYS}", [("terms", 3, "u", "")]),
    ],
)
def test_a_term_names_sections_that_exist(
    tmp_path: Path, body: str, rule: list[tuple[str, int, str, str]]
) -> None:
    notes, _ = tree(tmp_path, {"t/one.md": note("## 显存\n\n甲\n", "一")})
    glossary, findings = check_terms({FILE: HEAD + f"  - {{id: a, zh: [甲], {body}}}\n"})
    assert findings == []
    assert said(page.check(glossary, notes)) == rule


@pytest.mark.parametrize(
    ("fields", "zh", "en", "short"),
    [
        ({"zh": ["甲"], "en": ["SM", "multiprocessor"]}, "甲", "multiprocessor", "SM"),
        ({"en": ["NVLink"]}, "NVLink", "NVLink", ""),
        ({"zh": ["甲"], "en": ["HBM"]}, "甲", "HBM", ""),
        ({"zh": ["甲"], "abbr": ["DMA"]}, "甲", "DMA", ""),
        ({"zh": ["甲"], "en": ["one forward", "1F1B"]}, "甲", "one forward", "1F1B"),
    ],
)
def test_a_term_has_a_name_in_each_language(
    fields: dict[str, list[str]], zh: str, en: str, short: str
) -> None:
    term = Term.model_validate({"id": "a", **fields})
    assert (term.name("zh"), term.name("en"), term.short) == (zh, en, short)


def test_the_handbooks_own_terms(handbook: Tree) -> None:
    glossary, findings = read_glossary(ROOT / "docs/data/terms")
    assert findings == []
    assert page.check(glossary, handbook.notes) == []
    for term in glossary.entries.values():
        assert term.says is not None
        assert not re.search(r"[,;:!?]", re.sub(r"[\x20-\x7e]+", _kept, term.says.zh)), term.id
        assert term.says.en.isascii() or not re.search("[㐀-鿿]", term.says.en), term.id


def _kept(match: re.Match[str]) -> str:
    """Return a run of Latin text without the marks that belong into it."""
    return re.sub(r"(?<=\w)[,:](?=[\w ])", "", match.group())
