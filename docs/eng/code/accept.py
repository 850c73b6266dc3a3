"""Which nodes of a cluster fall behind their peers: acceptance by comparison, not by data sheet.

    python docs/eng/code/accept.py docs/eng/traces/acceptance.csv

Each line of the file is a node, a test and a value. A node fails a test when it is worse than the
median of all nodes by more than the test's tolerance; a cluster that is slow as a whole is caught
by the floor, where one is given.
"""

from __future__ import annotations

import csv
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


# --8<-- [start:rules]
@dataclass(frozen=True)
class Rule:
    """How far behind the median a node may be, and what no node may fall below (or exceed)."""

    tolerance: float
    floor: float | None = None
    more_is_better: bool = True


RULES = {
    "gemm_bf16_tflops": Rule(0.05, floor=600),
    "hbm_copy_gb_s": Rule(0.03, floor=2700),
    "pcie_h2d_gb_s": Rule(0.05, floor=50),
    "allreduce_node_gb_s": Rule(0.03),
    "allreduce_pair_gb_s": Rule(0.05),
    "allreduce_1kib_us": Rule(0.30, more_is_better=False),
}


def behind(value: float, median: float, rule: Rule) -> float:
    """Return by what share a value is worse than the median; negative where it is better."""
    return (median - value) / median if rule.more_is_better else (value - median) / median


# --8<-- [end:rules]


def judged(rows: Iterable[tuple[str, str, float]]) -> list[tuple[str, str, float, float, str]]:
    """Return the failures: node, test, value, median, and why."""
    by_test: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for node, test, value in rows:
        by_test[test].append((node, value))
    found = []
    for test, values in by_test.items():
        rule = RULES[test]
        median = statistics.median(value for _, value in values)
        for node, value in values:
            share = behind(value, median, rule)
            if share > rule.tolerance:
                found.append((node, test, value, median, f"{share:.0%} behind its peers"))
            elif rule.floor is not None and (value < rule.floor) == rule.more_is_better:
                found.append((node, test, value, median, f"below {rule.floor:g}, as are others"))
    return sorted(found)


def main() -> None:
    """Print the failures of a file, and how many nodes passed."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with Path(sys.argv[1]).open(encoding="utf-8", newline="") as file:
        lines = (line for line in file if not line.startswith("#"))
        rows = [(one["node"], one["test"], float(one["value"])) for one in csv.DictReader(lines)]
    failures = judged(rows)
    for node, test, value, median, why in failures:
        print(f"{node:6} {test:20} {value:8.1f}  median {median:8.1f}  {why}")
    nodes = {node for node, _, _ in rows}
    print(f"{len(nodes - {one[0] for one in failures})} of {len(nodes)} nodes pass")


if __name__ == "__main__":
    main()
