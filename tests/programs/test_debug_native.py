"""The lab of broken programs: loader and debugger say what the note shows."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LAB = ROOT / "docs/eng/code/native_lab.py"

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("g++") is None, reason="no g++ for Linux here"
)


@cache
def sessions() -> list[str]:
    """Return what each case prints, without its title."""
    run = subprocess.run([sys.executable, str(LAB)], capture_output=True, text=True, check=True)
    return [
        one.partition("\n")[2].strip() for one in re.split(r"(?m)^(?=\d [a-z ]+$)", run.stdout)[1:]
    ]


@pytest.mark.parametrize("language", ["", ".en"])
@pytest.mark.parametrize("case", [1, 2, 3, 4, 5])
def test_the_note_shows_what_is_said(case: int, language: str) -> None:
    if case == 5 and shutil.which("gdb") is None:
        pytest.skip("no gdb")
    said = sessions()[case - 1]
    assert said
    assert said in (ROOT / f"docs/eng/debug-native{language}.md").read_text("utf-8")
