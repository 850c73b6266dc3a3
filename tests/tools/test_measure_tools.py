"""From captured output to records: parsing, statistics, and the committed records themselves."""

from __future__ import annotations

import datetime
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tools.measure import versions
from tools.measure.topo import (
    captures,
    collectives,
    contention,
    gpudirect,
    nvlink,
    parse,
    record,
    records,
    specs,
    stats,
    storage,
    wording,
)
from tools.measure.topo.__main__ import FOLDER, ROOT, main
from tools.measure.topo.model import Label, MeasureError, Series
from tools.measure.topo.raw import Raw

pytestmark = pytest.mark.tools

SMI = """\
Sat Nov 21 09:06:44 2026
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 580.159.04             Driver Version: 580.159.04     CUDA Version: 13.0     |
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:00:06.0 Off |                    0 |
| N/A   33C    P0            110W /  700W |       0MiB / 143771MiB |      0%      Default |
|   1  NVIDIA H200                    Off |   00000000:00:07.0 Off |                    0 |
|    0   N/A  N/A            1234      C   NVIDIA tool                             12MiB |
"""

PORT = """\
        GPU Link Info
            PCIe Generation
                Max                                    : 6
                Current                                : {generation}
                Device Current                         : 5
            Link Width
                Max                                    : 16x
                Current                                : {width}x
    BAR1 Memory Usage
        Total                                          : {bar1} MiB
        Used                                           : 1 MiB
"""


def series(name: str, median: float, *, n: int = 20, unit: str = "GB/s", **labels: Label) -> Series:
    """A series whose p5 and p95 lie 1 below and above its median."""
    return Series(name, labels, unit, n, median, median - 1, median + 1, "some.jsonl:1")


# ---- statistics ----
@pytest.mark.parametrize(
    ("value", "count", "expected"),
    [
        (396.738, 4, 396.7),
        (0.0883249, 4, 0.08832),
        (1338.3, 4, 1338),
        (143771, 4, 143771),  # whole numbers are not cut
        (143771.0, 4, 143771),
        (26.562, 5, 26.562),
        (-12345.6, 4, -12350),
        (0.0, 4, 0),
        (99996.5, 4, 100000),
    ],
)
def test_digits_keep_significant_ones(value: float, count: int, expected: float) -> None:
    found = stats.digits(value, count)
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("collective", "ranks", "expected"),
    [
        ("all_reduce", 2, 1.0),
        ("all_reduce", 4, 1.5),
        ("all_reduce", 8, 1.75),
        ("all_gather", 4, 0.75),
        ("reduce_scatter", 8, 0.875),
        ("all_to_all", 4, 0.75),
    ],
)
def test_busbw_factors_are_those_of_nccl_tests(
    collective: str, ranks: int, expected: float
) -> None:
    assert stats.busbw_factor(collective, ranks) == expected


