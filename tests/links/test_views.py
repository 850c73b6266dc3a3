"""What a link does in each view, the site and GitHub: what breaks in one, and what is shown raw."""

from __future__ import annotations

from pathlib import Path

import pytest

from hooks.findings import Finding
from hooks.markdown import mark, read, render
from tests.samples import found_in, note, tree

DOCS = Path(__file__).resolve().parents[2] / "docs"
PNG: dict[str, str | bytes] = {"link/p.png": b""}


def of(tmp_path: Path, body: str, path: str = "link/a.md", **more: str | bytes) -> list[Finding]:
    """Check a note of the handbook beside a pair, a note in one language and a few assets."""
    files: dict[str, str | bytes] = {
        "link/b.md": note("## 乙\n", "乙"),
        "link/b.en.md": note("## B\n", "B"),
        "link/only.en.md": note("x\n", "Only"),
        path: note(body + "\n"),
        **PNG,
        **more,
    }
    catalogue, _ = tree(tmp_path, files)
    return [one for one in found_in(catalogue) if one.file == f"docs/{path}"]


def html_of(body: str) -> str:
    """Return the HTML that the site makes of a text."""
    return render(body, DOCS).html


@pytest.mark.parametrize(
    ("body", "targets"),
    [
        ("text[^a-b-c] and [^h100-spec-2]", ["a-b-c", "h100-spec-2"]),
        ("text[^nccl-src]\n\n[^nccl-scr]: mistyped", ["nccl-src", "nccl-scr"]),
        ("a class [^a-z] or [^a-zA-Z0-9_], [^0-9a-f], [^\\s] and [^,;]", []),
    ],
)
def test_footnotes_with_hyphens(tmp_path: Path, body: str, targets: list[str]) -> None:
    found = of(tmp_path, body)
    assert sorted(one.target for one in found) == sorted(targets)
    assert {one.rule for one in found} <= {"footnote"}


RAW_LINKS = [
    ("见[文]（b.md）。", "[文]（b.md）", "[文](b.md)"),
    ("[文] (b.md)", "[文] (b.md)", "[文](b.md)"),
    ("[文](b.md）", "[文](b.md）", "[文](b.md)"),
    ("[文]（b.md)", "[文]（b.md)", "[文](b.md)"),
    ("![图]（p.png）", "![图]（p.png）", "![图](p.png)"),
    ("a [the `x` tool] (https://a.example/x) b", "[the `x` tool] (https://a.example/x)", ""),
    ("- [y]（./b.md#乙）", "[y]（./b.md#乙）", ""),
]
READ = [
    "!!! wow, that is fast\n\n`!!! note`\n\n    !!! note\n\n```\n!!! note\n```",
    "<td markdown>[x](b.md) *e*</td>",
    '<details markdown="1">\n<summary>S</summary>\n\n<p markdown>*e*</p>\n\n</details>',
    '<div>\n<p markdown="0">x</p>\n</div>',
    "[1] (note) and [x] (optional), [文]（注）, [A]（见 b.md 一节）",
    "- [ ] (README.md) to write\n- [x] (b.md) written",
    "a[i] (b.py) and [2] (https://a.example)",
    "`[文]（b.md）` and\n\n```\n[文] (b.md)\n```",
    "[文](b.md)（b.md） <!-- [文]（b.md） -->",
    "\\[文]（b.md）",
]


@pytest.mark.parametrize(("body", "raw", "repair"), RAW_LINKS)
def test_parentheses_that_make_no_link(tmp_path: Path, body: str, raw: str, repair: str) -> None:
    (found,) = of(tmp_path, body)
    assert (found.rule, found.target) == ("link-syntax", raw)
    if repair:
        assert found.suggestion == repair
    assert "<a href=" in html_of(found.suggestion) or "<img" in html_of(found.suggestion)


