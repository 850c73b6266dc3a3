"""The programs of the notes on operations: what a reader would rely on."""

from __future__ import annotations

from typing import Any

import pytest

from tools.figures.files import load_program

xid, exporter, straggler, cdi, gpu_pack = (
    load_program(f"eng/code/{name}.py")
    for name in ("xid", "exporter", "straggler", "cdi", "gpu_pack")
)


def test_the_driver_decides_what_to_do_and_followers_never_do() -> None:
    lines = [
        "NVRM: Xid (PCI:0000:01:00): 45, pid=1, name=a, Ch 1",
        "NVRM: Xid (PCI:0000:01:00): 48, DBE",
        "NVRM: Xid (PCI:0000:01:00): 154, GPU recovery action changed from 0x0 (None) "
        "to 0x2 (Node Reboot Required)",
        "NVRM: Xid (PCI:0000:02:00 GPU-I:05): 94, pid=7194, Contained: CE User Channel (0x9).",
        "usb 1-1: new device",
    ]
    found = xid.sort(lines)
    assert found["PCI:0000:01:00"].causes == [48]
    assert found["PCI:0000:01:00"].action() == "restart the node"
    assert found["PCI:0000:02:00"].instances == {"05"}
    assert found["PCI:0000:02:00"].action() == "restart the job"


def test_an_unknown_xid_is_never_ignored() -> None:
    (gpu,) = xid.sort(["NVRM: Xid (PCI:0000:01:00): 999, new"]).values()
    assert gpu.action() == "look at the workflow"


def test_the_exporter_is_read_under_old_and_new_names() -> None:
    old = 'DCGM_FI_PROF_SM_ACTIVE{gpu="0",pod="a,b"} 0.9\n'
    new = 'DCGM_FI_PROF_SM_UTIL_RATIO{gpu="0"} 0.9 1700000000\n'
    assert exporter.read(old) == exporter.read(new) == {"0": {"sm": 0.9}}


def test_a_blank_value_is_no_value() -> None:
    for blank in ("140737488355330.000000", "9223372036854775794"):
        assert exporter.read(f'DCGM_FI_DEV_GPU_UTIL{{gpu="0"}} {blank}') == {"0": {"util": None}}


def test_a_waiting_gpu_is_told_from_a_working_one() -> None:
    busy = {"util": 100.0, "sm": 0.97, "tensor": 0.6, "dram": 0.4}
    assert exporter.judge(busy).startswith("tensor")
    assert exporter.judge(busy | {"tensor": 0.0, "dram": 0.0}).startswith("waiting")
    assert exporter.judge({"util": 100.0}).startswith("no ratios")


def test_every_rank_has_the_same_step_time_and_the_slow_ones_are_found() -> None:
    for seed in range(5):
        log = straggler.run(seed)
        for step in log:
            totals = [computed + waited for computed, waited in step]
            assert max(totals) - min(totals) < 1e-9
        early = straggler.verdicts(straggler.excess(log, 0, 60))
        late = straggler.verdicts(straggler.excess(log, 60, 120))
        assert set(early) == {5, 13}
        assert set(late) == {5, 13, *range(24, 32)}


def test_a_device_brings_its_own_edits_and_those_of_its_kind_once() -> None:
    empty: dict[str, Any] = {
        "process": {"env": []},
        "linux": {"devices": []},
        "mounts": [],
        "hooks": {},
    }
    after = cdi.inject(empty, ["nvidia.com/gpu=0", "nvidia.com/gpu=1"])
    assert after["linux"]["devices"].count("/dev/nvidiactl") == 1
    assert {"/dev/nvidia0", "/dev/nvidia1"} <= set(after["linux"]["devices"])
    assert not empty["linux"]["devices"]
    assert cdi.inject(empty, []) == empty
    with pytest.raises(LookupError):
        cdi.inject(empty, ["nvidia.com/gpu=9"])


@pytest.mark.parametrize(
    ("case", "works"),
    [
        ((12, 525), True),
        ((12, 580), True),
        ((13, 570), False),
        ((13, 570, 580), True),
        ((13, 570, 580, False), False),
    ],
)
def test_an_image_runs_where_the_table_says(case: tuple[int, ...], works: bool) -> None:
    assert cdi.runs(*case).startswith("runs") == works


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
