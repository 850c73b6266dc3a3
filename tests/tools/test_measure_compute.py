"""Records of docs/{chip,train,infer}/measured, and the formulas that stand beside them."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tools.measure.compute.__main__ import ALONE, FORMATS, FOUR, LATER, SECOND, SEVERAL, main
from tools.measure.compute.cards import cell
from tools.measure.compute.groups import Group
from tools.measure.compute.lines import ROOT, Run
from tools.measure.compute.pipeline import pipeline
from tools.measure.compute.records import files
from tools.measure.compute.train import formula
from tools.measure.topo.model import MeasureError

pytestmark = pytest.mark.tools


def load(path: str) -> ModuleType:
    """Import a program of docs/ that needs no GPU and no PyTorch."""
    name = Path(path).stem
    spec = importlib.util.spec_from_file_location(name, ROOT / path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


MEMORY = load("docs/train/code/memory_model.py")
COLLECTIVE = load("docs/train/code/collective_model.py")
KV = load("docs/infer/code/kv_model.py")


def test_the_committed_records_are_what_the_raw_files_give(tmp_path: Path) -> None:
    assert main(["--into", str(tmp_path)]) == 0
    written = {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*.json")}
    committed = {
        path.relative_to(ROOT).as_posix()
        for topic in ("chip", "train", "infer")
        for path in (ROOT / "docs" / topic / "measured").glob("*.json")
    }
    assert written <= committed  # the others are of programs with a tool of their own
    # Their hashes are those of the programs as they ran, not as they are now.
    differing = [n for n in written if (tmp_path / n).read_bytes() != (ROOT / n).read_bytes()]
    assert not differing, "run `python -m tools.measure.compute --check`"


@pytest.mark.parametrize(
    ("option", "source", "name"),
    [
        ("alone", ALONE, "docs/chip/measured/hbm_bandwidth.json"),
        ("second", SECOND, "docs/chip/measured/hbm_bandwidth_h100.json"),
    ],
    ids=["h200", "h100"],
)
def test_another_run_gives_its_own_numbers(
    tmp_path: Path, option: str, source: Path, name: str
) -> None:
    """No number of a record is typed in: the raw file decides."""
    folder = tmp_path / "raw"
    shutil.copytree(source, folder)
    path = folder / "hbm_bandwidth.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    halved = [{**row, **{key: row[key] / 2 for key in ("median", "p5", "p95")}} for row in rows]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in halved), "utf-8")

    runs = {"alone": ALONE, "several": SEVERAL, "second": SECOND, option: folder}
    made = {key: Run(where) for key, where in runs.items()}
    new = json.loads(files(**made, root=ROOT)[name])
    old = json.loads((ROOT / name).read_bytes())
    ratios = [
        a["ratio_to"]["ratio"] / b["ratio_to"]["ratio"]
        for a, b in zip(new["summary"], old["summary"], strict=True)
        if "ratio_to" in a
    ]
    assert ratios == pytest.approx([0.5] * 4, rel=1e-3)


def test_a_run_of_one_step_gives_its_own_times(tmp_path: Path) -> None:
    folder = tmp_path / "raw"
    shutil.copytree(LATER, folder)
    path = folder / "recompute_time.jsonl"
    text = path.read_text("utf-8")
    path.write_text(text.replace('"median": 0.29056437683105474', '"median": 0.5'), "utf-8")
    name = "docs/train/measured/recompute_time.json"

    def summary(where: Path) -> dict[str, float]:
        assert main(["--later", str(where), "--into", str(tmp_path)]) == 0
        record = json.loads((tmp_path / name).read_bytes())
        return {row["title"]["en"]: row["value"] for row in record["summary"]}

    changed = summary(folder).items() - summary(LATER).items()
    assert changed == {("flash, b = 8, no recomputation", 500)}


@pytest.mark.parametrize(
    ("file", "labels", "name", "title"),
    [
        (
            "data_parallel.jsonl",
            {"result": "collective", "kind": "all_reduce", "type": "float32", "bytes": 2**32},
            "collectives",
            "all_reduce float32, 4 GiB, busbw",
        ),
        (
            "data_parallel.jsonl",
            {"result": "passes", "mode": "ddp_25", "b": 4},
            "data_parallel",
            "Forward and backward, b = 4: DDP, buckets of 25 MiB",
        ),
        (
            "tensor_parallel.jsonl",
            {"result": "layer", "way": "whole", "h": 8192, "s": 8192},
            "tensor_parallel",
            "h = 8192, b = 1, s = 8192: speed-up over one GPU",
        ),
        (
            "pipeline.jsonl",
            {"result": "step", "schedule": "1f1b", "microbatches": 32},
            "pipeline",
            "1f1b, m = 32: idle over busy",
        ),
    ],
    ids=["collectives", "data", "tensor", "pipeline"],
)
@pytest.mark.parametrize(
    ("option", "source", "suffix"), [("several", SEVERAL, ""), ("four", FOUR, "_x4")]
)
def test_another_run_on_several_gpus_changes_one_line(
    tmp_path: Path,
    option: str,
    source: Path,
    suffix: str,
    file: str,
    labels: dict[str, object],
    name: str,
    title: str,
) -> None:
    """The raw line decides, and it decides the record of its own number of GPUs alone."""
    folder = tmp_path / "raw"
    shutil.copytree(source, folder)
    path = folder / file
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for row in rows:
        if labels.items() <= row.items():
            for key in {"median", "idle_over_busy"} & row.keys():
                row[key] /= 2
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    assert main([f"--{option}", str(folder), "--into", str(tmp_path)]) == 0

    def summary(root: Path, name: str) -> dict[str, float]:
        record = json.loads((root / f"docs/train/measured/{name}.json").read_bytes())
        return {row["title"]["en"]: row["value"] for row in record["summary"]}

    new, old = (summary(root, name + suffix) for root in (tmp_path, ROOT))
    changed = {said for said, value in new.items() if value != old[said]}
    assert changed == {title}
    assert new[title] == pytest.approx(old[title] / 2, rel=1e-3)
    other = name if suffix else f"{name}_x4"
    assert summary(tmp_path, other) == summary(ROOT, other)


@pytest.mark.parametrize(
    ("suffix", "count", "said"),
    [("", 2, {"zh": "两", "en": "two"}), ("_x4", 4, {"zh": "四", "en": "four"})],
    ids=["two", "four"],
)
@pytest.mark.parametrize("name", ["collectives", "data_parallel", "tensor_parallel", "pipeline"])
def test_a_record_of_several_gpus_says_how_many(
    name: str, suffix: str, count: int, said: dict[str, str]
) -> None:
    record = json.loads((ROOT / f"docs/train/measured/{name}{suffix}.json").read_bytes())
    assert record["machine"]["gpu_count"] == count
    assert f"--nproc-per-node={count} " in record["command"]
    for language, word in said.items():
        assert word in record["title"][language]
    other = 6 - count
    text = json.dumps([record["notes"], record["specification"], record["command"]])
    for phrase in (f"n = {other}", f"p = {other}", f"layer / {other}", f"node={other}"):
        assert phrase not in text


@pytest.mark.parametrize(
    ("count", "kind", "said"),
    [
        (2, "all_reduce", "S/t"),
        (2, "all_gather", "S/2t"),
        (4, "all_reduce", "3S/2t"),
        (4, "reduce_scatter", "3S/4t"),
    ],
)
def test_bus_bandwidth_in_size_and_time(count: int, kind: str, said: str) -> None:
    assert Group(count).bus(kind) == said


@pytest.mark.parametrize(
    ("cut", "errors", "expected"),
    [
        (0, True, {("gpipe", 64, stage) for stage in range(4)}),
        (1, True, {("1f1b", 32, stage) for stage in range(4)}),
        (2, True, {("gpipe", 32, stage) for stage in range(4)}),
        (0, False, set()),
    ],
    ids=["as-it-ran", "one-schedule-earlier", "two-earlier", "nothing-ran-out"],
)
def test_the_schedule_that_ran_out_of_memory_is_the_one_after_the_last_line(
    tmp_path: Path, cut: int, errors: bool, expected: set[tuple[str, int, int]]
) -> None:
    folder = tmp_path / "raw"
    shutil.copytree(FOUR, folder)
    lines = (folder / "pipeline.jsonl").read_text("utf-8").splitlines()
    kept = lines[: len(lines) - cut]
    (folder / "pipeline.jsonl").write_text("\n".join(kept) + "\n", "utf-8")
    if not errors:
        (folder / "pipeline.jsonl.err").unlink()
    draft = pipeline(Run(folder))
    found = {
        (point["schedule"], point["microbatches"], point["stage"])
        for result in draft.results
        if result["id"] == "ran_out"
        for point in result["points"]
    }
    assert found == expected
    assert ("ran out of memory" in draft.notes["en"]) == bool(expected)


def test_a_run_on_a_number_of_gpus_without_a_word_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "raw"
    shutil.copytree(FOUR, folder)
    path = folder / "data_parallel.jsonl"
    text = path.read_text("utf-8")
    path.write_text(text.replace('"ranks": 4}', '"ranks": 8}', 1), "utf-8")
    assert main(["--four", str(folder), "--into", str(tmp_path)]) == 2
    assert "a run on 8 GPUs: say 8 in words" in capsys.readouterr().err


@pytest.mark.parametrize("folder", [SEVERAL, FOUR], ids=lambda path: path.name)
def test_raw_output_names_no_machine(folder: Path) -> None:
    identity = re.compile(
        r"(GPU|MIG)-[0-9a-f]{8}-|\b\d{1,3}(\.\d{1,3}){3}\b|host +: (?!localhost$)|[Ss]erial",
        re.MULTILINE,
    )
    for path in folder.iterdir():
        assert not identity.search(path.read_text("utf-8")), path.name


def test_only_seeds_that_every_way_finished_count(tmp_path: Path) -> None:
    folder = tmp_path / "raw"
    shutil.copytree(FORMATS, folder)
    path = folder / "precision_training.jsonl"
    lines = path.read_text("utf-8").splitlines()
    cut = next(n for n, line in enumerate(lines) if '"run", "way": "bf16_kahan", "seed": 1' in line)
    path.write_text("\n".join(lines[:cut]) + "\n", "utf-8")
    name = "docs/train/measured/precision_training.json"

    def spread(where: Path) -> dict[str, bool]:
        assert main(["--formats", str(where), "--into", str(tmp_path)]) == 0
        record = json.loads((tmp_path / name).read_bytes())
        final = next(r for r in record["results"] if r["id"] == "final")
        return {point["way"]: point["p5"] != point["p95"] for point in final["points"]}

    assert all(spread(FORMATS).values())
    assert not any(spread(folder).values())


@pytest.mark.parametrize("name", ["device", "hbm_bandwidth", "roofline", "gemm"])
def test_a_record_of_the_h100_says_so_and_names_its_cells(name: str) -> None:
    record = json.loads((ROOT / f"docs/chip/measured/{name}_h100.json").read_bytes())
    assert record["machine"]["gpu"] == "NVIDIA H100 80GB HBM3"
    assert all("H100" in record["title"][language] for language in ("zh", "en"))
    cells = {promise["source"].split(": ")[-1] for promise in record["specification"]}
    assert all(text.startswith("h100-sxm, ") for text in cells)
    assert bool(cells) == (name != "device")
    assert not any("H200" in row["title"]["en"] for row in record["summary"])


def test_a_promise_without_a_cell_is_refused() -> None:
    with pytest.raises(MeasureError, match="no cell 'fp16x' in row 'h100-sxm'"):
        cell("h100-sxm", "fp16x", "bf16_dense", "TFLOP/s")


def test_a_missing_file_ends_the_command_with_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "raw"
    shutil.copytree(ALONE, folder)
    (folder / "gemm.jsonl").unlink()
    assert main(["--alone", str(folder), "--into", str(tmp_path)]) == 2
    assert "gemm.jsonl: there is no such file; run tools/measure/run_compute.sh" in (
        capsys.readouterr().err
    )
    assert not (tmp_path / "docs").exists()


def test_a_program_that_the_run_did_not_note_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "raw"
    shutil.copytree(ALONE, folder)
    (folder / "programs.sha256").write_text("", "utf-8")
    assert main(["--alone", str(folder), "--into", str(tmp_path)]) == 2
    assert "programs.sha256: no line for docs/chip/code/device_query.cu" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("attention", "dropout", "recompute", "expected"),
    [
        ("written_out", 0.1, "none", 34 + 5 * 16),
        ("written_out", 0.0, "none", 32 + 2 * 16),
        ("written_out", 0.1, "selective", 34),
        ("written_out", 0.0, "selective", 32),
        ("flash", 0.1, "full", 2),
        ("flash", 0.0, "none", 32 + 4 * 16 / 2048 + 16 / 2048),
        ("math", 0.0, "none", None),
    ],
    ids=str,
)
def test_formula_of_a_layer_in_units_of_sbh(
    attention: str, dropout: float, recompute: str, expected: float | None
) -> None:
    line = {"attention": attention, "dropout": dropout, "recompute": recompute}
    found = formula(line, 2048, 2048, 16)
    assert (found and found[0]) == (pytest.approx(expected) if expected else None)


def test_measured_activations_are_within_a_percent_of_their_formula() -> None:
    record = json.loads((ROOT / "docs/train/measured/activations.json").read_bytes())
    layer = next(result for result in record["results"] if result["id"] == "layer")
    compared = [point for point in layer["points"] if "formula" in point]
    assert len(compared) == 60
    # The causal mask of s^2 bytes is the largest thing that the formulas leave out.
    assert all(0 <= p["value"] / p["formula"] - 1 < 0.017 for p in compared)


@pytest.mark.parametrize(
    ("zero", "gigabytes"), [(0, 120.0), (1, 31.4), (2, 16.6), (3, 1.9)], ids=str
)
def test_state_bytes_are_those_of_the_zero_paper(zero: int, gigabytes: float) -> None:
    """Figure 1 of https://arxiv.org/abs/1910.02054: 7.5 billion parameters, 64 GPUs."""
    found = MEMORY.state_bytes(7_500_000_000, 16, zero, 64) / 1e9
    assert found == pytest.approx(gigabytes, abs=0.05)


