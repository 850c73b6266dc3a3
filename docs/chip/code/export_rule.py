"""What the US rules on advanced chips measure of a GPU, and what an export variant is good for.

In: peaks, memory and links from docs/data/facts/accelerators.yml, variants and die areas from
export-skus.yml. Out: total processing performance (TPP), performance density (PD) and the paragraph
that the figures fall under; how much of what each die may have a part uses; and up to which
intensity one GPU beats another. It computes with published figures and is no legal advice: a
classification also depends on the maker's own numbers, on use and destination, and on letters.

Formulas
    TPP      2 x 10^12 multiply-accumulates per second x bit length, dense: the highest of all types
    PD       TPP / die area in mm2 (logic made with non-planar transistors, caches included)
    rate     min(peak, intensity x memory bandwidth), intensity in FLOP per byte

Usage (needs PyYAML)
    python docs/chip/code/export_rule.py
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

FACTS = Path(__file__).resolve().parents[2] / "data/facts"
BITS = {"fp64_tc": 64, "fp16": 16, "fp8": 8, "int8": 8, "fp4": 4}
DIES = {  # rows of accelerators.yml by die; None where no area was found and none is needed
    "a100-sxm-80": "ga100",
    "h100-sxm": "gh100",
    "h200-sxm": "gh100",
    "b200-sxm": None,
    "mi325x": None,
    "h800-sxm": "gh100",
    "h20-sxm": "gh100",
}
VARIANTS = {"a800": "ga100", "l20": "ad102", "l2": "ad104"}  # rows of export-skus.yml
ORDER = ["a100-sxm-80", "a800", "h100-sxm", "h800-sxm", "h20-sxm", "l20", "l2"]
LATER = ["h200-sxm", "mi325x", "b200-sxm"]


@dataclass(frozen=True)
class Part:
    """A product: its TPP, die area in mm2, link and memory in GB/s, dense BF16 in TFLOPS."""

    tpp: float
    area: float | None
    link: float
    memory: float
    fp16: float

    @property
    def density(self) -> float | None:
        return self.tpp / self.area if self.area else None


# --8<-- [start:rule]
def rule_2022(tpp: float, link: float) -> bool:
    """3A090 of October 2022: both were needed, so cutting either was enough."""
    return tpp >= 4800 and link >= 600


def rule_2023(tpp: float, density: float) -> str:
    """3A090 since November 2023: paragraph a, paragraph b, or neither."""
    if tpp >= 4800 or (tpp >= 1600 and density >= 5.92):
        return "a"
    if (tpp >= 2400 and density >= 1.6) or (tpp >= 1600 and density >= 3.2):
        return "b"
    return "-"


def limit(area: float) -> float:
    """The TPP at which a die of this area enters a paragraph of the rule of 2023."""
    return max(1600, min(2400, 3.2 * area), min(4800, 1.6 * area))


def case_by_case(tpp: float, memory: float) -> bool:
    """January 2026: below both lines for case-by-case review; the other conditions are not here."""
    return tpp < 21_000 and memory < 6_500


# --8<-- [end:rule]


def facts(family: str) -> dict[str, dict[str, float]]:
    rows = yaml.safe_load((FACTS / f"{family}.yml").read_text("utf-8"))["rows"]
    return {
        name: {key: cell["value"] for key, cell in row["cells"].items()}
        for name, row in rows.items()
    }


def performance(cells: dict[str, float]) -> float:
    """TPP; a FLOP count already has two operations for each multiply-accumulate."""
    return max(cells[name] * bits for name, bits in BITS.items() if name in cells)


def parts() -> dict[str, Part]:
    known, variants = facts("accelerators"), facts("export-skus")
    out = {}
    for cells, dies in ((known, DIES), (variants, VARIANTS)):
        for name, die in dies.items():
            row = cells[name]
            area = variants[die]["area"] if die else None
            memory = row.get("mem_bw", 0.0)
            out[name] = Part(
                performance(row), area, row.get("scale_up_bi", 0.0), memory, row["fp16"]
            )
    return out


# --8<-- [start:roof]
def rate(part: Part, intensity: float) -> float:
    """TFLOPS that the roofline allows in BF16."""
    return min(part.fp16, intensity * part.memory / 1000)


def faster_below(part: Part, other: Part) -> float:
    """The intensity below which a part with more bandwidth beats one with more compute."""
    return part.fp16 / other.memory * 1000


def mla(heads: int, queries: int = 1) -> float:
    """FLOP per byte of decoding with absorbed MLA: 576 + 512 values per head, 576 cached, BF16."""
    return heads * queries * 2 * (576 + 512) / (576 * 2)


# --8<-- [end:roof]


WORK = {
    "decode, weights, batch 1": 1.0,
    "decode, grouped attention, 8 : 1": 8.0,
    "decode, MLA, 16 heads": mla(16),
    "decode, weights, batch 32": 32.0,
    "decode, weights, batch 64": 64.0,
    "decode, MLA, 64 heads": mla(64),
    "decode, MLA, 128 heads": mla(128),
    "prefill, 2,048 tokens": 2048.0,
}


def main() -> None:
    found = parts()
    print("part           TPP     PD   2022  2023   enters at   of it")
    for name in ORDER:
        part = found[name]
        assert part.area is not None
        assert part.density is not None
        old = "in" if rule_2022(part.tpp, part.link) else "-"
        new = rule_2023(part.tpp, part.density)
        edge = limit(part.area)
        print(
            f"{name:12s}{part.tpp:6.0f}{part.density:7.2f}{old:>7s}{new:>6s}"
            f"{edge:12.0f}{part.tpp / edge:8.1%}"
        )
    print("January 2026   TPP   GB/s   below both lines")
    for name in LATER:
        part = found[name]
        judged = "yes" if case_by_case(part.tpp, part.memory) else "no"
        print(f"{name:12s}{part.tpp:6.0f}{part.memory:7.0f}   {judged}")
    one, two = found["h20-sxm"], found["h100-sxm"]
    print("BF16, by the roofline   FLOP/B   H100    H20 TFLOPS   H20 / H100")
    for work, intensity in sorted(WORK.items(), key=lambda item: item[1]):
        high, low = rate(two, intensity), rate(one, intensity)
        print(f"{work:32s}{intensity:6.0f}{high:8.1f}{low:8.1f}{low / high:11.2f}")
    print(f"H20 is the faster one below {faster_below(one, two):.0f} FLOP/B")


if __name__ == "__main__":
    main()
