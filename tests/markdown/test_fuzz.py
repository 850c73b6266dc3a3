"""Whatever a file holds, checking it ends soon, without a traceback, and finds what is there."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hooks.findings import report
from hooks.findings.finding import Finding, nearest
from hooks.links import safety
from hooks.links.check import check_sources
from hooks.markdown import github_inline
from hooks.markdown.reader import inline
from hooks.markdown.site import parse
from hooks.notes import catalogue
from hooks.notes.note import Catalogue
from tests.samples import FIRST_LINE, note

MARKS = [
    *"[]()<>`*_#-+=|:!?$\\{}\"'&^~/%@.;, \t\n",
    *[
        "\n\n",
        "\n    ",
        "\n> ",
        "\n- ",
        "\n1. ",
        "```",
        "~~~",
        "$$",
        "<!--",
        "-->",
        "[^1]",
        "[^1]: ",
    ],
    *["[a]: ", "](", "<div>", "</div>", "<div markdown>", "<pre>", '<a id="x">', "\n# ", "\n---\n"],
    *[
        "??? x\n",
        '=== "x"\n',
        "!!! x\n",
        "*[a]: ",
        "\n: ",
        "| a | b |\n|---|---|\n",
        "{#x}",
        "8<--",
    ],
    *[
        '--8<-- "',
        "click A ",
        "```mermaid\n",
        "---\n",
        "title: x\n",
        "中文",
        "，",
        "\u200f",
        "\u2028",
    ],
    *[
        "\ufeff",
        "\x00",
        "\x02",
        "\x03",
        "\r",
        "\r\n",
        "\x0c",
        "\x85",
        "é",
        "e\u0301",
        "🚀",
        "https://",
    ],
]
texts = st.lists(st.sampled_from(MARKS) | st.text(max_size=5), max_size=60).map("".join)
lenient = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


def checked(text: str | bytes) -> list[Finding]:
    """Return what is found in a note that holds this text, and in one beside it."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    first, findings = catalogue.read_note("a.md", data)
    second, _ = catalogue.read_note("b.en.md", note("## x\n").encode())
    notes = Catalogue({"a.md": first, "b.en.md": second}, frozenset({"p.png", "8<--"}))
    found = findings + check_sources(notes, {}) + safety.check_note(first)
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


@given(text=texts)
@lenient
def test_places_lie_in_the_text(text: str) -> None:
    body = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = body.split("\n")
    source = parse(body)
    places = [(one.line, one.column) for one in (*source.links, *source.definitions)]
    places += [(one.line, one.column) for one in source.tags]
    places += [(one.line, one.column) for one in source.anchors]
    for line, column in places:
        assert 1 <= line <= len(lines)
        assert 1 <= column <= len(lines[line - 1]) + 1
    for fence in source.fences:
        assert 1 <= fence.line <= len(lines) + 1


@given(text=texts)
@lenient
def test_a_link_is_found_whatever_follows(text: str) -> None:
    """What stands above in a paragraph of its own does not depend on what comes below."""
    found = checked(f"# T\n\n[x](gone.md)\n\n{text}")
    assert ("dead-link", 3) in {(one.rule, one.line) for one in found}


@given(text=texts.filter(lambda text: not set(text) & set("`~<$")))
@lenient
def test_a_link_is_found_whatever_comes_before(text: str) -> None:
    """Nothing but a fence, a formula or raw HTML that is still open may hide a paragraph."""
    found = checked(f"{text}\n\ntext\n\n\ntext [x](gone.md)\n")
    last = text.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 6
    assert ("dead-link", last) in {(one.rule, one.line) for one in found}


@given(text=texts)
@lenient
def test_inline_offsets_lie_in_the_run(text: str) -> None:
    for scan in (github_inline.scan, inline.scan):
        found = scan(text)
        for link in (*found.links, *found.footnotes):
            assert 0 <= link.offset <= len(text)
        for tag in found.tags:
            assert text.startswith("<", tag.offset)


@given(word=st.text(max_size=40), known=st.lists(st.text(max_size=40), max_size=50))
@lenient
def test_a_suggestion_is_a_known_word(word: str, known: list[str]) -> None:
    assert nearest(word, known) in {"", *known}


NAMES = ["a b.md", "c#.md", "d%.md", "e%20f.md", "g?.md", "显存.md", "h(i).md", "j'k.md", "l&m.md"]


def test_odd_names_of_files_can_be_linked(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
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
    for name in NAMES:
        (docs / name).write_text(note("x\n"), encoding="utf-8")
    (docs / "index.md").write_text(note("\n\n".join(links)), encoding="utf-8")
    assert check_sources(catalogue.load(docs, tmp_path)[0]) == []
    wrong = ["[x](c#.md)", "[x](g?.md)", "[x](e%20f.md)"]
    (docs / "index.md").write_text(note("\n\n".join(wrong)), encoding="utf-8")
    found = check_sources(catalogue.load(docs, tmp_path)[0])
    assert [(one.rule, one.line, one.suggestion) for one in found] == [
        ("dead-link", FIRST_LINE, "c%23.md"),
        ("dead-link", FIRST_LINE + 2, "g%3F.md"),
        ("dead-link", FIRST_LINE + 4, "e%2520f.md"),
    ]
