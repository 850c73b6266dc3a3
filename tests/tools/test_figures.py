"""What draws figures: every committed one is what its program gives, and keeps the rules."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hooks.drawings import figure_check as rules
from tests.samples import lay
from tools.figures import draw, verbs
from tools.figures.__main__ import GROUPS

FIGURES = [
    pytest.param(module.FOLDER / name, drawn, id=f"{group}-{name}")
    for group in GROUPS
    for module in [importlib.import_module(f"tools.figures.{group}")]
    for name, drawn in module.FIGURES.items()
]
EVERYTHING = draw.figure(
    400,
    300,
    "All & sundry",
    "One of each <shape>.",
    draw.gpu(10, 10, 80, 40, "GPU 0"),
    draw.switch(100, 10, 100, 40, ("交换机 <a>", "Switch & co")),
    draw.nic(210, 10, 80, 40, ("网卡", "NIC")),
    draw.cpu(300, 10, 80, 40, "CPU", ("插槽 0", "Socket 0"), size=12),
    draw.memory(10, 80, 80, 40, "HBM"),
    draw.storage(100, 80, 80, 50, ("存储", "Storage")),
    draw.group(5, 140, 380, 60, ("服务器", "Server")),
    draw.link(10, 220, 200, 220, "nvlink", count=2, label="x2"),
    draw.link(10, 240, 200, 240, "pcie", bend=10),
    draw.legend(10, 285, "nvlink", "pcie", "net", "plain"),
)


def _findings(tmp_path: Path, svg: str) -> list[str]:
    path = lay(tmp_path, {"figures/x.svg": svg}) / "figures/x.svg"
    return [f"{one.rule}: {one.message}" for one in rules.check_svg(path, "x.svg")]


@pytest.mark.parametrize(("path", "drawn"), FIGURES)
def test_committed_figures_are_the_drawn_ones(
    path: Path, drawn: Callable[[], str], tmp_path: Path
) -> None:
    svg = drawn()
    assert path.read_text(encoding="utf-8") == svg, "run: python -m tools.figures"
    assert _findings(tmp_path, svg) == []


def test_what_it_draws_passes_the_figure_check(tmp_path: Path) -> None:
    assert _findings(tmp_path, EVERYTHING) == []
    assert set(draw.COLOURS) == set(rules.PALETTE)
    assert re.search(r"<switch><text systemLanguage=\"zh\"[^>]*>交换机 &lt;a&gt;", EVERYTHING)


@pytest.mark.parametrize("stage", [draw.step, draw.frame])
def test_steps_pass_the_figure_check(stage: Callable[..., str], tmp_path: Path) -> None:
    parts = [stage(n, ("“一” < 二", '"a" < b & c'), draw.gpu(0, 0, 60, 40, "G")) for n in (1, 2, 3)]
    svg = draw.figure(100, 50, "T", "D", *parts)
    assert _findings(tmp_path, svg) == []
    assert svg.count('display="none"') == (2 if stage is draw.frame else 0)


@pytest.mark.parametrize(
    ("label", "width", "fits"),
    [
        ("GPU0", 52, True),
        ("GPU0", 30, False),
        (("一二三四五六", "six"), 80, False),
        (("六", "a rather long word"), 80, False),
    ],
)
def test_a_box_refuses_a_label_it_cannot_hold(label: draw.Label, width: float, fits: bool) -> None:
    if fits:
        assert "</text>" in draw.gpu(0, 0, width, 40, label)
    else:
        with pytest.raises(ValueError, match=r"needs \d+ units; the box has"):
            draw.gpu(0, 0, width, 40, label)


def test_small_text_is_refused() -> None:
    with pytest.raises(ValueError, match="too small"):
        draw.text(0, 0, "x", size=11)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "pakcet"}, "no kind of event"),
        ({"label": {"zh": "长" * 60, "en": "x"}}, "shorten it"),
    ],
)
def test_what_a_trace_cannot_say_is_told(change: dict[str, Any], message: str) -> None:
    trace = json.loads(next(verbs.TRACES.glob("*.json")).read_text(encoding="utf-8"))
    trace["events"][0] |= change
    with pytest.raises(ValueError, match=message):
        verbs.draw(trace)
