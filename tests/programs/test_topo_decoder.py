"""The topology decoder of the page, run in V8: real matrices, NCCL's files, and garbage."""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from py_mini_racer import MiniRacer

from tests.samples import read_yaml

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "docs/assets/javascripts/topo-decoder"
TEMPLATE = (ROOT / "overrides/main.html").read_text(encoding="utf-8")
_LISTED = re.search(r"part in (\[.*?\]) %}\s*<script[^>]*topo-decoder/", TEMPLATE)
PARTS = [SCRIPTS / f"{name}.js" for name in json.loads(_LISTED[1] if _LISTED else "[]")]
"""The files of the script, in the order in which a page loads them."""
FIXTURES = ROOT / "tests/fixtures/topo"
MEASURED = ROOT / "docs/link/topo/measured"
LONGEST = 2_000_000
PROBE = """function probe(name, values) {
  try {
    return JSON.stringify({answer: topoDecoder[name].apply(null, JSON.parse(values))});
  } catch (error) {
    return JSON.stringify({[error instanceof topoDecoder.InputError ? "said" : "crash"]:
      String(error.message)});
  }
}"""

SAMPLES = {
    "vm-4x-h200": MEASURED / "captures/topo_m.txt",
    "vm-4x-h200-nccl": MEASURED / "nccl_topology.xml",
    "vm-4x-h200-graphs": MEASURED / "nccl_graph.xml",
    **{path.stem: path for path in sorted(FIXTURES.glob("*.txt"))},
    **{path.stem: path for path in sorted(FIXTURES.glob("*.xml"))},
}
LANGUAGES = ("zh", "en")
SAID = read_yaml(Path(__file__).with_name("data").joinpath("topo_decoder.yml"))


class InputError(Exception):
    """What the decoder says of a text that it cannot read."""


@functools.cache
def engine() -> MiniRacer:
    """The script in an engine without a page."""
    made = MiniRacer()
    for path in PARTS:
        made.eval(path.read_text(encoding="utf-8"))
    made.eval(PROBE)
    return made


def call(name: str, *values: Any) -> Any:
    """Call a function of the decoder."""
    found = json.loads(str(engine().call("probe", name, json.dumps(values))))
    assert "crash" not in found, found
    if "said" in found:
        raise InputError(found["said"])
    return found["answer"]


def decode(text: str, language: str = "en") -> dict[str, Any]:
    """Decode a text."""
    record: dict[str, Any] = call("decode", text, language)
    return record


def read(name: str, language: str = "en") -> dict[str, Any]:
    """Decode a sample."""
    return decode(SAMPLES[name].read_text(encoding="utf-8"), language)


def between(record: dict[str, Any], a: str, b: str) -> dict[str, Any]:
    """Return the pair of two devices."""
    pair: dict[str, Any]
    (pair,) = [pair for pair in record["pairs"] if {pair["a"], pair["b"]} == {a, b}]
    return pair


def rules(record: dict[str, Any]) -> list[str]:
    """Return the rules of the findings, in order."""
    return [item["rule"] for item in record["findings"]]


@pytest.mark.parametrize("name", SAID["samples"])
def test_samples(name: str) -> None:
    record, said = read(name), SAID["samples"][name]
    if "devices" in said:
        kinds = Counter(device["type"] for device in record["devices"])
        assert {kind: kinds[kind] for kind in ("gpu", "nic")} == said["devices"]
        pairs = [pair["code"] for pair in record["pairs"] if pair["kinds"] == "gpu-gpu"]
        assert Counter(pairs) == said["codes"]
    if "switch" in said:
        assert record["groups"]["switch"] == said["switch"]
        numa = {node["node"]: node["devices"] for node in record["groups"]["numa"]}
        assert numa == said["numa"]
    if "findings" in said:
        assert rules(record) == said["findings"]


# Table "Network Modules" of the DGX H100 User Guide: GPU number and default RDMA name.
DGX_H100 = {0: 0, 1: 3, 2: 4, 3: 5, 4: 6, 5: 9, 6: 10, 7: 11}


