"""NCCL's protocols: lines that can be read back, and the model against what NCCL itself printed."""

from __future__ import annotations

import json

import pytest

from tools.figures.files import ROOT, load_program

lines = load_program("ccl/code/nccl_lines.py")
model = load_program("ccl/code/nccl_model.py")
MESSAGE = bytes(range(240)) * 16  # two slices of a warp
SHARED_GPU = model.Machine(4, 1, 32, 60.0, tree_bw=6.0, nvlink=False)
CAPTURE = ROOT / "docs/ccl/nccl/measured/captures/choose_h100.txt"
"""What NCCL 2.30.7 printed for ranks that share one H100."""


@pytest.mark.parametrize(("protocol", "data", "wire"), [("ll", 1, 2), ("ll128", 15, 16)])
def test_lines_come_back_and_cost_what_the_note_says(protocol: str, data: int, wire: int) -> None:
    packed = getattr(lines, f"pack_{protocol}")(MESSAGE, 7)
    assert len(MESSAGE) * wire == len(packed) * data
    assert getattr(lines, f"unpack_{protocol}")(packed, 7) == MESSAGE
    with pytest.raises(lines.NotReadyError):
        getattr(lines, f"unpack_{protocol}")(packed, 8)


def test_a_fresh_buffer_is_never_ready() -> None:
    for unpack, line in ((lines.unpack_ll, 16), (lines.unpack_ll128, 128)):
        with pytest.raises(lines.NotReadyError):
            unpack(bytes(line), 0)


def test_a_torn_store_is_seen_by_ll_and_not_by_ll128() -> None:
    """Why LL128 needs order: here the flag has come and bytes before it have not."""
    torn = bytearray(lines.pack_ll(MESSAGE, 0))
    torn[8:16] = bytes(8)  # the second half of the first line is still missing
    with pytest.raises(lines.NotReadyError):
        lines.unpack_ll(bytes(torn), 0)
    late = bytearray(lines.pack_ll128(MESSAGE, 0))
    late[16:32] = bytes(16)
    assert lines.unpack_ll128(bytes(late), 0) != MESSAGE


def test_buffers() -> None:
    assert lines.BUFFER == {"LL": 524288, "LL128": 4915200, "Simple": 4194304}


def captured() -> dict[str, list[str]]:
    """Return the lines that follow each command of the capture."""
    blocks = CAPTURE.read_text("utf-8").split("\n$ ")[1:]
    return {block.splitlines()[0]: block.splitlines()[1:] for block in blocks}


def test_latency_and_bandwidth_are_those_nccl_printed() -> None:
    row = next(text for text in CAPTURE.read_text("utf-8").splitlines() if "AllReduce |" in text)
    cells = [cell.strip() for cell in row.split("|")[1:7]]
    found = [model.line(SHARED_GPU, a, p) for a in ("Tree", "Ring") for p in model.PROTOCOLS]
    ours = [f"{one.latency:.1f}/{one.bandwidth:.1f}" for one in found]
    assert ours == [cell.replace(" ", "") for cell in cells]


@pytest.mark.parametrize("protocol", ["", "LL", "LL128", "Simple"])
def test_predicted_times_are_those_of_nccl(protocol: str) -> None:
    """Of ncclGroupSimulateEnd, with each protocol forced and with none."""
    wanted = "choose predict 4"
    start = f"NCCL_PROTO={protocol} " if protocol else "NCCL_DEBUG"
    command = next(c for c in captured() if c.endswith(wanted) and c.startswith(start))
    said = [text.split() for text in captured()[command] if "predicted" in text]
    assert len(said) == 8
    for size, _, _, printed, _ in said:
        times = [
            model.time(SHARED_GPU, (a, p), int(size))
            for a in ("Tree", "Ring")
            for p in model.PROTOCOLS
            if protocol in ("", p)
        ]
        assert f"{min(times):.1f}" == printed, size


def test_forcing_selects_and_every_sum_is_right() -> None:
    for protocol in ("LL", "LL128", "Simple"):
        end = f"NCCL_PROTO={protocol} choose run 4"
        block = next(b for c, b in captured().items() if c.endswith(end))
        chosen = [text.split("proto ")[1].split()[0] for text in block if "-> Algo" in text]
        assert chosen == [protocol.upper()] * 8
        assert sum(text.endswith(" 0 wrong") for text in block) == 8


def test_the_choice_on_four_h200_is_that_of_the_log() -> None:
    record = json.loads((ROOT / "docs/link/topo/measured/allreduce.json").read_text("utf-8"))
    found = {one["id"]: one["points"] for one in record["results"]}["all_reduce_choice"]
    for point in found:
        name = model.choice(model.Machine(), point["bytes"])
        chosen = tuple(word.upper() for word in name)
        assert chosen == (point["algorithm"], point["protocol"]), point["bytes"]


@pytest.mark.parametrize("suffix", ["", ".en"])
def test_the_table_of_the_note_is_model_and_record(suffix: str) -> None:
    record = json.loads((ROOT / "docs/link/topo/measured/allreduce.json").read_text("utf-8"))
    forced = {one["id"]: one["points"] for one in record["results"]}["all_reduce_forced_busbw"]
    note = (ROOT / f"docs/ccl/nccl/protocols{suffix}.md").read_text("utf-8")
    for label, size in (("64 K", 16), ("1 M", 20), ("16 M", 24), ("1 G", 30)):
        row = next(text for text in note.splitlines() if text.startswith(f"| {label}iB | "))
        bytes_ = 1 << size
        for protocol, cell in zip(model.PROTOCOLS, row.split("|")[2:5], strict=True):
            where = (bytes_, "Ring", protocol)
            point = next(p for p in forced if (p["bytes"], p["algorithm"], p["protocol"]) == where)
            times = (
                model.time(model.Machine(), where[1:], bytes_),
                bytes_ / point["algbw"] / 1e3,
            )
            said = [text.strip() for text in cell.split("/")]
            assert [f"{t:.0f}" if t > 1000 else f"{t:.1f}" for t in times] == said, where


def test_switches_are_where_the_choice_changes() -> None:
    for size, name in model.switches(model.Machine()):
        assert model.choice(model.Machine(), size) == name
        assert size == 1024 or model.choice(model.Machine(), size - 1024) != name


def test_one_rank_per_node_takes_the_latency_of_trees() -> None:
    one_each = model.line(model.Machine(4, 4), "Ring", "LL")
    assert one_each.latency == pytest.approx(6.6 + 6 * 5.0)
