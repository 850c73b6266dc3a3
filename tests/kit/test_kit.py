"""The field kit: verdicts, what tools print, the single files, and records that readers send."""

from __future__ import annotations

import argparse
import io
import json
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from hooks.data import kit as data
from hooks.pages import records
from hooks.pages.frame import words_of
from hooks.site import kit
from tests.ours import ROOT, facts
from tools.figures.files import load_program

common, node, shapes = (
    load_program(f"kit/code/{name}.py") for name in ("common", "check_node", "matmul_shapes")
)
DOCS = ROOT / "docs"
CAPTURES = DOCS / "link/topo/measured/captures"
SMI = (CAPTURES / "nvidia_smi_q_gpu0.txt").read_text("utf-8")
(KIT, _WRONG) = data.read_kit(DOCS, facts())
TABLE = {"site": "https://x/", **KIT.table}
H200 = "NVIDIA H200"

# Value, reference, specification, share, whether lower is better, verdict
VERDICTS = [
    (95.0, 100.0, 110.0, 0.95, False, common.OK),
    (94.9, 100.0, 110.0, 0.95, False, common.BELOW),
    (120.0, 100.0, 110.0, 0.95, False, common.ODD),
    (50.0, None, 110.0, 0.95, False, common.NONE),
    (None, 100.0, None, 0.95, False, common.FAILED),
    (12.0, 10.0, None, 0.8, True, common.OK),
    (13.0, 10.0, 1.0, 0.8, True, common.BELOW),
]


@pytest.mark.parametrize("case", VERDICTS)
def test_a_verdict_needs_a_reference(case: tuple[Any, ...]) -> None:
    assert common.judge(*case[:5]) == case[5]


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """A report on an H200, with the handbook's table; its file is record.json."""
    monkeypatch.setattr(common, "REFERENCE", TABLE)
    made = common.Report("t.py", argparse.Namespace(json=str(tmp_path / "record.json")))
    made.machine.update(gpu=H200, count=1, driver="580.1", torch="2.11.0+cu130")
    return made


# Figures (key, value) and states (rule, good), the exit status, what the last line holds
RUNS: list[tuple[list[tuple[str, Any]], int, str]] = [
    ([("memory.copy", 4200.0)], 0, "all well"),
    ([("memory.copy", 3000.0), ("copy.pair", None)], 1, "memory.copy: BELOW. Read https://x/"),
    ([("memory.copy", None)], 2, "not measured"),
    ([("memory.copy", 9000.0)], 2, "above the specification"),
    ([("nothing.known", 1.0)], 2, "No rate has a reference"),
    ([("nothing.known", 1.0), ("0", True)], 0, "No rate has a reference"),
    ([("0", True), ("no", False)], 1, "no: BELOW. do this"),
    ([("0", True), ("no", None)], 0, "all well"),
]


@pytest.mark.parametrize("case", RUNS)
def test_the_status_and_what_is_next(report: Any, case: Any, tmp_path: Path, capsys: Any) -> None:
    figures, status, last = case
    for name, value in figures:
        if "." in name:
            report.add(name, value, "GB/s", key=name)
        else:
            report.add(name, name, rule=name, good=value, then="do this")
    assert report.finish("all well") == status
    assert last in capsys.readouterr().out.splitlines()[-1]
    record = json.loads((tmp_path / "record.json").read_text("utf-8"))
    assert len(record["figures"]) == len(figures)


def test_a_reference_says_machine_date_and_record(report: Any, capsys: Any) -> None:
    report.add("products", 690.0, "TFLOP/s", key="product.bf16.8192")
    line = capsys.readouterr().out.splitlines()[-1]
    assert "| 691.2 (1 x NVIDIA H200, 2026-11-23, chip/measured/gemm_h200_b.json) | 989.5 |" in line
    assert line.endswith(f"| {common.OK} | https://x/en/chip/roofline.html")


# What nvidia-smi -q says of a second GPU (name, as it was, as it is), and what the report says
SICK = [
    ("Serial Number", "<removed>", "1", ""),
    ("Pending", "No", "Yes", "row remapping pending: GPU 1: Yes"),
    ("Remapping Failure Occurred", "No", "Yes", "row remapping failed: GPU 1: Yes"),
    ("GPU Recovery Action", "None", "Reset", "recovery action: GPU 1: Reset"),
    ("DRAM Uncorrectable", "0", "7", "errors since the driver: GPU 1: 7"),
    ("HW Thermal Slowdown", "Not Active", "Active", "while idle: GPU 1: HW Thermal"),
    ("Current Power Limit", "700.00 W", "500.00 W", "power limit: GPU 1: 71 %"),
    ("Graphics", "1980 MHz", "1500 MHz", "clock asked for: GPU 1: 76 %"),
    ("Used", "0 MiB", "9000 MiB", "before the test: GPU 1: 9000 MiB"),
    ("VBIOS Version", "96.00.A5.00.1A", "97.00", "VBIOS Version: GPU 1: 97.00"),
    ("Xid", "", "13 43", ""),  # in the kernel's log: those of programs refuse no node
    ("Xid", "", "13 63", "Xids in the kernel's log: 13, 63"),
]


