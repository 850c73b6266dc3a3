"""The record of llama.cpp is what the captured run gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.measure import llama
from tools.measure.compute.lines import Run

RAW = Path(__file__).resolve().parents[2] / "docs/data/raw/2026-11-23-1x-h100-llama"


def test_committed_record_is_what_the_run_gives() -> None:
    assert llama.main([str(RAW), "--check"]) == 0


def test_record_agrees_with_what_the_tools_printed() -> None:
    record = json.loads(llama.RECORD.read_text("utf-8"))
    by = {one["id"]: one["points"] for one in record["results"]}
    decode = {point["model"]: point["value"] for point in by["decode"]}
    for line in Run(RAW).lines("llama_bench.jsonl"):
        if line["n_gen"]:
            name = llama.MODELS[Path(line["model_filename"]).stem]
            assert decode[name] == pytest.approx(line["avg_ts"], rel=0.01)
    assert len(by["batched_decode"]) == 15
    assert len(by["requests"]) == 16


def test_metrics_have_the_names_the_server_gives_them() -> None:
    said = llama.metrics(Run(RAW))
    rate = said["predicted_tokens_seconds"] * said["tokens_predicted_seconds_total"]
    assert round(rate) == said["tokens_predicted_total"] - 16  # the first token is the prompt's


def test_a_missing_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert llama.main([str(tmp_path)]) == 2
    assert "no such file" in capsys.readouterr().err
