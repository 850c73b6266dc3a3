"""Ethernet without loss and PCIe: simulations against formulas, packets by hand, a made-up port."""

from __future__ import annotations

import random
import struct
import subprocess
from pathlib import Path

import pytest
import simpy

from tests.programs import printed
from tools.figures.files import ROOT

dcqcn, pfc, headroom, frame_budget = printed.load(
    "link/ethernet/code", "dcqcn", "pfc", "headroom", "frame_budget"
)
tlp, sim, config, tier = printed.load("link/pcie/code", "tlp", "tlp_sim", "pcie_config", "cxl_tier")


@pytest.mark.parametrize("name", ["authors", "alibaba"])
def test_recovery_rises_as_the_formula_says(name: str) -> None:
    p = dcqcn.SETS[name]
    found = dcqcn.report(p, dcqcn.simulate(p))
    rise = found["rise after C and D stop, Gb/s per ms and flow"]
    assert rise == pytest.approx(dcqcn.slope(p), rel=0.03)
    assert found["lowest rate of four, Gb/s (fair share 10)"] > 8
    assert found["highest rate of four, Gb/s"] < 12


def test_marking_is_linear_between_the_thresholds() -> None:
    for kilobytes, share in ((41, 0.0), (535.6, 0.5), (1030, 1.0), (2000, 1.0)):
        port = dcqcn.Port(simpy.Environment(), dcqcn.SETS["authors"], random.Random(2))
        port.packets.extend([None] * round(kilobytes * 1000 / dcqcn.PACKET))
        marked = sum(port.marks() for _ in range(4000)) / 4000
        assert marked == pytest.approx(share, abs=0.03)


def test_a_storm_stops_the_flow_of_a_healthy_receiver() -> None:
    series = pfc.storm().run()
    assert series["h2"][4] == pytest.approx(50, abs=2)
    assert series["h2"][-1] == 0
    assert pfc.storm(200).run()["h2"][-1] == pytest.approx(50, abs=2)  # guarded


def test_a_ring_locks_only_under_overload_and_a_second_class_frees_it() -> None:
    locked = pfc.ring()
    assert all(series[-1] == 0 for series in locked.run().values())
    assert locked.cycle() == ["1->2", "2->3", "3->1"]
    locked.sending = False  # it stays when every sender stops
    locked.env.run(locked.env.now + 1000)
    assert locked.cycle() == ["1->2", "2->3", "3->1"]
    for free in (pfc.ring(45), pfc.ring(dateline=("3", "1"))):
        assert all(series[-1] > 25 for series in free.run().values())
        assert (free.cycle(), free.dropped) == ([], 0)


@pytest.mark.parametrize(("rate", "metres"), [(100, 3), (400, 100), (800, 300)])
def test_headroom_bounds_the_worst_peak_and_not_by_much(rate: int, metres: int) -> None:
    bound = headroom.formula(rate, metres)
    peaks = [headroom.peak(rate, metres, a / 7, 2 + b / 7) for a in range(7) for b in range(7)]
    assert bound - headroom.FRAME <= max(peaks) <= bound + headroom.CELL


def test_smallest_frames_come_at_the_textbook_rate() -> None:
    assert frame_budget.frames(10, 64) == pytest.approx(14.88, abs=0.005)
    assert [frame_budget.requests(size) for size in (1 << 20, 1)] == [(256, 1), (1, 1)]


# tlp, tlp_sim, cxl_tier


def test_intel_counts_the_same_efficiency_and_rates_are_those_of_the_generations() -> None:
    # AN 456: 256 / (256 + 20) for a header of three words; AN 855: 512 / (512 + 2 x 20) for a read
    assert tlp.write(256, 256, header=12).efficiency == pytest.approx(256 / 276)
    assert tlp.read(512, 256, 512).efficiency == pytest.approx(512 / 552)
    assert tlp.line_rate(5, 16) == pytest.approx(63.015, abs=1e-3)
    assert tlp.line_rate(1, 1) == pytest.approx(0.25)
    assert tlp.left(6, 16, tlp.write(4096, 4096)) < 118


@pytest.mark.parametrize(
    ("address", "size", "most", "cut"),
    [
        *((0, 256, 256, [256]), (0, 257, 256, [256, 1]), (64, 256, 256, [192, 64])),
        *((0, 0, 256, []), (4095, 2, 4096, [1, 1])),
    ],
)
def test_no_packet_crosses_a_boundary(address: int, size: int, most: int, cut: list[int]) -> None:
    assert tlp.pieces(address, size, most) == cut


