"""The lab of broken programs: loader and debugger say what the note shows."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LAB = ROOT / "docs/eng/code/native_lab.py"

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("g++") is None, reason="no g++ for Linux here"
)


def sessions() -> list[str]:
    """Return what each case prints, without its title."""
    run = subprocess.run([sys.executable, str(LAB)], capture_output=True, text=True, check=True)
    return [
        one.partition("\n")[2].strip() for one in re.split(r"(?m)^(?=\d [a-z ]+$)", run.stdout)[1:]
    ]


def test_the_notes_show_what_is_said() -> None:
    notes = [(ROOT / f"docs/eng/debug-native{end}.md").read_text("utf-8") for end in ("", ".en")]
    said = sessions()
    assert len(said) == 5
    for case, session in enumerate(said, 1):
        if case == 5 and shutil.which("gdb") is None:
            pytest.skip("no gdb")
        assert session
        assert all(session in note for note in notes), case
