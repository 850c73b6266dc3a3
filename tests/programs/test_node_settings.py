"""The note on Linux settings: what the program calls worth a look."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from tools.figures.files import load_program

ROOT = Path(__file__).resolve().parents[2]
node = load_program("eng/code/node_settings.py")

GOOD = {
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance",
    "sys/devices/system/cpu/cpu0/cpuidle/state0/latency": "2",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc",
    "sys/fs/cgroup/cpu.max": "max 100000",
    "sys/fs/cgroup/cpu.stat": "nr_periods 9\nnr_throttled 0",
    "sys/fs/cgroup/memory.events": "oom 0\noom_kill 0",
    "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
    "sys/kernel/iommu_groups/0/type": "identity",
    "sys/devices/system/node/node0/cpulist": "0",
    "sys/devices/system/node/node1/cpulist": "1",
    "proc/sys/kernel/numa_balancing": "0",
    "proc/sys/vm/zone_reclaim_mode": "0",
    "proc/sys/vm/dirty_ratio": "20",
    "proc/swaps": "Filename Type Size Used Priority",
    "proc/meminfo": "MemTotal: 8000000 kB\nMemAvailable: 6000000 kB",
}


def looks(root: Path, **changed: str) -> set[str]:
    for path, content in (GOOD | changed).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content + "\n", "utf-8")
    rows = [*node.processors(root), *node.memories(root), *node.devices(root)]
    return {row.name for row in rows if row.look}


@pytest.mark.parametrize(
    ("path", "content", "row"),
    [
        ("", "", ""),
        (
            "sys/devices/system/cpu/cpu7/cpufreq/scaling_governor",
            "powersave",
            "CPU frequency governor",
        ),
        ("sys/devices/system/cpu/cpu0/cpuidle/state3/latency", "170", "deepest idle state"),
        ("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet", "clock source"),
        ("sys/fs/cgroup/cpu.stat", "nr_periods 9\nnr_throttled 4", "CPU quota"),
        ("sys/fs/cgroup/memory.events", "oom 1\noom_kill 1", "out-of-memory kills here"),
        (
            "sys/kernel/mm/transparent_hugepage/enabled",
            "always madvise [never]",
            "transparent huge pages",
        ),
        ("sys/kernel/iommu_groups/0/type", "DMA-FQ", "IOMMU groups"),
        ("proc/sys/kernel/numa_balancing", "1", "NUMA balancing"),
        ("proc/sys/vm/zone_reclaim_mode", "1", "zone_reclaim_mode"),
        ("proc/swaps", "Filename Type\n/dev/sda2 partition", "swap areas"),
        ("proc/meminfo", "MemAvailable: 2000000000 kB", "dirty pages before a wait"),
    ],
)
def test_one_unsuitable_setting_is_the_one_shown(
    tmp_path: Path, path: str, content: str, row: str
) -> None:
    changed = {path: content} if path else {}
    assert looks(tmp_path, **changed) == ({row} if row else set())


def test_a_disabled_idle_state_does_not_count(tmp_path: Path) -> None:
    state = "sys/devices/system/cpu/cpu0/cpuidle/state3/"
    assert looks(tmp_path, **{state + "latency": "170", state + "disable": "1"}) == set()


def test_what_cannot_be_read_is_no_reason_to_look(tmp_path: Path) -> None:
    rows = [*node.processors(tmp_path), *node.memories(tmp_path), *node.devices(tmp_path)]
    assert rows
    assert not any(row.look or row.value for row in rows)


@pytest.mark.parametrize(
    ("locked", "files", "shared", "seen"),
    [
        (resource.RLIM_INFINITY, 1 << 20, 50, set()),
        (8 << 20, 1 << 20, 50, {"locked memory (ulimit -l)"}),
        (resource.RLIM_INFINITY, 1024, 50, {"open files (ulimit -n)"}),
        (resource.RLIM_INFINITY, 1 << 20, 1, {"/dev/shm"}),
    ],
)
def test_limits(locked: int, files: int, shared: int, seen: set[str]) -> None:
    assert {row.name for row in node.limits(locked, files, shared, 100) if row.look} == seen
