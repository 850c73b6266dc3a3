"""What the text of a note repeats from its program, its record or a log."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

import pytest

from tests.programs import printed
from tools.figures.files import ROOT

cloud, export = printed.load("chip/code", "cloud_cost", "export_rule")
(nccl,) = printed.load("ccl/code", "nccl_model")
(design,) = printed.load("eng/code", "design_task")


def percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %")


def cloud_pricing() -> Iterator[str]:
    serving, own = cloud.middle(cloud.SERVING), cloud.middle(cloud.OWNING)
    made = [
        cloud.tokens(serving | {"tokens/s and GPU": rate})
        for rate in cloud.SERVING["tokens/s and GPU"]
    ]
    yield "| " + " | ".join(f"{one:.2f}" for one in made) + " |"
    yield from (percent(cloud.break_even(own, rent)) for rent in (6.88, 4.0, 2.0))
    offers = {name: row for name, *row in cloud.offers()}
    yield from (f"{offers[name][3]:.2f}" for name in ("p5", "p5en", "p6-b200"))


def export_skus() -> Iterator[str]:
    parts = export.parts()
    h20, h100 = parts["h20-sxm"], parts["h100-sxm"]
    ridge = h20.fp16 / h20.memory * 1000
    yield f"148 ÷ 3.352 = {export.faster_below(h20, h100):.0f} FLOP"
    yield f"242 ÷ 37 = {export.mla(128) / ridge:.1f}"
    yield percent(export.limit(1628) / export.limit(814) - 1)
    for whole in (
        *(parts["a800"].tpp, parts["h800-sxm"].tpp, export.limit(1628)),
        *(8 * h20.fp16, 4 * h100.fp16, ridge),
    ):
        yield f"{whole:.0f}"
    yield f"{export.mla(128) / ridge / 8:.2f}"
    yield f"{h100.fp16 / h20.fp16:.1f}"


def disaggregation() -> Iterator[str]:
    """Every point that the table shows: result, limit in ms, ratio as it is printed."""
    points = printed.record("infer/simulated/disaggregation_sizing")
    shown = {
        "tail_512_512": (20, 30),
        "tail_2048_256": (15, 20),
        "mean_2048_256": (20, 50),
        "tail_8192_256": (15, 20),
        "mean_8192_256": (20, 50),
    }
    rows = [
        [one for one in points[name] if one["limit"] == limit]
        for name, limits in shown.items()
        for limit in limits
    ]
    for here, there in [*rows, [one for one in points["longer"] if one["load"] == "8192/256"]]:
        cells = [f"{p['value']:.2f} ({p['setting']})" for p in (here, there)]
        yield f"| {cells[0]} | {cells[1]} |"


def determinism() -> Iterator[str]:
    margins = printed.record("infer/measured/batch_invariance")["flip_margin"]
    yield from {str(p["value"]) for p in margins if p["batch"] > 2}


def autograd() -> Iterator[str]:
    points = printed.record("framework/measured/saved_tensors")["saved"]
    saved = {(p["device"], p["operation"]): p["value"] for p in points}
    for operation in ("dropout 0.1", "linear, no bias", "h * k", "silu(h) * k"):
        yield f"| {saved['cuda', operation]:g} |"
    yield f"| {saved['cpu', 'rms_norm']} |"
    yield f"| {saved['cuda', 'layer_norm']}; {saved['cuda', 'rms_norm']} |"
    yield f" {saved['cuda', 'attention (SDPA)']}."  # with q, k, v in one storage


def pytorch_internals() -> Iterator[str]:
    points = printed.record("framework/measured/op_cost")["host"]
    cost = {(p["device"], p["call"]): p["value"] / 1000 for p in points}
    for call in ("no gradient wanted", "recorded for autograd", "inference_mode"):
        yield f"| {cost['cpu', call]:.2f} µs | {cost['cuda', call]:.2f} µs |"
    for point in printed.record("framework/measured/allocator")["reserved"]:
        if "tokens" in point["asked"]:
            yield f"{point['value'] / 1e9:.2f}"


def compile_models() -> Iterator[str]:
    """Graphs of each planted fault, steps until compiling pays, differences of the loss."""
    points = printed.record("compiler/measured/compile_models")
    raw = (ROOT / "docs/data/raw/2026-11-28-1x-h200-compile/compile_models.jsonl").read_text()
    lines = [json.loads(line) for line in raw.splitlines()]
    for line in lines:
        if line["result"] == "compiled" and "plant" in line:
            (step,) = printed.at(points["plant"], plant=line["plant"], way=line["way"])
            yield f"| {line['graphs']} | {step} ms<!--"
    paid = {}
    for part, way in (("train-1b-default", "default"), ("train-1b-blocks", "blocks")):
        steps = (printed.at(points["train"], part=part, way=one)[0] for one in ("eager", way))
        eager, here = (step / 1000 for step in steps)
        for cache in ("empty", "filled"):
            (first,) = printed.at(points["train_start"], part=part, cache=cache)
            paid[way, cache] = round((first - here) / (eager - here), -1)
    first, blocks, later, late = (f"{one:.0f}" for one in sorted(paid.values(), reverse=True))
    yield from (f" {first} ", f" {blocks} ", f" {later} ", f" {late}")
    one, other = (line["eager"] for line in lines if line.get("eager") and line["size"] == "1b")
    yield f" {max(abs(a - b) for a, b in zip(one, other, strict=True)):.3f}"


def protocols() -> Iterator[str]:
    """Microseconds of the model and of the record, for each protocol."""
    forced = printed.record("link/topo/measured/allreduce")["all_reduce_forced_busbw"]
    for label, size in (("64 K", 1 << 16), ("1 M", 1 << 20), ("16 M", 1 << 24), ("1 G", 1 << 30)):
        row = f"| {label}iB |"
        for protocol in nccl.PROTOCOLS:
            (point,) = (
                p
                for p in forced
                if (p["bytes"], p["algorithm"], p["protocol"]) == (size, "Ring", protocol)
            )
            times = (
                nccl.time(nccl.Machine(), ("Ring", protocol), size),
                size / point["algbw"] / 1e3,
            )
            cells = [f"{t:.0f}" if t > 1000 else f"{t:.1f}" for t in times]
            row += f" {' / '.join(cells)} |"
        yield row


def design_task() -> Iterator[str]:
    """Rows without a marker: steps 2, 4, 5 and 8, and the numbers of the order."""
    parameters, billion = design.LLAMA.parameters, 1e9
    for gpus, shown in ((64, "19.8"), (8, "158.7"), (512, "2.5")):
        assert f"{18 * parameters / gpus / billion:.1f}" == shown
        yield f"{shown} GB"
    data, pipe = design.sent(design.LLAMA, 8, 2, 4)
    yield from (f"{data * share / billion:.1f} GB" for share in (2 / 3, 1 / 3))
    yield f"{pipe / billion:.1f} GB"
    tokens = design.SEQUENCE * design.SEQUENCES
    yield f"{round(100 * billion / tokens)}"
    step = 6 * parameters * tokens / (64 * design.PEAK * 0.4)
    yield from (f"{(data + pipe) / rate / billion / step:.0%}" for rate in (50, 12.5, 6.25))
    yield f"{(13 * 14 * parameters + 400 * billion) / 1e12:.1f} TB"
    for gpus in (2, 4, 8):
        _, most = design.Replica(design.LLAMA, gpus, 2000, 400).limit(0.05, 2)
        yield f"{10_000 * 0.1 / 60 / (2 * 8 // gpus * most):.0%}"
    yield f"{24 * 730 * 55.04 / 8:.0f}"


NOTES: dict[str, Callable[[], Iterator[str]]] = {
    "chip/cloud-pricing": cloud_pricing,
    "chip/export-skus": export_skus,
    "infer/disaggregation": disaggregation,
    "infer/determinism": determinism,
    "framework/autograd": autograd,
    "framework/pytorch-internals": pytorch_internals,
    "ccl/nccl/protocols": protocols,
    "eng/design-task": design_task,
    "compiler/compile-whole-models": compile_models,
}


@pytest.mark.parametrize("note", NOTES)
@printed.LANGUAGES
def test_a_note_repeats_what_was_computed(note: str, language: str) -> None:
    text = re.sub(r"(?<=\d),(?=\d{3})", "", printed.text(note + language))
    for chinese, english in (("（", " ("), ("）", ")"), ("；", "; "), ("。", ".")):
        text = text.replace(chinese, english)
    repeated = list(NOTES[note]())
    assert repeated
    assert [one for one in repeated if one not in text] == []


# Notes that quote a transcript word by word: how the title of a quote begins, and the transcript,
# where the title does not name it

TRANSCRIPTS = {
    "ccl/nccl/fault-tolerance": ("measured/captures/", None, 1),
    "ccl/nccl/night-shift": ("measured/captures/", None, 1),
    "hpc/perf/linux-tools": ("", "hpc/perf/traces/three_faults.txt", 7),
    "hpc/perf/ilp-parallel": ("", "hpc/perf/traces/parallel_sum.txt", 1),
}


@pytest.mark.parametrize("note", TRANSCRIPTS)
@printed.LANGUAGES
def test_quotes_are_in_the_transcripts(note: str, language: str) -> None:
    start, transcript, least = TRANSCRIPTS[note]
    quotes = [one for one in printed.blocks(note + language) if one[0].startswith(start)]
    assert len(quotes) >= least
    for title, quoted in quotes:
        file = transcript or f"{note.rpartition('/')[0]}/{title.partition(',')[0]}"
        recorded = (ROOT / "docs" / file).read_text("utf-8").splitlines()
        places = [recorded.index(line) for line in quoted.splitlines()]
        assert places == sorted(places), file
        assert not transcript or quoted in "\n".join(recorded)


# Tables of notes beside the output that the same note shows


def rows_of(pattern: str, note: str) -> list[tuple[str, ...]]:
    """Return the numbers and words of each row of a table that fits the pattern."""
    return re.findall(pattern, printed.text(note), re.M)


@pytest.mark.parametrize("note", ["compiler/mlir", "compiler/mlir.en"])
def test_the_table_of_mlir_has_the_numbers_of_the_output(note: str) -> None:
    cpu = printed.by("MLIR", note)[1].split("for a GPU")[0]
    counted = re.findall(r"^  \w+ +(\d+):", cpu, re.M)
    assert counted
    assert rows_of(r"^\| [^|]+ \| (\d+) \|", note) == counted


@pytest.mark.parametrize("note", ["compiler/xla", "compiler/xla.en"])
def test_the_table_of_xla_has_the_rows_of_the_output(note: str) -> None:
    """Arguments and collectives of the ten cases, in the order of the program."""
    english = {"无": "none", "全归约": "all-reduce", "全收集": "all-gather"}
    lines = printed.by("jax", note)[1].splitlines()[2:-1]
    wanted = [re.findall(r" (\d+) +[\d.]+  (none|all-\w+ \d+)$", line)[0] for line in lines]
    rows = rows_of(r"^\| [^|]+ \| (\S+)( \d+)? \| (\d+) \|$", note)
    assert [(count, english.get(kind, kind) + size) for kind, size, count in rows] == wanted


@pytest.mark.parametrize("note", ["compiler/iree-tpumlir", "compiler/iree-tpumlir.en"])
def test_the_tables_of_iree_have_the_numbers_of_the_output(note: str) -> None:
    """Memory, concurrency, imports and sizes, in the order of the table; then sizes of files."""
    block = printed.by("IREE", note)[1]
    patterns = (
        r"transient: (\d+)", r"external: (\d+)", r"at the same time: (\d+)",
        r"imports (\d+)", r"bytecode: (\d+)", r"llvm-cpu\S+ \S+ +(\d+)", r"x86_64\.so (\d+)",
    )  # fmt: skip
    wanted = [re.findall(pattern, block)[0] for pattern in patterns]
    table = printed.text(note).split("| ---: |\n", 1)[1].split("\n\n")[0]
    first, *rows = [line.rsplit("|", 2)[1] for line in table.splitlines()]
    assert re.findall(r"\d+", " ".join(rows)) == wanted
    assert re.findall(r"\d+", first)[1:] == re.findall(r"(\d+) dispatches", block)
    files = re.findall(r"^  [\w, -]+? +(\d+)  module\.fb", block, re.M)
    assert len(files) == 4
    assert rows_of(r"^\| `(?:llvm|vmvx|vulkan|rocm)[^|]*\| (\d+) \|", note) == files


@pytest.mark.parametrize("note", ["compiler/tvm", "compiler/tvm.en"])
def test_the_tables_of_tvm_have_the_numbers_of_the_output(note: str) -> None:
    """Steps of each schedule, its multiply-adds and their elements; then wrong results."""
    block = printed.by("TVM", note)[1]
    counted = []
    for steps, *counts in re.findall(r"^  \w+ +(\d+) +(\d+) +(\d+) +(\d+)$", block, re.M):
        ((number, width),) = (
            one for one in zip(counts, ("1", "8", "16"), strict=True) if one[0] != "0"
        )
        counted.append((steps, number, width))
    assert len(counted) == 5
    row = r"^\| [^|]+ \| (\d+) \| (\d+)[^|\d]+(one|\d+)[^|]* \| [^|]+ \| [^|]+ \|$"
    rows = [(*one[:2], one[2].replace("one", "1")) for one in rows_of(row, note)]
    assert rows == counted
    wrong = set(re.findall(r"(\d+) of 4096 results wrong", block))
    assert wrong
    assert set(rows_of(r"^\| [^|]+ \| \d+ [^|\d]+ \d+ \| (\d+) \|$", note)) == wrong


# function and stage of the output, columns that are added, the sum, how the English note says it
LLVM = [
    ("root", "as emitted", slice(3, 5), 14, "14, then 0"),
    ("root", "sroa", slice(3, 5), 0, "14, then 0"),
    ("root", "sroa", slice(5, 6), 3, "| 3 |"),
    ("root", "O2", slice(0, 1), 1, "blocks left from a loop of 20 iterations | 1 |"),
    ("sum", "O2", slice(8, 9), 0, "vector instructions | 0 |"),
    ("sum", "O2, may reassociate", slice(8, 9), 21, "reordered: vector instructions | 21 |"),
    ("scale", "O2", slice(1, 2), 153, "instructions | 153 |"),
    ("scale", "O2, arrays apart", slice(1, 2), 80, "overlap: instructions | 80 |"),
    ("scale", "O2", slice(7, 8), 1, "1, before the loop"),
    ("scale", "O2, may reassociate", slice(7, 8), 6, "6, inside the loops"),
]


def test_the_table_of_llvm_is_what_the_program_printed() -> None:
    _, block = printed.by("llvmlite", "compiler/llvm.en")
    for function, stage, columns, number, said in LLVM:
        part = block[block.index(f"\n{function} ") :]
        (row,) = re.findall(rf"^  {re.escape(stage)} {{2,}}(.*)$", part, re.M)[:1]
        assert sum(int(one) for one in row.split()[columns]) == number
        assert said in printed.text("compiler/llvm.en")


@pytest.mark.parametrize("note", ["train/rl-systems", "train/rl-systems.en"])
def test_the_note_on_rl_systems_repeats_its_output(note: str) -> None:
    """The table, then sentences; that the program prints this is tested with all listings."""
    text = printed.text(note)
    (block,) = [one for _, one in printed.blocks(note) if "s/step" in one]
    lines = block.splitlines()
    cells = [line[26:].replace("%", " ").split() for line in lines[2:-2]]
    assert len(cells) == 7
    assert rows_of(r"^.*\| (\d+) \| ([\d,]+) \| ([\d.]+) \| ([\d,]+) \| (\d+)% \|$", note) == [
        (seconds, f"{int(rate):,}", batch, f"{int(length):,}", str(100 - int(fresh)))
        for seconds, rate, _, batch, length, _, fresh, *_ in cells
    ]
    share = re.findall(r"\((\d+)%\)", lines[-2])[0]
    assert text.count(f"{share}%") >= 3  # why, question, output
    assert f"{cells[2][0]} s" in text
    assert f"{float(cells[3][1]) / float(cells[0][1]) - 1:.0%}" == "10%"  # one step off
    assert cells[5][1] == cells[6][1]  # bound 4 is no faster than bound 2
    assert int(cells[5][9]) > 0  # bound 2, yet some three updates late
    assert int(cells[1][4]) < int(cells[0][4])  # dropping prefers short responses
