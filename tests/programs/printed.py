"""What a note shows as printed by a program whose tools are not everywhere."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tools.figures.files import ROOT


def text(note: str) -> str:
    """Return a note's source; `note` is its file below `docs/`, without `.md`."""
    return (ROOT / f"docs/{note}.md").read_text("utf-8")


def blocks(note: str) -> list[tuple[str, str]]:
    """Return the titles and the texts of its blocks of output."""
    return re.findall(r'```text title="([^"]*)"\n(.*?)\n```', text(note), re.S)


def by(tool: str, note: str) -> tuple[str, str]:
    """Return the version of a tool that a note names, and what its program printed with it."""
    start = f"printed by {tool} "
    ((title, block),) = [one for one in blocks(note) if one[0].startswith(start)]
    return title.removeprefix(start), block


def check(program: str, tool: str, note: str) -> None:
    """Run a program whose first line is its tool and version, and compare; skip without the tool.

    A program that cannot run here ends with 77 and says so.
    """
    done = subprocess.run(
        [sys.executable, program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode == 77:
        assert done.stderr.startswith("skipped: ")
        pytest.skip(done.stderr.strip().splitlines()[0])
    version, output = by(tool, note)
    assert done.returncode == 0, done.stderr
    if done.stdout.split()[:2] not in ([tool, version], [tool, f"{version},"]):
        pytest.skip(f"another version of {tool}")
    assert done.stdout.rstrip("\n") == output
