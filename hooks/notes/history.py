"""When each note entered the repository and was changed last, asked of git once."""

from __future__ import annotations

import datetime
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from hooks.findings import Finding
from hooks.notes.note import Catalogue


@dataclass(frozen=True, slots=True)
class Days:
    """Days of files below `docs/`, by their paths from the root; of what git does not know, none"""

    first: dict[str, datetime.date] = field(default_factory=dict)
    """When its author added it."""
    last: dict[str, datetime.date] = field(default_factory=dict)
    """When its author changed it last, in universal time."""


def days(root: Path) -> Days:
    """Return the days of all notes; without git, or outside a checkout, nothing is known."""
    command = ["git", "-c", "core.quotepath=off", "log", "--no-merges", "--find-renames"]
    command += ["--format=%x00%as %at", "--name-status", "--", "docs"]
    try:
        run = subprocess.run(
            command, cwd=root, capture_output=True, text=True, check=True, encoding="utf-8"
        )
    except (OSError, subprocess.CalledProcessError):
        return Days()
    found = Days()
    for commit in run.stdout.split("\0")[1:]:  # the newest first
        head, *lines = [line for line in commit.splitlines() if line]
        day, written = head.split()
        for line in lines:
            status, *names = line.split("\t")
            if status == "A":
                found.first[names[-1]] = datetime.date.fromisoformat(day)
            changed = datetime.datetime.fromtimestamp(int(written), datetime.UTC).date()
            found.last.setdefault(names[-1], changed)
    return found


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
        twin = notes.twin(note)
        if twin is not None and note.file in changed and twin.file not in changed:
            message = f"'{twin.file}' was not changed with it; a maintainer sees to it"
            findings.append(Finding(note.file, 0, 0, "one-language", message))
    return findings
