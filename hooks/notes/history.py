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


def last_changes(root: Path) -> dict[str, tuple[str, int]]:
    """Map files below `docs/` to the last commit that changed each, and when it was written.

    As `git log -1 --follow -- FILE` for every file, in one run of git for all: the first commit
    that names the file, in git's order, on whichever branch; merges name none. A file that was
    added where another was deleted is left out, for it may be the other: git must compare them.
    """
    command = ["git", "-c", "core.quotepath=off", "log", "--no-merges", "--no-renames"]
    command += ["--name-status", "--format=%x00%H %at"]
    try:
        run = subprocess.run(
            command, cwd=root, capture_output=True, text=True, check=True, encoding="utf-8"
        )
    except (OSError, subprocess.CalledProcessError):
        return {}
    found: dict[str, tuple[str, int] | None] = {}
    for entry in run.stdout.split("\0")[1:]:
        head, *lines = [line for line in entry.splitlines() if line]
        commit, written = head.split()
        changed = [(line[0], line.partition("\t")[2]) for line in lines]
        may_rename = any(status == "D" for status, _ in changed)
        for status, name in changed:
            if name not in found:
                is_plain = status == "M" or (status == "A" and not may_rename)
                found[name] = (commit, int(written)) if is_plain else None
    return {name: one for name, one in found.items() if one and name.startswith("docs/")}


def head(root: Path) -> str:
    """Return the commit that is checked out; empty without git."""
    try:
        run = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return run.stdout.strip()


def extent(root: Path) -> str:
    """Return the commit that is checked out and how many are below it; empty without git.

    A shallow clone that is deepened has the same head, and other dates.
    """
    command = ["git", "rev-list", "--count", "HEAD"]
    try:
        run = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return f"{head(root)} {run.stdout.strip()}"


def tags(root: Path) -> dict[str, str]:
    """Map commits to the first tag of each, in the order of `git tag`; empty without git."""
    shown = "%(objectname) %(*objectname) %(refname:short)"
    command = ["git", "for-each-ref", "--sort=refname", f"--format={shown}", "refs/tags"]
    try:
        run = subprocess.run(
            command, cwd=root, capture_output=True, text=True, check=True, encoding="utf-8"
        )
    except (OSError, subprocess.CalledProcessError):
        return {}
    found: dict[str, str] = {}
    for line in run.stdout.splitlines():
        tagged, peeled, name = line.split(" ", 2)
        found.setdefault(peeled or tagged, name)
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
        twin = notes.twin(note, "en" if note.language == "zh" else "zh")
        if twin is not None and note.file in changed and twin.file not in changed:
            message = f"'{twin.file}' was not changed with it; a maintainer sees to it"
            findings.append(Finding(note.file, 0, 0, "one-language", message))
    return findings
