"""Waves, matrix rates and tiles on an AMD CDNA compute unit (CU), by arithmetic.

In: registers and LDS of a kernel, an MFMA instruction with its cycles, a tile of a matrix product.
Out: waves per SIMD and what limits them; the peak of a card from one instruction, beside the peak
that docs/data/facts/accelerators.yml holds; how many accumulators a tile needs per lane, whether
its buffers fit into LDS, and how long LDS needs to feed it. Needs PyYAML.

The rules are those of LLVM's AMDGPU backend for gfx90a, gfx942 and gfx950. Scalar registers are
left out, and LDS is not rounded up to the pieces in which it is given out.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from pathlib import Path

import yaml

DATA = Path(__file__).resolve().parents[2] / "data/facts/accelerators.yml"
LANES, SIMDS = 64, 4  # work-items of a wave, SIMDs of a CU
KIB = 1024


@dataclass(frozen=True)
class Kind:
    """What decides occupancy: registers per lane of a SIMD, their granule, slots, LDS of a CU."""

    name: str
    registers: int = 512
    granule: int = 8
    slots: int = 8
    lds: int = 64 * KIB


GCN = Kind("GCN (gfx900)", registers=256, granule=4, slots=10)
CDNA3 = Kind("CDNA2, CDNA3")
CDNA4 = Kind("CDNA4", lds=160 * KIB)


# --8<-- [start:waves]
def up(number: int, step: int) -> int:
    return ceil(number / step) * step


def by_registers(kind: Kind, arch: int, acc: int = 0) -> int:
    """Waves per SIMD. Accumulators start at a multiple of four, and both share one file."""
    used = up(up(arch, 4) + acc if acc else arch, kind.granule)
    return min(kind.slots, kind.registers // max(used, kind.granule))


def by_lds(kind: Kind, lds: int, threads: int) -> int:
    """Waves on the fullest SIMD; more than one wave in a workgroup takes one of 16 barriers."""
    waves = ceil(threads / LANES)
    groups = kind.lds // lds if lds else SIMDS * kind.slots
    groups = min(groups, SIMDS * kind.slots // waves, 16 if waves > 1 else groups)
    return min(kind.slots, ceil(groups * waves / SIMDS))


# --8<-- [end:waves]


# --8<-- [start:rate]
@dataclass(frozen=True)
class Mfma:
    """One instruction of one wave: D = A x B + C of m x n x k."""

    m: int
    n: int
    k: int
    cycles: int

    def per_cu(self) -> float:
        """Floating-point operations of a CU in a cycle: each SIMD has one matrix core."""
        return SIMDS * 2 * self.m * self.n * self.k / self.cycles


def peak(instruction: Mfma, cus: int, mhz: float) -> float:
    """TFLOPS of the card, dense."""
    return instruction.per_cu() * cus * mhz / 1e6


# --8<-- [end:rate]


@dataclass(frozen=True)
class Tile:
    """A workgroup's part of the result, its depth in LDS, and its waves as rows x columns."""

    m: int
    n: int
    k: int
    rows: int
    columns: int

    def accumulators(self) -> int:
        """FP32 sums per lane."""
        return self.m * self.n // (self.rows * self.columns * LANES)

    def lds(self, size: int = 2, buffers: int = 2) -> int:
        return buffers * size * (self.m + self.n) * self.k

    def feeding(self, per_cu: float, size: int = 2, lds_rate: int = 128) -> float:
        """Time that LDS needs for the operands of a wave over the time of its MFMAs."""
        m, n = self.m / self.rows, self.n / self.columns
        return (size * (m + n) / lds_rate) / (2 * m * n / per_cu)


RATES = [  # name, row and column of the facts, instruction
    ("MI300X FP16", "mi300x", "fp16", Mfma(32, 32, 8, 32)),
    ("MI300X FP16", "mi300x", "fp16", Mfma(16, 16, 16, 16)),
    ("MI300X FP8", "mi300x", "fp8", Mfma(32, 32, 16, 32)),
    ("MI300X FP64", "mi300x", "fp64_tc", Mfma(16, 16, 4, 32)),
    ("MI355X FP16", "mi355x", "fp16", Mfma(32, 32, 8, 32)),
    ("MI355X FP16", "mi355x", "fp16", Mfma(32, 32, 16, 32)),
    ("MI355X FP8", "mi355x", "fp8", Mfma(32, 32, 64, 64)),
    ("MI355X FP4", "mi355x", "fp4", Mfma(32, 32, 64, 32)),
    ("MI355X FP64", "mi355x", "fp64_tc", Mfma(16, 16, 4, 64)),
]
KERNELS = [(32, 0), (64, 0), (72, 0), (128, 0), (256, 0), (5, 128), (128, 128), (168, 248)]
TILES = [
    Tile(128, 128, 32, 2, 2),
    Tile(128, 128, 64, 2, 2),
    Tile(256, 128, 64, 2, 2),
    Tile(256, 256, 32, 2, 2),
    Tile(256, 256, 32, 2, 4),
    Tile(256, 256, 64, 2, 4),
]
OTHER = 112  # architectural registers assumed beside the sums: operands, addresses


def figures() -> dict[str, dict[str, float]]:
    rows = yaml.safe_load(DATA.read_text(encoding="utf-8"))["rows"]
    return {
        row: {name: cell["value"] for name, cell in entry["cells"].items()}
        for row, entry in rows.items()
    }


def waves() -> None:
    print("registers of a lane   waves per SIMD: " + "  ".join(k.name for k in (GCN, CDNA3)))
    for arch, acc in KERNELS:
        gcn = by_registers(GCN, arch) if not acc else "-"
        print(f"{arch:4} + {acc:3} accumulators {gcn:>21}{by_registers(CDNA3, arch, acc):14}")


def rates() -> None:
    print("\none MFMA            cycles  FLOP/CU/cycle  whole card  published (TFLOPS, dense)")
    known = figures()
    for name, row, column, instruction in RATES:
        chip = known[row]
        shape = f"{instruction.m}x{instruction.n}x{instruction.k}"
        made = peak(instruction, int(chip["sm_count"]), chip["clock"])
        print(
            f"{name:12}{shape:>9}{instruction.cycles:6}{instruction.per_cu():15.0f}"
            f"{made:12.1f}{chip[column]:11g}"
        )


def tiles() -> None:
    print(f"\nFP16 tile, {OTHER} other registers: sums per lane, double buffer, waves per SIMD")
    print("      tile    waves  sums    LDS  by registers  CDNA3  CDNA4   LDS/MFMA time, CDNA3")
    for tile in TILES:
        waves_of = tile.rows * tile.columns
        lds, sums = tile.lds(), tile.accumulators()
        registers = by_registers(CDNA3, OTHER, sums)
        cells = []
        for kind in (CDNA3, CDNA4):
            fits = lds <= kind.lds and sums <= 256
            found = min(registers, by_lds(kind, lds, waves_of * LANES))
            cells.append(f"{found if fits else 'no':>7}")
        print(
            f"{tile.m}x{tile.n}x{tile.k:<3}{tile.rows:5}x{tile.columns}{sums:6}{lds // KIB:4} KiB"
            f"{registers:10}    {''.join(cells)}{tile.feeding(2048):14.2f}"
        )


def main() -> None:
    waves()
    rates()
    tiles()


if __name__ == "__main__":
    main()
