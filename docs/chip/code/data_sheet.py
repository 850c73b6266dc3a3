"""Read a data sheet with arithmetic: peak rates from parts, ridge points, the note's answers.

Figures come from docs/data/facts/accelerators.yml, the file that the tables of the notes are drawn
from. Needs PyYAML. All rates are dense unless the name says otherwise.

Formulas
    peak (TFLOPS)        = SMs x operations per SM and clock x clock (MHz) / 10^6
    bandwidth (GB/s)     = bus (bit) x rate per pin (Gb/s) / 8
    ridge (FLOP/B)       = peak (TFLOPS) x 1000 / bandwidth (GB/s)
    time of one decode step >= bytes read / bandwidth

Usage
    python docs/chip/code/data_sheet.py              # ridge points
    python docs/chip/code/data_sheet.py --questions  # answers of the note
"""

from __future__ import annotations

import argparse
from pathlib import Path

import yaml

DATA = Path(__file__).resolve().parents[2] / "data/facts/accelerators.yml"
ROWS = (
    "v100-sxm2 a100-sxm-80 h100-sxm h200-sxm h20-sxm b200-sxm gb200 b300-sxm gb300"
    " mi300x mi355x tpu-v5p tpu-v6e tpu7x"
).split()


# --8<-- [start:main]
def figures() -> dict[str, dict[str, float]]:
    """Return every number of the table, by row and column."""
    table = yaml.safe_load(DATA.read_text(encoding="utf-8"))["rows"]
    return {
        row: {name: cell["value"] for name, cell in entry["cells"].items()}
        for row, entry in table.items()
    }


def peak(sms: int, per_clock: int, mhz: float) -> float:
    """Peak rate in TFLOPS; `per_clock` counts a fused multiply-add as two operations."""
    return sms * per_clock * mhz / 1e6


def bandwidth(bus_bits: int, gbps: float) -> float:
    """Memory bandwidth in GB/s."""
    return bus_bits * gbps / 8


def ridge(tflops: float, gbs: float) -> float:
    """Operations per byte at which compute and memory take equally long."""
    return tflops * 1000 / gbs


# --8<-- [end:main]


def table() -> str:
    """Return the ridge points of the rows above."""
    chips = figures()
    lines = [f"{'part':<12} {'BF16':>7} {'FP8':>7} {'GB/s':>6} {'BF16/B':>7} {'FP8/B':>7}"]
    for name in ROWS:
        chip = chips[name]
        fp8 = chip.get("fp8")
        ridged = f"{ridge(fp8, chip['mem_bw']):.0f}" if fp8 else "-"
        lines.append(
            f"{name:<12} {chip['fp16']:>7g} {fp8 if fp8 else '-':>7} {chip['mem_bw']:>6g}"
            f" {ridge(chip['fp16'], chip['mem_bw']):>7.0f}"
            f" {ridged:>7}"
        )
    return "\n".join(lines)


def questions() -> str:
    """Return the answers of the note's questions."""
    chips = figures()
    h100, h200, b200, b300 = (chips[k] for k in ("h100-sxm", "h200-sxm", "b200-sxm", "b300-sxm"))
    tensor = peak(132, 4096, 1830)
    weights = 70.55 * 2
    return "\n".join(
        [
            f"Q1 H100 SXM: 132 x 4096 x 1830 MHz = {tensor:.1f} TFLOPS dense,"
            f" {2 * tensor:.1f} sparse",
            f"Q2 H100 SXM: {h100['bus_bits']} bit x {h100['data_rate']} Gb/s / 8 ="
            f" {bandwidth(h100['bus_bits'], h100['data_rate']):.0f} GB/s;"
            f" H200: {bandwidth(h200['bus_bits'], h200['data_rate']):.0f} GB/s",
            f"Q3 weights {weights:.1f} GB: {weights / h200['mem_bw'] * 1000:.1f} ms a step,"
            f" {1000 / (weights / h200['mem_bw'] * 1000):.0f} tokens/s;"
            f" ridge {ridge(h200['fp16'], h200['mem_bw']):.0f} FLOP/B",
            f"Q4 B300 FP4 dense over B200: {b300['fp4'] / b200['fp4']:.2f}x,"
            f" sparse {b300['fp4_sparse'] / b200['fp4_sparse']:.2f}x,"
            f" FP64 1/{b200['fp64'] / b300['fp64']:.0f}",
        ]
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--questions", action="store_true")
    print(questions() if parser.parse_args().questions else table())
