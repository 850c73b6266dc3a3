"""The programs of the PCIe notes: packets by hand, simulation against formula, a made-up device."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from tools.figures import files as figure_files

CODE = figure_files.ROOT / "docs/link/pcie/code"
tlp = figure_files.load_program("link/pcie/code/tlp.py")
sim = figure_files.load_program("link/pcie/code/tlp_sim.py")
config = figure_files.load_program("link/pcie/code/pcie_config.py")
tier = figure_files.load_program("link/pcie/code/cxl_tier.py")


def test_intel_counts_the_same_efficiency() -> None:
    # AN 456: 256 / (256 + 20) for a header of three words; AN 855: 512 / (512 + 2 x 20) for a read
    assert tlp.write(256, 256, header=12).efficiency == pytest.approx(256 / 276)
    assert tlp.read(512, 256, 512).efficiency == pytest.approx(512 / 552)


@pytest.mark.parametrize(
    ("address", "size", "most", "cut"),
    [
        (0, 256, 256, [256]),
        (0, 257, 256, [256, 1]),
        (64, 256, 256, [192, 64]),
        (0, 0, 256, []),
        (4095, 2, 4096, [1, 1]),
    ],
)
def test_no_packet_crosses_a_boundary(address: int, size: int, most: int, cut: list[int]) -> None:
    assert tlp.pieces(address, size, most) == cut


def test_small_reads_are_bound_by_their_requests() -> None:
    one = tlp.read(4, 256, 512)
    assert (one.towards, one.back) == (24, 24)
    assert tlp.read(4096, 256, 128).towards == 32 * 24  # one request for each 128 bytes


def test_rates_of_the_generations() -> None:
    assert tlp.line_rate(5, 16) == pytest.approx(63.015, abs=1e-3)
    assert tlp.line_rate(1, 1) == pytest.approx(0.25)
    assert tlp.left(6, 16, tlp.write(4096, 4096)) < 118


@pytest.mark.parametrize("headers", [8, 32, 64, 128, 256])
@pytest.mark.parametrize("data", [256, 1024, 4096])
def test_credits_bound_writes(headers: int, data: int) -> None:
    link = sim.Link()
    found, bound = (
        sim.simulate_writes(link, headers, data),
        sim.bound_writes(link, headers, data),
    )
    assert 0.9 * bound <= found <= 1.02 * bound


@pytest.mark.parametrize("latency", [300, 1000, 3000])
@pytest.mark.parametrize("tags", [8, 32, 256])
@pytest.mark.parametrize("request_size", [128, 512, 4096])
def test_bytes_in_flight_bound_reads(latency: float, tags: int, request_size: int) -> None:
    found = sim.simulate_reads(latency, tags, request_size, 256)
    assert found == pytest.approx(sim.bound_reads(latency, tags, request_size, 256), rel=0.04)


def test_best_share_fills_both_memories() -> None:
    share = tier.best(300, 60)
    assert tier.bandwidth(300, 60, share) == pytest.approx(360)
    assert all(tier.bandwidth(300, 60, s / 100) <= 360 + 1e-9 for s in range(101))


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
    found = config.device(made_up(tmp_path))
    link = found["express"]
    assert (link["port"], link["link_is"], link["link_can"]) == (
        "switch, downstream",
        "16 GT/s x8",
        "32 GT/s x16",
    )
    assert (link["payload"], link["payload_supported"], link["read_request"]) == (256, 512, 512)
    assert link["relaxed_ordering"] and link["extended_tags"] and not link["no_snoop"]
    assert found["acs"]["on"] == [
        "source validation",
        "request redirect",
        "completion redirect",
        "upstream forwarding",
    ]
    assert found["resizable"][0]["bar"] == 1
    assert found["resizable"][0]["bytes"] == found["regions"][1] == 256 << 20
    assert found["resizable"][0]["possible"] == [1 << (20 + n) for n in (10, 11, 12)]
    assert any("ACS on" in line for line in config.told(found))


def test_without_root_only_the_header_is_known(tmp_path: Path) -> None:
    place = made_up(tmp_path)
    (place / "config").write_bytes((place / "config").read_bytes()[:64])
    found = config.device(place)
    assert found["capabilities"] == [] and "express" not in found


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler on this machine")
@pytest.mark.parametrize("name", ["cpu_matrix", "bar_read"])
def test_c_programs_compile_without_warnings_and_start(name: str, tmp_path: Path) -> None:
    program = tmp_path / name
    flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread"]
    subprocess.run(["gcc", *flags, "-o", program, CODE / f"{name}.c"], check=True)
    if name == "cpu_matrix":
        run = subprocess.run([program, "--quick"], capture_output=True, text=True, check=True)
        assert run.stdout == "chains and sums are right\n"
    else:
        run = subprocess.run([program, "none"], capture_output=True, text=True, check=False)
        assert run.returncode == 77 and "skipped" in run.stderr
