"""One tree with a planted defect of every kind, and as many tricky forms that are right.

The tree is somebody else's: checked by the command line, as a user would. All defects must be found
at their line, and nothing else may be said.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.planted import DEFECTS, PLANTED, VALID, write

ROOT = Path(__file__).resolve().parents[2]

# Good on the site; on GitHub these ids do not exist.
ONE_VIEW = [
    "## 标题 { #own-id }\n\n[x](#own-id)",
    "text\n{: #para }\n\n[x](#para)",
    "a[^n] [x](#fn:n)\n\n[^n]: text",
    "!!! note\n\n    ## Inside\n\n[x](#inside)",
]


Rows = list[dict[str, object]]


def check(root: Path, *options: str) -> Rows:
    """Check the tree as a user does; return what the JSON says."""
    command = [sys.executable, "-m", "hooks", "check", "--docs", str(root / "docs")]
    run = subprocess.run(
        [*command, "--format", "json", *options],
        cwd=ROOT,
        env={**os.environ, "REPO_URL": "", "SITE_URL": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1, run.stderr
    rows: Rows = json.loads(run.stdout)
    return rows


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, tuple[str, int]], Rows]:
    """The tree, what is planted in it, and what the command says of it."""
    root = tmp_path_factory.mktemp("tree")
    planted = write(root)
    options = ("--repo-url", "https://github.com/o/r", "--site-url", "https://h.example/base/")
    return root, planted, check(root, *options)


def said(rows: Rows, file: str) -> list[tuple[object, object]]:
    return [(row["rule"], row["line"]) for row in rows if row["file"] == file]


@pytest.mark.parametrize("number", range(len(DEFECTS)), ids=[one[0] for one in DEFECTS])
def test_defect_is_found_at_its_line(
    number: int, tree: tuple[Path, dict[str, tuple[str, int]], Rows]
) -> None:
    file = f"docs/defect-{number:02}.md"
    assert said(tree[2], file) == [tree[1][file]]


@pytest.mark.parametrize("number", range(len(VALID)))
def test_valid_form_is_not_reported(
    number: int, tree: tuple[Path, dict[str, tuple[str, int]], Rows]
) -> None:
    assert said(tree[2], f"docs/valid-{number:02}.md") == []


def test_defects_of_files_and_configuration(
    tree: tuple[Path, dict[str, tuple[str, int]], Rows],
) -> None:
    others = {
        (row["file"], row["line"], row["rule"])
        for row in tree[2]
        if not str(row["file"]).startswith(("docs/defect-", "docs/valid-"))
    }
    assert others == PLANTED


def test_what_only_the_site_has_is_reported_where_github_shows_the_notes(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    notes = {f"docs/{number}.md": body for number, body in enumerate(ONE_VIEW)}
    for file, body in notes.items():
        (tmp_path / file).write_text(f"# T\n\n{body}\n\n[gone](gone.md)\n", encoding="utf-8")
    alone = {row["file"]: row["rule"] for row in check(tmp_path)}
    assert alone == dict.fromkeys(notes, "dead-link")
    both = check(tmp_path, "--repo-url", "https://github.com/o/r")
    for file, body in notes.items():
        (row, _) = [one for one in both if one["file"] == file]
        assert row["rule"] == "view-difference", body
        assert "breaks on GitHub" in str(row["message"]), body


def test_every_field_is_there_and_no_other(
    tree: tuple[Path, dict[str, tuple[str, int]], Rows],
) -> None:
    names = ["file", "line", "column", "rule", "severity", "target", "message", "suggestion"]
    assert {tuple(row) for row in tree[2]} == {tuple(names)}
