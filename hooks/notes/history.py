"""When each note entered the repository, asked of git once."""

from __future__ import annotations

import datetime
import subprocess
from pathlib import Path


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
