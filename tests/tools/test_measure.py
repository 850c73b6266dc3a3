"""Programs of past measurements: they can be read, and no more."""

from __future__ import annotations

import hashlib
import importlib
import json
import subprocess
from pathlib import Path

import pytest

from tests.samples import lay, read_yaml
from tools.unrun import unrun

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


def test_a_program_is_compiled_again_unless_records_have_its_hashes(tmp_path: Path) -> None:
    texts = {
        "one.cu": "// laid out anew",
        "two.cu": '#include "two.cuh"',
        "two.cuh": "// recorded",
        "new.cu": "// changed",
        "old.cu": '#include "new.cuh"',
        "new.cuh": "// changed",
    }
    digest = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}
    older = {"path": "a/code/one.cu", "sha256": "0" * 64, "same": [digest["one.cu"]]}
    named = [{"path": one, "sha256": digest[one]} for one in ("two.cu", "two.cuh", "old.cu")]
    about = {"schema": 1, "id": "r", "date": "2026-11-30", "machine": {}, "command": "x"}
    record = about | {"title": {"zh": "甲", "en": "A"}, "programs": [older, *named]}
    files = {f"a/code/{name}": text for name, text in texts.items()}
    lay(tmp_path, files | {"a/measured/r.json": json.dumps(record)})
    assert [Path(one).name for one in unrun(tmp_path)] == ["new.cu", "old.cu"]
