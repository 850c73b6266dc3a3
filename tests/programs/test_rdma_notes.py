"""The programs and figures of the notes on RDMA, its protocols, connections and memory."""

from __future__ import annotations

import pytest

from tools.figures.files import load_program

copies, dissect, qp_states, qp_count, mtt = (
    load_program(f"link/infiniband/code/{name}.py")
    for name in ("copies", "dissect", "qp_states", "qp_count", "mtt")
)


@pytest.mark.parametrize(("messages", "size"), [(1, 1), (20, 4096), (3, 60000)])
def test_tcp_takes_two_calls_and_two_copies(messages: int, size: int) -> None:
    cost, seen = copies.over_tcp(messages, size)
    assert (cost.kernel, cost.copied) == (2 * messages, 2 * messages * size)
    if any(seen):  # Linux counts the same where it shows its counters
        assert seen == (cost.kernel, cost.copied)


def test_verbs_take_a_doorbell_and_no_copy() -> None:
    cost = copies.over_verbs(7, 100)
    assert (cost.kernel, cost.copied, cost.doorbells, cost.dma) == (0, 0, 7, 1400)


def test_icrc_of_a_packet_that_hardware_sent() -> None:
    """The CNP that Scapy's tests quote as captured on a ConnectX-4 Lx."""
    frame = bytes.fromhex(dissect.CAPTURED)
    assert dissect.icrc(frame[14:-4]).hex() == "82fd002a"
    rows = dissect.dissect(frame)
    assert ("ICRC", "82fd002a", "right") in rows
    assert ("BTH", "becn", "1") in rows


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


@pytest.mark.parametrize(
    ("at", "is_covered"),
    [
        pytest.param(15, False, id="tos"),
        pytest.param(22, False, id="ttl"),
        pytest.param(24, False, id="ip-checksum"),
        pytest.param(40, False, id="udp-checksum"),
        pytest.param(46, False, id="becn"),
        pytest.param(26, True, id="source-address"),
        pytest.param(34, True, id="source-port"),
        pytest.param(53, True, id="psn"),
        pytest.param(-5, True, id="payload"),
    ],
)
def test_icrc_covers_what_stays_on_the_way(at: int, is_covered: bool) -> None:
    frame = bytearray(dissect.build(0x0A, {"psn": 5}, {}, b"abcd"))
    frame[at] ^= 0x40
    assert (dissect.dissect(bytes(frame))[-1][2] != "right") == is_covered


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param((12, 0x86), "not IPv4", id="ipv6"),
        pytest.param((37, 0xB5), "port 4789, not", id="vxlan"),
        pytest.param((42, 0x40), "opcode 0x40", id="rd"),
        pytest.param((23, 6), "not UDP", id="tcp"),
        pytest.param((17, 30), "no room", id="short"),
    ],
)
def test_other_packets_are_refused(change: tuple[int, int], message: str) -> None:
    frame = bytearray(dissect.build(0x0A, {}, {}, b""))
    frame[change[0]] = change[1]
    with pytest.raises(ValueError, match=message):
        dissect.dissect(bytes(frame))


def test_truncated_packet_is_refused() -> None:
    with pytest.raises(ValueError, match="BTH needs 12 bytes, 8 are left"):
        dissect.dissect(dissect.build(0x0A, {}, {}, b"")[:50])


@pytest.mark.parametrize(
    ("kind", "old", "new", "given", "reasons"),
    [
        ("RC", "RESET", "INIT", "PKEY_INDEX PORT ACCESS_FLAGS", []),
        (
            "RC",
            "INIT",
            "RTR",
            "AV PATH_MTU DEST_QPN RQ_PSN MIN_RNR_TIMER",
            ["missing: MAX_DEST_RD_ATOMIC"],
        ),
        ("UC", "RTR", "RTS", "SQ_PSN TIMEOUT", ["not allowed here: TIMEOUT"]),
        (
            "UD",
            "RESET",
            "INIT",
            "PKEY_INDEX PORT ACCESS_FLAGS",
            ["missing: QKEY", "not allowed here: ACCESS_FLAGS"],
        ),
        ("XRC_RECV", "RTR", "RTS", "TIMEOUT SQ_PSN", []),
        ("RC", "RTS", "RTS", "AV", ["not allowed here: AV"]),
        ("RC", "RTS", "ERR", "", []),
    ],
)
def test_transitions(kind: str, old: str, new: str, given: str, reasons: list[str]) -> None:
    assert qp_states.verdict(kind, old, new, set(given.split())) == reasons


@pytest.mark.parametrize(
    ("old", "new"), [("ERR", "RTS"), ("RESET", "ERR"), ("RESET", "RTR"), ("INIT", "RTS")]
)
def test_transitions_that_do_not_exist(old: str, new: str) -> None:
    with pytest.raises(ValueError, match=f"from {old} to {new}"):
        qp_states.verdict("RC", old, new, set())


def test_every_state_reaches_reset() -> None:
    for state in qp_states.STATES:
        assert qp_states.attributes("RC", state, "RESET") == (set(), set())


def test_counts_for_two_nodes() -> None:
    """Two nodes of one process: one connection, and one queue pair where there is none."""
    assert qp_count.counts(2, 1, 1) == {"RC": 1, "XRC": 2, "DC": 2, "UD, SRD": 1}
    assert qp_count.counts(64, 8, 8)["RC"] == 8 * 8 * 63


def test_pages_touched() -> None:
    assert mtt.entries(4096, 4096) == 1
    assert mtt.entries(4096, 4096, offset=1) == 2
    assert mtt.entries(64 * 2**30, 2**21) == 32768
