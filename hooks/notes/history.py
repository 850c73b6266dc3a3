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


def _git(root: Path, *arguments: str) -> str:
    """Return what git says of `docs/`.

    Raises:
        OSError: It is not there, or refuses.
    """
    command = ["git", "-c", "core.quotepath=off", *arguments, "--", "docs"]
    run = subprocess.run(command, cwd=root, capture_output=True, encoding="utf-8", check=False)
    if run.returncode:
        raise OSError(run.stderr.strip())
    return run.stdout


def days(root: Path) -> Days:
    """Return the days of all notes; without git, or outside a checkout, nothing is known."""
    found = Days()
    how = ("--no-merges", "--find-renames", "--name-status", "--format=%x00%as %at")
    try:
        log = _git(root, "log", *how)
    except OSError:
        return found
    for commit in log.split("\0")[1:]:  # the newest first
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
    try:
        return set(_git(root, "diff", "--name-only", "--merge-base", base).splitlines())
    except OSError as error:
        raise OSError(f"git cannot compare with '{base}': {error}") from error


def one_language(notes: Catalogue, changed: set[str]) -> list[Finding]:
    """Tell which notes changed in one language only, so that a maintainer sees to the other."""
    findings = []
    for note in notes.notes.values():
        twin = notes.twin(note)
        if twin is not None and note.file in changed and twin.file not in changed:
            message = f"'{twin.file}' was not changed with it; a maintainer sees to it"
            findings.append(Finding(note.file, 0, 0, "one-language", message))
    return findings