def test_nearest_nic_of_dgx_h100_is_the_one_of_the_user_guide() -> None:
    record = read("dgx-h100")
    near = {row["gpu"]: row for row in record["nearest"]}
    for gpu, nic in DGX_H100.items():
        row = near[f"GPU{gpu}"]
        assert (row["nics"], row["code"], row["shared"]) == ([f"NIC{nic}"], "PXB", [])
    assert record["hca"] == ",".join(f"mlx5_{nic}" for nic in DGX_H100.values())
    spare = next(item["text"] for item in record["findings"] if item["rule"] == "nic-spare")
    assert "NIC1, NIC2, NIC7, NIC8" in spare


def test_gpus_of_a_cube_mesh_that_share_a_neighbour_can_be_forwarded() -> None:
    record = read("dgx-1v")
    far = [pair for pair in record["pairs"] if pair["kinds"] == "gpu-gpu" and pair["code"] == "SYS"]
    assert len(far) == 12
    assert all(pair["via"] and pair["direct"] for pair in far)
    assert "gpu-sys" not in rules(record)
    assert "gpu-relay" in rules(record)


HEAD = "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
TAIL = "\t0-7\t0\t\tN/A\n"


@pytest.mark.parametrize(
    ("text", "rule", "part"),
    [
        (
            HEAD + "GPU0\t X \tPIX\tPIX" + TAIL + "GPU1\tPXB\t X \tPIX" + TAIL,
            "asymmetric",
            "GPU0 to GPU1 is PIX, back is PXB",
        ),
        (HEAD + "GPU0\t X \tPIX\tWAT" + TAIL, "code-unknown", "WAT"),
        (HEAD + "GPU0\t X \tPIX\tPIX" + TAIL, "rows-missing", "GPU1, NIC0"),
        (HEAD + "GPU0\t X \tPIX\n", "row-short", "row of GPU0: 1"),
        (
            HEAD + "GPU0\t X \tNODE\tPIX" + TAIL + "GPU1\tNODE\t X \tSYS" + TAIL,
            "sys-same-numa",
            "GPU1 and NIC0",
        ),
        (HEAD + "GPU0\t X \tPIX\tPIX" + TAIL + "GPU1\t X \tSYS" + TAIL, "row-shifted", "X of GPU1"),
        (HEAD + "GPU0\t X \tNODE\tNODE" + TAIL, "gpu-cpu", "GPU0-GPU1"),
        (HEAD + "GPU0\t X \tNODE\tNODE" + TAIL, "nic-cpu", "(NODE)"),
        ("GPU0 GPU1 CPU Affinity\nGPU0 X SOC 0-3\nGPU1 SOC X 4-7\n", "gpu-sys", "GPU0-GPU1"),
    ],
)
def test_oddities(text: str, rule: str, part: str) -> None:
    found = [item["text"] for item in decode(text)["findings"] if item["rule"] == rule]
    assert len(found) == 1
    assert part in found[0]


def test_a_broken_header_loses_no_device() -> None:
    record = decode("GPU0 GPU1 NIC0\nNIC1 CPU Affinity\nGPU0 X PIX PIX\nSYS 0-7\n")
    assert [device["name"] for device in record["devices"]] == ["GPU0", "GPU1", "NIC0", "NIC1"]
    assert between(record, "GPU0", "NIC1")["level"] == "unknown"
    assert "nic-spare" not in rules(record)


def test_the_line_to_copy_holds_nothing_but_names() -> None:
    text = "GPU0 NIC0 NIC1\nGPU0 X PIX SYS\n\nNIC0: LABEL\nNIC1: mlx5_1\n"
    assert decode(text.replace("LABEL", "mlx5_0"))["hca"] == "mlx5_0"
    for label in ('mlx5_0";reboot;"', "$(reboot)", "<b>"):
        assert decode(text.replace("LABEL", label))["hca"] == ""


def test_of_two_different_codes_the_farther_counts() -> None:
    text = HEAD + "GPU0\t X \tPIX\tPIX" + TAIL + "GPU1\tSYS\t X \tPIX" + TAIL
    assert between(decode(text), "GPU0", "GPU1")["code"] == "SYS"