@pytest.mark.parametrize(
    ("collective", "ranks", "message"),
    [
        ("broadcast", 4, "no busbw factor for 'broadcast'; known are all_reduce"),
        ("all_reduce", 1, "at least 2 are needed"),
    ],
)
def test_busbw_factor_refuses(collective: str, ranks: int, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        stats.busbw_factor(collective, ranks)


@pytest.mark.parametrize(
    ("generation", "width", "expected"),
    [(3, 16, 15.754), (4, 16, 31.508), (5, 16, 63.015), (5, 8, 31.508)],
)
def test_pcie_rates(generation: int, width: int, expected: float) -> None:
    assert stats.pcie_rate(generation, width) == pytest.approx(expected, abs=5e-4)


def test_pcie_rate_refuses_a_generation_with_another_line_code() -> None:
    with pytest.raises(MeasureError, match="PCIe generation 2; known are 3, 4, 5"):
        stats.pcie_rate(2, 16)


def test_memory_rate_counts_both_edges_of_the_clock() -> None:
    # H200: 3201 MHz, 6016 bits; the vendor says 4.8 TB/s.
    assert stats.memory_rate(3_201_000, 6016) == pytest.approx(4814.304)


@pytest.mark.parametrize(("share", "expected"), [(0.5, 4), (0.51, 8), (0.9, 8), (1.0, 16)])
def test_smallest_reaching_a_share_of_the_best(share: float, expected: int) -> None:
    rates = {16: 100.0, 4: 50.0, 1: 10.0, 8: 95.0, 32: 99.0}
    found = [series("x", rate, blocks=blocks) for blocks, rate in rates.items()]
    assert stats.smallest_reaching(found, "blocks", share) == expected


def test_shares_are_per_cent_of_the_sum() -> None:
    assert stats.shares([1, 1, 1]) == [33.333, 33.333, 33.333]
    assert stats.shares([0, 5]) == [0.0, 100.0]


def test_divided_keeps_the_place_and_the_labels() -> None:
    found = stats.divided(series("a_total", 8.0, pattern="ring"), "a_busy", by=4)
    assert (found.name, found.median, found.p5, found.p95) == ("a_busy", 2.0, 1.75, 2.25)
    assert (found.labels, found.place, found.n) == ({"pattern": "ring"}, "some.jsonl:1", 20)


# ---- wording ----
@pytest.mark.parametrize(
    ("arguments", "zh", "en"),
    [
        ((20,), "20 次的中位数", "median of 20 trials"),
        (
            (3, 3.34865, 3.90339),
            "3 次的中位数（p5–p95：3.349–3.903）",
            "median of 3 trials (p5–p95: 3.349–3.903)",
        ),
    ],
)
def test_trials(arguments: tuple[Any, ...], zh: str, en: str) -> None:
    assert wording.trials(*arguments) == {"zh": zh, "en": en}


def test_phrases_fit_their_place_in_a_sentence() -> None:
    assert wording.lower("Host to GPU") == "host to GPU"
    assert wording.lower("GPU to host") == "GPU to host"
    assert wording.capital("copy engine, push") == "Copy engine, push"
    assert wording.over(4, "块 GPU", "GPUs")["zh"] == "4 块 GPU 的中位数"
    assert wording.over(4, "条链路", "links")["zh"] == "4 条链路的中位数"


# ---- parsing ----
def test_nvidia_smi_table() -> None:
    assert parse.gpu_names(SMI, "f") == ["NVIDIA H100 80GB HBM3", "NVIDIA H200"]
    assert parse.driver_version(SMI, "f") == "580.159.04"
    assert parse.captured_on(SMI, "f") == datetime.date(2026, 11, 21)


def test_nvidia_smi_report() -> None:
    port = PORT.format(generation=5, width=8, bar1=262144)
    assert parse.pcie_link(port * 2, "f") == parse.PcieLink(5, 8)
    assert parse.bar1_mib(port * 2, "f") == [262144, 262144]


def test_gpus_whose_pcie_links_differ_are_not_measured_against_one_rate() -> None:
    ports = [PORT.format(generation=g, width=16, bar1=1) for g in (5, 1)]
    with pytest.raises(MeasureError, match="differ: generation 1 x16, generation 5 x16"):
        parse.pcie_link("".join(ports), "f")


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (parse.gpu_names, "No devices were found\n"),
        (parse.driver_version, "NVIDIA-SMI has failed\n"),
        (parse.pcie_link, "PCIe Generation : N/A\n"),
        (parse.bar1_mib, "BAR1 Memory Usage : N/A\n"),
        (parse.link_errors, "GPU 0: NVIDIA H200\n"),  # not: no errors
        (parse.nvcc_release, "nvcc: command not found\n"),
        (parse.nccl_choices, "NCCL INFO comm 0x0\n"),
        (parse.nccl_nvlink_rate, "PCI[48.0]\n"),
        (parse.captured_on, "samedi 21 novembre 2026\n"),
        (parse.cpu, "Model name: x\nCPU(s): 4\n"),
    ],
)
def test_what_is_not_there_is_an_error_that_names_the_file(
    read: Callable[[str, str], object], text: str
) -> None:
    with pytest.raises(MeasureError, match=r"^captured\.txt"):
        read(text, "captured.txt")


