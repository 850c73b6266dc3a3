"""What a share of pages in CXL memory costs in latency and brings in bandwidth.

    python docs/link/pcie/code/cxl_tier.py [--dram 300] [--cxl 60] [--dram-ns 110] [--cxl-ns 250]

A program that reads all pages alike from two kinds of memory: the one that is first at its limit
sets the total. Rates are GB/s of reads, latencies those of idle memory; both are the reader's.
"""

from __future__ import annotations

import argparse


# --8<-- [start:model]
def bandwidth(dram: float, cxl: float, share: float) -> float:
    """GB/s when `share` of the reads go to CXL: the first memory that is full sets the pace."""
    limits = [dram / (1 - share)] if share < 1 else []
    return min([*limits, *([cxl / share] if share > 0 else [])])


def best(dram: float, cxl: float) -> float:
    """The share at which both are full at once: pages in proportion to bandwidth."""
    return cxl / (dram + cxl)


def latency(dram_ns: float, cxl_ns: float, share: float) -> float:
    """Nanoseconds of an average read of idle memory."""
    return (1 - share) * dram_ns + share * cxl_ns


# --8<-- [end:model]


def main() -> int:
    """Print a table by share."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--dram", type=float, default=300)
    parser.add_argument("--cxl", type=float, default=60)
    parser.add_argument("--dram-ns", type=float, default=110)
    parser.add_argument("--cxl-ns", type=float, default=250)
    given = parser.parse_args()
    top = best(given.dram, given.cxl)
    print("share in CXL  GB/s of both  average ns, idle")
    for share in sorted({0.0, 0.05, 0.1, top, 0.25, 0.5, 1.0}):
        total = bandwidth(given.dram, given.cxl, share)
        average = latency(given.dram_ns, given.cxl_ns, share)
        mark = "  <- in proportion to bandwidth" if share == top else ""
        print(f"{share:11.1%} {total:13.0f} {average:17.0f}{mark}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
