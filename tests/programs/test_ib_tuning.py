"""Programs and simulations of the notes on RDMA: formulas, printed numbers, captured packets."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from tests.programs import printed

pcie, window, caches, copies, dissect, qp_states, qp_count, mtt = printed.load(
    "link/infiniband/code",
    *("pcie_message", "read_window", "nic_caches"),
    *("copies", "dissect", "qp_states", "qp_count", "mtt"),
)

# pcie_message: numbers that Kalia et al. (ATC 2016) print, then the simulation and the formula


def test_bytes_and_rates_that_are_printed() -> None:
    # "for N = 10 and D = 65 Doorbell transfers 1534 bytes, whereas WQE-by-MMIO 1800"
    batched = pcie.Way("", inline=True, chain=10, signal_every=10**9)
    single = pcie.Way("", inline=True, blueflame=True, signal_every=10**9)
    payload = 65 - 36
    for way, total in ((batched, 1534), (single, 1800)):
        assert way.wqe(payload) == 128
        assert round(10 * pcie.bytes_per_message(way, payload)[0]) == total
    lines = pcie.RAW / (64 + pcie.REQUEST)
    assert 1000 * lines == pytest.approx(175, rel=0.005)  # million cache lines a second
    useful = pcie.RAW * 128 / (128 + pcie.COMPLETION)
    assert 1000 * useful == pytest.approx(13443, rel=0.001)  # MB/s
    datagram = pcie.Way("", inline=True, blueflame=True, signal_every=64, header=68)
    assert datagram.wqe(60) == 128  # the largest payload of two lines
    down, _ = pcie.bytes_per_message(datagram, 60)
    assert 1000 * pcie.RAW / down == pytest.approx(87.5, rel=0.005)
    fitted = pcie.Way("", inline=True, blueflame=True, header=20)
    assert pcie.latency_us(fitted, 32) == pytest.approx(pcie.PUBLISHED[32], abs=0.005)


@pytest.mark.parametrize("payload", [8, 32, 220, 1024])
@pytest.mark.parametrize("way", pcie.WAYS, ids=lambda way: way.name)
def test_simulated_bytes_are_those_of_the_formula(way: Any, payload: int) -> None:
    count = 256
    sent = pcie.simulate(way, payload, count)[1].sent
    down, up = pcie.bytes_per_message(way, payload)
    assert (sent["down"], sent["up"]) == pytest.approx((count * down, count * up))


def test_each_dma_read_costs_its_round_trip() -> None:
    none, one, two = (
        pcie.latency_us(pcie.Way("", inline=inline, blueflame=flame), 32)
        for inline, flame in ((True, True), (False, True), (False, False))
    )
    assert one - none == pytest.approx(pcie.READ_NS / 1000, abs=0.02)
    assert two - one == pytest.approx(pcie.READ_NS / 1000, abs=0.02)


@pytest.mark.parametrize(("header", "default"), [(36, 220), (20, 236), (68, 188)])
def test_inline_defaults_of_perftest_fill_the_blueflame_buffer(header: int, default: int) -> None:
    way = pcie.Way("", inline=True, blueflame=True, header=header)
    assert way.copies(default) and not way.copies(default + 1)


# read_window: the bandwidth-delay formula


@pytest.mark.parametrize("places", [1, 3, 16, 64])
@pytest.mark.parametrize("size", [4096, 65536, 1048576])
@pytest.mark.parametrize("network", ["InfiniBand", "RoCEv2"])
def test_bandwidth_follows_the_window(network: str, size: int, places: int) -> None:
    path = window.Path(window=places, network=network, mtu=1024)
    assert window.simulate(path, size) == pytest.approx(window.formula(path, size), rel=0.01)


def test_the_window_it_names_fills_the_link_and_one_less_does_not() -> None:
    path = window.Path(rtt_ns=10_000)
    need = window.window_to_fill(path, 65536)
    full = 65536 * 8 / path.wire_ns(65536)
    assert window.simulate(replace(path, window=need), 65536) == pytest.approx(full, rel=0.01)
    assert window.simulate(replace(path, window=need - 1), 65536) < 0.99 * full


# nic_caches: LRU, and the misses that even random access must have


def test_lru_keeps_what_was_used_last_and_what_fits_never_misses() -> None:
    cache = caches.Cache(entries=2, ways=2)
    hits = [cache.hit(entry) for entry in (1, 2, 1, 3, 1, 2)]
    assert hits == [False, False, True, False, True, False]
    assert caches.misses(caches.Cache(1024, 8), 1024, 30_000) == 0


@pytest.mark.parametrize("entries", [2048, 4096, 16384])
def test_random_access_misses_what_does_not_fit(entries: int) -> None:
    seen = caches.misses(caches.Cache(1024, 8), entries, 60_000)
    assert seen == pytest.approx(caches.expected(entries, 1024), abs=0.02)


@pytest.mark.parametrize("memory", [2**26, 2**34, 2**38])
def test_larger_pages_never_do_harm(memory: int) -> None:
    rates = [caches.simulate(caches.Nic(), 64, memory, page)[2] for page in caches.PAGES.values()]
    assert rates == sorted(rates)


# copies


@pytest.mark.parametrize(("messages", "size"), [(1, 1), (20, 4096), (3, 60000)])
def test_tcp_takes_two_calls_and_two_copies_and_verbs_none(messages: int, size: int) -> None:
    cost, _ = copies.over_tcp(messages, size)
    assert (cost.kernel, cost.copied) == (2 * messages, 2 * messages * size)
    # Alone in its process, the program fails where Linux counts otherwise.
    command = [sys.executable, copies.__file__, "-n", str(messages), "-s", str(size)]
    assert subprocess.run(command, check=False).returncode == 0
    cost = copies.over_verbs(messages, size)
    assert (cost.kernel, cost.copied, cost.doorbells) == (0, 0, messages)


# dissect


def test_icrc_of_a_packet_that_hardware_sent() -> None:
    """The CNP that Scapy's tests quote as captured on a ConnectX-4 Lx."""
    frame = bytes.fromhex(dissect.CAPTURED)
    assert dissect.icrc(frame[14:-4]).hex() == "82fd002a"
    assert {("ICRC", "82fd002a", "right"), ("BTH", "becn", "1")} <= set(dissect.dissect(frame))


