"""Whatever a file holds, checking it ends soon, without a traceback, and finds what is there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hooks.findings import report
from hooks.findings.finding import Finding, nearest
from hooks.links import safety
from hooks.links.check import check_sources
from hooks.links.elsewhere.folder import check_folder
from hooks.markdown import github_inline
from hooks.markdown.dialects import ANY, COMMONMARK, SITE, Dialect
from hooks.markdown.reader import inline
from hooks.markdown.site import parse
from hooks.notes import catalogue
from hooks.notes.note import Catalogue
from tests import hostile
from tests.samples import note

ROOT = Path(__file__).resolve().parents[2]
DIALECTS = [SITE, ANY, COMMONMARK]
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


def checked(text: str | bytes, dialect: Dialect = SITE) -> list[Finding]:
    """Return what is found in a note that holds this text, and in one beside it."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    first, findings = catalogue.read_note("a.md", data, "docs", dialect)
    second, _ = catalogue.read_note("b.en.md", note("## x\n").encode())
    notes = Catalogue({"a.md": first, "b.en.md": second}, frozenset({"p.png", "8<--"}))
    found = findings + check_sources(notes, {}) + safety.check_note(first)
    lines = first.text.split("\n")
    for one in found:
        assert 0 <= one.line <= len(lines) and one.column >= 0, one
        assert one.severity in ("error", "warning")
    return found


@pytest.mark.parametrize("dialect", DIALECTS, ids=["site", "any", "commonmark"])
@given(text=texts)
@lenient
def test_any_text_is_checked(text: str, dialect: Dialect) -> None:
    for form in report.FORMATS:
        report.render(form, checked(text, dialect))


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
    for dialect in DIALECTS:
        source = parse(body, dialect)
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


@pytest.mark.parametrize("piece", [*hostile.MARKS, *hostile.LINES])
def test_one_mark_over_and_over_is_checked(piece: str) -> None:
    """However deep it nests, reading it ends; `bench.hostile` measures that it ends soon."""
    checked(piece * (3_000 // len(piece)))


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
        (docs / name).write_text("# T\n", encoding="utf-8")
    (docs / "index.md").write_text("# T\n\n" + "\n\n".join(links), encoding="utf-8")
    assert check_folder(docs)[1] == []
    wrong = ["[x](c#.md)", "[x](g?.md)", "[x](e%20f.md)"]
    (docs / "index.md").write_text("# T\n\n" + "\n\n".join(wrong), encoding="utf-8")
    found = check_folder(docs)[1]
    assert [(one.rule, one.line, one.suggestion) for one in found] == [
        ("dead-link", 3, "c%23.md"),
        ("dead-link", 5, "g%3F.md"),
        ("dead-link", 7, "e%2520f.md"),
    ]


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names are Unicode there")
def test_names_that_are_no_text_are_reported_all_the_same(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / os.fsdecode(b"caf\xe9.md")).write_text("# T\n\n[x](gone.md)\n", encoding="utf-8")
    command = [sys.executable, "-m", "hooks", "check", "--docs", str(docs), "--format"]
    for form in report.FORMATS:
        run = subprocess.run([*command, form], cwd=ROOT, capture_output=True, check=False)
        assert run.returncode == 1, run.stderr
        text = run.stdout.decode("utf-8")
        if form in ("json", "sarif"):
            json.loads(text)
        assert "gone.md" in text


@pytest.mark.slow
def test_ten_thousand_notes_in_bounded_memory(tmp_path: Path) -> None:
    """Each note links to its neighbours; the memory it may take is that of a small laptop."""
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(10_000):
        following = (number + 1) % 10_000
        text = f"# Note {number}\n\n[x](n{following}.md#part)\n\n## Part\n\n" + "text words\n" * 40
        (docs / f"n{number}.md").write_text(text, encoding="utf-8")
    (docs / "n5000.md").write_text("# Note\n\n[x](n5001.md#prat)\n", encoding="utf-8")
    program = (
        "import sys\nfrom pathlib import Path\n"
        "from hooks.links.elsewhere.folder import check_folder\n"
        "from tests.peak import peak_kilobytes\n"
        "notes, found = check_folder(Path(sys.argv[1]))\n"
        "peak = peak_kilobytes()\n"
        "print(len(notes.notes), [(f.file, f.line, f.rule) for f in found], peak)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, str(docs)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    count, rest = run.stdout.split(" ", 1)
    said, peak = rest.rsplit(" ", 1)
    assert count == "10000"
    assert said == ("[('docs/n4999.md', 3, 'dead-anchor'), ('docs/n5000.md', 3, 'dead-anchor')]")
    assert int(peak) < 150_000
