"""The programs of the notes on performance: planted faults, and what their notes show."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PERF = ROOT / "docs/hpc/perf"
LAB = PERF / "code/three_faults.py"
TRACES = (PERF / "traces/three_faults.txt").read_text("utf-8")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if sys.platform != "linux" or shutil.which("gcc") is None:
        pytest.skip("no gcc for Linux here")
    program = tmp_path_factory.mktemp("faults") / "three_faults"
    options = ["-O2", "-g", "-fno-omit-frame-pointer", "-pthread"]
    subprocess.run(["gcc", *options, "-o", program, PERF / "code/three_faults.c"], check=True)
    return program


def reads(built: Path, stage: int) -> tuple[str, int]:
    """Return the checksum, and how often the program asked the system to read."""
    command = [str(built), str(stage)]
    with subprocess.Popen(command, cwd=built.parent, stdout=subprocess.PIPE, text=True) as one:
        os.waitid(os.P_PID, one.pid, os.WEXITED | os.WNOWAIT)
        asked = Path(f"/proc/{one.pid}/io").read_text("utf-8")
        said = one.communicate()[0]
    return said.split("checksum")[1], int(re.findall(r"syscr: (\d+)", asked)[0])


def test_repairs_keep_the_counts_and_the_third_reads_in_large_pieces(built: Path) -> None:
    if not Path("/proc/self/io").exists():
        pytest.skip("this kernel does not count")
    (first, _), (second, small), (third, large) = (reads(built, stage) for stage in (1, 2, 3))
    assert first == second == third
    records = 1 << 21
    assert small >= records
    assert large < records / 1000


def test_stacks_are_folded_from_the_outermost_frame() -> None:
    samples = """prog 12 1.0: event:
            7f01 leaf+0x1 (/lib/libc.so)
            5502 caller+0x2 (/bin/prog)
            5501 main (/bin/prog)

prog 12 1.1: event:
            5503 other+0x2 (/bin/prog)
            5501 main+0x9 (/bin/prog)

prog 12 1.2: event:
            7f09 leaf+0x9 (/lib/libc.so)
            5502 caller+0x2 (/bin/prog)
            5501 main+0x9 (/bin/prog)
"""
    said = subprocess.run(
        [sys.executable, LAB, "fold", "2"],
        input=samples,
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout == " 66.7% main;caller\n 33.3% main;other\n"


@pytest.mark.parametrize("language", ["", ".en"])
def test_the_note_shows_what_the_tools_said(language: str) -> None:
    note = (PERF / f"linux-tools{language}.md").read_text("utf-8")
    shown = re.findall(r'```text title="[^"]*"\n(.*?)\n```', note, re.DOTALL)
    assert len(shown) >= 7
    for block in shown:
        assert block in TRACES


@pytest.mark.parametrize(
    ("ratio", "verdict"), [(0.9, "faster"), (1.1, "slower"), (1.0, "none")], ids=str
)
def test_pairs_of_a_file_are_judged(tmp_path: Path, ratio: float, verdict: str) -> None:
    """A drift that both sides of a pair share does not reach the verdict."""
    noise = [0.997, 1.004, 1.0, 0.999, 1.002, 0.996, 1.003, 1.001, 0.998, 1.0, 1.005, 0.995]
    pairs = [(1 + place, (1 + place) * ratio * one) for place, one in enumerate(noise)]
    file = tmp_path / "pairs.txt"
    file.write_text("".join(f"{a} {b}\n" for a, b in pairs), encoding="utf-8")
    said = subprocess.run(
        [sys.executable, ROOT / "docs/eng/code/ab.py", file],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    low, high = (float(one) for one in re.findall(r"interval ([\d.]+) to ([\d.]+)", said)[0])
    assert ("faster" if high < 1 else "slower" if low > 1 else "none") == verdict


def test_the_estimate_of_a_thin_product_is_its_bytes() -> None:
    said = subprocess.run(
        [sys.executable, PERF / "code/gemm_estimate.py", "1", "8192", "8192"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    seconds = dict(re.findall(r"(?m)^(sheet|rates) +([\d.]+) us", said))
    assert float(seconds["sheet"]) == pytest.approx(2 * 8192**2 / 3.35e6, rel=0.01)
    assert float(seconds["rates"]) > float(seconds["sheet"])


def test_all_ways_sum_to_the_same(tmp_path: Path) -> None:
    if sys.platform != "linux" or shutil.which("gcc") is None:
        pytest.skip("no gcc for Linux here")
    program = tmp_path / "parallel_sum"
    options = ["-O2", "-march=native", "-fno-tree-vectorize", "-pthread"]
    subprocess.run(["gcc", *options, "-o", program, PERF / "code/parallel_sum.c"], check=True)
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert len(re.findall(r"([\d.]+) per ns", said)) == 6  # it ends itself if a sum is wrong


@pytest.mark.parametrize(
    ("function", "scalar", "wide"),
    [("one_chain", 1, 0), ("eight_chains", 8, 0), ("one_vector", 0, 1), ("eight_vectors", 0, 8)],
)
def test_each_way_has_the_chains_that_the_note_says(function: str, scalar: int, wide: int) -> None:
    """Additions from memory in the loop: the compiler has not made vectors of the chains."""
    if platform.machine() != "x86_64" or shutil.which("gcc") is None:
        pytest.skip("no gcc for x86-64 here")
    options = ["-O2", "-march=x86-64-v3", "-fno-tree-vectorize", "-S", "-o", "-"]
    said = subprocess.run(
        ["gcc", *options, PERF / "code/parallel_sum.c"], capture_output=True, text=True, check=True
    ).stdout
    body = said.partition(f"\n{function}:")[2].partition(".cfi_endproc")[0]
    loads = re.findall(r"vadd(sd|pd)\t[^%\n]*\(", body)
    assert (loads.count("sd"), loads.count("pd")) == (scalar, wide)


@pytest.mark.parametrize("language", ["", ".en"])
def test_the_note_on_parallelism_shows_its_record(language: str) -> None:
    note = (PERF / f"ilp-parallel{language}.md").read_text("utf-8")
    shown = re.findall(r'```text title="[^"]*"\n(.*?)\n```', note, re.DOTALL)
    assert len(shown) == 1
    assert shown[0] in (PERF / "traces/parallel_sum.txt").read_text("utf-8")