def test_link_errors_are_every_counter() -> None:
    listing = "\t Link 0: Replay Errors: 2\n\t Link 0: CRC Errors: 0\n\t Link 1: CRC Errors: 7\n"
    assert parse.link_errors(listing, "f") == [2, 0, 7]


def test_lscpu() -> None:
    listing = "CPU(s):  64\nModel name:  Some: CPU\nCPU family:  6\nModel:  207\n"
    assert parse.cpu(listing, "f") == "Some: CPU, family 6 model 207, 64"


@pytest.mark.parametrize(
    ("listing", "modules", "devices"),
    [
        ("nvidia_uvm 1830912 - - Live\nnvidia 14299136 - - Live\n", [], []),
        (
            "nvidia_peermem 16384 0 - Live\nmlx5_core 1 0\ngdrdrv 1 0\n",
            ["nvidia_peermem", "gdrdrv"],
            [],
        ),
        ("mlx5_0\nmlx5_1\nibp12s0\n/dev/infiniband:\n", [], ["mlx5_0", "mlx5_1", "ibp12s0"]),
    ],
)
def test_modules_and_rdma_devices(listing: str, modules: list[str], devices: list[str]) -> None:
    assert parse.peer_modules(listing) == modules
    assert parse.rdma_devices(listing) == devices


def test_nccl_choices_by_size_the_last_counts() -> None:
    line = "AllReduce: {} Bytes -> Algo RING proto {} channel{{Lo..Hi}}={{0..{}}}\n"
    log = line.format(4096, "SIMPLE", 23) + line.format(1024, "LL", 0) + line.format(4096, "LL", 1)
    assert parse.nccl_choices(log, "f") == [
        parse.NcclChoice(1024, "RING", "LL", 1),
        parse.NcclChoice(4096, "RING", "LL", 2),
    ]


def test_escapes_are_removed() -> None:
    assert parse.without_escapes("\x1b[4mGPU0\tGPU1\x1b[0m\n") == "GPU0\tGPU1\n"


