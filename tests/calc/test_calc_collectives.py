"""The calculator of collectives against NCCL's own numbers, published ones and the handbook's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hooks.calc import engine
from hooks.calc.engine import Engine
from tests import ours

ROOT = Path(__file__).resolve().parents[2]
A100 = {"bandwidth": 300}
B200 = {"bandwidth": 900}
NVLS = {"offload": "nvls"}
NVLS_B200 = {"offload": "nvls", "nvls_share": 0.74, **B200}


@pytest.fixture(scope="module")
def calc() -> Engine:
    return engine.default(ours.facts())


class Published(NamedTuple):
    """A figure that others printed: busbw in GB/s or microseconds, and how far the model may be."""

    source: str
    date: str
    entries: dict[str, Any]
    figure: float
    tolerance: float
    is_time: bool = False


H100_RING = "NVIDIA/nccl issue 1221, NCCL 2.19.3, 8 x 400 Gb/s RoCE, 4 to 8 GB, NVLS off"
H100_TREE = "the same, NVLS on"
P6 = "stas00/ml-engineering, network/README.md at 744d01e, 32 B200 on EFA v4, NCCL 2.27.7"
H200 = "stas00/ml-engineering, network/benchmarks/README.md at 744d01e, 8 H200, NCCL 2.30.7"

FIGURES = [
    # Latency: what NCCL printed for its own estimate, and small messages
    *(
        # Its ports, unknown, follow from the first figure; the others prove the tree's correction.
        Published(
            "nccl 1453, NCCL's estimate",
            "2024-09",
            {"ranks": 16, "size": size, "bandwidth_out": 4.4765, "share_out": 1, "protocol": "LL"},
            microseconds,
            2e-5,
            True,
        )
        for size, microseconds in ((128, 25.214764), (4096, 25.874907), (8192, 26.549810))
    ),
    Published(
        "nccl 652, 32 nodes of A100, 4 x HDR",
        "2022-03-18",
        {"ranks": 256, "size": 8, "bandwidth_out": 12.5, **A100},
        62.99,
        0.05,
        True,
    ),
    Published(
        "nccl-tests 150, one A100 on each of two nodes, HDR",
        "2023-06-29",
        {"ranks": 2, "per_node": 1, "size": 8, "bandwidth_out": 25, **A100},
        18.96,
        0.15,
        True,
    ),
    Published(
        "nccl 1469, 16 nodes of H100, in place",
        "2024-10-03",
        {"ranks": 128, "size": 8},
        61.98,
        0.15,
        True,
    ),
    # Bandwidth of several nodes
    Published(H100_RING, "2024-03-13", {"ranks": 32, "size": "8G"}, 320, 0.20),
    Published(H100_RING, "2024-03-13", {"ranks": 16, "size": "8G"}, 330, 0.20),
    Published(H100_TREE, "2024-03-13", {"ranks": 16, "size": "8G", **NVLS}, 430, 0.25),
    Published("nccl-tests 319 (NVIDIA)", "2025-06-11", {"ranks": 32, "size": "16Gi"}, 396, 0.05),
    Published("nccl-tests 309 (NVIDIA)", "2025-06-18", {"ranks": 32, "size": "16Gi"}, 380, 0.05),
    Published("nccl-tests 283, H200", "2025-01-18", {"ranks": 1984, "size": "512Mi"}, 350, 0.10),
    Published(
        "coreweave/nccl-tests pull 92, H100",
        "2026-05-26",
        {"ranks": 16, "size": "8Gi", **NVLS},
        440.58,
        0.20,
    ),
    Published(
        "coreweave/nccl-tests pull 92, B200",
        "2026-05-26",
        {"ranks": 16, "size": "8Gi", **NVLS_B200},
        690.07,
        0.05,
    ),
    Published(
        "nccl-tests 119, 3 nodes of A100, 4 x HDR",
        "2022-11-17",
        {"ranks": 24, "size": "128Mi", "bandwidth_out": 12.5, **A100},
        96,
        0.10,
    ),
    Published(P6, "2026-08-22", {"ranks": 32, "size": "16Gi", **B200}, 381.80, 0.05),
    Published(P6, "2026-08-22", {"ranks": 32, "size": "1Gi", **B200}, 361.99, 0.05),
    # One node
    Published("ml-engineering, ring", "2026-08-22", {"ranks": 8, "size": "16Gi"}, 367.2, 0.05),
    *(
        Published(
            f"ml-engineering, {operation}",
            "2026-08-22",
            {"operation": operation, "ranks": 8, "size": "16Gi"},
            busbw,
            0.05,
        )
        for operation, busbw in (("all-gather", 361.4), ("reduce-scatter", 362.9))
    ),
    Published("nccl 1374, GTC S62129", "2024-07-24", {"ranks": 8, "size": "8G", **NVLS}, 480, 0.05),
    Published(P6, "2026-08-22", {"ranks": 8, "size": "16Gi", **NVLS_B200}, 845.67, 0.05),
    Published(H200, "2026-08-22", {"ranks": 8, "size": "32Ki", **NVLS}, 3.20, 0.20),
    Published(H200, "2026-08-22", {"ranks": 8, "size": "256Ki", **NVLS}, 24.63, 0.20),
    Published(H200, "2026-08-22", {"ranks": 8, "size": "1Mi", **NVLS}, 72.45, 0.20),
    Published(H200, "2026-08-22", {"ranks": 8, "size": "64Mi", **NVLS}, 369.82, 0.20),
    Published(H200, "2026-08-22", {"ranks": 8, "size": "16Gi", **NVLS}, 480.70, 0.05),
]

MISSES = [
    # Figures that the model misses by more; the page says why. The lower bound holds for all.
    Published(P6, "2026-08-22", {"ranks": 32, "size": "1Mi", **B200}, 5.37, 5),
    Published(P6, "2026-08-22", {"ranks": 32, "size": "16Mi", **B200}, 64.43, 2),
    Published(P6, "2026-08-22", {"ranks": 32, "size": "64Mi", **B200}, 156.74, 0.8),
    Published(H200, "2026-08-22", {"ranks": 8, "size": "16Mi", **NVLS}, 242.45, 0.5),
    Published(
        "nccl 812 (NVIDIA), 2 nodes of A100, 8 x 200 Gb/s",
        "2023-03-31",
        {"ranks": 16, "size": "8Gi", "bandwidth_out": 25, **A100},
        192,
        0.30,
    ),
    Published(
        "nccl 1218, all-gather, 32 nodes of H100",
        "2024-03-12",
        {"operation": "all-gather", "ranks": 256, "size": "2Gi"},
        200,
        0.7,
    ),
    Published(
        "nccl 2409, all-to-all, 2 nodes of H100",
        "2026-09-14",
        {"operation": "all-to-all", "ranks": 16, "size": "256Mi"},
        25,
        3,
    ),
    Published(
        "nccl 1244, NVLSTree", "2024-04-09", {"ranks": 16, "size": 16, **NVLS}, 46.25, 1, True
    ),
]


def name(one: object) -> str:
    return f"{one.source} {one.entries['size']}" if isinstance(one, Published) else ""


@pytest.mark.parametrize("one", FIGURES + MISSES, ids=name)
def test_the_model_is_near_what_others_printed(one: Published, calc: Engine) -> None:
    answer = calc.run("collective", one.entries)
    ours = answer["time"] * 1e6 if one.is_time else answer["busbw"]
    assert ours == pytest.approx(one.figure, rel=one.tolerance)


@pytest.mark.parametrize("one", FIGURES + MISSES, ids=name)
def test_no_library_is_faster_than_the_lower_bound(one: Published, calc: Engine) -> None:
    """Before, 32 ranks were given 253 GB/s at most, where 320 had been measured."""
    answer = calc.run("collective", one.entries)
    if one.is_time:
        assert answer["floor"] * 1e6 < one.figure
    else:
        assert answer["busbw"] * answer["time"] / answer["floor"] > one.figure


# NCCL's own table, computed here from tuning.cc by hand


@pytest.mark.parametrize(
    ("entries", "microseconds"),
    [
        pytest.param({"ranks": 8, "protocol": "LL"}, 6.6 + 14 * 0.6, id="ring, LL, one node"),
        pytest.param({"ranks": 8, "protocol": "LL128"}, 14 + 14 * 1.9, id="ring, LL128, one node"),
        pytest.param({"ranks": 64, "protocol": "LL"}, 6.8 + 2 * (7 * 0.6 + 3 * 5), id="tree, LL"),
        pytest.param(
            {"ranks": 64, "protocol": "LL128"}, 14 + 2 * (7 * 1.25 + 3 * 8.5), id="tree, LL128"
        ),
        pytest.param({"ranks": 64, "protocol": "Simple"}, 8.4 + 2 * (28 + 42), id="tree, Simple"),
        pytest.param(
            {"ranks": 64, "operation": "all-gather", "protocol": "LL"},
            6.6 + (63 - 7) * 1 + 7 * 2.7,
            id="all-gather, posting bounds the steps",
        ),
    ],
)
def test_latencies_are_those_of_nccl(
    calc: Engine, entries: dict[str, Any], microseconds: float
) -> None:
    ours = calc.run("collective", {**entries, "size": 1})["time"] * 1e6
    assert ours == pytest.approx(microseconds, rel=1e-4)


@pytest.mark.parametrize(
    ("ranks", "algorithm", "latency", "busbw", "of_bus"),
    [
        # tuning.cc: bus bandwidth (links at 0.82 of 450 GB/s, ports at 0.96 of 50), its share, and
        # n / nsteps for rings or 1/2 for trees.
        pytest.param(8, "ring (one per port), LL128", 14 + 14 * 1.9, 369 * 0.92, 8 / 14, id="node"),
        pytest.param(
            64,
            "ring (one per port), Simple",
            1.4 * (8.4 + (126 - 14) * 3.4 + 14 * 14),
            8 * 48,
            64 / 126,
            id="rings over nodes, the plateau",
        ),
        pytest.param(
            64,
            "double binary tree (chains in nodes), Simple",
            8.4 + 2 * (7 * 4 + 3 * 14),
            8 * 48 * 0.92,
            1 / 2,
            id="trees over nodes",
        ),
    ],
)
def test_times_of_1_gib_are_those_of_nccl_by_hand(
    calc: Engine, ranks: int, algorithm: str, latency: float, busbw: float, of_bus: float
) -> None:
    protocol = algorithm.rsplit(", ", 1)[1]
    entries = {"ranks": ranks, "size": "1Gi", "protocol": protocol}
    rows = calc.show("collective", entries, "en")["tables"][0]["rows"]
    seconds = next(str(row["cells"][2]) for row in rows if str(row["cells"][0]) == algorithm)
    by_hand = latency + (1 << 30) / (1000 * busbw * of_bus)
    assert float(seconds.split()[0]) * 1000 == pytest.approx(by_hand, rel=2e-3)


@pytest.mark.parametrize("per_node", [1, 8])
def test_pat_serves_one_gpu_per_node_only(per_node: int, calc: Engine) -> None:
    entries = {"ranks": 64, "per_node": per_node, "operation": "all-gather", "size": 1}
    rows = calc.show("collective", entries, "en")["tables"][0]["rows"]
    times = [row["cells"][2] for row in rows if "PAT" in str(row["cells"][0])]
    assert len(times) == (per_node == 1)
    if times:
        assert "211" in str(times[0])  # 8 + 6 x 4 + 64 x 2.8


@pytest.mark.parametrize("size", ["4Ki", "1Mi", "16Mi", "1Gi"])
@pytest.mark.parametrize("ranks", [8, 16, 64, 512])
def test_least_is_the_least_of_all_that_nccl_has(calc: Engine, ranks: int, size: str) -> None:
    answer = calc.run("collective", {"ranks": ranks, "size": size})
    rows = calc.show("collective", {"ranks": ranks, "size": size}, "en")["tables"][0]["rows"]
    assert [row["chosen"] for row in rows].count(True) == 1
    forced = [
        calc.run("collective", {"ranks": ranks, "size": size, "protocol": one})["time"]
        for one in ("LL", "LL128", "Simple")
    ]
    assert answer["time"] == pytest.approx(min(forced))
    assert answer["floor"] < answer["time"]


# The handbook's own measurements, four and two H200

RECORDS = [
    "link/topo/measured/allreduce",
    "train/measured/collectives",
    "train/measured/collectives_x4",
]


@pytest.mark.parametrize("record", RECORDS)
def test_the_handbooks_own_measurements(calc: Engine, record: str) -> None:
    """From 16 MiB on 0.7 to 1.1 of four GPUs' times; small calls lack what PyTorch adds."""
    found = json.loads((ROOT / f"docs/{record}.json").read_text(encoding="utf-8"))
    ranks = found["machine"]["gpu_count"]
    compared = 0
    for result in found["results"]:
        if result["unit"] != "us" or "points" not in result:
            continue
        for point in result["points"]:
            if "bytes" not in point:
                continue
            kind = point.get("kind") or result["id"].removesuffix("_time").removesuffix("_graph")
            answer = calc.run(
                "collective",
                {"operation": kind.replace("_", "-"), "ranks": ranks, "size": point["bytes"]},
            )
            share = answer["time"] * 1e6 / point["value"]
            assert answer["floor"] * 1e6 < point["value"]
            least = 0.15 if point["bytes"] < 16 << 20 else 0.7 if ranks == 4 else 0.55
            assert least < share < 1.2, point
            compared += 1
    assert compared > 20


def test_forced_protocols_of_rings(calc: Engine) -> None:
    """Each protocol with its own latency and share, against four H200 with that protocol forced."""
    record = json.loads((ROOT / "docs/link/topo/measured/allreduce.json").read_text("utf-8"))
    points = next(r for r in record["results"] if r["id"] == "all_reduce_forced_busbw")["points"]
    for point in points:
        if point["algorithm"] == "Ring":
            entries = {"ranks": 4, "size": point["bytes"], "protocol": point["protocol"]}
            share = calc.run("collective", entries)["time"] * point["algbw"] * 1e9 / point["bytes"]
            low, high = {"LL": (0.55, 1.1), "LL128": (0.9, 1.3), "Simple": (0.75, 1.1)}[
                point["protocol"]
            ]
            assert low < share < high, point