@pytest.mark.parametrize(
    ("path", "body", "rule", "suggestion", "words"),
    [
        # Words such as "English" do not save a link to the other language's file: a 404.
        ("link/a.md", "[English](b.en.md)", "link-language", "b.md", "no such page on the site"),
        ("link/b.md", "[English](b.en.md)", "link-language", "", "language switch"),
        ("link/b.md", "[x](b.en.md)", "link-language", "", "no such page on the site"),
        ("link/b.en.md", "[中文](b.md)", "link-language", "", "language switch"),
        ("link/a.md", "[x](only.en.md)", "link-language", "", "no such page on the site"),
        ("link/a.md", "[x](b.en.md)", "link-language", "b.md", "no such page on the site"),
        ("link/a.en.md", "[x](b.md)", "link-language", "b.en.md", "on GitHub"),
        # Addresses in raw HTML stay as they are written; English pages lie below en/.
        ("link/a.md", '<a href="b.md">x</a>', "view-difference", "", "breaks on the site"),
        ("link/a.en.md", '<a href="b.en.md">x</a>', "view-difference", "", "breaks on the site"),
        ("link/a.en.md", '<img src="p.png" alt="">', "view-difference", "", "below en/"),
        ("link/a.md", '<img src="p.png" alt="">', "view-difference", "", "below en/"),
        # Two letters before the ending are a language for the site.
        ("link/a.md", "![x](f.xy.svg)", "view-difference", "", "'.xy' for a language"),
        ("link/a.md", "[x](nccl.py.txt)", "view-difference", "", "'.py' for a language"),
        ("link/a.en.md", "![x](f.zh.svg)", "view-difference", "", "'.zh' for a language"),
        # Blanks that Markdown does not take for such.
        ("link/a.md", "[x](b.md\u00a0)", "view-difference", "b.md", "breaks on GitHub"),
        ("link/a.md", "[x](b.md\u3000)", "view-difference", "b.md", "breaks on GitHub"),
        ("link/a.md", "[x](<b.md\u00a0>)", "view-difference", "b.md", "breaks on GitHub"),
        # Letter case, and anchors.
        ("link/a.md", "[x](B.md)", "wrong-case", "b.md", "breaks on GitHub and on the site"),
    ],
)
def test_what_breaks_says_where(
    tmp_path: Path, path: str, body: str, rule: str, suggestion: str, words: str
) -> None:
    more = {"link/f.xy.svg": "<svg/>", "link/nccl.py.txt": "", "link/f.zh.svg": "<svg/>"}
    (found,) = of(tmp_path, body, path, **more)
    assert (found.rule, found.suggestion) == (rule, suggestion)
    assert words in found.message


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("link/b.md", '<img src="p.png" alt="">'),
        ("link/b.en.md", '<img src="q.png" alt=""> ![x](q.png)'),
        ("link/b.en.md", "![x](p.png) ![x](f.en.svg)"),
        ("link/b.md", "![x](f.zh.svg) [x](v.min.js) [x](a.xyz.csv)"),
        ("link/b.md", '<a href="https://a.example/b.md">x</a> <a href="#t">y</a>'),
    ],
)
def test_what_works_in_both_views(tmp_path: Path, path: str, body: str) -> None:
    names = ("q.png", "q.en.png", "f.en.svg", "f.zh.svg", "v.min.js", "a.xyz.csv")
    more: dict[str, str | bytes] = {f"link/{name}": b"" for name in names}
    assert of(tmp_path, body, path, **more) == []


@pytest.mark.parametrize(
    ("body", "is_quoted"),
    [
        ("[x](#ghost)", False),
        ("[x](#ghost) and `[y](b.md#ghost)`", False),
        ('[x](#ghost)\n\n`<a id="ghost"></a>`', True),
        ("[x](#ghost)\n\n```\n## Ghost\n```", True),
        ("[x](#ghost)\n\n```\n## T {#ghost}\n```", True),
    ],
)
def test_only_inside_code_is_said_only_of_such(tmp_path: Path, body: str, is_quoted: bool) -> None:
    found = [one for one in of(tmp_path, body) if one.rule == "dead-anchor"]
    assert [("inside code" in one.message) for one in found] == [is_quoted]


SHOWN = [
    ("!!! note\n    text", "admonition", "!!! note"),
    ('- a\n\n    !!! warning "T"\n\n        text', "admonition", '!!! warning "T"'),
    (
        "<table>\n<tr><td markdown>[x](b.md) *e*</td></tr>\n</table>",
        "markdown-in-html",
        "<td markdown>",
    ),
    ("  <div markdown>\n*e*\n</div>", "markdown-in-html", "<div markdown>"),
]


@pytest.mark.parametrize(("body", "rule", "raw"), SHOWN)
def test_markup_that_is_shown_raw(tmp_path: Path, body: str, rule: str, raw: str) -> None:
    html = html_of(body)
    assert raw.split('"', maxsplit=1)[0].rstrip(">") in html, "the site shows it as written"
    (found,) = of(tmp_path, body)
    assert (found.rule, found.target) == (rule, raw)


@pytest.mark.parametrize("body", READ)
def test_markup_that_is_read_or_meant_as_it_is(body: str) -> None:
    assert read(mark(body), render(mark(body).text, DOCS)).odd == ()
