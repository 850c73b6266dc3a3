"""The library of resources: its form, its findings, its files to carry away."""

from __future__ import annotations

from pathlib import Path

import pytest

from hooks.data import load_resources, resources
from hooks.findings.finding import Finding
from tests.samples import said

GOOD = """\
one:
  title: T
  url: https://a.example/t
  kind: tool
  level: intro
  topics: [chip]
  gives: {zh: 查, en: look up}
"""


def checked(tmp_path: Path, *texts: str) -> list[Finding]:
    folder = tmp_path / "resources"
    folder.mkdir()
    for number, text in enumerate(texts):
        (folder / f"f{number}.yml").write_text(text, encoding="utf-8")
    _, findings = load_resources(folder, ["chip", "link"])
    assert {one.rule for one in findings} <= {"resources"}
    assert {one.severity for one in findings} <= {"error"}
    return findings


def test_what_is_right_is_not_complained_of(tmp_path: Path) -> None:
    other = GOOD.replace("one:", "two:").replace("/t", "/u").replace("[chip]", "[general, link]")
    assert checked(tmp_path, GOOD + other) == []


SEEN = "checked: 2026-01-01\n  "
CASES = {
    "a field that is missing": ("  level: intro\n", "", "'level' is missing in 'one'"),
    "an unknown field": ("  level:", "  levle: x\n  level:", "unknown field 'levle' in 'one'"),
    "an unknown topic": ("[chip]", "[chpi]", "'chpi', which docs/data/topics.yml lacks"),
    "no topic": ("[chip]", "[]", "at least 1 item"),
    "an unknown kind": ("kind: tool", "kind: tols", "Input should be 'book'"),
    "an address that is none": ("https://a.example/t", "a.example", "should match pattern"),
    "a line in one language": ("{zh: 查, en: look up}", "look up", "in both languages"),
    "a date to come": ("level:", "state: live\n  checked: 2999-01-01\n  level:", "in the future"),
    "live without a date": ("level:", "state: live\n  level:", "must have 'checked'"),
    "a date without being opened": ("level:", f"{SEEN}level:", "must have 'checked'"),
    "moved from nowhere": ("level:", f"state: moved\n  {SEEN}level:", "must have 'was'"),
    "dead, and no word": ("level:", f"state: dead\n  {SEEN}level:", "must have 'archive', or a"),
    "a paper by nobody": ("kind: tool", "kind: paper", "must have 'by' and 'year'"),
    "a key with capitals": ("one:", "One:", "should match pattern"),
    "no YAML": ("[chip]", "[chip", "not YAML"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_wrong_is_said(tmp_path: Path, case: str) -> None:
    old, new, message = CASES[case]
    assert old in GOOD
    findings = checked(tmp_path, GOOD.replace(old, new))
    assert [message in one.message for one in findings] == [True]
    assert findings[0].file == "docs/data/resources/f0.yml" and findings[0].line >= 1


def test_a_key_stands_once(tmp_path: Path) -> None:
    findings = checked(tmp_path, GOOD, GOOD.replace("/t", "/u"))
    assert said(findings) == [("resources", 1, "one", "")]
    assert "stands in another file already" in findings[0].message


@pytest.mark.parametrize(
    "address",
    ["http://www.a.example/t/", "https://a.example/t#part", "https://a.example/t/index.html"],
)
def test_an_address_stands_once(tmp_path: Path, address: str) -> None:
    other = GOOD.replace("one:", "two:").replace("https://a.example/t", address)
    findings = checked(tmp_path, GOOD, other)
    assert said(findings) == [("resources", 3, address, "")]
    assert "'two' has the address of 'one'" in findings[0].message


def test_a_former_address_stands_once_too(tmp_path: Path) -> None:
    was = "url: https://b.example/u\n  was: [https://a.example/t]"
    other = GOOD.replace("one:", "two:").replace("url: https://a.example/t", was)
    assert [one.target for one in checked(tmp_path, GOOD, other)] == ["https://a.example/t"]


@pytest.mark.parametrize(
    ("address", "plain"),
    [
        ("https://arxiv.org/pdf/2204.02311v2.pdf", "arxiv.org/abs/2204.02311"),
        ("https://browse.arxiv.org/html/2401.02680v1", "arxiv.org/abs/2401.02680"),
        ("https://ar5iv.labs.arxiv.org/html/2010.06192", "arxiv.org/abs/2010.06192"),
        ("https://arxiv.org/abs/cs/0612105", "arxiv.org/abs/cs/0612105"),
        ("https://github.com/A/B.git", "github.com/A/B"),
        ("https://a.example/?id=1", "a.example?id=1"),
    ],
)
def test_what_names_the_same_is_the_same(address: str, plain: str) -> None:
    assert resources.plain(address) == plain
