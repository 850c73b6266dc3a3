"""What must hold of the calculators for RDMA, whatever is entered."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hooks.calc.engine import Engine
from tests.calc.conftest import few

WAYS = [("doorbell", False), ("doorbell", True), ("blueflame", False), ("blueflame", True)]


@few
@given(payload=st.integers(1, 150), read=st.floats(100, 2000))
def test_each_dma_read_costs_its_round_trip(payload: int, read: float, calc: Engine) -> None:
    times = []
    for way, inline in WAYS:
        entries = {"way": way, "inline": inline, "payload": payload, "read": read}
        answer = calc.run("small-message", entries)
        assert answer["reads"] == (way == "doorbell") + (not inline)
        times.append(answer["time"] * 1e9 - answer["reads"] * read)
    assert max(times) - min(times) < 60  # what is left is bytes on PCIe


def test_too_long_for_blueflame_is_said_and_reckoned_as_a_doorbell(calc: Engine) -> None:
    entries = {"payload": 400, "inline": True}
    shown = calc.show("small-message", {**entries, "way": "blueflame"}, "en")
    assert "does not fit" in shown["remarks"][0]
    assert shown["outputs"] == calc.run("small-message", {**entries, "way": "doorbell"})


@few
@given(
    size=st.integers(64, 1 << 22),
    rtt=st.floats(0.5, 200),
    window=st.integers(1, 256),
    stack=st.sampled_from(["ib", "roce", "roce6"]),
)
def test_the_window_it_names_fills_the_link_and_one_less_does_not(
    size: int, rtt: float, window: int, stack: str, calc: Engine
) -> None:
    entries = {"stack": stack, "rate": 400, "rtt": rtt, "size": size}
    answer = calc.run("bdp", {**entries, "window": window})
    assert 0 < answer["share"] <= 1
    need = answer["need"]
    if need > 65536:
        return
    assert calc.run("bdp", {**entries, "window": need})["share"] == pytest.approx(1)
    if need > 1:
        less = calc.run("bdp", {**entries, "window": need - 1})
        assert less["share"] < 1
        assert less["reached"] < answer["reached"] or window < need
    if window >= need:
        assert answer["share"] == pytest.approx(1)


@few
@given(metres=st.floats(0, 10_000), cell=st.floats(1, 3), ports=st.integers(1, 128))
def test_headroom_is_the_sum_of_its_parts_and_grows_with_the_cable(
    metres: float, cell: float, ports: int, calc: Engine
) -> None:
    entries = {"metres": metres, "cell": cell, "ports": ports, "priorities": 2}
    answer = calc.run("pfc-headroom", entries)
    assert answer["all"] == pytest.approx(2 * ports * answer["headroom"])
    further = calc.run("pfc-headroom", {**entries, "metres": metres + 100})
    # 100 m at 400 Gb/s and 5 ns/m: 50 kB there and back
    assert further["headroom"] - answer["headroom"] == pytest.approx(50_000 * cell)
    assert further["cable"] - answer["cable"] == pytest.approx(50_000 * cell)


@few
@given(size=st.integers(1, 1 << 24), stack=st.sampled_from(["ib", "roce", "tcp9000", "tcp1500"]))
def test_goodput_never_exceeds_that_of_full_packets(size: int, stack: str, calc: Engine) -> None:
    answer = calc.run("packet-overhead", {"stack": stack, "size": size, "write": False})
    shown = calc.show("packet-overhead", {"stack": stack, "size": size}, "en")["inputs"]
    full = shown["mtu"] - shown["inside"]
    assert answer["share"] <= full / (full + answer["overhead"]) + 1e-12
    assert answer["wire"] == size + answer["packets"] * answer["overhead"]
    assert (answer["packets"] - 1) * full < size <= answer["packets"] * full


def test_vlan_and_reth_are_counted_once_and_only_where_they_are(calc: Engine) -> None:
    plain = calc.run("packet-overhead", {"stack": "roce", "size": 8192, "write": False})
    assert calc.run("packet-overhead", {"stack": "roce", "size": 8192})["wire"] == (
        plain["wire"] + 16
    )
    tagged = calc.run(
        "packet-overhead", {"stack": "roce", "size": 8192, "write": False, "vlan": True}
    )
    assert tagged["wire"] == plain["wire"] + 2 * 4
    for stack in ("ib", "tcp1500"):
        found = calc.run("packet-overhead", {"stack": stack, "size": 64, "write": stack != "ib"})
        assert found["wire"] == 64 + found["overhead"]