def test_icrc_of_a_uc_packet_that_scapy_quotes() -> None:
    payload = bytes.fromhex("4630818be28935d90e9a95505401be885e500000")
    ip = {"version": 4, "words": 5, "ecn": 1, "length": 64, "id": 1144, "flags": 2, "ttl": 64}
    ip |= {"protocol": 17, "source": 0xC0A80007, "destination": 0xC0A80007}
    ip["checksum"] = dissect.ip_checksum(dissect.pack("IPv4", ip))
    assert ip["checksum"] == 0xB4D5
    udp = {"source port": 49152, "destination port": 4791, "length": 44, "checksum": 0xACA2}
    bth = {"opcode": 0x24, "migrated": 1, "pad": 2, "pkey": 0xFFFF}
    bth |= {"destination qp": 211, "psn": 13571856}
    packet = b"".join(
        dissect.pack(name, values) for name, values in (("IPv4", ip), ("UDP", udp), ("BTH", bth))
    )
    assert dissect.icrc(packet + payload).hex() == "78f353f3"


@pytest.mark.parametrize("opcode", [0x00, 0x05, 0x0A, 0x0B, 0x0C, 0x0D, 0x11, 0x12, 0x14, 0x17])
@pytest.mark.parametrize("length", [0, 1, 4, 1023])
def test_what_is_built_comes_apart(opcode: int, length: int) -> None:
    frame = dissect.build(opcode, {"psn": 5, "destination qp": 9}, {}, bytes(length))
    rows = dissect.dissect(frame)
    assert ("BTH", "psn", "5") in rows
    assert ("payload", "bytes", str(length)) in rows
    assert rows[-1][2] == "right"


