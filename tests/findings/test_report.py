"""What a person, GitHub and a program are told, and what the command line answers with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hooks.findings import report
from hooks.findings.finding import Finding

ROOT = Path(__file__).resolve().parents[2]
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


def test_sarif_names_rules_places_and_repairs() -> None:
    whole = Finding("docs/a b.md", 0, 0, "orphan-asset", "m", severity="warning")
    document = json.loads(report.as_sarif([DEAD, whole]))
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    described = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert "does not exist" in described["dead-link"]["shortDescription"]["text"]
    assert described["dead-link"]["help"]["text"]
    second, first = run["results"]
    assert (first["ruleId"], first["level"]) == ("dead-link", "error")
    assert first["message"]["text"].endswith("did you mean '甲.md'?")
    place = first["locations"][0]["physicalLocation"]
    assert place["region"] == {"startLine": 3, "startColumn": 8}
    assert second["level"] == "warning"
    place = second["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "docs/a%20b.md"}}
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


# The command


def run(*arguments: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "SITE_URL": "", "REPO_URL": "", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", "hooks", "check", *map(str, arguments)],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Two notes of somebody else, one of them with a dead link, in a folder of their own."""
    folder = tmp_path / "handbook"
    for name, text in (("a.md", "# A\n\n[x](gone.md)\n"), ("sub/b.md", "# B\n\n## C\n\n## C\n")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_status_one_where_an_error_is(docs: Path) -> None:
    result = run("--docs", docs)
    assert result.returncode == 1
    assert "handbook/a.md:3:5: error[dead-link]" in result.stdout
    assert "  3 | [x](gone.md)" in result.stdout
    assert "handbook/sub/b.md:5:1: warning[duplicate-heading]" in result.stdout
    assert "\x1b" not in result.stdout
    assert result.stderr == "check: 2 notes, 1 errors, 1 warnings\n"


def test_status_zero_where_warnings_are_all(docs: Path) -> None:
    result = run("--docs", docs, docs / "sub")
    assert result.returncode == 0
    assert "duplicate-heading" in result.stdout and "dead-link" not in result.stdout
    assert run("--docs", docs, "b.md", cwd=docs / "sub").returncode == 0
    assert run("--docs", ".", "a.md", cwd=docs).returncode == 1


@pytest.mark.parametrize(
    "arguments",
    [("--docs", "nowhere"), ("--site", "nowhere"), ("nowhere.md",), ("--format", "x"), ("--no",)],
)
def test_status_two_where_it_could_not_run(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="nothing is forbidden to root")
def test_status_two_where_a_file_cannot_be_read(docs: Path) -> None:
    (docs / "a.md").chmod(0)
    assert run("--docs", docs).returncode == 2


def test_a_built_site_is_checked_too(docs: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text('<a href="nope.html">x</a>', encoding="utf-8")
    result = run("--docs", docs, "--site", site, "--format", "json")
    rules = {row["rule"] for row in json.loads(result.stdout)}
    assert rules == {"dead-link", "duplicate-heading", "built-dead-link"}


def test_clean_json_is_an_empty_list(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n", encoding="utf-8")
    result = run("--docs", tmp_path / "docs", "--format", "json")
    assert (result.returncode, json.loads(result.stdout)) == (0, [])


def test_rules_are_listed() -> None:
    result = run("--rules")
    assert result.returncode == 0
    assert "dead-anchor\n    what: " in result.stdout
    assert "    mend: " in result.stdout


OTHERS: list[tuple[str, dict[str, str], list[str]]] = [
    (
        "vitepress: routes without extension, a root of its own, its own ids",
        {
            ".vitepress/config.ts": "",
            "index.md": "# Home\n\n[a](/guide/a) [b](./guide/a#显存) [c](/guide/) ![p](/p.png)\n",
            "guide/index.md": "# Guide\n\n[x](../guide/a.html) [y](./a.md#a-b) [z](@/x)\n",
            "guide/a.md": "# A\n\n## 显存\n\n## A & B\n\n## A_B! {#own}\n\n[x](#own)\n",
            "public/p.png": "",
        },
        [],
    ),
    (
        "vitepress: what is dead by any rule",
        {".vitepress/config.ts": "", "index.md": "# Home\n\n[a](./b.md) [c](#nope)\n"},
        ["dead-link", "dead-anchor"],
    ),
    (
        "mkdocs: no navigation, no front matter, ids of the default table of contents",
        {
            "../mkdocs.yml": "site_name: x\nmarkdown_extensions: [attr_list]\n",
            "index.md": "# Home\n\n[a](a.md#two-words) [b](a.md#_1) [c](a.md#own)\n",
            "a.md": "# A\n\n## Two words\n\n## 显存\n\n## X {#own}\n",
        },
        [],
    ),
    (
        "mkdocs: a plugin decides about the navigation",
        {
            "../mkdocs.yml": "nav: [index.md, sub/]\nplugins: [literate-nav]\n",
            "index.md": "# Home\n",
            "sub/a.md": "# A\n",
        },
        [],
    ),
    ("a configuration that is no YAML", {"../mkdocs.yml": "nav: [\n", "index.md": "# H\n"}, []),
    (
        "a generator nobody knows: fences with any header, HTML that a blank line ends",
        {
            "a.md": "# A\n\n```js {1,3} file:x.js\n[x](gone.md)\n```\n\n"
            "<details>\n<summary>s</summary>\n\n[y](a.md#b)\n\n</details>\n\n## B\n",
        },
        ["self-link"],
    ),
]


@pytest.mark.parametrize(
    ("files", "expected"), [one[1:] for one in OTHERS], ids=[o[0] for o in OTHERS]
)
def test_other_layouts(tmp_path: Path, files: dict[str, str], expected: list[str]) -> None:
    for name, text in files.items():
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.resolve().write_text(text, encoding="utf-8")
    rows = json.loads(run("--docs", tmp_path / "docs", "--format", "json").stdout)
    assert [row["rule"] for row in rows] == expected, rows
