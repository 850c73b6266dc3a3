"""Native code: C++ that is wrong and found, links that break, the script that starts jobs."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

from tests.programs import printed
from tools.figures.files import ROOT

CODE = ROOT / "docs/eng/code"
NEEDS_GXX = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("g++") is None, reason="no g++ for Linux here"
)
IS_GXX_12 = bool(shutil.which("g++")) and printed.said("g++", "-dumpversion").startswith("12")
(lab,) = printed.load("eng/code", "cpp_lab")

# cpp_lab


@pytest.fixture(scope="module")
def tsan(tmp_path_factory: pytest.TempPathFactory) -> bool:
    """Whether its runtime starts here: it does not like every layout of memory."""
    program = str(tmp_path_factory.mktemp("tsan") / "empty")
    command = ["g++", "-fsanitize=thread", "-x", "c++", "-", "-o", program]
    built = subprocess.run(command, input=b"int main() {}", capture_output=True, check=False)
    return built.returncode == 0 and lab.run(program)[0] == 0


@NEEDS_GXX
@pytest.mark.parametrize(
    "part", [pytest.param("bugs", marks=pytest.mark.release), "border", "twins", "order"]
)
def test_the_notes_show_what_the_lab_prints(part: str, tsan: bool) -> None:
    if not IS_GXX_12:
        pytest.skip("the note shows what g++ 12 says")
    if part == "border" and sys.version_info[:2] != (3, 11):
        pytest.skip("the note shows how Python 3.11 ends")
    if part == "border" and not Path(sysconfig.get_path("include"), "Python.h").exists():
        pytest.skip("no headers of this Python")
    if part in {"bugs", "order"} and not tsan:
        pytest.skip("ThreadSanitizer does not run here")
    said = printed.by_python(CODE / "cpp_lab.py", part).partition("\n")[2].strip("\n")
    for note in ("eng/cpp", "eng/cpp.en"):
        assert [one for title, one in printed.blocks(note) if title.startswith(f"{part}, g++")] == [
            said
        ]


FOUND_BY = {
    **dict.fromkeys(("index32", "view", "span"), "asan+ubsan"),
    "past": "asserts",
    **dict.fromkeys(("flag", "relaxed"), "tsan"),
}


@NEEDS_GXX
@pytest.mark.skipif(IS_GXX_12, reason="the table of the note covers it")
@pytest.mark.parametrize("name", FOUND_BY)
def test_some_way_finds_it_with_any_compiler(name: str, tmp_path: Path, tsan: bool) -> None:
    if FOUND_BY[name] == "tsan" and not tsan:
        pytest.skip("ThreadSanitizer does not run here")
    assert lab.verdict(name, FOUND_BY[name], tmp_path / name) == "found"


@NEEDS_GXX
def test_a_stricter_warning_names_the_alias(tmp_path: Path) -> None:
    out = tmp_path / "alias"
    assert not lab.build("alias.cpp", out, *lab.WAYS["-Wall"])
    assert "strict-aliasing" in lab.build("alias.cpp", out, "-O2", "-Wstrict-aliasing=2")


@NEEDS_GXX
def test_the_recorded_costs_are_those_of_the_program(tmp_path: Path) -> None:
    def cases(text: str) -> list[str]:
        return [re.split(r"\s{2,}", line)[0] for line in text.splitlines() if line[:1] != "#"]

    lab.build("costs.cpp", tmp_path / "costs", "-O2")
    recorded = (ROOT / "docs/eng/traces/cpp_costs.txt").read_text("utf-8")
    assert cases(printed.said(tmp_path / "costs", "10000")) == cases(recorded)


@NEEDS_GXX
@pytest.mark.skipif(
    not Path("/usr/local/cuda/include/cuda_runtime_api.h").exists(), reason="no CUDA headers"
)
def test_the_owners_compile() -> None:
    flags = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I/usr/local/cuda/include"]
    printed.said(*lab.GXX, *flags, CODE / "cpp/stream.cpp")


# native_lab: loader and debugger


@NEEDS_GXX
def test_the_notes_show_what_loader_and_debugger_say() -> None:
    said = re.split(r"(?m)^(?=\d [a-z ]+$)", printed.by_python(CODE / "native_lab.py"))[1:]
    assert len(said) == 5
    for case, session in enumerate((one.partition("\n")[2].strip() for one in said), 1):
        if case == 5 and shutil.which("gdb") is None:
            pytest.skip("no gdb")
        assert session
        assert session in printed.text("eng/debug-native"), case
        assert session in printed.text("eng/debug-native.en"), case


# job.sh: the wrapper does what the note says of it


def start(run: Path, *command: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["bash", str(CODE / "job.sh"), *command],
        env=os.environ | {"RUN": str(run)},
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(job: subprocess.Popen[str]) -> int:
    """Wait until a job has ended; return its status."""
    job.communicate(timeout=60)
    return job.returncode


def until(path: Path, text: str) -> str:
    """Wait until the job has written that into its log; return the log."""
    end = time.monotonic() + 60
    while not (path.exists() and text in path.read_text("utf-8")):
        assert time.monotonic() < end, f"{text!r} never came"
        time.sleep(0.02)
    return path.read_text("utf-8")


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
    assert ended(start(tmp_path / "run", *command)) == status


def test_a_signal_reaches_the_job_and_its_status_comes_back(tmp_path: Path) -> None:
    script = "trap 'echo saved; exit 7' TERM; echo ready; while :; do sleep 0.05; done"
    job = start(tmp_path, "bash", "-c", script)
    until(tmp_path / "log", "ready")
    job.terminate()
    assert ended(job) == 7
    assert (tmp_path / "log").read_text("utf-8").splitlines() == ["ready", "saved"]


# ends at the very moment of the signal, so that bash may have reaped it before it asks
QUICK = (
    "import os, signal;"
    "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM]);"  # none is lost before the wait
    "print(os.environ['SPT_NOENV'], flush=True);"
    "signal.sigwait([signal.SIGTERM]); os._exit(7)"
)


def test_a_job_that_ends_at_once_keeps_its_status(tmp_path: Path) -> None:
    for number in range(8):
        job = start(tmp_path / str(number), sys.executable, "-S", "-c", QUICK)
        until(tmp_path / str(number) / "log", "1\n")
        job.terminate()
        assert ended(job) == 7


# the job starts a process in a session of its own, without the files of its parent
WORKER = (
    "import subprocess, sys;"
    "w = subprocess.Popen(['sleep', '600'], start_new_session=True, stdout=subprocess.DEVNULL);"
    "print('worker', w.pid, flush=True); w.wait()"
)


def with_worker(run: Path) -> tuple[subprocess.Popen[str], int, int]:
    """Start a job that has a worker; return it with its own process and the worker's."""
    job = start(run, sys.executable, "-c", WORKER)
    worker = int(until(run / "log", "\n").split()[1])
    children = Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text("utf-8")
    return job, int(children.split()[0]), worker


def until_ended(pid: int) -> None:
    """Wait until a process is gone, or a zombie."""
    end = time.monotonic() + 60
    stat = Path(f"/proc/{pid}/stat")
    while stat.exists() and stat.read_text("utf-8").rsplit(")", 1)[1].split()[0] != "Z":
        assert time.monotonic() < end
        time.sleep(0.02)


def test_workers_of_a_killed_job_end_with_it(tmp_path: Path) -> None:
    job, mine, worker = with_worker(tmp_path)
    os.kill(mine, signal.SIGKILL)
    assert ended(job) == 137
    until_ended(worker)


def test_no_start_beside_another_or_beside_its_workers(tmp_path: Path) -> None:
    job, mine, worker = with_worker(tmp_path)
    second = start(tmp_path, "true")
    assert "already started" in second.communicate()[1]
    job.kill()
    job.wait()
    os.kill(mine, signal.SIGKILL)
    until_ended(mine)
    third = start(tmp_path, "true")
    assert str(worker) in third.communicate()[1]
    assert (second.returncode, third.returncode) == (75, 75)
    os.kill(worker, signal.SIGKILL)
    until_ended(worker)
    assert ended(start(tmp_path, "true")) == 0