PLAIN = SAMPLES["pcie-8gpu-dual-root"].read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("\n", "\r"),
        "\ufeff" + PLAIN,
        "\x1b[4m" + PLAIN.replace("ID\n", "ID\x1b[0m\n"),
        "".join(f"> {line}\n" for line in PLAIN.splitlines()),
        "$ nvidia-smi topo -m\n\n" + PLAIN + "\nLegend:\n\n  X    = Self\n  PIX  = …\n",
        PLAIN.replace("SYS     SYS     SYS     SYS", "SYSSYS     SYSSYS"),
        PLAIN.replace("    ", "\t"),
        "\u200e" + PLAIN.replace("\nGPU", "\n\u202e\x00GPU\u200b"),
        PLAIN.replace(" ", "\u2003"),
        "".join("| " + " | ".join(line.split()) + " |\n" for line in PLAIN.splitlines()),
        PLAIN + "\nsome hours later\n" + PLAIN.replace("SYS", "PIX"),
    ],
    ids="crlf cr bom ansi quoted legend glued tabs invisible wide table twice".split(),
)
def test_however_it_was_pasted(text: str) -> None:
    assert decode(text) == decode(PLAIN)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "Nothing to read"),
        (" \t\n\u3000", "Nothing to read"),
        ("hello", "No topology matrix found"),
        ("GPU0 GPU1\n", "No topology matrix found"),
        ("GPU 0: NVIDIA H200 (UUID: GPU-0)\n", "No topology matrix found"),
        ((MEASURED / "captures/topo_p2p.txt").read_text(encoding="utf-8"), "topo -p2p"),
        ((MEASURED / "captures/nccl_log.txt").read_text(encoding="utf-8"), "NCCL_TOPO_DUMP_FILE"),
        ((MEASURED / "captures/nvidia_smi.txt").read_text(encoding="utf-8"), "No topology matrix"),
        ("x" * (LONGEST + 1), "Too long"),
        ("GPU0 NIC0\nGPU0 X PIX SYS 0-7 0\n", "2 columns, but the row of GPU0 has 3 cells"),
        ("<system>" + "<!--" * 400_000, "line 1 of the XML: <!--"),
        ("\U0001f600" * (LONGEST // 2 + 1), "Too long"),
        (" ".join(f"GPU{i}" for i in range(300)) + "\nGPU0 X\n", "Too many devices (300"),
        ("<system", "line 1 of the XML"),
        ("<system>\n<cpu>\n</system>", "line 3 of the XML: </system>"),
        ("<system><cpu numaid=0/></system>", "line 1 of the XML: <cpu numaid=0/>"),
        ("<system/><system/>", "line 1"),
        ("<!DOCTYPE system [<!ENTITY a 'b'>]>\n<system/>", "<!DOCTYPE system"),
        ("<html></html>", "root of the XML is <html>"),
        ("<system></system>", "no GPU"),
        ("<a>" * 100, "line 1 of the XML: <a>"),
        ("<!-- only a remark -->", "line 1 of the XML: ?"),
    ],
)
def test_garbage_gets_a_kind_answer(text: str, part: str) -> None:
    with pytest.raises(InputError) as caught:
        decode(text)
    assert part in str(caught.value)
    with pytest.raises(InputError) as chinese:
        decode(text, "zh")
    assert str(chinese.value) != str(caught.value)


@pytest.mark.parametrize("path", SAID["paths"], ids=lambda one: " ".join(one[:3]))
def test_paths_of_nccl(path: list[Any]) -> None:
    name, a, b, code, bandwidth, direct, via = path
    pair = between(read(name), a, b)
    assert (pair["code"], pair["direct"], pair["via"]) == (code, direct, via)
    assert pair["bandwidth"] == pytest.approx(bandwidth)


def test_two_ports_of_a_card_without_a_switch_are_one_step_apart() -> None:
    ports = '<nic><net name="a" dev="0"/><net name="b" dev="1"/></nic>'
    gpu = '<pci busid="1" class="0x03"><gpu dev="0"/></pci>'
    card = f'<pci busid="2" class="0x02">{ports}</pci>'
    record = decode(f'<system><cpu numaid="0">{gpu}{card}</cpu></system>')
    assert between(record, "a", "b")["code"] == "PIX"
    assert between(record, "GPU0", "a")["code"] == "PHB"


