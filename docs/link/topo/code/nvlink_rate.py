"""NVLink rates from first principles: lanes x signalling rate x links.

Units: Gb/s = 10^9 bit/s, GB/s = 10^9 byte/s. "uni" is one direction,
"bi" the sum of both directions. A lane is one differential pair, one way.

Formulas
    raw link rate   (GB/s, uni) = lanes x line rate (Gb/s) / 8
    GPU bandwidth   (GB/s, uni) = links x advertised link rate
    GPU bandwidth   (GB/s, bi)  = 2 x uni
    PCIe 3.0 to 5.0 (GB/s, uni) = GT/s x lanes x 128/130 / 8
    ring all-reduce (s)         = 2 (n - 1) / n x bytes / (GPU uni rate)

Sources of the inputs: lanes, links and advertised rates from NVIDIA's P100,
A100, GA102, H100 and Blackwell papers; line rates from the A100 paper (V100:
25.78), the open kernel modules 595.45.04 (25.78125; 50 in the A100 generation,
106.25 in that of H100) and the rate
that nvidia-smi reports for GB200 (53.125 GB/s over two lanes). The note
nvlink-generations.md lists them all. The ring formula leaves out latency and
in-switch reduction.

Usage
    python docs/link/topo/code/nvlink_rate.py              # the table
    python docs/link/topo/code/nvlink_rate.py --questions  # answers of the note
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass


# --8<-- [start:main]
@dataclass(frozen=True)
class NVLink:
    """One NVLink generation on one GPU; every rate is for one direction."""

    name: str
    lanes: int | None
    """Differential pairs per link and direction; None: not published."""
    line_gbps: float | None
    """Bits per second on one lane as they toggle on the wire, Gb/s; None: not published."""
    link_gb: float
    """Advertised rate of one link, GB/s."""
    links: int
    """Links per GPU."""

    @property
    def raw_gb(self) -> float | None:
        """Raw rate of one link, GB/s: what the wires carry before overhead."""
        if self.lanes is None or self.line_gbps is None:
            return None
        return self.lanes * self.line_gbps / 8

    @property
    def ratio(self) -> float | None:
        """Advertised rate over raw rate."""
        return None if self.raw_gb is None else self.link_gb / self.raw_gb

    @property
    def gpu_uni(self) -> float:
        """All links of one GPU, one direction, GB/s."""
        return self.links * self.link_gb

    @property
    def gpu_bi(self) -> float:
        """All links of one GPU, both directions summed, GB/s."""
        return 2 * self.gpu_uni


GENERATIONS = (
    NVLink("1 P100", 8, 20.0, 20.0, 4),
    NVLink("2 V100", 8, 25.78125, 25.0, 6),
    NVLink("3 A100", 4, 50.0, 25.0, 12),
    NVLink("3 GA102", 4, None, 14.0625, 4),
    NVLink("4 H100 H200", 2, 106.25, 25.0, 18),
    NVLink("4 H800", 2, 106.25, 25.0, 8),
    NVLink("5 B200 GB200", 2, 212.5, 50.0, 18),
)
# --8<-- [end:main]


def pcie_uni(gt_per_s: float, lanes: int = 16) -> float:
    """GB/s in one direction of PCIe 3.0 to 5.0 (128b/130b), before packet overhead."""
    return gt_per_s * lanes * 128 / 130 / 8


def move_ms(gigabytes: float, rate_gb: float) -> float:
    """Ideal time in ms to move so many GB one way at so many GB/s."""
    return gigabytes / rate_gb * 1e3


def ring_all_reduce_ms(gigabytes: float, ranks: int, rate_gb: float) -> float:
    """Ideal time in ms of a ring all-reduce of so many GB per rank (no latency)."""
    return move_ms(2 * (ranks - 1) / ranks * gigabytes, rate_gb)


def _cell(value: float | None, spec: str, width: int) -> str:
    return ("-" if value is None else format(value, spec)).rjust(width)


def _row(g: NVLink) -> str:
    return (
        g.name.ljust(14)
        + _cell(g.lanes, "d", 5)
        + _cell(g.line_gbps, ".5f", 11)
        + _cell(g.raw_gb, ".4f", 10)
        + _cell(g.link_gb, ".4f", 11)
        + _cell(g.ratio, ".4f", 8)
        + _cell(g.links, "d", 7)
        + _cell(g.gpu_uni, ".2f", 9)
        + _cell(g.gpu_bi, ".1f", 8)
    )


def table() -> str:
    """All generations, one line each."""
    head = "NVLink        lanes  Gb/s/lane  raw GB/s  link GB/s   ratio  links  GPU uni  GPU bi"
    return "\n".join((head, "-" * len(head), *map(_row, GENERATIONS)))


def questions() -> str:
    """The numbers that the note's questions ask for."""
    by_name = {g.name: g for g in GENERATIONS}
    h200, h800 = by_name["4 H100 H200"], by_name["4 H800"]
    pcie5 = pcie_uni(32)
    link16 = 18 * 2 * 100 / 8
    return "\n".join(
        (
            f"Q1 10 GB between two H200, ideal:  NVLink {move_ms(10, h200.gpu_uni):.2f} ms, "
            f"PCIe 5.0 x16 {move_ms(10, pcie5):.2f} ms",
            f"Q2 H200 against PCIe 5.0 x16, one direction: {h200.gpu_uni:.0f} / {pcie5:.2f} "
            f"= {h200.gpu_uni / pcie5:.2f}x",
            "Q3 ring all-reduce of 10 GB, 8 GPUs: "
            f"H100 {ring_all_reduce_ms(10, 8, h200.gpu_uni):.2f} ms, "
            f"H800 {ring_all_reduce_ms(10, 8, h800.gpu_uni):.2f} ms, "
            f"H800 at 160 GB/s {ring_all_reduce_ms(10, 8, 160):.2f} ms",
            f"Q4 18 links at 26.5625 GB/s: {18 * 26.5625:.3f} GB/s, "
            f"x 16/17 = {18 * 26.5625 * 16 / 17:.1f} GB/s (18 x 2 x 100 / 8 = {link16:.0f})",
            f"Q5 four H100, 6 links a pair: {6 * h200.link_gb:.0f} GB/s one way; "
            f"behind NVSwitch: {h200.gpu_uni:.0f} GB/s",
        )
    )


def main() -> None:
    """Print the table, or with --questions the answers."""
    parser = argparse.ArgumentParser(description="NVLink rates from lanes, line rate and links")
    parser.add_argument("--questions", action="store_true", help="print the answers of the note")
    args = parser.parse_args()
    print(questions() if args.questions else table())


if __name__ == "__main__":
    main()
