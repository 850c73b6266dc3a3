"""Every program a note shows is run, and prints what the note says it prints."""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import shutil
from collections import defaultdict
from pathlib import Path

import pytest

from hooks.data import stale_programs
from hooks.data.measured import parse_record
from hooks.notes.note import Note
from tests import ours
from tests.programs import printed

ROOT = Path(__file__).resolve().parents[2]
NOTES = ours.notes()

LONG = {  # seconds of work or of waiting each: before a release
    "python docs/ccl/code/compression.py",
    "python docs/chip/code/hbm_channel.py",
    "python docs/chip/code/npu_tile.py",
    "python docs/eng/code/ab.py",
    "python docs/eng/code/backfill.py --compare",
    "python docs/eng/code/shell_traps.py",
    "python docs/infer/code/agent_turns.py",
    "python docs/infer/code/agent_turns.py --keep",
    "python docs/infer/code/fleet_queue.py",
    "python docs/infer/code/fleet_route.py --scaling",
    "python docs/infer/code/night_shift.py",
    "python docs/infer/code/quantize.py",
    "python docs/infer/code/quantize.py --outliers",
    "python docs/infer/code/serve_curves.py --pressure",
    "python docs/infer/code/speculative.py",
    "python docs/infer/code/sum_order.py",
    "python docs/link/ethernet/code/dcqcn.py",
    "python docs/link/ethernet/code/headroom.py",
    "python docs/link/ethernet/code/pfc.py",
    "python docs/link/infiniband/code/nic_caches.py",
    "python docs/link/noc/code/deadlock.py --loads",
    "python docs/link/topo/code/fabric_metrics.py",
    "python docs/storage/code/striping.py",
    "python docs/train/code/data_prep.py",
    "python docs/train/code/document_balance.py",
    "python docs/train/code/moe_balance.py",
    "python docs/train/code/moe_balance.py --bytes",
    "python docs/train/code/rl_step.py",
}


def listings(note: Note, start: str, title: str = 'output"') -> list[tuple[str, str, str]]:
    """Return (place, command, output) of each command that begins so and has its output below."""
    return [
        (f"{note.file}:{block.line}", command, following.text.strip("\n"))
        for block, following in itertools.pairwise(note.source.fences)
        if block.info.startswith("console") and re.match(rf'text title="({title})', following.info)
        if (command := block.text.strip().removeprefix("$ ")).startswith(start)
    ]


def runs(start: str, title: str = 'output"') -> dict[str, list[tuple[str, str]]]:
    """Return each command once, with every place that shows it and what it shows."""
    shown = defaultdict(list)
    for note in NOTES.notes.values():
        for place, command, output in listings(note, start, title):
            shown[command].append((place, output))
    return shown


PYTHON = runs("python ")


@pytest.mark.parametrize(
    "command",
    [pytest.param(one, id=one[7:], marks=[pytest.mark.release] * (one in LONG)) for one in PYTHON],
)
def test_program_prints_what_the_notes_show(command: str) -> None:
    """Each command is run once, whatever number of notes and languages show it."""
    assert "\n" not in command, "one command a block, so that its output is clear"
    words = shlex.split(command)
    assert words[1].startswith("docs/"), "run from the repository root"
    output = printed.by_python(*words[1:]).strip("\n")
    for place, shown in PYTHON[command]:
        assert output == shown, place


def test_long_programs_are_shown_somewhere() -> None:
    assert PYTHON.keys() >= LONG


def test_both_languages_show_the_same_runs() -> None:
    by_note: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for note in NOTES.notes.values():
        by_note[note.id][note.language] = [
            re.sub(" --language (zh|en)", "", command)
            for _, command, _ in listings(note, "python ")
        ]
    for note_id, languages in by_note.items():
        if len(languages) == 2:
            assert languages["zh"] == languages["en"], note_id


TOOLS = [  # what is not everywhere: the name that the note gives it, the program, the note
    ("MLIR", "mlir_steps", "mlir"),
    ("jax", "spmd", "xla"),
    ("IREE", "iree_phases", "iree-tpumlir"),
    ("TVM", "tvm_schedule", "tvm"),
    ("llvmlite", "pico", "llvm"),
    ("PyTorch", "dynamo_counts", "torch-compile"),
    ("PyTorch", "block_graphs", "compile-whole-models"),
    ("Triton", "triton_lowering", "triton"),
]


@pytest.mark.parametrize(("tool", "program", "note"), TOOLS, ids=[one[0] for one in TOOLS])
def test_program_of_a_tool_prints_what_both_notes_show(tool: str, program: str, note: str) -> None:
    note = f"compiler/{note}"
    assert printed.by(tool, note) == printed.by(tool, f"{note}.en")
    printed.check(f"docs/compiler/code/{program}.py", tool, note)


GCC = runs("gcc -std=c17 ", title="output|gcc")


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler on this machine")
@pytest.mark.parametrize("command", GCC)
def test_what_is_compiled_prints_what_the_notes_show(command: str, tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_"))}
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    output = printed.said("bash", "-c", command, cwd=tmp_path, env=environment)
    for place, shown in GCC[command]:
        assert output.strip() == shown.strip(), place


GLOO = "/usr/bin/python3 docs/ccl/code/gloo_allreduce.py compare 4 1003"


@pytest.mark.slow
def test_gloo_prints_what_both_notes_show() -> None:
    if not any(Path("/usr/lib/python3/dist-packages").glob("torch")):
        pytest.skip("no python3-torch of the system here")
    output = printed.said(*GLOO.split(), timeout=120)
    for note in ("ccl/others", "ccl/others.en"):
        assert f"$ {GLOO}\n```\n\n```text" in printed.text(note)
        assert output in printed.text(note)


RECORDS = sorted((ROOT / "docs").glob("**/simulated/*.json"))


def test_no_program_is_newer_than_its_record() -> None:
    texts = {path.stem: path.read_text("utf-8") for path in RECORDS}
    assert [one for one, text in texts.items() if stale_programs(parse_record(text), ROOT)] == []


@pytest.mark.release  # in between, that no program is newer than its record
@pytest.mark.parametrize(
    "record",
    [
        pytest.param(path, id=path.stem)
        for path in RECORDS
        # A search of an hour, which its own test samples; and what runs beside measurements alone.
        if path.stem not in ("disaggregation_sizing", "kv_pool")
    ],
)
def test_record_is_what_its_simulation_computes_now(record: Path) -> None:
    printed.by_python(json.loads(record.read_text("utf-8"))["program"]["path"], "--check")
