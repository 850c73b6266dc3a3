"""When each note entered the repository, asked of git once."""

from __future__ import annotations

import datetime
import subprocess
from pathlib import Path

from hooks.findings import Finding
from hooks.notes.note import Catalogue


def first_days(root: Path) -> dict[str, datetime.date]:
    """Map each file below `docs/` to the day of the commit that added it.

    Without git, or outside a checkout, nothing is known and the map is empty.
    """
    command = ["git", "-c", "core.quotepath=off", "log", "--diff-filter=A", "--reverse"]
    command += ["--format=%x00%as", "--name-only", "--", "docs"]
    try:
        run = subprocess.run(
            command, cwd=root, capture_output=True, text=True, check=True, encoding="utf-8"
        )
    except (OSError, subprocess.CalledProcessError):
        return {}
    days: dict[str, datetime.date] = {}
    for commit in run.stdout.split("\0")[1:]:
        day, *files = [line for line in commit.splitlines() if line]
        for file in files:
            days.setdefault(file, datetime.date.fromisoformat(day))
    return days


def changed_since(root: Path, base: str) -> set[str]:
    """Return the files below `docs/` that differ from where this branch left `base`.

    Raises:
        OSError: Git does not know it.
    """
    command = ["git", "-c", "core.quotepath=off", "diff", "--name-only", "--merge-base"]
    command += [base, "--", "docs"]
    run = subprocess.run(
        command, cwd=root, capture_output=True, text=True, check=False, encoding="utf-8"
    )
    if run.returncode:
        raise OSError(f"git cannot compare with '{base}': {run.stderr.strip()}")
    return set(run.stdout.splitlines())


def one_language(notes: Catalogue, changed: set[str]) -> list[Finding]:
    """Tell which notes changed in one language only, so that a maintainer sees to the other."""
    findings = []
    for note in notes.notes.values():
        twin = notes.twin(note, "en" if note.language == "zh" else "zh")
        if twin is not None and note.file in changed and twin.file not in changed:
            message = f"'{twin.file}' was not changed with it; a maintainer sees to it"
            findings.append(Finding(note.file, 0, 0, "one-language", message))
    return findings
