"""Whatever a file holds, checking it ends without a traceback, and finds what is there."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hooks.findings import report
from hooks.findings.finding import Finding, nearest
from hooks.notes import catalogue
from hooks.notes.note import Catalogue
from tests.samples import FIRST_LINE, found_in, note, tree

DOCS = Path(__file__).resolve().parents[2] / "docs"
MARKS = [
    *"[]()<>`*_#-+=|:!?$\\{}\"'&^~/%@.;, \t\n",
    *["\n\n", "\n    ", "\n> ", "\n- ", "\n1. ", "```", "~~~", "$$", "<!--", "-->", "[^1]"],
    *["[^1]: ", "[a]: ", "](", "<div>", "</div>", "<div markdown>", "<pre>", '<a id="x">'],
    *["\n# ", "\n---\n", "??? x\n", '=== "x"\n', "!!! x\n", "*[a]: ", "\n: ", "{#x}", "8<--"],
    *["| a | b |\n|---|---|\n", '--8<-- "', "click A ", "```mermaid\n", "---\n", "title: x\n"],
    *["中文", "，", "\u200f", "\u2028", "\ufeff", "\x00", "\x02", "\x03", "\r", "\r\n", "\x0c"],
    *["\x85", "é", "e\u0301", "🚀", "x-link:1;"],
]
texts = st.lists(st.sampled_from(MARKS) | st.text(max_size=5), max_size=60).map("".join)
lenient = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


def checked(text: str | bytes) -> list[Finding]:
    """Return what is found in a note that holds this text, beside another one."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    first, findings = catalogue.read_note("a.md", data, DOCS)
    second, _ = catalogue.read_note("b.en.md", note("## x\n").encode(), DOCS)
    notes = Catalogue({"a.md": first, "b.en.md": second}, frozenset({"p.png"}))
    found = findings + found_in(notes)
    lines = first.text.split("\n")
    for one in found:
        assert 0 <= one.line <= len(lines) and one.column >= 0, one
        assert one.severity in ("error", "warning")
    return found


@given(text=texts)
@lenient
def test_any_text_is_checked(text: str) -> None:
    for form in report.FORMATS:
        report.render(form, checked(text))


@given(data=st.binary(max_size=300))
@lenient
def test_any_bytes_are_checked(data: bytes) -> None:
    checked(data)
    checked(b"---\n" + data + b"\n---\n# T\n")


@given(text=texts.filter(lambda text: not set(text) & set("`~<$")))
@lenient
def test_a_link_is_found_whatever_comes_before(text: str) -> None:
    """Nothing but a fence, a formula or raw HTML that is still open may hide a paragraph."""
    found = checked(f"{text}\n\ntext\n\n\ntext [x](gone.md)\n")
    last = text.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 6
    assert ("dead-link", last) in {(one.rule, one.line) for one in found}


@given(word=st.text(max_size=40), known=st.lists(st.text(max_size=40), max_size=50))
@lenient
def test_a_suggestion_is_a_known_word(word: str, known: list[str]) -> None:
    assert nearest(word, known) in {"", *known}


NAMES = ["a b.md", "c#.md", "d%.md", "e%20f.md", "g?.md", "显存.md", "h(i).md", "j'k.md", "l&m.md"]


def test_odd_names_of_files_can_be_linked(tmp_path: Path) -> None:
    links = [
        "[x](a%20b.md) [y](<a b.md>)",
        "[x](c%23.md)",
        "[x](d%25.md)",
        "[x](e%2520f.md)",
        "[x](g%3F.md)",
        "[x](显存.md) [y](%E6%98%BE%E5%AD%98.md)",
        "[x](h(i).md) [y](h%28i%29.md)",
        "[x](j'k.md)",
        "[x](l&m.md) [y](l&amp;m.md)",
    ]
    files: dict[str, str | bytes] = {
        name: note("x\n", f"T{number}") for number, name in enumerate(NAMES)
    }
    notes, _ = tree(tmp_path, {**files, "index.md": note("\n\n".join(links))})
    assert found_in(notes) == []
    wrong = ["[x](c#.md)", "[x](g?.md)", "[x](e%20f.md)"]
    notes, _ = tree(tmp_path, {**files, "index.md": note("\n\n".join(wrong))})
    rows = [(one.rule, one.line, one.suggestion) for one in found_in(notes)]
    assert rows == [
        ("dead-link", FIRST_LINE, "c%23.md"),
        ("dead-link", FIRST_LINE + 2, "g%3F.md"),
        ("dead-link", FIRST_LINE + 4, "e%2520f.md"),
    ]