@pytest.mark.parametrize("case", SICK)
def test_a_sick_gpu_is_named(report: Any, case: Any, monkeypatch: Any, capsys: Any) -> None:
    name, was, value, line = case
    log = "\n".join(f"NVRM: Xid (PCI:0000:00:06): {one}, pid=1" for one in value.split())
    monkeypatch.setattr(node, "run", lambda *_: log if name == "Xid" else "")
    lines = [one for one in SMI.splitlines() if one.split(" : ")[0].strip() == name and was in one]
    other = SMI.replace(lines[0], lines[0].replace(was, value), 1) if lines else SMI
    node.health(report, node.trees(f"{SMI}\n{other}"))
    said = capsys.readouterr().out
    assert bool(lines) == (name != "Xid")
    assert said.count(common.BELOW) == bool(line) and line in said


def test_a_missing_link_is_seen() -> None:
    text = (CAPTURES / "nvlink_s.txt").read_text("utf-8")
    assert [sum(one) for one in node.links_of(text)] == [pytest.approx(18 * 26.562)] * 4
    gone = text.replace("Link 3: 26.562 GB/s", "Link 3: <inactive>", 1)
    assert [sum(map(bool, one)) for one in node.links_of(gone)] == [17, 18, 18, 18]
    text = "GPU 0: x\n\t Link 0: Replay Errors: 2\n\t Link 0: CRC Errors: 1\n"
    assert node.link_errors(text + "GPU 1: x\n\t Link 0: Recovery Errors: 0\n") == [3, 0]


@pytest.mark.parametrize(("slot", "now", "good"), [(16, 16, True), (8, 8, True), (16, 8, False)])
def test_a_link_is_judged_by_what_gpu_and_slot_can_do(
    report: Any, slot: int, now: int, good: bool, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    device = tmp_path / "nvidia/0000:00:01.0/0000:17:00.0"
    device.mkdir(parents=True)
    (tmp_path / "nvidia/0000:17:00.0").symlink_to(device)
    for name, width in (("current", now), ("max", 16), ("../max", slot)):
        (device / f"{name}_link_speed").write_text("32.0 GT/s PCIe\n")
        (device / f"{name}_link_width").write_text(f"{width}\n")
    monkeypatch.setattr(node, "DRIVERS", tmp_path)
    node.pcie(report)
    said = capsys.readouterr().out.splitlines()[-1]
    assert f"32 GT/s x{now}, NUMA" in said and (common.OK if good else common.BELOW) in said


def test_the_slow_gpu_and_the_fast_shape_are_named(report: Any, capsys: Any) -> None:
    node.spread(report, "product", [690.0, 700.0, 610.0, 695.0], "product", "")
    assert "GPU 2, 11.9% under the median" in capsys.readouterr().out
    best, top, tried = shapes.search(lambda shape: float(shape[0]), 0.05)
    assert top == best[0] > 15000 and tried > 10
    assert (64, 512, 1024) in set(shapes.rounded((64, 510, 1000)))


def test_each_gpu_multiplies_the_same_numbers_though_threads_make_them_at_once() -> None:
    made: list[Any] = []  # no generator that all threads share: the stand-in has no `manual_seed`
    own = argparse.Namespace(manual_seed=made.append)
    randn = lambda *_, device, generator: made.append(generator)  # noqa: E731
    node.product(argparse.Namespace(Generator=lambda device: own, randn=randn), "fp32")
    assert made == [1, own, own]


def test_programs_are_single_files_and_the_archive_holds_all(tmp_path: Path) -> None:
    packed: Any = kit.files(DOCS, KIT.table, "https://x/")
    for name in (one for one in packed if one.endswith(".py")):
        (tmp_path / Path(name).name).write_text(packed[name], encoding="utf-8")
        assert "from common" not in packed[name] and "gemm_h200_b" in packed[name]

    def run(*command: str) -> tuple[int, bytes]:
        line = [sys.executable, *command]
        done = subprocess.run(line, capture_output=True, cwd=tmp_path, check=False)
        return done.returncode, done.stdout

    for path in tmp_path.glob("*.py"):
        status, said = run(path.name, "--help")
        assert status == 0 and b"Exit status: 0" in said, path.name
    assert run("check_node.py", "--sections", "system,memory", "--json", "r.json")[0] in (1, 2)
    record = json.loads((tmp_path / "r.json").read_text("utf-8"))
    assert record["figures"][-1]["verdict"] == common.FAILED and record["kit"] == TABLE["kit"]
    archive = packed["kit/handbook-kit.tar.gz"]
    assert kit.files(DOCS, KIT.table, "https://x/")["kit/handbook-kit.tar.gz"] == archive
    with tarfile.open(fileobj=io.BytesIO(archive)) as held:
        names = {one.removeprefix("handbook-kit/") for one in held.getnames()}
    launch = {f"launch/{one.name}" for one in (DOCS / "kit/code/launch").iterdir()}
    assert {"check_node.py", "README.txt", "reference.json", "LICENSE"} | launch <= names


# Records of readers


def sent(edit: dict[str, Any] | None = None, **figure: Any) -> str:
    """A record as a reader sends it."""
    machine = {"gpu": H200, "count": 8, "driver": "580.65.06", "torch": "2.9.0", "host": "n1.x.com"}
    one = {"what": "GPU 0: memory", "key": "memory.copy", "value": 3900.0, "unit": "GB/s"}
    one |= {"reference": 4294, "specification": 4800, "note": "10.1.2.3, root@n1", **figure}
    made = {"kit": TABLE["kit"], "program": "check_node.py", "date": "2026-11-20", "host": "n1"}
    return json.dumps({**made, "machine": machine, "figures": [one], "next": "", **(edit or {})})


REFUSED = [
    (sent({"kit": "source"}), "in.json:1:9: error[kit] 'kit'"),
    (sent({"figures": []}), "in.json:1:"),
    (sent({"date": "../../index"}), "Invalid isoformat string: '../../inde'"),
    (sent(value=5100.0), "'GPU 0: memory' cannot be 5100.0 of 4800"),
    (sent(value=8000.0, specification=8000), "the specification 8000 is none of ours"),
    (sent(value=-1.0), "cannot be -1.0 of 4800"),
    (sent(value="fast"), "cannot be fast of 4800"),
    ("{", "error[kit] the file is not YAML"),
]


@pytest.mark.parametrize(("text", "why"), REFUSED)
def test_a_record_that_cannot_be_true_is_refused(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "in.json").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(why)):
        data.take(tmp_path, tmp_path / "in.json", "", KIT.table)
    (tmp_path / "data/records").mkdir(parents=True)  # nor is one that lies there already
    (tmp_path / "data/records/in.json").write_text(text, encoding="utf-8")
    (tmp_path / "data/kit.yml").write_text("gpus: {}\nfigures: []\n", encoding="utf-8")
    kept, wrong = data.read_kit(tmp_path, facts())
    assert kept.records == [] and "data/records/in.json" in wrong[0].file


