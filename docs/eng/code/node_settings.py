"""Reads the Linux settings that GPU jobs notice, and says which to look at.

Changes nothing, needs no rights. A value that cannot be read (a container or a
guest hides it) is shown as "-". The exit status is the number of rows to look at.

    python docs/eng/code/node_settings.py
"""

from __future__ import annotations

import argparse
import re
import resource
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

GB = 10**9


class Row(NamedTuple):
    """One setting: its value in words, and whether somebody should look at it."""

    name: str
    value: str
    look: bool


def text(root: Path, path: str) -> str:
    """The content of a file below root, "" where it cannot be read."""
    try:
        return (root / path).read_text("utf-8").strip()
    except OSError:
        return ""


def chosen(value: str) -> str:
    """The word in brackets of a file such as "always [madvise] never"."""
    found = re.search(r"\[([\w+-]+)\]", value)
    return found[1] if found else value


def memory(root: Path, field: str) -> int:
    """A line of /proc/meminfo in bytes, 0 where there is none."""
    found = re.search(rf"^{field}:\s+(\d+) kB", text(root, "proc/meminfo"), re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def processors(root: Path) -> Iterable[Row]:
    kinds = {p.read_text("utf-8").strip() for p in root.glob(CPU + "cpu*/cpufreq/scaling_governor")}
    yield Row("CPU frequency governor", " ".join(sorted(kinds)), bool(kinds - {"performance"}))
    exits = [
        int((state / "latency").read_text("utf-8"))
        for state in root.glob(CPU + "cpu0/cpuidle/state*")
        if text(state, "disable") != "1"
    ]
    deepest = max(exits, default=0)
    yield Row("deepest idle state", f"{deepest} us to wake up" if exits else "", deepest > 20)
    clock = text(root, "sys/devices/system/clocksource/clocksource0/current_clocksource")
    yield Row("clock source", clock, clock in {"hpet", "acpi_pm", "jiffies"})
    quota = text(root, "sys/fs/cgroup/cpu.max")
    stopped = re.search(r"nr_throttled (\d+)", text(root, "sys/fs/cgroup/cpu.stat"))
    count = int(stopped[1]) if stopped else 0
    yield Row("CPU quota", f"{quota}, throttled {count} times" if quota else "", count > 0)


def memories(root: Path) -> Iterable[Row]:
    huge = chosen(text(root, "sys/kernel/mm/transparent_hugepage/enabled"))
    yield Row("transparent huge pages", huge, huge == "never")
    nodes = len(list(root.glob("sys/devices/system/node/node*")))
    moves = text(root, "proc/sys/kernel/numa_balancing")
    several = nodes > 1 and moves not in {"", "0"}
    yield Row("NUMA balancing", f"{moves}, nodes: {nodes}" if moves else "", several)
    reclaim = text(root, "proc/sys/vm/zone_reclaim_mode")
    yield Row("zone_reclaim_mode", reclaim, reclaim not in {"", "0"})
    swaps = len(text(root, "proc/swaps").splitlines()) - 1
    yield Row("swap areas", str(swaps) if swaps >= 0 else "", swaps > 0)
    ratio = text(root, "proc/sys/vm/dirty_ratio")
    # the limit; a writer is slowed from halfway between background and this on
    held = int(ratio or 0) * memory(root, "MemAvailable") / 100 / GB
    yield Row("dirty pages before a wait", f"about {held:.0f} GB" if held else "", held > 20)
    killed = re.search(r"oom_kill (\d+)", text(root, "sys/fs/cgroup/memory.events"))
    yield Row(
        "out-of-memory kills here", killed[1] if killed else "", bool(killed and killed[1] != "0")
    )


def limits(locked: int, files: int, shared: int, total: int) -> Iterable[Row]:
    endless = locked == resource.RLIM_INFINITY
    value = "unlimited" if endless else f"{locked / 2**20:.0f} MiB"
    yield Row("locked memory (ulimit -l)", value, not endless)
    yield Row("open files (ulimit -n)", str(files), files < 65536)
    yield Row("/dev/shm", f"{shared / GB:.1f} GB", shared < total / 4)


def devices(root: Path) -> Iterable[Row]:
    kinds = {p.read_text("utf-8").strip() for p in root.glob("sys/kernel/iommu_groups/*/type")}
    yield Row("IOMMU groups", " ".join(sorted(kinds)), bool(kinds - {"identity"}))


CPU = "sys/devices/system/cpu/"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path("/"), help="a copy of /proc and /sys")
    root = parser.parse_args().root
    rows = [
        *processors(root),
        *memories(root),
        *limits(
            resource.getrlimit(resource.RLIMIT_MEMLOCK)[0],
            resource.getrlimit(resource.RLIMIT_NOFILE)[0],
            shutil.disk_usage("/dev/shm").total,
            memory(root, "MemTotal"),
        ),
        *devices(root),
    ]
    for row in rows:
        print(f"{row.name:27} {row.value or '-':32} {'look' if row.look else ''}".rstrip())
    return sum(row.look for row in rows)


if __name__ == "__main__":
    sys.exit(main())
