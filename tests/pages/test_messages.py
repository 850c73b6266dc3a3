"""Messages of programs: mistakes in the data, and logs as people paste them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from py_mini_racer import MiniRacer

from hooks.data.messages import example, read_messages
from hooks.handbook import Tree
from hooks.pages import messages as page
from tests.samples import note, read_yaml, tree

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "docs/assets/javascripts/messages"
LOGS: list[dict[str, Any]] = read_yaml(Path(__file__).with_name("logs.yml"))
PRINTED: dict[str, str] = read_yaml(Path(__file__).with_name("as_printed.yml"))
ORDINARY: list[str] = read_yaml(Path(__file__).with_name("ordinary.yml"))
ROW = """\
  - id: {id}
    text: '{text}'
    printed: https://a.example/b/blob/v1/c.cc#L3
    means: 甲
    causes: [乙]
    first: 丙
    note: {note}
"""


def _file(*rows: tuple[str, str, str]) -> str:
    made = "".join(ROW.format(id=one, text=text, note=to) for one, text, to in rows)
    return f"product: P\nmessages:\n{made}"


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        (_file(("a", "no brace {here fails", "n")), (4, 11), "no brace without its other"),
        (
            _file(("a", "it fails here", "n")).replace("    means", "    mean: x\n    means"),
            (6, 5),
            "did you",
        ),
        (_file(("A b", "it fails here", "n")), (3, 9), "A b"),
        (_file(("a", "it fails here", "n"), ("a", "so it goes", "n")), (10, 9), "stands twice"),
        (
            _file(("a", "it fails {1} times", "n"), ("b", "it fails {2} times", "n")),
            (10, 9),
            "'it fails 2 times' is taken for 'a'",
        ),
        (_file(("a", "it fails here", "none")), (9, 5), "there is no 'none'"),
        (_file(("a", "it fails here", "n#none")), (9, 5), "there is no 'none'"),
        (
            _file(("a", "it fails here", "n")).replace(
                "    means", "    versions: up to 2\n    means"
            ),
            (6, 15),
            "'up to 2' is English",
        ),
        ("product: P\nmessages: [\n", (3, 1), ""),
    ],
)
def test_a_mistake_has_its_place(
    tmp_path: Path, text: str, place: tuple[int, int], words: str
) -> None:
    notes, _ = tree(tmp_path, {"n.md": note("## 甲\n"), "messages/p.md": note("甲")})
    folder = tmp_path / "messages"
    folder.mkdir()
    (folder / "p.yml").write_text(text, encoding="utf-8")
    messages, findings = read_messages(folder, "docs/data/messages")
    found = sorted([*findings, *page.check(messages, notes)])
    assert [(one.line, one.column) for one in found] == [place]
    assert words in found[0].text
    assert found[0].rule == "messages"


def test_a_line_without_its_places() -> None:
    assert example("got {5|6} of {{n}}, {}") == "got 5 of {n}, "


@pytest.fixture(scope="module")
def racer(handbook_messages: dict[str, str]) -> Iterator[MiniRacer]:
    """Return V8 with the page's scripts and the handbook's own messages."""
    with MiniRacer() as racer:
        racer.eval(handbook_messages[page.SCRIPT.format(language="en")])
        for name in ("match", "log"):
            racer.eval((SCRIPTS / f"{name}.js").read_text(encoding="utf-8"))
        racer.eval("var table = handbookLog.table(handbookMessages.products);")
        yield racer


@pytest.fixture(scope="module")
def handbook_messages(handbook: Tree) -> dict[str, str]:
    """Return the handbook's own scripts."""
    return page.scripts(handbook.data.messages[0], handbook.notes, handbook.facts)