def test_series_of_a_cuda_program() -> None:
    text = (
        '{"versions": {"gpus": 4}}\n'
        '{"result": "a", "src": 0, "dst": 1, "unit": "ns", "n": 5, "median": 2.5, '
        '"p5": 2, "p95": 3}\n'
    )
    (found,) = parse.series(parse.json_lines(text, "a.jsonl"))
    assert found == Series("a", {"src": 0, "dst": 1}, "ns", 5, 2.5, 2, 3, "a.jsonl:2")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"result": 1}\n{"result"\n', r"^a\.jsonl:2:10: not JSON .*'\{\"result\"'"),
        ("[1]\n", r"^a\.jsonl:1:1: a JSON object was expected, found \[1\]"),
        ('{"result": "a", "n": 1, "median": 2, "p5": 1}\n', r"^a\.jsonl:1: .*'a' has no 'p95'"),
    ],
)
def test_a_broken_line_is_named(text: str, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        parse.series(parse.json_lines(text, "a.jsonl"))


# ---- parts of a record ----
def test_a_line_of_the_summary() -> None:
    assert record.row(
        wording.both("甲", "A"),
        [396.75, 100.25, 410.0],
        "GB/s",
        "median",
        direction="uni",
        per="pair",
        spec=specs.GPU_UNI,
        result="r",
    ) == {
        "title": {"zh": "甲", "en": "A"},
        "value": 396.8,
        "unit": "GB/s",
        "direction": "uni",
        "per": "pair",
        "ratio_to": {"spec": "gpu_uni", "ratio": 0.8817},  # of 396.75, not of what is printed
        "statistic": "median",
        "result": "r",
        "spread": {"min": 100.2, "max": 410},
    }


def test_a_single_value_has_no_spread() -> None:
    line = record.row(wording.both("甲", "A"), [1], "GPUs", "count")
    assert not {"spread", "result", "ratio_to"} & line.keys()


def test_a_result_takes_the_fewest_trials_of_its_points() -> None:
    found = record.result(
        [series("a", 2.0, bytes=8), series("b", 9.0), series("a", 3.0, n=7, bytes=16)],
        "a",
        wording.both("甲", "A"),
        ["bytes"],
        spec=specs.GPU_UNI,
    )
    assert (found["n"], found["spec"], found["unit"]) == (7, "gpu_uni", "GB/s")
    assert found["points"] == [
        {"bytes": 8, "value": 2, "p5": 1, "p95": 3},
        {"bytes": 16, "value": 3, "p5": 2, "p95": 4},
    ]


@pytest.mark.parametrize(
    ("name", "where", "message"),
    [
        ("ce_siz", {}, r"some\.jsonl: no result 'ce_siz'; near it are ce_size"),
        ("ce_size", {"bytes": 9}, r"no result 'ce_size' with \{'bytes': 9\}"),
    ],
)
def test_a_result_that_is_missing_is_named(
    name: str, where: dict[str, Label], message: str
) -> None:
    with pytest.raises(MeasureError, match=message):
        record.pick([series("ce_size", 1.0, bytes=8)], name, **where)


def test_programs_are_hashed_with_what_they_include(tmp_path: Path) -> None:
    folder = tmp_path / "t/code"
    folder.mkdir(parents=True)
    (folder / "a.cu").write_text('#include "b.cuh"\n#include <cstdio>\n', "utf-8")
    (folder / "b.cuh").write_text('#include "../c.cuh"\n', "utf-8")
    (tmp_path / "t/c.cuh").write_text('#include "code/b.cuh"\n', "utf-8")
    raw = Raw(tmp_path)
    lines = ["1" * 64 + "  t/code/a.cu", "2" * 64 + " *t/code/b.cuh", "3" * 64 + "  t/c.cuh"]
    (tmp_path / "programs.sha256").write_text("\n".join(lines), "utf-8")
    (tmp_path / "reformatted.sha256").write_text("4" * 64 + "  t/c.cuh\n", "utf-8")
    assert records.programs(tmp_path, raw, "t/code/a.cu") == [
        {"path": "t/code/a.cu", "sha256": "1" * 64},
        {"path": "t/code/b.cuh", "sha256": "2" * 64},
        {"path": "t/c.cuh", "sha256": "3" * 64, "same": ["4" * 64]},
    ], "the hashes are those of the run, whatever the files are now"
    (tmp_path / "programs.sha256").write_text("\n".join(lines[:2]), "utf-8")
    with pytest.raises(MeasureError, match=r"has no hash of t/c\.cuh; run tools/measure"):
        records.programs(tmp_path, raw, "t/code/a.cu")
    (tmp_path / "t/c.cuh").unlink()
    with pytest.raises(MeasureError, match=r"c\.cuh: there is no such program"):
        records.programs(tmp_path, raw, "t/code/a.cu")


@pytest.mark.parametrize(
    ("new", "is_same"),
    [
        ("def f(a):\n    return (\n        a + 1\n    )\n", True),
        ('"""Words."""\n\n\ndef f(a):\n    """More."""\n    # why\n    return a + 1\n', True),
        ("def f(a):\n    return a + 2\n", False),
        ("def f(b):\n    return b + 1\n", False),
        ("def f(a:\n", False),
    ],
    ids=["layout", "words", "number", "name", "no program"],
)
def test_a_program_that_was_only_laid_out_anew_does_the_same(new: str, is_same: bool) -> None:
    assert versions.does_the_same("def f(a): return a + 1", new) is is_same


# ---- subjects ----
@pytest.mark.parametrize(
    ("pattern", "expected"),
    [("one_pair", 120.0), ("both_ways", 60.0), ("one_to_all", 120.0), ("ring", 40.0)],
)
def test_a_total_is_shared_by_the_busy_gpus(pattern: str, expected: float) -> None:
    ends = [series("ce_push_in", 1.0, pattern=pattern, gpu=gpu) for gpu in range(3)]
    (found,) = contention.per_busy_gpu([*ends, series("ce_push_total", 120.0, pattern=pattern)])
    assert (found.name, found.median) == ("ce_push_busy", expected)


def run_line(name: str, algbw: float, busbw: float) -> tuple[str, dict[str, Any]]:
    """A line of allreduce.py."""
    spread = {"median": busbw, "p5": busbw, "p95": busbw}
    return "r:2", {
        "result": name,
        "bytes": 8,
        "n": 3,
        "time_us": spread,
        "algbw": algbw,
        "busbw": spread,
    }


@pytest.mark.parametrize(
    ("name", "busbw", "good"),
    [
        ("all_reduce", 150.0, True),
        ("all_reduce_forced", 150.0, True),
        ("all_reduce_graph", 150.0, True),
        ("all_gather", 75.0, True),
        ("all_gather", 150.0, False),
        ("all_reduce", 100.0, False),
    ],
)
def test_busbw_must_be_algbw_times_its_factor(name: str, busbw: float, good: bool) -> None:
    rows = [("r:1", {"versions": {"ranks": 4}}), run_line(name, 100.0, busbw)]
    if good:
        assert collectives.read_run(rows).ranks == 4
    else:
        with pytest.raises(MeasureError, match=f"^r:2: busbw {busbw} of {name} is not algbw"):
            collectives.read_run(rows)


def test_a_run_starts_with_its_versions() -> None:
    with pytest.raises(MeasureError, match="first line must hold 'versions'"):
        collectives.read_run([run_line("all_reduce", 100.0, 150.0)])


def test_link_counters_are_taken_over_the_payload_that_the_source_sent() -> None:
    rows = [
        {"way": "x", "role": "source", "kib": {"data_tx": [300, 100], "raw_tx": [320, 105]}},
        {"way": "x", "role": "destination", "kib": {"data_tx": [0, 0], "raw_tx": [200, 60]}},
        {"way": "y", "role": "source", "kib": {"data_tx": [1, 1], "raw_tx": [9, 9]}},
    ]
    assert nvlink.count(rows, "x", 400.0) == nvlink.Count("x", 1.0625, 0.65, [75.0, 25.0], 400.0)
    with pytest.raises(MeasureError, match="'y' has no line of the destination"):
        nvlink.count(rows, "y", 400.0)


def test_pairs_leave_the_diagonal_out() -> None:
    assert gpudirect.pair_points({"rank": [[None, 1], [0, None]]}) == [
        {"reader": 0, "memory": 1, "attribute": "rank", "value": 1},
        {"reader": 1, "memory": 0, "attribute": "rank", "value": 0},
    ]


def test_attributes_are_the_numeric_ones() -> None:
    devices = [
        {"device": 0, "name": "GPU", "a": 1, "b": 0},
        {"device": 1, "name": "GPU", "a": 2, "b": 0},
    ]
    assert [(p["gpu"], p["attribute"], p["value"]) for p in gpudirect.device_points(devices)] == [
        (0, "a", 1),
        (0, "b", 0),
        (1, "a", 2),
        (1, "b", 0),
    ]


def test_a_run_without_a_refusal_cannot_tell_of_one() -> None:
    rows = [
        ("r:1", {"step": "open", "cufile_error": 0}),
        ("r:2", {"step": "register", "cufile_error": 5027}),
    ]
    assert storage.refusal(storage.Run(rows, "", "x.log")) == 5027
    with pytest.raises(MeasureError, match=r"x\.log: cuFile refused nothing"):
        storage.refusal(storage.Run(rows[:1], "", "x.log"))


def test_excerpts() -> None:
    assert captures.first_gpu_of_report("heading\nGPU 00:6\n a\nGPU 00:7\n b\n") == "GPU 00:6\n a\n"
    assert captures.first_gpu_of_links("GPU 0: H\n x\nGPU 1: H\n y\n") == "GPU 0: H\n x\n"
    log = "vm:17:18 [0] NCCL INFO NCCL version 2.28.9\nvm:17:18 [0] NCCL INFO Bootstrap\n"
    assert captures.nccl_excerpt(log) == "[0] NCCL INFO NCCL version 2.28.9\n"


# ---- the whole ----
EXPECTED = {
    "docs/link/topo/measured/allreduce.json",
    "docs/link/topo/measured/contention.json",
    "docs/link/topo/measured/gpu_memory.json",
    "docs/link/topo/measured/host_link.json",
    "docs/link/topo/measured/latency.json",
    "docs/link/topo/measured/nvlink_counters.json",
    "docs/link/topo/measured/nvlink_status.json",
    "docs/link/topo/measured/p2p.json",
    "docs/link/topo/measured/p2p_off.json",
    "docs/link/gpudirect/measured/gds_compat.json",
    "docs/link/gpudirect/measured/gpudirect_caps.json",
}


def test_the_committed_records_are_what_the_raw_files_give(tmp_path: Path) -> None:
    assert main([str(FOLDER), "--into", str(tmp_path)]) == 0
    written = {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()}
    assert {name for name in written if name.endswith(".json")} == EXPECTED
    # A program that changed since shows here too: its hash is in the record. Measure again.
    differing = [n for n in written if (tmp_path / n).read_bytes() != (ROOT / n).read_bytes()]
    assert not differing, "run `python -m tools.measure.topo --check`"


def test_check_names_what_would_change_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(FOLDER), "--into", str(tmp_path)]) == 0
    assert main([str(FOLDER), "--into", str(tmp_path), "--check"]) == 0
    p2p = tmp_path / "docs/link/topo/measured/p2p.json"
    edited = p2p.read_text("utf-8").replace('"value": 450', '"value": 451', 1)
    p2p.write_text(edited, "utf-8")
    capsys.readouterr()
    assert main([str(FOLDER), "--into", str(tmp_path), "--check"]) == 1
    assert capsys.readouterr().out.startswith("docs/link/topo/measured/p2p.json: ")
    assert p2p.read_text("utf-8") == edited


