"""What the note on other libraries shows of the gloo program is what it prints."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = "/usr/bin/python3"
SHOWN = re.compile(
    r"```console\n\$ "
    r"(?P<command>/usr/bin/python3 docs/ccl/code/gloo_allreduce\.py compare [^\n]*)\n"
    r"```\n\n"
    r"```text [^\n]*\n(?P<printed>.*?)```",
    re.DOTALL,
)


def has_torch() -> bool:
    try:
        run = subprocess.run([PYTHON, "-c", "import torch"], capture_output=True, check=False)
    except OSError:
        return False
    return run.returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(not has_torch(), reason="the system's Python has no PyTorch")
@pytest.mark.parametrize("note", ["docs/ccl/others.md", "docs/ccl/others.en.md"])
def test_the_note_shows_what_gloo_prints(note: str) -> None:
    shown = list(SHOWN.finditer((ROOT / note).read_text(encoding="utf-8")))
    assert shown, note
    for one in shown:
        run = subprocess.run(
            one["command"].split(),
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        assert run.stdout == one["printed"]
