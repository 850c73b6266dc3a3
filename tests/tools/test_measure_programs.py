"""Records of programs described by a file: what is committed is what the captured lines give."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tools.measure import programs
from tools.measure.compute.lines import Run
from tools.measure.topo.model import MeasureError

ROOT = Path(__file__).resolve().parents[2]
RAW = ROOT / "docs/data/raw"
TOPICS = (
    "compiler",
    "cuda",
    "fan-out",
    "finetune",
    "framework",
    "infer",
    "nccl",
    "noc",
    "pcie",
    "simd",
    "topo",
    "train",
)
RUNS = sorted(path for topic in TOPICS for path in RAW.glob(f"*-{topic}*") if path.is_dir())
SAID = {
    "program": "docs/hpc/cuda/code/hello.cu",
    "title": {"zh": "甲", "en": "A"},
    "notes": {"zh": "乙", "en": "B"},
    "specification": [
        {"id": "top", "value": 200, "unit": "GB/s", "per": "GPU", "source": "computed"}
    ],
    "results": [{"id": "rate", "title": {"zh": "丙", "en": "C"}, "axes": ["bytes"], "spec": "top"}],
    "summary": [
        {"result": "rate", "where": {"bytes": 8}, "title": {"zh": "丁", "en": "D"}, "spec": "top"}
    ],
}
LINES = [
    {"result": "rate", "bytes": 4, "unit": "GB/s", "n": 10, "median": 50.0, "p5": 49, "p95": 51},
    {"result": "rate", "bytes": 8, "unit": "GB/s", "n": 10, "median": 100.0, "p5": 99, "p95": 101},
]


@pytest.mark.parametrize("run", RUNS, ids=[path.name for path in RUNS])
def test_committed_records_are_what_the_run_gives(run: Path) -> None:
    second = "h100-cuda" in run.name  # the first card of the CUDA volume is an H200
    suffix = ["--suffix", "h100"] if second else []
    assert programs.main([str(run), "--check", *suffix]) == 0


def run_of(tmp_path: Path, lines: list[dict[str, object]]) -> Run:
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / "hello.jsonl").write_text(text, encoding="utf-8")
    return Run(tmp_path)


def test_a_description_makes_points_and_shares(tmp_path: Path) -> None:
    made = programs.draft(SAID, run_of(tmp_path, LINES))
    assert [point["value"] for point in made.results[0]["points"]] == [50, 100]
    assert made.summary[0]["value"] == 100
    assert made.summary[0]["ratio_to"] == {"spec": "top", "ratio": 0.5}
    assert made.id == "hello" and "hello.cu" in made.command


def test_a_line_of_several_figures_gives_the_one_that_is_named(tmp_path: Path) -> None:
    lines = [
        {"result": "sum", "bytes": 8, "n": 3, "time_us": {"median": 2.0, "p5": 1, "p95": 3}},
    ]
    told = {"of": "time_us", "unit": "us", "title": {"zh": "甲", "en": "A"}}
    said = SAID | {
        "results": [{"id": "time", "result": "sum", "axes": ["bytes"]} | told],
        "summary": [{"result": "time", "line": "sum"} | told],
    }
    made = programs.draft(said, run_of(tmp_path, lines))
    assert made.results[0]["points"] == [{"bytes": 8, "value": 2, "p5": 1, "p95": 3}]
    assert (made.summary[0]["value"], made.summary[0]["unit"]) == (2, "us")


def test_a_result_that_was_not_printed_is_named(tmp_path: Path) -> None:
    with pytest.raises(MeasureError, match="'rate'"):
        programs.draft(SAID, run_of(tmp_path, [LINES[0] | {"result": "other"}]))


@pytest.mark.parametrize("path", sorted(programs.SPECS.rglob("*.yml")), ids=lambda path: path.stem)
def test_descriptions_name_programs_in_two_languages(path: Path) -> None:
    said = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert (ROOT / said["program"]).is_file()
    assert said.get("lines", Path(said["program"]).stem) == path.stem
    for text in [said["title"], said["notes"], *(one["title"] for one in said["results"])]:
        assert text["zh"] and text["en"] and text["zh"] != text["en"]