def test_another_run_gives_its_own_numbers(tmp_path: Path) -> None:
    """No number of a record is typed in: the raw file decides."""
    folder = tmp_path / "raw"
    shutil.copytree(FOLDER, folder)
    rows = [json.loads(line) for line in (folder / "p2p.jsonl").read_text("utf-8").splitlines()]
    for row in rows:
        row |= {key: row[key] / 2 for key in ("median", "p5", "p95")}
    (folder / "p2p.jsonl").write_text("".join(f"{json.dumps(r)}\n" for r in rows), "utf-8")
    smi = (folder / "nvidia_smi.txt").read_text("utf-8").replace("Sat Nov 21", "Mon Nov 23")
    (folder / "nvidia_smi.txt").write_text(smi, "utf-8")

    found = records.files(Raw(folder), ROOT)
    p2p, p2p_off, latency = (
        json.loads(found[f"docs/link/topo/measured/{name}.json"])
        for name in ("p2p", "p2p_off", "latency")
    )
    before = json.loads((ROOT / "docs/link/topo/measured/p2p.json").read_bytes())
    assert p2p["date"] == latency["date"] == "2026-11-23"
    ratios = [
        new["ratio_to"]["ratio"] / old["ratio_to"]["ratio"]
        for new, old in zip(p2p["summary"], before["summary"], strict=True)
        if "ratio_to" in new
    ]
    assert ratios == pytest.approx([0.5] * 7, rel=1e-3)
    assert p2p_off["specification"][0]["value"] == pytest.approx(198.4, abs=0.1)


def test_a_missing_file_ends_the_command_with_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "raw"
    shutil.copytree(FOLDER, folder)
    (folder / "latency.jsonl").unlink()
    assert main([str(folder), "--into", str(tmp_path)]) == 2
    assert "latency.jsonl: there is no such file; run tools/measure/run_topo.sh" in (
        capsys.readouterr().err
    )
    assert not (tmp_path / "docs").exists()
