"""What a note may spend: words and numbers; what counts, and what does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from hooks.findings.finding import Finding
from hooks.notes import Catalogue, budgets
from tests.samples import FIRST_LINE, note, tree

WORDS = "one two three four five six seven eight nine ten "
HAN = "互联网络带宽延迟拓扑"
TAKEAWAY = "## Takeaway\n\n{}\n\n## Next\n\nx\n"
TAKEAWAY_ZH = "## 一句话结论\n\n{}\n\n## 下一节\n\nx\n"
FOLD = '<details markdown="1">\n<summary>s</summary>\n\n{}\n\n</details>\n'
ALLOWED = "length: {words: 2200, reason: the mechanism needs it}\n"


def over(catalogue: Catalogue) -> list[Finding]:
    return [one for note in catalogue.notes.values() for one in budgets.check_note(note)]


def found(tmp_path: Path, name: str, body: str, head: str = "") -> list[Finding]:
    text = note(body).replace("kind: note\n", f"kind: note\n{head}")
    catalogue, findings = tree(tmp_path, {name: text})
    assert findings == []
    return over(catalogue)


@pytest.mark.parametrize(
    ("name", "body", "said"),
    [
        ("a.en.md", TAKEAWAY.format(WORDS * 6 + "six more words to the limit"), ""),
        ("a.en.md", TAKEAWAY.format(WORDS * 7), "has 70 words, more than 66"),
        ("a.md", TAKEAWAY_ZH.format(HAN * 11), ""),
        ("a.md", TAKEAWAY_ZH.format(HAN * 11 + "GPU"), "has 111 characters, more than 110"),
        ("a.en.md", TAKEAWAY.format("From 10 to 20, at most 30."), ""),
        ("a.en.md", TAKEAWAY.format("From 10 to 20, 30, or 1,024.5."), "4 numbers (10, 20, 30, 1"),
        ("a.en.md", TAKEAWAY.format("H100, PCIe 5.0, ZeRO-3, NVLink 4, in 2022: 10 of 20."), ""),
        ("a.en.md", TAKEAWAY.format("See[^1] [x](b.md#1-2-3) `4 5 6` $7/8$.\n\n[^1]: y"), ""),
        ("a.md", TAKEAWAY_ZH.format("第 4 代，计算能力 9.0，10 与 20"), ""),
        ("a.md", TAKEAWAY_ZH.format("10、20、30、40"), "4 numbers"),
    ],
)
def test_takeaway(tmp_path: Path, name: str, body: str, said: str) -> None:
    findings = [one for one in found(tmp_path, name, body) if one.rule == "takeaway-length"]
    assert [said in one.message for one in findings] == ([True] if said else [])
    assert all(one.severity == "error" and one.line == FIRST_LINE for one in findings)


@pytest.mark.parametrize(
    ("name", "body", "head", "reported"),
    [
        ("a.en.md", WORDS * 203, "", False),
        ("a.en.md", WORDS * 205, "", True),
        ("a.en.md", WORDS * 205, ALLOWED, False),
        ("a.en.md", WORDS * 221, ALLOWED, True),
        ("a.md", HAN * 259, "", False),
        ("a.md", HAN * 261, "", True),
        ("a.md", HAN * 307, ALLOWED, False),
        ("a.en.md", WORDS * 190 + f"\n\n## References\n\n{WORDS * 20}", "", False),
        ("a.en.md", FOLD.format(WORDS * 210), "", False),
        ("a.en.md", f"```text\n{WORDS * 210}\n```\n", "", False),
        ("a.en.md", f"<!-- {WORDS * 210} -->\n\nx\n", "", False),
        ("t/index.en.md", WORDS * 210, "", False),
        ("t/faq-x.en.md", WORDS * 279, "", False),
        ("t/faq-x.en.md", WORDS * 281, "", True),
        ("t/faq-x.md", HAN * 389, "", False),
    ],
)
def test_length(tmp_path: Path, name: str, body: str, head: str, reported: bool) -> None:
    findings = [one for one in found(tmp_path, name, body, head) if one.rule == "note-length"]
    assert [one.severity for one in findings] == (["error"] if reported else [])


def test_a_page_of_reference_has_a_budget_of_its_own(tmp_path: Path) -> None:
    text = note(WORDS * 160)
    kinds = {"a.en.md": text, "b.en.md": text.replace("kind: note", "kind: reference")}
    kinds["about/d.en.md"] = kinds["b.en.md"]
    kinds["c.en.md"] = text.replace("kind: note", "kind: map") + WORDS * 100
    findings = over(tree(tmp_path, {**kinds})[0])
    assert [one.file for one in findings if one.rule == "note-length"] == ["docs/b.en.md"]


def test_a_note_without_a_heading_is_counted_whole(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"a.en.md": note(WORDS * 205).replace("# T\n", "")}
    assert [one.rule for one in over(tree(tmp_path, files)[0])] == ["note-length"]


@pytest.mark.parametrize(
    "length", ["2200", "{words: 2200}", "{words: 9000, reason: very long indeed}", "{words: 1200}"]
)
def test_an_allowance_needs_a_reason_and_a_bound(tmp_path: Path, length: str) -> None:
    text = note("x\n").replace("kind: note\n", f"kind: note\nlength: {length}\n")
    findings = tree(tmp_path, {"a.md": text})[1]
    assert {one.rule for one in findings} == {"front-matter"}
    assert {one.line for one in findings} == {5}
