"""The part `build` of the benchmark: trees of growing size, every builder in turn.

`--sizes=100,500` names the sizes in pages, `--repeats=N` how often each build is done. What is
measured is recorded after each size, so a run that is ended early leaves what it found.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from bench.build import builders
from bench.timing import RESULTS, ROOT, Run, median, record

SIZES = (100, 500, 1000, 2000, 5000)
_FIRST = 500
"""The exponent is that from here on: below, what every build costs once counts most."""
_LIBRARIES = ("mkdocs", "mkdocs-material", "mkdocs-static-i18n")


def main(options: list[str]) -> int:
    """Run the part; return the exit status."""
    given = dict(one.lstrip("-").partition("=")[::2] for one in options)
    sizes = [int(one) for one in given["sizes"].split(",")] if "sizes" in given else [*SIZES]
    repeats = int(given.get("repeats", 3))
    command = builders.zensical()
    if command is None:
        print("bench: Zensical is not installed; its column is left out", flush=True)
    rows: list[dict[str, Any]] = []
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="bench-build-") as folder:
            rows.append(measure(Path(folder) / "tree", size, repeats, command))
        found = {"options": options, "zensical": bool(command), **summary(rows)}
        libraries = [*_LIBRARIES, *_installed("zensical")]
        record("build", libraries, found)
    print(f"bench: {(RESULTS / 'build.json').relative_to(ROOT)} written")
    return 0


def _installed(name: str) -> list[str]:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return []
    return [name]


def measure(root: Path, size: int, repeats: int, command: str | None) -> dict[str, Any]:
    """Build one tree with every builder, by turns; return the medians."""
    copies = builders.lay_out(root, size)
    turns: dict[str, Callable[[int], Run]] = {
        "plain": lambda _: builders.plain_cold(root),
        "cold": lambda _: builders.ours_cold(root),
        "same": lambda _: builders.ours(root),
        "changed": lambda number: builders.ours_changed(root, number),
    }
    if command is not None:
        turns["zensical"] = lambda _: builders.zensical_cold(root, command)
    runs: dict[str, list[Run]] = {name: [] for name in turns}
    for number in range(repeats):
        for name, build in turns.items():
            done = build(number)
            runs[name].append(done)
            print(
                f"{size} pages, {name}: {done.wall_s:.1f} s, {done.cpu_s:.1f} s of a processor, "
                f"{done.peak_mb:.0f} MB",
                flush=True,
            )
    costs = {name: median(those).cost for name, those in runs.items()}
    return {"pages": 2 * len(copies), "load": round(os.getloadavg()[0], 1), **costs}


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """Return the power of the size that the time grows with: least squares on logarithms."""
    logs = [(math.log(size), math.log(time)) for size, time in points]
    middle = [sum(one) / len(logs) for one in zip(*logs, strict=True)]
    spread = sum((x - middle[0]) ** 2 for x, _ in logs)
    slope: float = sum((x - middle[0]) * (y - middle[1]) for x, y in logs) / spread
    return slope


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what a record holds: the rows, their ratios to plain, the exponents where known."""
    ratios = {
        f"{name}_{row['pages']}": round(row[name]["cpu_s"] / row["plain"]["cpu_s"], 3)
        for row in rows
        for name in ("cold", "same", "changed", "zensical")
        if name in row
    }
    grown = [row for row in rows if row["pages"] >= _FIRST]
    exponents = {}
    if len(grown) > 1:
        for name in ("plain", "cold", "same", "changed", "zensical"):
            points = [(row["pages"], row[name]["cpu_s"]) for row in grown if name in row]
            if len(points) == len(grown):
                exponents[name] = round(exponent(points), 2)
    return {"ratios": ratios, "exponents": exponents, "rows": list(rows)}
