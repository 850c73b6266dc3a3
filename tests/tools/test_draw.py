"""The drawing library, and the figures that are made with it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from hooks.drawings import figures as rules
from tools.figures import draw
from tools.figures import topo as figures_topo

pytestmark = pytest.mark.tools

EVERYTHING = draw.figure(
    400,
    300,
    "All & sundry",
    "One of each <shape>.",
    draw.gpu(10, 10, 80, 40, "GPU 0"),
    draw.switch(100, 10, 100, 40, ("交换机", "Switch")),
    draw.nic(210, 10, 80, 40, ("网卡", "NIC")),
    draw.cpu(300, 10, 80, 40, "CPU", ("插槽 0", "Socket 0"), size=12),
    draw.memory(10, 80, 80, 40, "HBM"),
    draw.storage(100, 80, 80, 50, ("存储", "Storage")),
    draw.group(5, 140, 380, 60, ("服务器", "Server")),
    draw.link(10, 220, 200, 220, "nvlink", count=2, label="x2"),
    draw.link(10, 240, 200, 240, "pcie", bend=10),
    draw.link(10, 260, 200, 260, "net"),
    draw.legend(10, 285, "nvlink", "pcie", "net", "plain"),
)


def findings(tmp_path: Path, svg: str) -> list[str]:
    path = tmp_path / "figures" / "x.svg"
    path.parent.mkdir()
    path.write_text(svg, encoding="utf-8")
    return [f"{one.rule}: {one.message}" for one in rules.check_svg(path, "x.svg")]


def test_what_it_draws_passes_the_figure_check(tmp_path: Path) -> None:
    assert findings(tmp_path, EVERYTHING) == []


@pytest.mark.parametrize("stage", [draw.step, draw.frame])
def test_steps_pass_the_figure_check(stage: Callable[..., str], tmp_path: Path) -> None:
    parts = [stage(n, ("“一” < 二", '"a" < b & c'), draw.gpu(0, 0, 60, 40, "G")) for n in (1, 2, 3)]
    svg = draw.figure(100, 50, "T", "D", *parts)
    assert findings(tmp_path, svg) == []
    assert svg.count('display="none"') == (2 if stage is draw.frame else 0)


def test_the_palette_is_the_one_the_checks_know() -> None:
    assert set(draw.COLOURS) == set(rules.PALETTE)


def test_a_translated_label_becomes_a_switch_with_english_last() -> None:
    svg = draw.text(1, 2, ("交换机 <a>", "Switch & co"))
    chinese, english = re.findall(r"<text([^>]*)>([^<]*)</text>", svg)
    assert svg.startswith("<switch>")
    assert 'systemLanguage="zh"' in chinese[0]
    assert chinese[1] == "交换机 &lt;a&gt;"
    assert "systemLanguage" not in english[0]
    assert english[1] == "Switch &amp; co"
    assert "<switch>" not in draw.text(1, 2, "NVLink")


@pytest.mark.parametrize(
    ("label", "width", "fits"),
    [
        ("GPU0", 52, True),
        ("GPU0", 30, False),
        (("交换机", "Switch"), 80, True),
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
    ("style", "dashes"), [("nvlink", None), ("pcie", "7 4"), ("net", "2 4"), ("plain", None)]
)
def test_link_styles_differ_by_more_than_colour(style: draw.Style, dashes: str | None) -> None:
    svg = draw.link(0, 0, 10, 0, style)
    found = re.search(r'stroke-dasharray="([^"]*)"', svg)
    assert (found and found[1]) == dashes


def test_parallel_links_lie_side_by_side() -> None:
    starts = re.findall(r'd="M([\d.-]+) ([\d.-]+)', draw.link(0, 0, 100, 0, count=3))
    assert starts == [("0", "-6"), ("0", "0"), ("0", "6")]


@pytest.mark.parametrize(("value", "shown"), [(3, "3"), (2.25, "2.2"), (-0.04, "0"), (7.0, "7")])
def test_coordinates_are_short(value: float, shown: str) -> None:
    assert draw.num(value) == shown


@pytest.mark.parametrize("name", figures_topo.FIGURES)
def test_committed_figures_are_the_generated_ones(name: str, tmp_path: Path) -> None:
    svg = figures_topo.FIGURES[name]()
    assert findings(tmp_path, svg) == []
    committed = (figures_topo.FOLDER / name).read_text(encoding="utf-8")
    assert committed == svg, "run: python -m tools.figures.topo"


def test_no_generated_figure_is_forgotten() -> None:
    made = {path.name for path in figures_topo.FOLDER.glob("dgx1-*.svg")}
    made |= {path.name for path in figures_topo.FOLDER.glob("fabric-*.svg")}
    assert made == set(figures_topo.FIGURES)


def test_the_drawn_rings_use_every_link_once() -> None:
    rings = [figures_topo.ring_edges(ring) for ring in (figures_topo.RING_A, figures_topo.RING_B)]
    assert Counter(rings[0] + rings[1]) == Counter(figures_topo.QUADS + figures_topo.ACROSS)
    assert set(figures_topo.ring_edges(figures_topo.BACKBONE)) < set(
        figures_topo.QUADS + figures_topo.ACROSS
    )
