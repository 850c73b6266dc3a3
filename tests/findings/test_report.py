"""What a person, GitHub and a program are told, and what the command line answers with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hooks import cli
from hooks.findings import report
from hooks.findings.finding import Finding
from hooks.findings.report import as_github, as_json
from tests.samples import FIRST_LINE, lay, note

DEAD = Finding("docs/a.md", 3, 8, "dead-link", "'乙.md' does not exist", "乙.md", "甲.md")


def text_of(tmp_path: Path, content: str, *findings: Finding, colour: bool = False) -> list[str]:
    (tmp_path / "docs").mkdir(exist_ok=True)
    (tmp_path / "docs" / "a.md").write_bytes(content.encode())
    return report.as_text(findings, tmp_path, colour=colour).split("\n")


def test_the_place_is_underlined_in_columns_of_the_terminal(tmp_path: Path) -> None:
    assert text_of(tmp_path, "# T\r\n\r\n参见 [甲](乙.md) 等\r\n", DEAD) == [
        "docs/a.md:3:8: error[dead-link] '乙.md' does not exist; did you mean '甲.md'?",
        "  3 | 参见 [甲](乙.md) 等",
        "    |           ^^^^^",
    ]


def test_findings_are_grouped_by_file(tmp_path: Path) -> None:
    other = Finding("docs/b.md", 0, 0, "orphan-asset", "nothing refers to it", severity="warning")
    later = Finding("docs/a.md", 9, 1, "fence", "open")
    lines = text_of(tmp_path, "x\n\n[a](乙.md)\n", other, later, DEAD)
    assert [line for line in lines if not line.startswith(" ")] == [
        "docs/a.md:3:8: error[dead-link] '乙.md' does not exist; did you mean '甲.md'?",
        "docs/a.md:9:1: error[fence] open",
        "",
        "docs/b.md: warning[orphan-asset] nothing refers to it",
    ]


def test_long_lines_are_cut_around_the_place(tmp_path: Path) -> None:
    line = "x" * 500 + "[a](乙.md)" + "y" * 500
    far = Finding("docs/a.md", 1, 505, "dead-link", "m", "乙.md")
    _, shown, under = text_of(tmp_path, line, far)
    assert len(shown) < 120 and "乙.md" in shown
    assert under.rstrip().endswith("^^^^^") and under.index("^") == shown.index("乙")


def test_nothing_of_a_file_steers_the_terminal(tmp_path: Path) -> None:
    odd = Finding("docs/a.md", 1, 1, "r", "m \x1b[31m \u202e", "x")
    text = "\n".join(text_of(tmp_path, "x\x1b[2J\u202e\u2066y\ttab", odd))
    assert "\x1b" not in text and "\u202e" not in text and "\u2066" not in text
    assert "\\u001b[2J\\u202e" in text


def test_colour_is_only_for_terminals(tmp_path: Path) -> None:
    assert "\x1b[31m" in "\n".join(text_of(tmp_path, "x\n\n[a](乙.md)\n", DEAD, colour=True))
    assert "\x1b" not in "\n".join(text_of(tmp_path, "x\n\n[a](乙.md)\n", DEAD))


def test_github_annotation_is_escaped() -> None:
    odd = Finding("docs/a,b:c.md", 1, 0, "r", "50%\nmore")
    assert as_github([odd]) == "::error file=docs/a%2Cb%3Ac.md,line=1,title=r::50%25%0Amore"


def test_json_holds_every_field() -> None:
    (row,) = json.loads(as_json([DEAD]))
    assert (row["file"], row["line"], row["column"], row["rule"]) == ("docs/a.md", 3, 8, DEAD.rule)
    assert (row["severity"], row["target"], row["suggestion"]) == ("error", "乙.md", "甲.md")
    assert row["message"] == "'乙.md' does not exist"


# The command


Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command over a handbook of two notes, one of them with a dead link."""
    lay(tmp_path / "docs", {"a.md": note("[x](gone.md)\n", "A"), "sub/b.md": note("x\n", "B")})
    monkeypatch.setattr(cli, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(cli.check, arguments)


def test_status_one_where_an_error_is(run: Run) -> None:
    result = run()
    assert result.exit_code == 1
    assert f"docs/a.md:{FIRST_LINE}:5: error[dead-link]" in result.stdout
    assert f"  {FIRST_LINE} | [x](gone.md)" in result.stdout
    assert "docs/sub/b.md: warning[untranslated]" in result.stdout
    assert "\x1b" not in result.stdout
    assert result.stderr == "check: 2 notes, 1 errors, 2 warnings\n"


def test_status_zero_where_warnings_are_all(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run("docs/sub")
    assert result.exit_code == 0
    assert "untranslated" in result.stdout and "dead-link" not in result.stdout
    monkeypatch.chdir("docs")
    assert (run("sub/b.md").exit_code, run("a.md").exit_code) == (0, 1)


@pytest.mark.parametrize(
    "arguments", [("--site", "nowhere"), ("nowhere.md",), ("--format", "x"), ("--no",)]
)
def test_status_two_where_it_could_not_run(run: Run, arguments: tuple[str, ...]) -> None:
    assert run(*arguments).exit_code == 2


def test_status_two_where_a_file_cannot_be_read(run: Run) -> None:
    Path("docs/a.md").unlink()
    Path("docs/a.md").symlink_to("/proc/self/mem")
    assert run().exit_code == 2


def test_a_built_site_is_checked_too(run: Run, tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text('<a href="nope.html">x</a>', encoding="utf-8")
    rules = {row["rule"] for row in json.loads(run("--site", "site", "--format", "json").stdout)}
    assert rules == {"dead-link", "untranslated", "built-dead-link"}
