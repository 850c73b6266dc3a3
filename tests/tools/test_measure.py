"""Programs of past measurements: they can be read, and no more."""

from __future__ import annotations

import importlib
import subprocess
from pathlib import Path

import pytest

from tests.samples import read_yaml

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(path for path in (ROOT / "tools/measure").rglob("*.py") if path.stem[0] != "_")
SCRIPTS = sorted([*(ROOT / "tools").glob("*.sh"), *(ROOT / "tools/measure").glob("*.sh")])


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_modules_can_be_imported(path: Path) -> None:
    name = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
    assert importlib.import_module(name).__doc__


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_scripts_can_be_read(path: Path) -> None:
    assert subprocess.run(["bash", "-n", str(path)], check=False).returncode == 0


def test_descriptions_name_programs_in_two_languages() -> None:
    for path in sorted((ROOT / "tools/measure/records").rglob("*.yml")):
        said = read_yaml(path)
        assert (ROOT / said["program"]).is_file(), path
        for text in [said["title"], said["notes"], *(one["title"] for one in said["results"])]:
            assert text["zh"] and text["en"] and text["zh"] != text["en"], path
