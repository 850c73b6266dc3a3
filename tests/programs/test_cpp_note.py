"""The note on C++: the wrong programs are wrong, and found, as it shows."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from functools import cache
from pathlib import Path

import pytest

from tests.programs.printed import blocks
from tools.figures.files import ROOT, load_program

CODE = ROOT / "docs/eng/code"
CPP = CODE / "cpp"
pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("g++") is None, reason="no g++ for Linux here"
)
lab = load_program("eng/code/cpp_lab.py")


def printed(part: str) -> str:
    """Return what a part of the lab prints, without its title."""
    run = subprocess.run(
        [sys.executable, str(CODE / "cpp_lab.py"), part], capture_output=True, text=True, check=True
    )
    return run.stdout.partition("\n")[2].strip("\n")


def shown(part: str, language: str) -> str:
    """Return the block of the note with that part's output."""
    ((_, block),) = [
        one for one in blocks(f"eng/cpp{language}") if one[0].startswith(f"{part}, g++")
    ]
    return block


def same_compiler() -> bool:
    run = subprocess.run(["g++", "-dumpversion"], capture_output=True, text=True, check=True)
    return run.stdout.strip().split(".")[0] == "12"


@cache
def tsan_runs() -> bool:
    """Tell whether its runtime starts here: it does not like every layout of memory."""
    source = "int main() {}"
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/empty"
        command = ["g++", "-fsanitize=thread", "-x", "c++", "-", "-o", program]
        built = subprocess.run(command, input=source, text=True, capture_output=True, check=False)
        return built.returncode == 0 and lab.run(program)[0] == 0


def needs_tsan() -> None:
    if not tsan_runs():
        pytest.skip("ThreadSanitizer does not run here")


@pytest.mark.parametrize(
    "part", [pytest.param("bugs", marks=pytest.mark.slow), "border", "twins", "order"]
)
def test_the_notes_show_what_the_lab_prints(part: str) -> None:
    if not same_compiler():
        pytest.skip("the note shows what g++ 12 says")
    if part == "border":
        if not Path(sysconfig.get_path("include"), "Python.h").exists():
            pytest.skip("no headers of this Python")
        if sys.version_info[:2] != (3, 11):
            pytest.skip("the note shows how Python 3.11 ends")
    if part in {"bugs", "order"}:
        needs_tsan()
    assert [printed(part)] * 2 == [shown(part, language) for language in ("", ".en")]


FOUND_BY = {
    "index32": "asan+ubsan",
    "view": "asan+ubsan",
    "span": "asan+ubsan",
    "past": "asserts",
    "flag": "tsan",
    "relaxed": "tsan",
}


@pytest.mark.parametrize("name", FOUND_BY)
def test_some_way_finds_it_with_any_compiler(name: str, tmp_path: Path) -> None:
    if same_compiler():
        pytest.skip("the table of the note covers it")
    if FOUND_BY[name] == "tsan":
        needs_tsan()
    assert lab.verdict(name, FOUND_BY[name], tmp_path / name) == "found"


def test_a_stricter_warning_names_the_alias(tmp_path: Path) -> None:
    out = tmp_path / "alias"
    assert not lab.build("alias.cpp", out, *lab.WAYS["-Wall"])
    assert "strict-aliasing" in lab.build("alias.cpp", out, "-O2", "-Wstrict-aliasing=2")


def names(text: str) -> list[str]:
    """Return the cases of a table of costs, without the numbers."""
    return [re.split(r"\s{2,}", line)[0] for line in text.splitlines() if line[:1] != "#"]


def test_the_recorded_costs_are_those_of_the_program(tmp_path: Path) -> None:
    program = tmp_path / "costs"
    lab.build("costs.cpp", program, "-O2")
    run = subprocess.run([str(program), "10000"], capture_output=True, text=True, check=True)
    assert names(run.stdout) == names((ROOT / "docs/eng/traces/cpp_costs.txt").read_text("utf-8"))


def test_the_owners_compile() -> None:
    headers = Path("/usr/local/cuda/include")
    if not (headers / "cuda_runtime_api.h").exists():
        pytest.skip("no CUDA headers")
    command = [*lab.GXX, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{headers}"]
    subprocess.run([*command, str(CPP / "stream.cpp")], check=True)
