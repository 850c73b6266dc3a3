"""The field kit beside jobs: the roll call of ranks, fits, storage, and what is read of a job."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from tools.figures.files import load_program

common, links, storage, watch = (
    load_program(f"kit/code/{name}.py")
    for name in ("common", "check_links", "check_storage", "watch_job")
)
STAGES = ["meeting", "all-reduce"]
SMI = """0, 690.1, 700.00, 1755, 66, 100, 0x0000000000000024, 0
1, 80.0, 700.00, 345, 31, 0, 0x1, [N/A]"""
XID = "[1.2] NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus."
TORCH = Path("/usr/bin/python3"), Path("/usr/lib/python3/dist-packages/torch")

# What is called, with what, and what it gives
CALLS: list[tuple[Any, tuple[Any, ...], Any]] = [
    (links.roll, ([2, 0], [True, False], STAGES), "  rank 1 has not arrived: it never started"),
    (links.roll, ([2, 1], [True, True], STAGES),
     "  rank 1 has not arrived, but lives: last seen at 'meeting'"),
    (links.roll, ([2, 2], [True, False], STAGES),
     "  rank 1 shows no sign of life, last seen at 'all-reduce': it has ended, or its host"),
    (lambda *a: "all ranks have arrived" in links.roll(*a), ([2, 2], [True, True], STAGES), True),
    (lambda n: {frozenset(p) for r in links.rounds(n) for p in r} ==
     {frozenset((a, b)) for a in range(n) for b in range(a)}, (7,), True),
    (links.slowest, ({(0, 1): 9.0, (0, 2): 4.0, (1, 2): 4.0},), (2, 4.0)),
    (links.shown, (3 << 29,), "1.5GiB"),
    (watch.doing, (watch.gpus_of(SMI),),
     "GPU 1 idle, the others busy: look at the rank of the idle one"),
    (watch.doing, (watch.gpus_of(SMI)[1:],), watch.IDLE),
    (lambda line: watch.KERNEL.search(line)["xid"], (XID,), "79"),
    (watch.slow_ranks,
     ({s: {0: 1.0, 1: 1.0, 2: 1.1, 3: 1.0 + (s % 5 == 0)} for s in range(10)}, 0.03),
     {2: "always, +10.0%", 3: "2 of 10 steps, up to +100%"}),
]  # fmt: skip


@pytest.mark.parametrize("case", CALLS)
def test_what_is_made_of_what_was_seen(case: tuple[Any, tuple[Any, ...], Any]) -> None:
    assert case[0](*case[1]) == case[2]


# Variables of a launcher: rank, ranks, rank on the node, whether this one holds the store
PLACES: list[tuple[str, tuple[int, int, int, bool]]] = [
    ("RANK=3 WORLD_SIZE=4 LOCAL_RANK=1 SLURM_PROCID=0 MASTER_ADDR=a", (3, 4, 1, False)),
    ("RANK=0 WORLD_SIZE=2 MASTER_ADDR=a TORCHELASTIC_USE_AGENT_STORE=True", (0, 2, 0, False)),
    ("OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 SLURM_PROCID=0", (0, 2, 0, True)),
    ("SLURM_PROCID=9 SLURM_STEP_NUM_TASKS=16 SLURM_LOCALID=1 SLURM_STEP_TASKS_PER_NODE=8(x2)"
     " MASTER_ADDR=a", (9, 16, 1, False)),
    ("", (0, 1, 0, True)),
]  # fmt: skip


@pytest.mark.parametrize("case", PLACES)
def test_ranks_are_known_by_any_launcher(case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", dict(one.split("=") for one in case[0].split()))
    at = common.place()
    assert (at["rank"], at["world"], at["local"], at["hosts"]) == case[1]


def test_a_stall_and_a_slow_rank_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "run", lambda *_, **__: None)
    how = {"log": str(tmp_path / "rank*.log"), "beats": None, "step": watch.STEP}
    job = watch.Job(argparse.Namespace(**how, times=5, least=3, over=0.03))
    for step in range(40):
        for rank in (0, 1):
            with (tmp_path / f"rank{rank}.log").open("a") as log:
                print(f"step {step} compute={1.1 if rank else 1.0}", file=log)
        job.look(float(step))
    job.look(60.0)
    assert job.kept("slow rank", "rank") == "1"
    assert job.kept("stall", "ranks") == "[0, 1]"


@pytest.mark.parametrize(("wanted", "status"), [("write=0.0001", 0), ("write=1e9", 1)])
def test_storage_is_judged_by_what_was_promised(wanted: str, status: int) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:  # no disk that other tests use
        judged(Path(folder), wanted, status)


def judged(tmp_path: Path, wanted: str, status: int) -> None:
    command = [sys.executable, storage.__file__, "--path", tmp_path, "--gb", "0.02", "--sections"]
    command += ["small,checkpoint", "--files", "9", "--expect", wanted, "--json", tmp_path / "s"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == status
    if not status:
        again = [*command, "--against", tmp_path / "s"]
        assert b"(your run, " in subprocess.run(again, capture_output=True, check=False).stdout
    assert {path.name for path in tmp_path.iterdir()} == {"s"}
    assert json.loads((tmp_path / "s").read_text())["program"] == "check_storage.py"


@pytest.mark.parametrize(
    ("told", "rate"), [(["1 0 8 0 1 0 8", "9 0 1000008 0 9 0 8"], 0.512), ([], 0)]
)
def test_a_disk_that_others_use_is_seen(
    monkeypatch: pytest.MonkeyPatch, told: list[str], rate: float
) -> None:
    monkeypatch.setattr(storage, "read", lambda _: told.pop(0) if told else None)
    assert storage.others("/", 0.001) == pytest.approx(1000 * rate)


# What befalls the second of two ranks; the exit status of the first, and what it says
BEFALLS = [("", 0, "all-to-all"), ("late", 0, "1 has not arrived"), ("killed", 2, "sign of life")]


@pytest.mark.slow
@pytest.mark.parametrize(("what", "status", "said"), BEFALLS)
def test_two_ranks(what: str, status: int, said: str, tmp_path: Path) -> None:
    if not TORCH[1].exists():
        pytest.skip("no python3-torch of the system here")
    port = str(20000 + os.getpid() % 9000)
    env = {**os.environ, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    size = 64 << 20 if what == "killed" else 4096
    # It gives up after three times its patience: a late rank on a busy machine takes its time too.
    patience = "15" if what == "late" else "5"
    command = [TORCH[0], links.__file__, "--patience", patience, "--max-size", str(size)]
    jobs, log = [], tmp_path / "0"

    def printed(text: str) -> None:
        until = time.monotonic() + 120
        while text not in log.read_text():
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.1)

    with log.open("w") as file:
        for rank in ("0", "1"):
            if rank == "1" and what == "late":
                printed("has not arrived")
            out = file if rank == "0" else subprocess.DEVNULL
            env.update(RANK=rank, LOCAL_RANK=rank, OMP_NUM_THREADS="1")
            jobs.append(subprocess.Popen(command, env=env, stdout=out, stderr=out))
        if what == "killed":
            printed("GB/s")
            jobs[1].kill()
        assert jobs[0].wait(timeout=90) == status
    jobs[1].wait(timeout=30)
    assert said in log.read_text()
