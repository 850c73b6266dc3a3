"""A RoCE fabric and its links: marks, MTU and paths; counters before and after; what FEC leaves."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.programs import printed

marks, proof = printed.load("link/ethernet/code", "roce_marks", "roce_proof")
(fec,) = printed.load("link/infiniband/code", "fec")

ETHTOOL = """\
NIC statistics:
     tx_prio3_bytes: {moved}
     rx_prio3_bytes: {moved}
     rx_prio3_discards: 0
     rx_discards_phy: 7
"""
RDMA = "link mlx5_0/1 np_cnp_sent {cnp} packet_seq_err {lost} out_of_sequence 0\n"


def test_a_dscp_becomes_a_byte_a_priority_and_a_class() -> None:
    assert (marks.traffic_class(26), marks.traffic_class(3)) == (106, 14)
    assert (marks.priority(26), marks.priority(48)) == (3, 6)
    assert [marks.sonic(dscp) for dscp in (3, 4, 26, 48)] == [3, 4, 1, 6]


@pytest.mark.parametrize(
    ("interface", "payload"), [(100, 0), (1500, 1024), (4191, 2048), (4192, 4096), (9000, 4096)]
)
def test_headers_leave_a_step_of_the_mtu(interface: int, payload: int) -> None:
    assert marks.rdma_mtu(interface) == payload


def test_one_pair_has_one_path_and_more_pairs_have_more() -> None:
    rng = random.Random(1)
    mean = [sum(marks.used(pairs, 8, rng) for _ in range(300)) / 300 for pairs in (1, 4, 16)]
    assert mean[0] == 1 < mean[1] < mean[2] <= 8
    assert all(0xC000 <= marks.source_port(qp, 7 * qp) <= 0xFFFF for qp in range(256, 3000, 11))


def test_snapshots_are_read_and_subtracted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / name for name in ("before", "after")]
    files[0].write_text(ETHTOOL.format(moved=100) + RDMA.format(cnp=5, lost=2), "utf-8")
    files[1].write_text(ETHTOOL.format(moved=900) + RDMA.format(cnp=5, lost=3), "utf-8")
    monkeypatch.setattr("sys.argv", ["roce_proof.py", *map(str, files)])
    assert proof.main() == 1
    lines = [line.split(maxsplit=2) for line in capsys.readouterr().out.splitlines()]
    found = {name: (result, meaning) for result, name, meaning in lines}
    assert found["tx_prio3_bytes"] == ("ok", "+800")
    assert found["rx_discards_phy"] == ("ok", "+0")  # 7 of earlier days do not count
    assert found["np_cnp_sent"][0] == found["packet_seq_err"][0] == "FAIL"
    assert found["rp_cnp_handled"][0] == "absent"
    monkeypatch.setattr("sys.argv", ["roce_proof.py", *map(str, files), "--no-congestion"])
    assert proof.main() == 1 and "np_cnp_sent" not in capsys.readouterr().out


def test_under_incast_each_role_has_its_own_counters() -> None:
    receiver = {"rx_prio3_bytes": 9, "np_ecn_marked_roce_packets": 5, "np_cnp_sent": 2}
    sender = {"tx_prio3_bytes": 9, "rp_cnp_handled": 2}
    for role, change in (("receiver", receiver), ("sender", sender)):
        quiet = dict.fromkeys(("tx_prio3_bytes", "rx_prio3_bytes", "rp_cnp_handled"), 0)
        assert "FAIL" not in {
            result for result, *_ in proof.verdicts(quiet | change, 3, True, role)
        }
    unmarked = receiver | {"np_ecn_marked_roce_packets": 0, "np_cnp_sent": 0}
    failed = [name for result, name, _ in proof.verdicts(unmarked, 3, True) if result == "FAIL"]
    assert failed == ["np_ecn_marked_roce_packets"]  # without marks, no CNP is no second fault


def test_codewords_add_up_and_the_loss_is_a_cliff() -> None:
    for code, (symbols, corrects) in fec.CODES.items():
        shares = [fec.exactly(wrong, 1e-3, code) for wrong in range(symbols + 1)]
        assert sum(shares) == pytest.approx(1)
        assert fec.lost(1e-3, code) == pytest.approx(sum(shares[corrects + 1 :]))
    hours = 1 / (fec.lost(2.4e-4, "KP4") * fec.codewords() * 3600)
    seconds = 1 / (fec.lost(5e-4, "KP4") * fec.codewords())
    assert (hours, seconds) == (pytest.approx(4.36, rel=0.01), pytest.approx(0.458, rel=0.01))
    for code in fec.CODES:
        ber = fec.limit(code, 3600)
        assert fec.lost(ber, code) * fec.codewords() * 3600 == pytest.approx(1, rel=1e-6)


def test_the_rate_of_lost_codewords_agrees_with_chance() -> None:
    rng, symbols, ber = random.Random(3), 528, 2e-3
    p = fec.symbol_error(ber)
    draws = 3000
    over = sum(sum(rng.random() < p for _ in range(symbols)) > 7 for _ in range(draws))
    assert over / draws == pytest.approx(fec.lost(ber, "KR4"), abs=0.03)
