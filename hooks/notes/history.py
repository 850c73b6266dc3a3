"""When each note was changed last, asked of git once."""

from __future__ import annotations

import datetime
import subprocess
from pathlib import Path

from hooks.findings import Finding
from hooks.notes.note import Catalogue


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


def days(root: Path) -> dict[str, datetime.date]:
    """Return when the author of each file below `docs/` changed it last, in universal time, by its
    path from the root; without git, or outside a checkout, nothing is known.
    """
    found: dict[str, datetime.date] = {}
    try:
        log = _git(root, "log", "--no-merges", "--no-renames", "--name-only", "--format=%x00%at")
    except OSError:
        return found
    for commit in log.split("\0")[1:]:  # the newest first
        written, *names = [line for line in commit.splitlines() if line]
        day = datetime.datetime.fromtimestamp(int(written), datetime.UTC).date()
        for name in names:
            found.setdefault(name, day)
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