@pytest.mark.parametrize("case", LOGS, ids=[case["name"] for case in LOGS])
def test_a_log_is_read(racer: MiniRacer, case: dict[str, Any]) -> None:
    call = f"handbookLog.read({json.dumps(case['log'])}, table, handbookMessages.variables)"
    log = json.loads(str(racer.eval(f"JSON.stringify({call})")))
    assert [hit["row"]["id"] for hit in log["hits"]] == case["hits"]
    assert (log["first"] or {"row": {"id": ""}})["row"]["id"] == case["first"]
    for what, values in case.get("told", {}).items():
        assert sorted(log["told"][what]) == sorted(values)
    for name, meant in case.get("meant", {}).items():
        assert log["told"]["variables"][name]["meant"] == meant
    assert len(log["unknown"]) == case.get("unknown", 0)
    assert bool(log["matrix"]) == case.get("matrix", False)


def test_a_line_as_printed_is_known(racer: MiniRacer) -> None:
    found = {}
    for meant, line in PRINTED.items():
        call = f"handbookLog.read({json.dumps(line)}, table, handbookMessages.variables).hits"
        hits = json.loads(str(racer.eval(f"JSON.stringify({call})")))
        found[meant] = [hit["row"]["id"] for hit in hits]
    assert found == {meant: [meant] for meant in PRINTED}


def test_a_line_of_a_sound_run_is_no_message(racer: MiniRacer) -> None:
    log = json.dumps("\n".join(ORDINARY))
    call = f"handbookLog.read({log}, table, handbookMessages.variables).hits"
    hits = json.loads(str(racer.eval(f"JSON.stringify({call})")))
    assert [hit["row"]["id"] for hit in hits] == []


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("CUDA error: an illegal memory access was encountered unrelated line", "cuda-illegal"),
        ("no kernel image is available for execution on the device 装哪个版本", "cuda-no"),
        ("ptxas C7515 wgmma.mma_async instructions are serialized", "ptxas-wgmma"),
        ("容器里 ncu 报 ERR_NVGPUCTRPERM 没有权限", "ncu-err-nvgpuctrperm"),
        (
            "NCCL WARN NET/IB : Got completion with error 12, opcode 0, len 0",
            "nccl-ib-completion-12",
        ),
        ("ib_write_bw use_cuda Failed status 4: wr_id 0 syndrom 0x51", "perftest-status-4"),
        ("finished reduction in the prior iteration ddp", "pytorch-ddp-unused"),
        ("昇腾 HCCL EI0002 notify wait 超时", "hccl-ei0002"),
        ("Xid 79", "xid-79"),
        (
            "torch.cuda.is_available() False Found no NVIDIA driver on your system",
            "pytorch-no-driver",
        ),
        ("Xid 149", "xid-144"),
        ("nccl timeout", ""),
        ("what is NVLink SHARP multicast", ""),
        ("NVLink SHARP 组播是什么", ""),
        ("how to measure NVLink bandwidth", ""),
        ("RoCE 网络 nccl 带宽突然掉到 0.x GB/s 丢包", ""),
        ("kv cache size llama 70b", ""),
        ("H100 NVLink 单向带宽", ""),
        ("A800和A100区别", ""),
        ("dkms what is it nvidia", ""),
        ("how to set gpu power limit", ""),
        ("单机2卡能跑，但是4卡或者8卡就报错", ""),
        ("how to fix CUDA error: an illegal memory access was encountered", "cuda-illegal"),
        ("flash attention 为什么能省显存", ""),
        ("编译 flash-attn 卡住 Building wheel", "flash-attn-building-wheel"),
        ("deepspeed zero3 比 zero2 慢很多 显存还更大", ""),
    ],
)
def test_what_is_typed_is_taken_for_a_message_or_not(
    racer: MiniRacer, typed: str, wanted: str
) -> None:
    call = f"table.rank({json.dumps(typed)}).map(function (one) {{ return one.row.id; }})"
    found = json.loads(str(racer.eval(f"JSON.stringify({call})")))
    assert found[:1] == [] if not wanted else found[0].startswith(wanted)