def test_small_reads_are_bound_by_their_requests() -> None:
    one = tlp.read(4, 256, 512)
    assert (one.towards, one.back) == (24, 24)
    assert tlp.read(4096, 256, 128).towards == 32 * 24  # one request for each 128 bytes


@pytest.mark.parametrize("headers", [8, 64, 256])
@pytest.mark.parametrize("data", [256, 4096])
def test_credits_bound_writes(headers: int, data: int) -> None:
    bound = sim.bound_writes(sim.Link(), headers, data)
    assert 0.9 * bound <= sim.simulate_writes(sim.Link(), headers, data) <= 1.02 * bound


@pytest.mark.parametrize("latency", [300, 3000])
@pytest.mark.parametrize("tags", [8, 256])
@pytest.mark.parametrize("request_size", [128, 4096])
def test_bytes_in_flight_bound_reads(latency: float, tags: int, request_size: int) -> None:
    found = sim.simulate_reads(latency, tags, request_size, 256)
    assert found == pytest.approx(sim.bound_reads(latency, tags, request_size, 256), rel=0.04)


def test_best_share_fills_both_memories() -> None:
    assert tier.bandwidth(300, 60, tier.best(300, 60)) == pytest.approx(360)
    assert all(tier.bandwidth(300, 60, s / 100) <= 360 + 1e-9 for s in range(101))


# pcie_config


def made_up(folder: Path) -> Path:
    """Return the folder of a downstream port: 16 GT/s x8 of 32 GT/s x16, ACS and a BAR."""
    space = bytearray(4096)
    struct.pack_into("<HHHH", space, 0, 0x1234, 0x5678, 0, 0x10)
    space[0x0A:0x0C] = b"\x04\x06"
    space[0x34] = 0x40
    space[0x40:0x42] = b"\x01\x50"  # power management, then PCI Express
    device = (1 << 5) | (2 << 12) | 0x10 | 0x100  # payload 256, requests 512, relaxed, tags
    struct.pack_into("<BBHIHH", space, 0x50, 0x10, 0, 6 << 4, 2, device, 0)
    struct.pack_into("<IHH", space, 0x5C, 5 | 16 << 4, 0, 4 | 8 << 4)
    struct.pack_into("<IHH", space, 0x100, 0x0D | 1 << 16 | 0x140 << 20, 0x7F, 0x1D)
    struct.pack_into("<III", space, 0x140, 0x15 | 1 << 16, 0x1C00 << 4, 1 | 1 << 5 | 8 << 8)
    place = folder / "0000:02:00.0"
    place.mkdir()
    (place / "config").write_bytes(space)
    (place / "resource").write_text(
        "0x0 0x0 0x0\n0xe0000000 0xefffffff 0x0\n" + "0x0 0x0 0x0\n" * 4, "ascii"
    )
    (place / "numa_node").write_text("1\n", "ascii")
    return place


def test_a_made_up_port_is_decoded(tmp_path: Path) -> None:
    place = made_up(tmp_path)
    found = config.device(place)
    assert (
        found["express"].items()
        >= {
            "port": "switch, downstream",
            "link_is": "16 GT/s x8",
            "link_can": "32 GT/s x16",
            "payload": 256,
            "payload_supported": 512,
            "read_request": 512,
            "relaxed_ordering": True,
            "extended_tags": True,
            "no_snoop": False,
        }.items()
    )
    assert found["acs"]["on"] == [
        *("source validation", "request redirect", "completion redirect", "upstream forwarding")
    ]
    (window,) = found["resizable"]
    assert (window["bar"], window["bytes"], found["regions"][1]) == (1, 256 << 20, 256 << 20)
    assert window["possible"] == [1 << (20 + n) for n in (10, 11, 12)]
    assert any("ACS on" in line for line in config.told(found))
    # without root only the header can be read
    (place / "config").write_bytes((place / "config").read_bytes()[:64])
    found = config.device(place)
    assert found["capabilities"] == [] and "express" not in found


@pytest.mark.parametrize("name", ["cpu_matrix", "bar_read"])
def test_c_programs_compile_without_warnings_and_start(name: str, tmp_path: Path) -> None:
    source = ROOT / f"docs/link/pcie/code/{name}.c"
    program = printed.compiled(tmp_path, source, "-std=c11", "-O2", "-pthread")
    if name == "cpu_matrix":
        assert printed.said(program, "--quick") == "chains and sums are right\n"
    else:
        run = subprocess.run([program, "none"], capture_output=True, text=True, check=False)
        assert run.returncode == 77 and "skipped" in run.stderr
