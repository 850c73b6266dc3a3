"""C programs and methods of performance: they check themselves and print what the notes show."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.programs import printed
from tools.figures.files import ROOT

SIMD, PERF = ROOT / "docs/hpc/simd/code", ROOT / "docs/hpc/perf/code"
GNU = ["-std=gnu17", "-Wpedantic", "-pthread"]
VECTOR_EXP = ["-O3", "-fopenmp-simd", "-fno-math-errno"]
(ddr,) = printed.load("chip/code", "ddr")
(noise,) = printed.load("hpc/perf/code", "noise")
ON_X86 = platform.machine() == "x86_64" and shutil.which("gcc") is not None
GCC_12 = pytest.mark.skipif(
    not (ON_X86 and printed.said("gcc", "-dumpversion").startswith("12")),
    reason="the notes show what GCC 12 for x86-64 makes",
)


def assembly(source: Path, *options: str) -> str:
    return printed.said("gcc", *options, "-S", "-o", "-", source)


@pytest.mark.parametrize(
    ("options", "begin"), [([], "strict"), pytest.param(["-ffast-math"], "fast", marks=GCC_12)]
)
def test_fast_math_changes_what_the_notes_say(
    options: list[str], begin: str, tmp_path: Path
) -> None:
    program = printed.compiled(tmp_path, SIMD / "rounding.c", *GNU, "-O3", *options)
    said = printed.said(program)
    for note in ("hpc/simd/autovec", "hpc/simd/autovec.en"):
        assert said.rstrip("\n") in printed.text(note)
    if begin == "strict":  # IEEE arithmetic: the same everywhere
        assert "Kahan:      1000000\n" in said
    else:
        assert "1000000" not in said  # the compensation is gone
        assert "isnan(0/0):             false" in said


@GCC_12
def test_the_report_is_what_gcc_says() -> None:
    said = printed.by_python(SIMD / "report.py").strip()
    for note in ("hpc/simd/autovec", "hpc/simd/autovec.en"):
        assert said in [block.strip() for _, block in printed.blocks(note)]


@GCC_12
def test_a_declared_expf_is_called_eight_at_a_time_without_fast_math() -> None:
    made = assembly(SIMD / "vector_exp.c", *GNU, *VECTOR_EXP, "-march=x86-64-v3")
    assert "_ZGVdN8v_expf" in made


def test_pairs_of_bytes_saturate_where_the_notes_say(tmp_path: Path) -> None:
    program = printed.compiled(tmp_path, SIMD / "int8.c", *GNU, "-O3", "-fno-tree-vectorize")
    said = {line for line in printed.said(program).splitlines() if "skipped" not in line}
    for note in ("hpc/simd/intrinsics", "hpc/simd/intrinsics.en"):
        ((_, shown),) = [one for one in printed.blocks(note) if one[1].startswith("255 times")]
        assert said <= set(shown.splitlines())


@GCC_12
@pytest.mark.parametrize(
    ("machine", "compiler"),
    [("x86", "gcc"), ("aarch64", "aarch64-linux-gnu-gcc"), ("mips", "mips-linux-gnu-gcc")],
)
def test_listings_are_what_the_compilers_make(machine: str, compiler: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    made = printed.said(ROOT / "docs/hpc/code/listing.sh", machine).rstrip("\n")
    assert all(made in printed.text(note) for note in ("hpc/asm", "hpc/asm.en"))


def test_bandwidth_of_a_socket() -> None:
    assert ddr.bandwidth(8, 4800) == pytest.approx(307.2)
    assert ddr.lines_in_flight(307.2, 100) == pytest.approx(480)


def test_laws_and_statistics_of_the_method() -> None:
    assert noise.amdahl(0.04, 4) == pytest.approx(100 / 28)
    assert noise.gustafson(0.04, 4) == pytest.approx(3.88)
    few, many = (noise.seen(runs, noise.statistics.mean) for runs in (5, 25))
    assert few > many  # interruptions: a longer mean is a worse one
    assert noise.seen(25, noise.statistics.median) > 0.99


# Three planted faults, and what their repairs do


def reads(program: Path, stage: int) -> tuple[str, int]:
    """Return the checksum, and how often the program asked the system to read."""
    command = [str(program), str(stage)]
    with subprocess.Popen(command, cwd=program.parent, stdout=subprocess.PIPE, text=True) as one:
        os.waitid(os.P_PID, one.pid, os.WEXITED | os.WNOWAIT)
        asked = Path(f"/proc/{one.pid}/io").read_text("utf-8")
        said = one.communicate()[0]
    return said.split("checksum")[1], int(re.findall(r"syscr: (\d+)", asked)[0])


def test_repairs_keep_the_counts_and_the_third_reads_in_large_pieces(tmp_path: Path) -> None:
    if not Path("/proc/self/io").exists():
        pytest.skip("this kernel does not count")
    options = ["-O2", "-g", "-fno-omit-frame-pointer", "-pthread"]
    program = printed.compiled(tmp_path, PERF / "three_faults.c", *options)
    (first, _), (second, small), (third, large) = (reads(program, stage) for stage in (1, 2, 3))
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
    said = printed.by_python(PERF / "three_faults.py", "fold", "2", input=samples)
    assert said == " 66.7% main;caller\n 33.3% main;other\n"


# Pairs, estimates, parallel sums


@pytest.mark.parametrize(("ratio", "verdict"), [(0.9, "faster"), (1.1, "slower"), (1.0, "none")])
def test_pairs_of_a_file_are_judged(tmp_path: Path, ratio: float, verdict: str) -> None:
    """A drift that both sides of a pair share does not reach the verdict."""
    noise = [0.997, 1.004, 1.0, 0.999, 1.002, 0.996, 1.003, 1.001, 0.998, 1.0, 1.005, 0.995]
    pairs = [(1 + place, (1 + place) * ratio * one) for place, one in enumerate(noise)]
    file = tmp_path / "pairs.txt"
    file.write_text("".join(f"{a} {b}\n" for a, b in pairs), encoding="utf-8")
    said = printed.by_python("docs/eng/code/ab.py", file)
    low, high = (float(one) for one in re.findall(r"interval ([\d.]+) to ([\d.]+)", said)[0])
    assert ("faster" if high < 1 else "slower" if low > 1 else "none") == verdict


def test_the_estimate_of_a_thin_product_is_its_bytes() -> None:
    said = printed.by_python(PERF / "gemm_estimate.py", "1", "8192", "8192")
    seconds = dict(re.findall(r"(?m)^(sheet|rates) +([\d.]+) us", said))
    assert float(seconds["sheet"]) == pytest.approx(2 * 8192**2 / 3.35e6, rel=0.01)
    assert float(seconds["rates"]) > float(seconds["sheet"])


@pytest.mark.skipif(not ON_X86, reason="no gcc for x86-64 here")
def test_each_way_has_the_chains_that_the_note_says() -> None:
    """Additions from memory in the loop: the compiler has not made vectors of the chains."""
    options = ["-O2", "-march=x86-64-v3", "-fno-tree-vectorize"]
    made = assembly(PERF / "parallel_sum.c", *options)
    for function, *chains in (
        *(("one_chain", 1, 0), ("eight_chains", 8, 0)),
        *(("one_vector", 0, 1), ("eight_vectors", 0, 8)),
    ):
        body = made.partition(f"\n{function}:")[2].partition(".cfi_endproc")[0]
        loads = re.findall(r"vadd(sd|pd)\t[^%\n]*\(", body)
        assert [loads.count("sd"), loads.count("pd")] == chains, function


def test_all_ways_sum_to_the_same(tmp_path: Path) -> None:
    options = ["-O2", "-march=native", "-fno-tree-vectorize", "-pthread"]
    program = printed.compiled(tmp_path, PERF / "parallel_sum.c", *options)
    # it ends itself if a sum is wrong
    assert len(re.findall(r"([\d.]+) per ns", printed.said(program))) == 6


# OpenMP: the race of the note on data


def test_the_race_is_found_and_the_cures_are_right(tmp_path: Path) -> None:
    source, program = ROOT / "docs/hpc/openmp/code/race.c", tmp_path / "race"
    flags = ["-std=c17", "-g", "-O1", "-fopenmp", "-fsanitize=thread"]
    if (
        shutil.which("gcc") is None
        or subprocess.run(
            ["gcc", *flags, "-o", program, source], capture_output=True, check=False
        ).returncode
    ):
        pytest.skip("no gcc with ThreadSanitizer here")
    found = subprocess.run([program, "race"], capture_output=True, text=True, check=False)
    if "unexpected memory mapping" in found.stderr:
        pytest.skip("ThreadSanitizer does not run on this kernel")
    line = source.read_text("utf-8").split("sum += i;  // read")[0].count("\n") + 1
    assert found.returncode == 66
    assert re.search(rf"SUMMARY: .*race\.c:{line}\b", found.stderr)
    for way in ("atomic", "reduction", "barrier"):
        cured = subprocess.run([program, way], capture_output=True, text=True, check=False)
        assert f"{way}: right" in cured.stdout
