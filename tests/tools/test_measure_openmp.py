"""Records of the OpenMP programs: from lines of JSON and what the run notes of its machine."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from tools.measure import openmp
from tools.measure.compute.lines import ROOT, Run

LINES = [
    {"result": "increment", "way": way, "distance": distance, "unit": "ns", "n": 101}
    | {"median": median, "p5": median / 2, "p95": median * 2}
    for way, distance, median in (("plain", 8, 0.3), ("plain", 64, 0.25), ("atomic", 8, 1234.5))
]
MACHINE = """2026-11-27
6.1.0
gcc (Debian 12.2.0-14) 12.2.0
Model name:        Some CPU
CPU(s):            4
Thread(s) per core:  2
CPU family:        6
Model:             1
NUMA node(s):      1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a run of one program."""
    text = "".join(json.dumps(line) + "\n" for line in LINES)
    (tmp_path / "padded.jsonl").write_text(text, "utf-8")
    (tmp_path / "machine.txt").write_text(MACHINE, "utf-8")
    programs = [f"{openmp.CODE}/{name}" for name in ("padded.c", "lesson.h")]
    hashed = [(hashlib.sha256((ROOT / name).read_bytes()).hexdigest(), name) for name in programs]
    (tmp_path / "programs.sha256").write_text("".join(f"{h}  {n}\n" for h, n in hashed), "utf-8")
    return tmp_path


def test_only_what_ran_is_recorded(folder: Path) -> None:
    ((path, text),) = openmp.records(Run(folder))
    record = json.loads(text)
    assert path == "docs/hpc/openmp/measured/padded.json"
    assert (record["date"], record["machine"]["cpu"]) == (
        "2026-11-27",
        "Some CPU, family 6 model 1, 4 CPUs, 2 per core",
    )
    points = record["results"][0]["points"]
    assert [(p["way"], p["distance"], p["value"]) for p in points] == [
        ("plain", 8, 0.3),
        ("plain", 64, 0.25),
        ("atomic", 8, 1234 if points[2]["value"] == 1234 else 1235),
    ]
    assert [one["path"].rpartition("/")[2] for one in record["programs"]] == ["lesson.h"]


def test_a_run_without_its_machine_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "machine.txt").write_text("2026-11-27\n", "utf-8")
    assert openmp.main([str(folder), "--check"]) == 2
    assert "machine.txt: no line 'CPU(s):'" in capsys.readouterr().err
