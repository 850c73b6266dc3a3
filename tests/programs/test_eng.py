"""Operations: schedulers, exporters, containers, settings of a node, acceptance."""

from __future__ import annotations

import itertools
import resource
from pathlib import Path
from typing import Any

import pytest

from tests import samples
from tests.programs import printed

xid, exporter, straggler, cdi, gpu_pack, accept, backfill, node, incidents = printed.load(
    "eng/code",
    *("xid", "exporter", "straggler", "cdi", "gpu_pack", "accept", "backfill", "node_settings"),
    "incident_cost",
)

# accept: who falls behind, and what only the floor notices


@pytest.mark.parametrize(
    ("test", "values", "failing"),
    [
        ("gemm_bf16_tflops", [670, 668, 672, 630], ["n3"]),
        ("gemm_bf16_tflops", [670, 668, 672, 640], []),
        ("gemm_bf16_tflops", [590, 592, 591], ["n0", "n1", "n2"]),  # alike, and below the floor
        ("allreduce_1kib_us", [17, 17, 17, 24], ["n3"]),  # less is better
        ("allreduce_1kib_us", [17, 17, 17, 9], []),
        ("allreduce_node_gb_s", [345, 345, 345, 331], ["n3"]),
    ],
)
def test_who_fails(test: str, values: list[float], failing: list[str]) -> None:
    rows = [(f"n{number}", test, value) for number, value in enumerate(values)]
    assert [one[0] for one in accept.judged(rows)] == failing


# xid, exporter, straggler


def test_the_driver_decides_what_to_do_and_followers_never_do() -> None:
    lines = [
        "NVRM: Xid (PCI:0000:01:00): 45, pid=1, name=a, Ch 1",
        "NVRM: Xid (PCI:0000:01:00): 48, DBE",
        "NVRM: Xid (PCI:0000:01:00): 154, GPU recovery action changed from 0x0 (None) "
        "to 0x2 (Node Reboot Required)",
        "NVRM: Xid (PCI:0000:02:00 GPU-I:05): 94, pid=7194, Contained: CE User Channel (0x9).",
        "NVRM: Xid (PCI:0000:03:00): 999, new",
        "usb 1-1: new device",
    ]
    one, two, three = (xid.sort(lines)[f"PCI:0000:0{n}:00"] for n in (1, 2, 3))
    assert (one.causes, one.action()) == ([48], "restart the node")
    assert (two.instances, two.action()) == ({"05"}, "restart the job")
    assert three.action() == "look at the workflow"  # an unknown one is never ignored


def test_the_exporter_is_read_under_old_and_new_names_and_a_blank_value_is_none() -> None:
    old = 'DCGM_FI_PROF_SM_ACTIVE{gpu="0",pod="a,b"} 0.9\n'
    new = 'DCGM_FI_PROF_SM_UTIL_RATIO{gpu="0"} 0.9 1700000000\n'
    assert exporter.read(old) == exporter.read(new) == {"0": {"sm": 0.9}}
    for blank in ("140737488355330.000000", "9223372036854775794"):
        assert exporter.read(f'DCGM_FI_DEV_GPU_UTIL{{gpu="0"}} {blank}') == {"0": {"util": None}}


def test_a_waiting_gpu_is_told_from_a_working_one() -> None:
    busy = {"util": 100.0, "sm": 0.97, "tensor": 0.6, "dram": 0.4}
    assert exporter.judge(busy).startswith("tensor")
    assert exporter.judge(busy | {"tensor": 0.0, "dram": 0.0}).startswith("waiting")
    assert exporter.judge({"util": 100.0}).startswith("no ratios")


@pytest.mark.parametrize("seed", range(5))
def test_every_rank_has_the_same_step_time_and_the_slow_ones_are_found(seed: int) -> None:
    log = straggler.run(seed)
    for step in log:
        totals = [computed + waited for computed, waited in step]
        assert max(totals) - min(totals) < 1e-9
    early, late = (
        set(straggler.verdicts(straggler.excess(log, *steps))) for steps in ((0, 60), (60, 120))
    )
    assert (early, late) == ({5, 13}, {5, 13, *range(24, 32)})


# cdi


def test_a_device_brings_its_own_edits_and_those_of_its_kind_once() -> None:
    empty: dict[str, Any] = {
        "process": {"env": []},
        "linux": {"devices": []},
        "mounts": [],
        "hooks": {},
    }
    devices = cdi.inject(empty, ["nvidia.com/gpu=0", "nvidia.com/gpu=1"])["linux"]["devices"]
    assert devices.count("/dev/nvidiactl") == 1
    assert {"/dev/nvidia0", "/dev/nvidia1"} <= set(devices)
    assert not empty["linux"]["devices"]
    assert cdi.inject(empty, []) == empty
    with pytest.raises(LookupError):
        cdi.inject(empty, ["nvidia.com/gpu=9"])


