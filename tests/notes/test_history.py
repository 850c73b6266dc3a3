"""When notes were changed last is what git says of each file by itself."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from hooks.notes import history


def _git(root: Path, *arguments: str, day: int = 1) -> str:
    moment = f"2026-01-{day:02}T12:00:00Z"
    names = {
        f"GIT_{who}_{what}": "x@x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    times = {"GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment}
    run = subprocess.run(
        ["git", "-c", "init.defaultBranch=main", *arguments],
        cwd=root,
        env={**os.environ, **names, **times},
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.strip()


def _write(root: Path, name: str, text: str, day: int) -> None:
    path = root / "docs" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    _git(root, "add", "-A")
    _git(root, "commit", "-m", name, day=day)


def test_days_are_those_of_each_file(tmp_path: Path) -> None:
    """Changes on two branches, one of them undone, a merge, and a rename."""
    _git(tmp_path, "init")
    _write(tmp_path, "a.md", "one\n", 1)
    _write(tmp_path, "b.md", "one\n", 2)
    _write(tmp_path, "带宽.md", "字\n" * 9, 3)
    _git(tmp_path, "checkout", "-b", "side")
    _write(tmp_path, "a.md", "two\n", 4)
    _write(tmp_path, "b.md", "two\n", 5)
    _write(tmp_path, "b.md", "one\n", 6)
    _git(tmp_path, "checkout", "main")
    _write(tmp_path, "c.md", "one\n", 7)
    _git(tmp_path, "merge", "side", "-m", "merge", day=8)
    _git(tmp_path, "mv", "docs/带宽.md", "docs/d.md")
    _git(tmp_path, "commit", "-m", "rename", day=9)
    days = history.days(tmp_path)
    last = {name: day.day for name, day in days.items()}
    assert last == {"docs/a.md": 4, "docs/b.md": 6, "docs/c.md": 7, "docs/d.md": 9} | {
        "docs/带宽.md": 9
    }


def test_nothing_is_known_without_git(tmp_path: Path) -> None:
    assert history.days(tmp_path) == {}