def test_two_levels_of_a_broadcom_switch_are_one() -> None:
    hops = {row["device"]: row["hops"] for row in read("made-up-two-sockets")["hops"]}
    assert [hop["to"] for hop in hops["GPU0"]] == ["PCI 0000:01:00.0", "CPU 0"]
    assert [hop["to"] for hop in hops["GPU3"]] == ["PCI 0000:83:00.0", "PCI 0000:81:00.0", "CPU 1"]


def test_the_hops_are_those_that_nccl_logged_on_this_machine() -> None:
    """`PCI[48.0] - GPU`, `PCI[5000.0] - NIC` and `NVL[370.8]` of NCCL's own log."""
    log = (MEASURED / "captures/nccl_log.txt").read_text(encoding="utf-8")
    record = read("vm-4x-h200-nccl")
    hops = {row["device"]: row["hops"][-1]["bandwidth"] for row in record["hops"]}
    for gpu in range(4):
        assert f"+ PCI[{hops[f'GPU{gpu}']:.1f}] - GPU/0-{gpu + 6}0 ({gpu})" in log
    assert f"+ PCI[{hops['eth0']:.1f}] - NIC/0-0" in log
    assert f"+ NVL[{between(record, 'GPU0', 'GPU1')['bandwidth']:.1f}] - NVS/0-0" in log


def test_the_graphs_are_those_that_nccl_logged_on_this_machine() -> None:
    log = (MEASURED / "captures/nccl_log.txt").read_text(encoding="utf-8")
    ring, tree, *others = read("vm-4x-h200-graphs")["graphs"]
    for graph, pattern in ((ring, 4), (tree, 1)):
        line = f"Pattern {pattern}, crossNic 0, nChannels {graph['channels']}, bw "
        assert line + f"{graph['intra']:.6f}/{graph['inter']:.6f}, type NVL/PIX" in log
        assert graph["orders"] == [{"order": "GPU0 > GPU1 > GPU2 > GPU3", "count": 12}]
    assert [graph["channels"] for graph in others] == [0, 0, 0]


def test_graphs_over_the_network() -> None:
    record = read("made-up-graphs")
    ring, tree, unknown = record["graphs"]
    assert ring["nets"] == [{"net": "NET0", "count": 4}, {"net": "NET1", "count": 2}]
    assert ring["orders"][0] == {"order": "NET0 > GPU0 > GPU1 > NET0", "count": 2}
    assert tree["orders"] == [{"order": "GPU0 > GPU1", "count": 1}]
    assert (unknown["name"], unknown["pattern"]) == ("graph 9", "pattern 8")


@pytest.mark.parametrize(("function", "arguments", "answer"), SAID["models"])
def test_models(function: str, arguments: list[Any], answer: Any) -> None:
    assert call(function, *arguments) == answer


def test_each_message_has_the_same_places_in_both_languages() -> None:
    messages = json.loads(str(engine().eval("JSON.stringify(topoDecoder.MESSAGES)")))
    for key, (zh, en) in messages.items():
        for place in ("{0}", "{1}", "{2}", "{3}"):
            assert (place in zh) == (place in en), key


@given(
    text=st.one_of(
        st.text(max_size=60),
        st.text(alphabet=" \t\n<>/=\"'!-?aAGPUXNV0189:_&;\u3000\ufeff\x1b[m😀", max_size=80),
        st.text(alphabet='<>/ a="\n', max_size=40).map(lambda text: "<system" + text),
        st.text(max_size=20).map(lambda text: "GPU0 GPU1\nGPU0 X " + text),
    ),
    language=st.sampled_from(LANGUAGES),
)
def test_nothing_that_is_pasted_breaks_it(text: str, language: str) -> None:
    try:
        assert decode(text, language)["kind"] in ("matrix", "topology", "graph")
    except InputError as error:
        assert str(error)


def test_every_file_of_the_script_is_on_the_page() -> None:
    assert sorted(PARTS) == sorted(SCRIPTS.glob("*.js"))