def test_a_fit_finds_the_line_it_was_made_from() -> None:
    made = COLLECTIVE.AlphaBeta(2e-5, 3e-12)
    sizes = [2.0**k for k in range(12, 32, 2)]
    found = COLLECTIVE.fit([(size, made.time(size)) for size in sizes])
    assert (found.alpha, found.beta) == pytest.approx((2e-5, 3e-12))


@pytest.mark.parametrize(
    ("sizes", "cap", "first", "expected"),
    [
        ([1, 1, 1, 1], 2, 1, [1, 2, 1]),
        ([5, 1, 1], 2, 1, [5, 2]),
        ([1, 1, 1], 100, 1, [1, 2]),
        ([], 2, 1, []),
    ],
    ids=["first-small", "larger-than-a-bucket", "rest", "none"],
)
def test_buckets_close_when_full(
    sizes: list[float], cap: float, first: float, expected: list[float]
) -> None:
    assert COLLECTIVE.packed(sizes, cap, first) == expected


@pytest.mark.parametrize(
    ("size", "seconds"), [(1, 1.0), (2, 1.0), (3, 2.0), (4, 3.0), (8, 6.0)], ids=str
)
def test_times_between_and_beyond_measured_sizes(size: float, seconds: float) -> None:
    assert COLLECTIVE.interpolate([(2, 1.0), (4, 3.0)], size) == seconds


@pytest.mark.parametrize(
    ("shape", "expected"),
    [("mha", 524288), ("gqa8", 131072), ("mqa", 16384), ("gqa8_80", 327680), ("mla", 70272)],
)
def test_bytes_of_a_token_in_16_bits(shape: str, expected: int) -> None:
    cache = next(one for one in KV.SHAPES if one.name == shape)
    assert cache.bytes_per_token() == expected


@pytest.mark.parametrize(("tokens", "pages"), [(0, 0), (1, 1), (16, 1), (17, 2)])
def test_pages_that_hold_tokens(tokens: int, pages: int) -> None:
    assert KV.pages_for(tokens, 16) == pages