COVERED = {"source address": 26, "source port": 34, "psn": 53, "payload": -5}
CHANGED = {"tos": 15, "ttl": 22, "IP checksum": 24, "UDP checksum": 40, "becn": 46}
"""Bytes that switches may change on the way."""


@pytest.mark.parametrize("name", COVERED | CHANGED)
def test_icrc_covers_what_stays_on_the_way(name: str) -> None:
    frame = bytearray(dissect.build(0x0A, {"psn": 5}, {}, b"abcd"))
    frame[(COVERED | CHANGED)[name]] ^= 0x40
    assert (dissect.dissect(bytes(frame))[-1][2] != "right") == (name in COVERED)


@pytest.mark.parametrize(
    ("at", "byte", "message"),
    [
        (12, 0x86, "not IPv4"),
        (37, 0xB5, "port 4789, not"),  # VXLAN
        (42, 0x40, "opcode 0x40"),  # RD
        (23, 6, "not UDP"),
        (17, 30, "no room"),
    ],
)
def test_other_packets_are_refused(at: int, byte: int, message: str) -> None:
    frame = bytearray(dissect.build(0x0A, {}, {}, b""))
    frame[at] = byte
    with pytest.raises(ValueError, match=message):
        dissect.dissect(bytes(frame))
    with pytest.raises(ValueError, match="BTH needs 12 bytes, 8 are left"):
        dissect.dissect(dissect.build(0x0A, {}, {}, b"")[:50])


# qp_states, qp_count, mtt


TRANSITIONS = {  # service, from, to and what is given; what is wrong with it
    "RC RESET INIT PKEY_INDEX PORT ACCESS_FLAGS": "",
    "RC INIT RTR AV PATH_MTU DEST_QPN RQ_PSN MIN_RNR_TIMER": "missing: MAX_DEST_RD_ATOMIC",
    "UC RTR RTS SQ_PSN TIMEOUT": "not allowed here: TIMEOUT",
    "UD RESET INIT PKEY_INDEX PORT ACCESS_FLAGS": "missing: QKEY; not allowed here: ACCESS_FLAGS",
    "XRC_RECV RTR RTS TIMEOUT SQ_PSN": "",
    "RC RTS RTS AV": "not allowed here: AV",
    "RC RTS ERR": "",
}


@pytest.mark.parametrize("asked", TRANSITIONS)
def test_transitions(asked: str) -> None:
    kind, old, new, *given = asked.split()
    assert "; ".join(qp_states.verdict(kind, old, new, set(given))) == TRANSITIONS[asked]


def test_every_state_reaches_reset_and_others_do_not_exist() -> None:
    for state in qp_states.STATES:
        assert qp_states.attributes("RC", state, "RESET") == (set(), set())
    for old, new in (("ERR", "RTS"), ("RESET", "ERR"), ("RESET", "RTR"), ("INIT", "RTS")):
        with pytest.raises(ValueError, match=f"from {old} to {new}"):
            qp_states.verdict("RC", old, new, set())


def test_counts_of_queue_pairs_and_pages() -> None:
    """Two nodes of one process: one connection, and one queue pair where there is none."""
    assert qp_count.counts(2, 1, 1) == {"RC": 1, "XRC": 2, "DC": 2, "UD, SRD": 1}
    assert qp_count.counts(64, 8, 8)["RC"] == 8 * 8 * 63
    assert [mtt.entries(4096, 4096, offset=at) for at in (0, 1)] == [1, 2]
    assert mtt.entries(64 * 2**30, 2**21) == 32768


# fabric_sim: the real OpenSM, where it and the simulator of fabrics are installed


@pytest.mark.release
def test_routing_engines_on_simulated_fabrics() -> None:
    printed.check("docs/link/infiniband/code/fabric_sim.py", "OpenSM", "link/infiniband/operating")
