"""Every program a note shows is run, and prints what the note says it prints."""

from __future__ import annotations

import itertools
import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from hooks.notes.note import Note
from tests import ours
from tests.programs import printed

ROOT = Path(__file__).resolve().parents[2]
NOTES = ours.notes()


def listings(note: Note) -> list[tuple[str, str, str]]:
    """Return (place, command, printed) for each console block directly followed by its output."""
    pairs = []
    fences = list(note.source.fences)
    for block, following in itertools.pairwise(fences):
        is_command = block.info.startswith("console") and block.text.startswith("$ python ")
        if is_command and 'title="output"' in following.info:
            command = block.text.strip().removeprefix("$ ")
            pairs.append((f"{note.file}:{block.line}", command, following.text))
    return pairs


LISTINGS = [pair for note in NOTES.notes.values() for pair in listings(note)]


LONG = {  # seconds of work or of waiting each: with the slow tests
    "python docs/chip/code/hbm_channel.py",
    "python docs/chip/code/npu_tile.py",
    "python docs/eng/code/backfill.py --compare",
    "python docs/infer/code/night_shift.py",
    "python docs/infer/code/speculative.py",
    "python docs/link/ethernet/code/dcqcn.py",
    "python docs/link/ethernet/code/pfc.py",
    "python docs/link/topo/code/fabric_metrics.py",
    "python docs/storage/code/striping.py",
    "python docs/train/code/data_prep.py",
    "python docs/train/code/document_balance.py",
    "python docs/train/code/moe_balance.py --bytes",
    "python docs/train/code/moe_balance.py",
}


LONGER = {  # a quarter of a minute each: before a release
    "python docs/ccl/code/compression.py",
    "python docs/eng/code/ab.py",
    "python docs/eng/code/shell_traps.py",
    "python docs/infer/code/fleet_queue.py",
    "python docs/infer/code/fleet_route.py --scaling",
    "python docs/infer/code/quantize.py",
    "python docs/infer/code/quantize.py --outliers",
    "python docs/infer/code/serve_curves.py --pressure",
    "python docs/infer/code/sum_order.py",
    "python docs/link/ethernet/code/headroom.py",
    "python docs/link/infiniband/code/nic_caches.py",
    "python docs/link/noc/code/deadlock.py --loads",
    "python docs/train/code/rl_step.py",
}


def mark(command: str) -> list[pytest.MarkDecorator]:
    """Return how long a command takes, as a mark."""
    if command in LONGER:
        return [pytest.mark.release]
    return [pytest.mark.slow] if command in LONG else []


def runs() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return each command once, with every place that shows it and what it shows."""
    shown: dict[str, list[tuple[str, str]]] = {}
    for place, command, output in LISTINGS:
        shown.setdefault(command, []).append((place, output))
    return list(shown.items())


@pytest.mark.parametrize(
    ("command", "shown"),
    [pytest.param(*one, id=one[1][0][0], marks=mark(one[0])) for one in runs()],
)
def test_program_prints_what_the_notes_show(command: str, shown: list[tuple[str, str]]) -> None:
    """Each command is run once, whatever number of notes and languages show it."""
    assert "\n" not in command, "one command a block, so that its output is clear"
    words = shlex.split(command)
    assert words[1].startswith("docs/"), "run from the repository root"
    run = subprocess.run(
        [sys.executable, *words[1:]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    for place, output in shown:
        assert run.stdout.rstrip("\n") == output.rstrip("\n"), place


TOOLS = [  # what is not everywhere: the name that the note gives it, the program, the note
    ("MLIR", "mlir_steps", "mlir"),
    ("jax", "spmd", "xla"),
    ("IREE", "iree_phases", "iree-tpumlir"),
    ("TVM", "tvm_schedule", "tvm"),
    ("llvmlite", "pico", "llvm"),
]


@pytest.mark.parametrize(("tool", "program", "note"), TOOLS, ids=[one[0] for one in TOOLS])
def test_program_of_a_tool_prints_what_both_notes_show(tool: str, program: str, note: str) -> None:
    note = f"compiler/{note}"
    assert printed.by(tool, note) == printed.by(tool, f"{note}.en")
    printed.check(f"docs/compiler/code/{program}.py", tool, note)


RECORDS = sorted((ROOT / "docs").glob("**/simulated/*.json"))
MINUTES = {"load_latency", "serve_curves", "fleet_queue", "compression"}


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(
            path,
            id=path.stem,
            marks=pytest.mark.release if path.stem in MINUTES else pytest.mark.slow,
        )
        for path in RECORDS
        if path.stem != "disaggregation_sizing"  # a search of an hour: its own test samples it
    ],
)
def test_record_is_what_its_simulation_computes_now(record: Path) -> None:
    program = json.loads(record.read_text("utf-8"))["program"]["path"]
    run = subprocess.run(
        [sys.executable, program, "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr


def test_long_programs_are_shown_somewhere() -> None:
    assert {command for command, _ in runs()} >= LONG | LONGER


def test_both_languages_show_the_same_runs() -> None:
    by_note: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for note in NOTES.notes.values():
        runs = [one[1:] for one in listings(note)]
        by_note.setdefault(note.id, {})[note.language] = [
            (command.replace(" --language en", "").replace(" --language zh", ""), "")
            for command, _ in runs
        ]
    for note_id, languages in by_note.items():
        if len(languages) == 2:
            assert languages["zh"] == languages["en"], note_id
