"""The OpenMP notes: what their commands print, and what the table of the sanitizer says."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import ours

ROOT = Path(__file__).resolve().parents[2]
CODE = ROOT / "docs/hpc/openmp/code"
NOTES = ours.notes()
pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on this machine")


def listings() -> dict[str, set[str]]:
    """Return each command with gcc, and what the notes say that it prints."""
    shown: dict[str, set[str]] = {}
    for note in NOTES.notes.values():
        if not note.id.startswith("hpc/openmp/"):
            continue
        fences = list(note.source.fences)
        for block, following in itertools.pairwise(fences):
            command = block.text.strip().removeprefix("$ ")
            if block.info.startswith("console") and command.startswith("gcc ") and "&&" in command:
                printed = following.text if following.info.startswith("text") else None
                shown.setdefault(command, set()).update({printed} if printed else ())
    return shown


@pytest.mark.parametrize("command", sorted(listings()))
def test_notes_show_what_programs_print(command: str, tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_"))}
    run = subprocess.run(
        command.replace("docs/hpc/openmp/code/", f"{CODE}/"),
        shell=True,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    for printed in listings()[command]:
        assert run.stdout.strip() == printed.strip()


def test_the_race_is_found_and_the_cures_are_right(tmp_path: Path) -> None:
    program = tmp_path / "race"
    flags = ["-std=c17", "-g", "-O1", "-fopenmp", "-fsanitize=thread"]
    built = subprocess.run(
        ["gcc", *flags, "-o", program, CODE / "race.c"],
        capture_output=True,
        text=True,
        check=False,
    )
    if built.returncode:
        pytest.skip("gcc has no ThreadSanitizer here")
    found = subprocess.run([program, "race"], capture_output=True, text=True, check=False)
    if "unexpected memory mapping" in found.stderr:
        pytest.skip("ThreadSanitizer does not run on this kernel")
    line = (CODE / "race.c").read_text("utf-8").split("sum += i;  // read")[0].count("\n") + 1
    assert found.returncode == 66
    assert re.search(rf"SUMMARY: .*race\.c:{line}\b", found.stderr)
    for way in ("atomic", "reduction", "barrier"):
        cured = subprocess.run([program, way], capture_output=True, text=True, check=False)
        assert f"{way}: right" in cured.stdout