def test_an_image_runs_where_the_table_says() -> None:
    for case, works in (
        *(((12, 525), True), ((12, 580), True), ((13, 570), False)),
        *(((13, 570, 580), True), ((13, 570, 580, False), False)),
    ):
        assert cdi.runs(*case).startswith("runs") == works, case


# gpu_pack, backfill


def test_packing_keeps_whole_nodes_free() -> None:
    for seed in (1, 2):
        _, stuck, whole = gpu_pack.run(gpu_pack.pack, 0.5, seed, jobs=4000)
        _, spread_stuck, spread_whole = gpu_pack.run(gpu_pack.spread, 0.5, seed, jobs=4000)
        assert stuck < 0.05 < 0.9 < spread_stuck
        assert whole > 5 > spread_whole


def test_a_gang_never_holds_what_it_cannot_use() -> None:
    assert gpu_pack.gang(16, 12, 12, together=True, seed=1) == "A then B run"
    assert gpu_pack.gang(16, 12, 20, together=True, seed=1) == "A run"
    blocked = [gpu_pack.gang(16, 12, 12, together=False, seed=seed) for seed in range(50)]
    assert sum(text.startswith("neither") for text in blocked) > 40


@pytest.mark.parametrize("filled", [False, True])
def test_no_gpu_is_given_twice_and_every_job_runs(filled: bool) -> None:
    jobs = backfill.workload(80, seed=3, spread=2)
    starts = backfill.run(jobs, 64, filled)
    spans = [
        (start, start + min(job.takes, job.limit), job.gpus)
        for start, job in zip(starts, jobs, strict=True)
    ]
    assert all(start >= job.arrives for start, job in zip(starts, jobs, strict=True))
    for now in starts:
        assert sum(gpus for start, end, gpus in spans if start <= now < end) <= 64
    assert filled or all(first <= then for first, then in itertools.pairwise(starts))


def test_a_job_that_fits_by_its_limit_passes_and_delays_nobody() -> None:
    plain, filled = (
        dict(zip(backfill.FOUR, backfill.run(list(backfill.FOUR.values()), 8, fill), strict=True))
        for fill in (False, True)
    )
    assert filled["D"] < filled["B"] == plain["B"]
    assert filled["C"] == plain["C"]


# node_settings: what the program calls worth a look

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
IDLE = "sys/devices/system/cpu/cpu0/cpuidle/state3/"
BAD: list[tuple[dict[str, str], str]] = [  # what is changed, and the row that then is shown
    ({}, ""),
    (
        {"sys/devices/system/cpu/cpu7/cpufreq/scaling_governor": "powersave"},
        "CPU frequency governor",
    ),
    ({IDLE + "latency": "170"}, "deepest idle state"),
    ({IDLE + "latency": "170", IDLE + "disable": "1"}, ""),
    ({"sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet"}, "clock source"),
    ({"sys/fs/cgroup/cpu.stat": "nr_periods 9\nnr_throttled 4"}, "CPU quota"),
    ({"sys/fs/cgroup/memory.events": "oom 1\noom_kill 1"}, "out-of-memory kills here"),
    ({"sys/kernel/mm/transparent_hugepage/enabled": "always [never]"}, "transparent huge pages"),
    ({"sys/kernel/iommu_groups/0/type": "DMA-FQ"}, "IOMMU groups"),
    ({"proc/sys/kernel/numa_balancing": "1"}, "NUMA balancing"),
    ({"proc/sys/vm/zone_reclaim_mode": "1"}, "zone_reclaim_mode"),
    ({"proc/swaps": "Filename Type\n/dev/sda2 partition"}, "swap areas"),
    ({"proc/meminfo": "MemAvailable: 2000000000 kB"}, "dirty pages before a wait"),
]


@pytest.mark.parametrize(("changed", "row"), BAD)
def test_one_unsuitable_setting_is_the_one_shown(
    tmp_path: Path, changed: dict[str, str], row: str
) -> None:
    samples.lay(tmp_path, {path: f"{text}\n" for path, text in (GOOD | changed).items()})
    rows = [*node.processors(tmp_path), *node.memories(tmp_path), *node.devices(tmp_path)]
    assert {one.name for one in rows if one.look} == ({row} if row else set())


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


# incident_cost: what a hang costs, and what an alarm saves


def test_an_alarm_saves_only_the_hours_that_nobody_noticed() -> None:
    first = incidents.ACCOUNTS[1]
    assert incidents.saved(first) == pytest.approx((3 - 1 / 6) * 384)
    assert incidents.saved(first._replace(unnoticed=0.1)) == 0


def test_a_shorter_timeout_saves_what_the_question_says() -> None:
    long, short = incidents.hang(9600, 30), incidents.hang(9600, 10)
    assert (long, short, long - short) == (4800, 1600, 3200)
