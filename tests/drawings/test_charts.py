"""Charts: what a fence may ask, what is drawn, and that it can be read without seeing it."""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser
from selectolax.lexbor import LexborHTMLParser, LexborNode

from hooks.cache import Cache
from hooks.data.facts import FactBase
from hooks.data.load import load_facts
from hooks.data.options import BlockError
from hooks.drawings import Chart, Point
from hooks.drawings.charts import grammar, svg
from hooks.drawings.charts import spec as charts
from hooks.pages import chart as chart_html
from hooks.pages.frame import Stock
from tests.data.test_facts import FAMILY, SOURCES
from tests.data.test_measured import RECORD

MORE = """\
  p100:
    title: {zh: 帕斯卡, en: Pascal}
    cells:
      year: {value: 2016, source: blog, read: 2026-11-21, confidence: A}
      link: {value: 160, source: blog, read: 2026-11-21, confidence: A}
      lane: {value: 2500, source: blog, read: 2026-11-21, confidence: A}
"""
SAID = "description: {zh: 说明, en: what it shows}\n"
FACTS = f"table: gpu\ny: link\n{SAID}"
FILE = "file: t/measured/p2p.json\n"
SIZES = f"{FILE}results: [sizes]\nmark: line\nlog: x\n{SAID}"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with one family of three rows and one measured record."""
    folder = tmp_path_factory.mktemp("charts")
    for name in ("facts", "sources"):
        (folder / "docs/data" / name).mkdir(parents=True)
    (folder / "docs/t/measured").mkdir(parents=True)
    (folder / "docs/data/facts/gpu.yml").write_text(FAMILY + MORE, encoding="utf-8")
    (folder / "docs/data/sources/a.yml").write_text(SOURCES, encoding="utf-8")
    record: dict[str, Any] = copy.deepcopy(RECORD)
    sizes = record["results"][1] | {"direction": "uni", "unit": "GB/s"}
    sizes["points"] = [
        {"bytes": 4194304, "value": 225, "p5": 220, "p95": 230},
        {"bytes": 1024, "value": 9},
    ]
    record["results"][1] = sizes
    record["specification"].append({"id": "power", "value": 700, "unit": "W"})
    record["results"].append(sizes | {"id": "other", "title": {"zh": "另", "en": "Other"}})
    (folder / "docs/t/measured/p2p.json").write_text(json.dumps(record), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def base(root: Path) -> FactBase:
    """The facts of the repository."""
    loaded, findings = load_facts(root / "docs/data")
    assert findings == []
    return loaded


def read(spec: str, base: FactBase, root: Path, language: str = "en") -> Chart:
    """Read a fence."""
    return charts.read(spec, base, root / "docs", language)


def drawn(
    spec: str, base: FactBase, root: Path, language: str = "en"
) -> tuple[LexborHTMLParser, dict[str, str]]:
    """Draw a fence on the page en/t/x.html; its HTML and its files."""
    chart = read(spec, base, root, language)
    done = chart_html.draw(chart, spec, Stock(base, root / "docs", root), language, "en/t")
    return LexborHTMLParser(done.html), done.files


# ----------------------------------------------------------------------------- asking


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("y: link", "needs a line 'table: NAME' or 'file:"),
        (f"{FACTS}file: x.json", "needs a line 'table: NAME' or 'file:"),
        (f"table: gup\ny: link\n{SAID}", "no table 'gup'; did you mean 'gpu'?"),
        (f"table: gpu\ny: lnik\n{SAID}", "no column 'lnik'; did you mean 'link'?"),
        (f"table: gpu\n{SAID}", "a chart of a table needs 'y: COLUMN'"),
        ("table: gpu\ny: link", "a chart needs 'description: {zh: …, en: …}'"),
        ("table: gpu\ny: link\ndescription: {zh: 甲}", "'description' must be a text or"),
        (f"{FACTS}mark: pie", "no mark 'pie'"),
        (f"{FACTS}marks: bar", "no field of a chart block 'marks'; did you mean 'mark'?"),
        (f"{FACTS}results: [x]", "'results' goes with 'file', not with 'table'"),
        (f"table: gpu\ny: [link, fp8]\n{SAID}", "columns in GB/s and TFLOPS have no common axis"),
        (f"table: gpu\ny: form\n{SAID}", "there is nothing to draw"),
        (f"{FACTS}mark: line", "'mark: line' needs numbers along x"),
        (f"{FACTS}log: y", "bars have lengths, which a logarithmic scale has not"),
        (f"{FACTS}mark: point\nlog: x", "'log: x' needs numbers along x"),
        (f"{FACTS}lines: [{{spec: gpu_uni}}]", "'lines' goes with 'file', not with 'table'"),
        (f"{SIZES}lines: {{spec: gpu_uni}}", "'lines' must be a list"),
        (f"{SIZES}lines: [{{spce: gpu_uni}}]", "did you mean 'spec'?"),
        (f"{SIZES}lines: [{{title: x}}]", "a line must be such as {spec: gpu_uni"),
        (f"{SIZES}lines: [{{spec: power}}]", "a line in W has no place on an axis in GB/s"),
        (SIZES.replace("p2p.json", "p2q.json"), "did you mean 't/measured/p2p.json'?"),
        (f"{SIZES}y: value", "'y' goes with 'table', not with 'file'"),
        (f"{SIZES}lines: [{{spec: gpu_un}}]", "no specification 'gpu_un'; did you mean 'gpu_uni'?"),
        (f"{SIZES}where: bytes > 1e12", "there is nothing to draw"),
    ],
)
def test_what_a_chart_may_not_ask(spec: str, said: str, base: FactBase, root: Path) -> None:
    with pytest.raises(BlockError) as error:
        read(spec, base, root)
    assert said in str(error.value)


def test_several_columns_are_series_in_one_unit(base: FactBase, root: Path) -> None:
    chart = read(f"table: gpu\ny: [link, lane]\n{SAID}", base, root)
    assert chart.series == ["Link", "Lane"]
    assert chart.y_title == "GB/s"
    values = [(point.x, point.y) for point in chart.points if point.series == "Lane"]
    assert values == [("H100 SXM", 12.5), ("Pascal", 2500)]


def test_points_along_a_column_keep_the_names_of_their_rows(base: FactBase, root: Path) -> None:
    chart = read(f"{FACTS}x: year\nmark: point\norder: year", base, root, "zh")
    assert [(point.x, point.x_label, point.y) for point in chart.points] == [
        (2016, "帕斯卡", 160),
        (2022, "H100 SXM", 900),
    ]
    assert (chart.x_title, chart.y_title) == ("年份", "互联 （GB/s，双向合计，每 GPU）")
    assert chart.sources == ["blog", "paper"]


def test_measured_points_are_in_order_with_their_spread(base: FactBase, root: Path) -> None:
    chart = read(f"{SIZES}lines: [{{spec: gpu_uni}}]", base, root)
    assert [(p.x, p.x_label, p.y, p.low, p.high) for p in chart.points] == [
        (1024, "1 KiB", 9, None, None),
        (4194304, "4 MiB", 225, 220, 230),
    ]
    assert [line.label for line in chart.lines] == [
        "specification 450 GB/s (one direction, per GPU)"
    ]


# ---------------------------------------------------------------------------- drawing


def marks(spec: dict[str, Any]) -> list[str]:
    """Types of the layers."""
    return [
        layer["mark"]["type"] if isinstance(layer["mark"], dict) else layer["mark"]
        for layer in spec["layer"]
    ]


def test_series_differ_in_more_than_colour(base: FactBase, root: Path) -> None:
    two = SIZES.replace("[sizes]", "[sizes, other]")
    layers = grammar.specification(read(two, base, root))["layer"]
    line = next(layer for layer in layers if layer["mark"]["type"] == "line")
    point = next(layer for layer in layers if layer["mark"]["type"] == "point")
    dashes = line["encoding"]["strokeDash"]["scale"]["range"]
    shapes = point["encoding"]["shape"]["scale"]["range"]
    assert len({str(dash) for dash in dashes}) == len(set(shapes)) == 2
    bars = grammar.specification(read(f"table: gpu\ny: [link, lane]\n{SAID}", base, root))
    texts = [row["text"] for row in bars["data"]["values"]]
    assert texts[:2] == ["900  Link", "12.50  Lane"]
    assert marks(bars) == ["bar", "text"]


def test_scales_and_reference_lines_are_those_asked_for(base: FactBase, root: Path) -> None:
    spec = grammar.specification(read(f"{SIZES}lines: [{{spec: gpu_uni}}]", base, root))
    first = spec["layer"][0]["encoding"]
    assert first["x"]["scale"]["type"] == "log"
    assert "type" not in first["y"]["scale"]
    rules = [layer for layer in spec["layer"] if layer["encoding"].get("y", {}).get("datum")]
    assert [layer["encoding"]["y"]["datum"] for layer in rules] == [450, 450]
    assert rules[0]["mark"]["strokeDash"]


@pytest.fixture(scope="module")
def page(base: FactBase, root: Path) -> tuple[LexborHTMLParser, dict[str, str]]:
    """A measured chart, drawn in Chinese."""
    two = SIZES.replace("[sizes]", "[sizes, other]")
    return drawn(f"{two}lines: [{{spec: gpu_uni}}]\ntitle: 拷贝 <大小>", base, root, "zh")


Page = tuple[LexborHTMLParser, dict[str, str]]


def test_the_drawing_has_a_name_and_words(page: Page) -> None:
    node = page[0].css_first("figure.chart svg")
    assert node is not None
    assert node.attributes["role"] == "img"
    assert node.attributes["aria-label"] == "拷贝 <大小>. 说明"
    desc = node.css_first("desc")
    assert desc is not None
    assert desc.text() == "说明"
    caption = page[0].css_first("figcaption")
    assert caption is not None
    assert caption.text() == "拷贝 <大小>"


POINTS = [31214, 31220, 31251], [2016, 2017, 2025], [999990, 999999, 1000040], [1, 40, 9000]


@pytest.mark.parametrize("places", POINTS)
@pytest.mark.parametrize("log", [(), ("y",)])
def test_no_text_leaves_the_drawing(places: list[int], log: tuple[str, ...]) -> None:
    points = [Point(x, str(x), 3.0 * n) for n, x in enumerate(places, start=1)]
    chart = Chart("point", "t", "d", "step", "loss", "", points, log=log)
    drawing = LexborHTMLParser(svg.draw(grammar.specification(chart))).css_first("svg")
    assert drawing is not None
    width = float((drawing.attributes["viewBox"] or "").split()[2])
    texts = [node for node in drawing.css("text") if "rotate" not in str(node.attributes)]
    assert len(texts) > len(places)
    for node in texts:
        long = 0.62 * float((node.attributes["font-size"] or "").removesuffix("px"))
        long *= len(node.text())
        part = {"middle": 0.5, "end": 1.0}.get(node.attributes.get("text-anchor") or "", 0.0)
        left = across(node) - part * long
        assert -1 <= left <= left + long <= width + 1, node.text()


def across(node: LexborNode | None) -> float:
    """Return how far to the right of its drawing an element begins."""
    place = 0.0
    while node is not None and node.tag != "svg":
        moved = re.match(r"translate\(([-\d.]+)", node.attributes.get("transform") or "")
        place += float(moved[1]) if moved else 0
        node = node.parent
    return place


def test_every_colour_follows_the_scheme(page: Page) -> None:
    for node in page[0].css("svg *"):
        for name in ("fill", "stroke"):
            value = node.attributes.get(name)
            allowed = value is None or value in ("none", "transparent", "")
            assert allowed or re.fullmatch(r"var\(--fig-[\w-]+, #[0-9a-f]{6}\)", value or ""), value


def test_every_variable_of_a_chart_has_a_dark_value() -> None:
    sheets = Path(__file__).resolve().parents[2] / "docs/assets/stylesheets"
    css = "".join(
        (sheets / name).read_text(encoding="utf-8") for name in ("handbook.css", "data.css")
    )
    dark = "".join(re.findall(r'\[data-md-color-scheme="slate"\] \{([^}]*)\}', css))
    for name in grammar.ROLES.values():
        assert f"{name}:" in dark, name


def test_the_data_are_a_table_with_the_share_of_the_specification(page: Page) -> None:
    heads = [node.text() for node in page[0].css("details.chart__data th[scope=col]")]
    assert heads == ["大小", "系列", "数值 (GB/s)", "p5–p95", "占“规格 450 GB/s （单向，每 GPU）”"]
    rows = page[0].css("details.chart__data tbody tr")
    last = [cell.text() for cell in rows[-1].css("th, td")]
    assert len(rows) == 4
    assert last[0] == "4 MiB"
    assert last[2:] == ["225", "220–230", "50.0%"]


def test_a_drawing_is_the_same_whatever_fonts_a_machine_has(
    base: FactBase, root: Path, tmp_path: Path
) -> None:
    """Also that it is kept: one is drawn here, the other by a process that sees no fonts."""
    chart = read(SIZES.replace("[sizes]", "[sizes, other]"), base, root, "zh")
    text = json.dumps(grammar.specification(chart))
    assert "另" in json.loads(text)["data"]["values"][-1]["series"]
    config = tmp_path / "fonts.conf"
    config.write_text(f"<fontconfig><dir>{tmp_path}</dir></fontconfig>", encoding="utf-8")
    program = "import json, sys; from hooks.drawings.charts import svg; "
    program += "sys.stdout.buffer.write(svg.draw(json.loads(sys.argv[1])).encode())"
    bare = subprocess.run(
        [sys.executable, "-c", program, text],
        env={**os.environ, "FONTCONFIG_FILE": str(config)},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        check=True,
    )
    kept = Cache(tmp_path / "kept")
    assert svg.draw(json.loads(text), kept) == bare.stdout.decode()
    (file,) = (tmp_path / "kept/chart").iterdir()
    assert svg.draw(json.loads(text), kept) == bare.stdout.decode()
    assert [file] == list((tmp_path / "kept/chart").iterdir())


@pytest.mark.browser
def test_a_chart_is_seen_whole_on_a_phone_and_follows_the_scheme(
    browser: Browser, base: FactBase, root: Path
) -> None:
    sheets = Path(__file__).resolve().parents[2] / "docs/assets/stylesheets"
    css = "".join(
        (sheets / name).read_text(encoding="utf-8") for name in ("handbook.css", "data.css")
    )
    page = browser.new_page(viewport={"width": 360, "height": 700})
    html = drawn(SIZES, base, root)[0].html
    page.set_content(f'<style>{css}</style><div class="md-typeset">{html}</div>')

    ink = "getComputedStyle(document.querySelector('svg text[fill]')).fill"
    light = page.evaluate(ink)
    page.evaluate("document.body.setAttribute('data-md-color-scheme', 'slate')")
    page.wait_for_function(f"light => {ink} !== light", arg=light)
    widths = page.evaluate(
        "() => { const s = document.querySelector('.figure__scroll');"
        " return [document.documentElement.scrollWidth, s.scrollWidth - s.clientWidth] }"
    )
    page.close()
    assert widths[0] <= 360, "the chart widens the page"
    assert widths[1] <= 0, "a part of the chart lies outside the phone"
