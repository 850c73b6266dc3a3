"""The C programs of SIMD and the CPU: they check themselves and print what the notes show."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tools.figures.files import ROOT, load_program

CODE = ROOT / "docs/hpc/simd/code"
CHIP = ROOT / "docs/chip/code"
GNU = ["-std=gnu17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-pthread"]
VECTOR_EXP = ["-O3", "-fopenmp-simd", "-fno-math-errno"]
PROGRAMS = {
    "cpu_report": (CODE / "cpu_report.c", ["-O2"]),
    "clock": (CODE / "clock.c", ["-O2"]),
    "ladder": (CODE / "ladder.c", ["-O3", "-fno-tree-vectorize"]),
    "int8": (CODE / "int8.c", ["-O3", "-fno-tree-vectorize"]),
    "gemm_kernel": (CODE / "gemm_kernel.c", ["-O3"]),
    "vector_exp": (CODE / "vector_exp.c", VECTOR_EXP),
    "arm": (CODE / "arm.c", ["-O2"]),
    "core": (CHIP / "core.c", ["-O2", "-fno-tree-vectorize"]),
    "pointer_chase": (CHIP / "pointer_chase.c", ["-O2"]),
    "stream": (CHIP / "stream.c", ["-O3"]),
}
NEEDS_GCC = pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler on this machine")
ddr = load_program("chip/code/ddr.py")
noise = load_program("hpc/perf/code/noise.py")


def version() -> str:
    gcc = shutil.which("gcc")
    if gcc is None or platform.machine() != "x86_64":
        return ""
    run = subprocess.run([gcc, "-dumpfullversion"], capture_output=True, text=True, check=True)
    return str(run.stdout).strip()


def built(tmp_path: Path, source: Path, options: list[str]) -> str:
    """Compile a program, run it and return what it printed; it must end well."""
    program = tmp_path / "program"
    compiled = subprocess.run(
        ["gcc", *GNU, *options, "-o", str(program), str(source), "-lm"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert compiled.returncode == 0, compiled.stderr
    run = subprocess.run([str(program)], capture_output=True, text=True, check=False, timeout=120)
    assert run.returncode == 0, run.stderr
    return str(run.stdout)


def shown(note: str, start: str) -> str:
    """Return the output that a note shows, by how its first line begins."""
    text = (ROOT / f"docs/{note}.md").read_text("utf-8")
    for block in re.findall(r"```text title=\"output[^\n]*\n(.*?)```", text, re.DOTALL):
        if block.startswith(start):
            return str(block).rstrip("\n")
    raise AssertionError(f"{note}: no output that begins with {start!r}")


@NEEDS_GCC
@pytest.mark.parametrize("language", ["", ".en"])
@pytest.mark.parametrize(("options", "begin"), [([], "strict"), (["-ffast-math"], "fast")])
def test_fast_math_changes_what_the_note_says(
    options: list[str], begin: str, language: str, tmp_path: Path
) -> None:
    said = built(tmp_path, CODE / "rounding.c", ["-O3", *options])
    blocks = (ROOT / f"docs/hpc/simd/autovec{language}.md").read_text("utf-8")
    if begin == "strict":
        assert said.rstrip("\n") in blocks  # IEEE arithmetic: the same everywhere
        assert "Kahan:      1000000\n" in said
    elif version().startswith("12."):
        assert said.rstrip("\n") in blocks
        assert "1000000" not in said  # the compensation is gone
        assert "isnan(0/0):             false" in said


@pytest.mark.skipif(not version().startswith("12."), reason="the note shows what GCC 12 reports")
@pytest.mark.parametrize("language", ["", ".en"])
def test_the_report_is_what_gcc_says(language: str) -> None:
    run = subprocess.run(
        ["python3", str(CODE / "report.py")], capture_output=True, text=True, check=True
    )
    assert run.stdout.rstrip("\n").strip() == shown(f"hpc/simd/autovec{language}", "   ").strip()


@pytest.mark.skipif(not version().startswith("12."), reason="the note says what GCC 12 calls")
def test_a_declared_expf_is_called_eight_at_a_time_without_fast_math() -> None:
    options = ["-march=x86-64-v3", "-S", "-o", "-", str(CODE / "vector_exp.c")]
    run = subprocess.run(
        ["gcc", *GNU, *VECTOR_EXP, *options], capture_output=True, text=True, check=True
    )
    assert "_ZGVdN8v_expf" in run.stdout


@NEEDS_GCC
@pytest.mark.parametrize("language", ["", ".en"])
def test_pairs_of_bytes_saturate_where_the_note_says(language: str, tmp_path: Path) -> None:
    said = built(tmp_path, *PROGRAMS["int8"]).splitlines()
    expected = shown(f"hpc/simd/intrinsics{language}", "255 times").splitlines()
    assert set(said) - {line for line in said if "skipped" in line} <= set(expected)


def test_bandwidth_of_a_socket() -> None:
    assert ddr.bandwidth(8, 4800) == pytest.approx(307.2)
    assert ddr.lines_in_flight(307.2, 100) == pytest.approx(480)


def test_laws_and_statistics_of_the_method() -> None:
    assert noise.amdahl(0.04, 4) == pytest.approx(100 / 28)
    assert noise.gustafson(0.04, 4) == pytest.approx(3.88)
    mean = [noise.seen(runs, noise.statistics.mean) for runs in (5, 25)]
    assert mean[0] > mean[1]  # interruptions: a longer mean is a worse one
    assert noise.seen(25, noise.statistics.median) > 0.99


@pytest.mark.skipif(not version().startswith("12."), reason="the note shows what GCC 12 makes")
@pytest.mark.parametrize("language", ["", ".en"])
@pytest.mark.parametrize(
    ("machine", "compiler"),
    [("x86", "gcc"), ("aarch64", "aarch64-linux-gnu-gcc"), ("mips", "mips-linux-gnu-gcc")],
)
def test_listings_are_what_the_compilers_make(machine: str, compiler: str, language: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    run = subprocess.run(
        [str(ROOT / "docs/hpc/code/listing.sh"), machine],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.rstrip("\n") in (ROOT / f"docs/hpc/asm{language}.md").read_text("utf-8")
