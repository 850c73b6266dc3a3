"""Scripts and style sheets as they are published: the same work, without what is for writers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from py_mini_racer import MiniRacer

from hooks.site import comments

ROOT = Path(__file__).resolve().parents[2]
ASSETS = ROOT / "docs/assets"

CSS = pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/* why */\n.a {\n  color: red; /* so */\n}\n", ".a {\ncolor: red;\n}\n"),
        ('.a::before { content: "/* kept */"; }', '.a::before { content: "/* kept */"; }\n'),
        (".a/* both */.b { top: 0 }", ".a .b { top: 0 }\n"),
        ("/*! licence */\n.a { top: 0 }", "/*! licence */\n.a { top: 0 }\n"),
        (".a > .b  ~  .c { top: calc(1px  +  2px) }", ".a > .b ~ .c { top: calc(1px + 2px) }\n"),
    ],
)


@CSS
def test_a_style_sheet_keeps_its_rules(text: str, expected: str) -> None:
    assert comments.without_comments(text, ".css") == expected


@pytest.mark.parametrize(
    "script",
    [
        'var a = "// no comment"; a',
        "var a = '/* no comment */'; a",
        "/[/*]/.test('*') // is it?\n",
        "var a = 6 / 2 / 1; /* a / b */ a",
        "(function () { return 1 // ends here\n + 1; })()",
        "(function () { return /* a line\n break */ 1; })()",
        "var a = 1 /* two\n statements */ var b = 2; a + b",
        "'a' /* b */ + ' c   d'",
    ],
)
def test_a_script_gives_the_same_answer(script: str) -> None:
    short = comments.without_comments(script, ".js")
    assert MiniRacer().eval(short) == MiniRacer().eval(script)


def test_the_published_scripts_can_be_read() -> None:
    racer = MiniRacer()
    for path in sorted((ASSETS / "javascripts").glob("*.js")):
        short = comments.without_comments(path.read_text("utf-8"), ".js")
        racer.eval(f"new Function({json.dumps(short)})")
        assert comments.without_comments(short, ".js") == short, path.name


def test_only_own_files_are_rewritten(tmp_path: Path) -> None:
    folder = tmp_path / "assets/javascripts"
    folder.mkdir(parents=True)
    (folder / "bundle.1.min.js").write_text("/* theme */ a", "utf-8")
    (folder / "own.js").write_text("/* own */ a", "utf-8")
    comments.remove(tmp_path)
    assert (folder / "bundle.1.min.js").read_text("utf-8") == "/* theme */ a"
    assert (folder / "own.js").read_text("utf-8") == "a\n"