def test_a_record_is_taken_without_names_and_shown(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    file = tmp_path / "data/in.txt"
    file.write_text(sent(what="GPU 0: memory of 10.1.2.3 /home/ann/x"), encoding="utf-8")
    text = data.take(tmp_path, file, "Ann", KIT.table).read_text("utf-8")
    assert not [word for word in ("n1", "10.1", "root", "home", "host", "x.com") if word in text]
    taken, wrong = data.read_sent(text, "a.json", KIT.table)
    assert wrong == [] and taken is not None
    own = argparse.Namespace(kit=(data.Kit({}, [taken]), []))
    page: Any = argparse.Namespace(words=lambda section: words_of(section, "en"), data=own)
    what = "GPU 0: memory of \\<removed\\> \\<removed\\> | 3900 GB/s | 4294"
    last = records.render(page).splitlines()[-1]
    assert last == f"| 8 × {H200} | {what} | Ann, 2026-11-20 |"


PLANS = [
    ("gpus: {X: no-such}\nfigures: []\n", "there is no accelerator 'no-such'"),
    ("gpus: {}\nfigures:\n- {what: a, records: b/measured/c.json, result: d}\n", "no record"),
    ("gpus: {}\nfigures:\n- {what: a, records: b, result: d, specification: mem}\n", "column"),
    ("gpus: {}\nfigures: [{what: a}]\n", "'records' is missing"),
    ("gpus: [", "kit.yml"),
]


@pytest.mark.parametrize(("plan", "why"), PLANS)
def test_a_plan_that_leads_nowhere_is_told(tmp_path: Path, plan: str, why: str) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/kit.yml").write_text(plan, encoding="utf-8")
    finding = data.read_kit(tmp_path, facts())[1][0]
    assert finding.file.endswith("data/kit.yml") and why in finding.text


def test_the_plan_of_the_handbook_leads_to_figures() -> None:
    assert _WRONG == [] and KIT.table["gpus"][H200]["product.bf16.8192"][0] == 691.2
