"""The note on scripts that start jobs: the wrapper does what the note says of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CODE = ROOT / "docs/eng/code"


def start(run: Path, *command: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["bash", str(CODE / "job.sh"), *command],
        env=os.environ | {"RUN": str(run)},
        stderr=subprocess.PIPE,
        text=True,
    )


def until(path: Path, text: str) -> None:
    """Waits until the job has written that into its log."""
    end = time.monotonic() + 60
    while not (path.exists() and text in path.read_text("utf-8")):
        assert time.monotonic() < end, f"{text!r} never came"
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("command", "status"),
    [
        (["true"], 0),
        (["bash", "-c", "exit 3"], 3),
        (["bash", "-c", "kill -9 $$"], 137),
        (["no-such-program"], 127),
    ],
)
def test_the_status_is_the_jobs(tmp_path: Path, command: list[str], status: int) -> None:
    job = start(tmp_path / "run", *command)
    job.communicate()
    assert job.returncode == status


def test_a_signal_reaches_the_job_and_its_status_comes_back(tmp_path: Path) -> None:
    script = "trap 'echo saved; exit 7' TERM; echo ready; while :; do sleep 0.05; done"
    job = start(tmp_path, "bash", "-c", script)
    until(tmp_path / "log", "ready")
    job.terminate()
    job.communicate(timeout=60)
    assert job.returncode == 7
    assert (tmp_path / "log").read_text("utf-8").splitlines() == ["ready", "saved"]


# ends at the very moment of the signal, so that bash may have reaped it before it asks
QUICK = (
    "import os, signal;"
    "signal.signal(signal.SIGTERM, lambda *_: os._exit(7));"
    "print(os.environ['SPT_NOENV'], flush=True);"
    "[signal.pause() for _ in iter(int, 1)]"
)


def test_a_job_that_ends_at_once_keeps_its_status(tmp_path: Path) -> None:
    for number in range(8):
        job = start(tmp_path / str(number), sys.executable, "-S", "-c", QUICK)
        until(tmp_path / str(number) / "log", "1\n")
        job.terminate()
        job.communicate(timeout=60)
        assert job.returncode == 7


# the job starts a process in a session of its own, without the files of its parent
WORKER = (
    "import subprocess, sys;"
    "w = subprocess.Popen(['sleep', '600'], start_new_session=True, stdout=subprocess.DEVNULL);"
    "print('worker', w.pid, flush=True); w.wait()"
)


def runs(pid: int) -> bool:
    """True where the process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def worker(log: Path) -> int:
    until(log, "\n")
    return int(log.read_text("utf-8").split()[1])


def test_workers_of_a_killed_job_end_with_it(tmp_path: Path) -> None:
    job = start(tmp_path, sys.executable, "-c", WORKER)
    left = worker(tmp_path / "log")
    mine = Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text("utf-8").split()
    os.kill(int(mine[0]), signal.SIGKILL)
    job.communicate(timeout=60)
    assert job.returncode == 137
    until_ended(left)


def until_ended(pid: int) -> None:
    end = time.monotonic() + 60
    while runs(pid):
        assert time.monotonic() < end
        time.sleep(0.02)


def test_no_start_beside_another_or_beside_its_workers(tmp_path: Path) -> None:
    job = start(tmp_path, sys.executable, "-c", WORKER)
    left = worker(tmp_path / "log")
    second = start(tmp_path, "true")
    assert "already started" in second.communicate()[1]
    mine = Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text("utf-8").split()
    job.kill()
    job.wait()
    os.kill(int(mine[0]), signal.SIGKILL)
    until_ended(int(mine[0]))
    third = start(tmp_path, "true")
    assert str(left) in third.communicate()[1]
    assert (second.returncode, third.returncode) == (75, 75)
    os.kill(left, signal.SIGKILL)
    until_ended(left)
    fourth = start(tmp_path, "true")
    assert fourth.wait() == 0
