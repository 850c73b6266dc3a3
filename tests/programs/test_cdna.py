"""The model of a CDNA compute unit, beside what tests of LLVM and XLA and AMD's tables expect."""

from __future__ import annotations

from typing import Any

import pytest

from tools.figures.files import load_program

cdna = load_program("chip/code/cdna.py")

# llvm/test/CodeGen/AMDGPU/occupancy-levels.ll: registers, gfx900, gfx950
LLVM = [
    (24, 10, 8), (28, 9, 8), (32, 8, 8), (36, 7, 8), (40, 6, 8), (44, 5, 8), (48, 5, 8), (56, 4, 8),
    (64, 4, 8), (72, 3, 7), (80, 3, 6), (84, 3, 5), (88, 2, 5), (96, 2, 5), (100, 2, 4),
    (112, 2, 4), (128, 2, 4), (144, 1, 3), (168, 1, 3), (200, 1, 2), (256, 1, 2),
]  # fmt: skip
# the same file, 8252 bytes of LDS: work-items of a workgroup, gfx900, gfx950
LLVM_LDS = [
    (32, 2, 5), (64, 2, 5), (96, 4, 8), (128, 4, 8), (192, 6, 8), (256, 7, 8), (512, 10, 8),
    (1024, 8, 8),
]  # fmt: skip


@pytest.mark.parametrize(("registers", "gcn", "cdna4"), LLVM)
def test_waves_by_registers_are_those_of_the_compiler(registers: int, gcn: int, cdna4: int) -> None:
    assert cdna.by_registers(cdna.GCN, registers) == gcn
    assert cdna.by_registers(cdna.CDNA4, registers) == cdna4


@pytest.mark.parametrize(("threads", "gcn", "cdna4"), LLVM_LDS)
def test_waves_by_lds_are_those_of_the_compiler(threads: int, gcn: int, cdna4: int) -> None:
    assert cdna.by_lds(cdna.GCN, 8252, threads) == gcn
    assert cdna.by_lds(cdna.CDNA4, 8252, threads) == cdna4


@pytest.mark.parametrize(
    ("arch", "acc", "waves"), [(5, 128, 3), (128, 128, 2), (168, 248, 1), (100, 0, 4), (176, 0, 2)]
)
def test_accumulators_share_the_file(arch: int, acc: int, waves: int) -> None:
    """The cases of XLA's occupancy model (pull request 47468)."""
    assert cdna.by_registers(cdna.CDNA3, arch, acc) == waves


@pytest.mark.parametrize(
    ("kind", "kib", "groups"), [(cdna.CDNA3, 32, 2), (cdna.CDNA4, 32, 5), (cdna.CDNA4, 40, 4)]
)
def test_groups_of_four_waves_in_lds(kind: Any, kib: int, groups: int) -> None:
    assert cdna.by_lds(kind, kib * 1024, 256) == groups


@pytest.mark.parametrize(("name", "row", "column", "instruction"), cdna.RATES)
def test_one_instruction_gives_the_published_peak(
    name: str, row: str, column: str, instruction: Any
) -> None:
    chip = cdna.figures()[row]
    made = cdna.peak(instruction, int(chip["sm_count"]), chip["clock"])
    old = row == "mi355x" and instruction == cdna.Mfma(32, 32, 8, 32)
    assert made == pytest.approx(chip[column] * (0.5 if old else 1), rel=0.01), name


def test_mi250_of_amds_table() -> None:
    assert cdna.peak(cdna.Mfma(32, 32, 8, 64), 208, 1700) == pytest.approx(362.1, abs=0.1)


def test_a_wave_of_32_by_32_needs_lds_all_the_time() -> None:
    tile = cdna.Tile(64, 64, 32, 2, 2)
    assert tile.feeding(2048) == pytest.approx(1)
    assert cdna.Tile(128, 128, 32, 2, 2).feeding(2048) == pytest.approx(0.5)
