"""Sequence diagrams are drawn from the traces of the verbs simulator."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from hooks.drawings import figures as rules
from hooks.drawings import svg
from tools.figures import draw
from tools.figures import verbs as figures_verbs

FIXTURES = sorted((Path(__file__).parents[1] / "fixtures/verbs").glob("*.json"))
TRACES = [*FIXTURES, *sorted(figures_verbs.TRACES.glob("*.json"))]


def read(path: Path) -> dict[str, Any]:
    trace: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return trace


@pytest.fixture(params=TRACES, ids=lambda path: path.stem)
def trace(request: pytest.FixtureRequest) -> dict[str, Any]:
    """A trace: of the handbook, or made by hand."""
    return read(request.param)


@pytest.mark.parametrize("name", figures_verbs.FIGURES)
def test_committed_figure_is_what_the_trace_gives(name: str) -> None:
    committed = (figures_verbs.FOLDER / name).read_text(encoding="utf-8")
    assert committed == figures_verbs.FIGURES[name](), "run: python -m tools.figures.verbs"


def test_no_figure_is_left_from_a_trace_that_is_gone() -> None:
    made = {path.name for path in figures_verbs.FOLDER.glob("seq-*.svg")}
    assert made == set(figures_verbs.FIGURES)


def test_it_passes_the_figure_check(trace: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "x.svg"
    path.write_text(figures_verbs.draw(trace), encoding="utf-8")
    assert rules.check_svg(path, "x.svg") == []


def test_every_event_is_a_step_with_its_rule(trace: dict[str, Any]) -> None:
    root = svg.parse(figures_verbs.draw(trace).encode())
    steps = [one for one in root.walk() if "data-step" in one.attributes]
    assert [int(one.attributes["data-step"]) for one in steps] == [
        *range(1, len(trace["events"]) + 1)
    ]
    for event, one in zip(trace["events"], steps, strict=True):
        for language in ("zh", "en"):
            assert one.attributes[f"data-caption-{language}"] == event["note"][language]
            said = "".join(re.split(r"\s", event["label"][language]))
            assert said in re.sub(r"\s", "", one.text)


def test_nothing_leaves_the_drawing(trace: dict[str, Any]) -> None:
    root = svg.parse(figures_verbs.draw(trace).encode())
    width, height = (float(one) for one in root.attributes["viewBox"].split()[2:])
    assert width <= figures_verbs.MOST
    bottom = 0.0
    for one in root.walk():
        if one.name != "text":
            continue
        half = draw.text_width(one.text, float(one.attributes["font-size"])) / 2
        x, anchor = float(one.attributes["x"]), one.attributes.get("text-anchor")
        left = x - {"middle": half, "end": 2 * half}.get(anchor or "", 0)
        assert left >= -0.1 and left + 2 * half <= width + 0.1, one.text
        bottom = max(bottom, float(one.attributes["y"]))
    assert bottom < height


def test_four_lanes_fit_a_phone() -> None:
    """Their text is seen at its own size on a screen of 390 pixels, of which the page takes 32."""
    drawing = figures_verbs.Sequence(read(FIXTURES[0]))
    assert len(drawing.x) == 4
    shown = (390 - 32) / drawing.width * figures_verbs.SMALL
    assert shown >= 10


def test_a_long_diagram_names_its_lanes_again() -> None:
    trace = read(FIXTURES[0])
    assert figures_verbs.draw(trace).count(">NIC A<") == 1
    trace["events"] *= 3
    assert figures_verbs.draw(trace).count(">NIC A<") == 3


def test_time_is_written_once_where_it_stands_still() -> None:
    drawing = figures_verbs.draw(read(FIXTURES[0]))
    assert drawing.count(">0.5<") == 1
    assert drawing.count(">67,109.36<") == 1


def test_a_drop_ends_in_a_cross_before_the_other_lane() -> None:
    trace = read(FIXTURES[0])
    drawn = figures_verbs.Sequence(trace)
    dropped = next(one for one in trace["events"] if one["kind"] == "drop")
    pieces = drawn.row(dropped)
    assert not any("<polygon" in piece for piece in pieces)
    line = next(piece for piece in pieces if "<line" in piece)
    end = float(re.findall(r'x2="([\d.]+)"', line)[0])
    assert drawn.x["nic_a"] < end < drawn.x["nic_b"] - 10


def test_a_completion_with_an_error_has_a_cross_not_a_tick() -> None:
    event = next(one for one in read(FIXTURES[0])["events"] if one["kind"] == "cqe")
    tick, cross = "l4 4l6 -8", "l8 8m0 -8l-8 8"
    good = "".join(figures_verbs.Sequence(read(FIXTURES[0])).row(event))
    failed = event | {"label": {"zh": "CQE #1 RETRY_EXC_ERR", "en": "CQE #1 RETRY_EXC_ERR"}}
    bad = "".join(figures_verbs.Sequence(read(FIXTURES[0])).row(failed))
    assert (tick in good, cross in good) == (True, False)
    assert (tick in bad, cross in bad) == (False, True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "pakcet"}, "no kind of event"),
        ({"label": {"zh": "长" * 60, "en": "x"}}, "shorten it"),
    ],
)
def test_what_it_cannot_draw_is_said(change: dict[str, Any], message: str) -> None:
    trace = read(FIXTURES[0])
    trace["events"][0] |= change
    with pytest.raises(ValueError, match=message):
        figures_verbs.draw(trace)
