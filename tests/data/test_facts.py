"""Facts: read with places, refused when a figure says too little, drawn with unit and source."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from selectolax.lexbor import LexborHTMLParser

from hooks.data import downloads
from hooks.data.facts import FactBase
from hooks.data.load import load_facts
from hooks.data.options import BlockError
from hooks.pages import facts_table
from tests.samples import lay

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
FAMILY = (HERE / "gpu.yml").read_text(encoding="utf-8")
SOURCES = (HERE / "sources.yml").read_text(encoding="utf-8")
STYLES = ROOT / "docs/assets/stylesheets"


def load(tmp_path: Path, **files: str) -> tuple[FactBase, list[str]]:
    """Write a data folder and load it; findings as text."""
    folder = tmp_path / "docs/data"
    for name, text in ({"gpu": FAMILY, "sources_a": SOURCES} | files).items():
        kind, _, rest = name.rpartition("_")
        lay(folder, {f"{kind or 'facts'}/{rest}.yml": text})
    base, findings = load_facts(folder)
    return base, [finding.text for finding in findings]


@pytest.fixture
def base(tmp_path: Path) -> FactBase:
    """The valid family."""
    loaded, findings = load(tmp_path)
    assert findings == []
    return loaded


# --------------------------------------------------------------------- loading


def test_a_missing_folder_is_an_empty_base(tmp_path: Path) -> None:
    assert load_facts(tmp_path / "nowhere") == (FactBase(), [])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("year: {title", "title: [}", "facts/gpu.yml:5:11: error[facts-yaml] the file is not"),
        ("rows:\n", "family: x\nrows:\n", "facts/gpu.yml:10:1: error[facts-yaml] key 'family'"),
        ("  cells:\n", "  cells:\n      link: {}\n", "key 'link' stands twice"),
        ("row_header", "row_haeder", "facts/gpu.yml:3:1: error[facts-field] unknown field"),
        ("unit: GB/s, direction: bi", "unti: GB/s, direction: bi", "did you mean 'unit'?"),
        ("direction: bi", "direction: both", "gpu.yml:6:60: error[facts-field] 'direction' in"),
        ("density: dense", "density: full", "'columns.fp8': Input should be 'dense', 'sparse' or"),
        ("unit: TFLOPS, density: dense", "unit: TFLOPS", "error[facts-unit] column 'fp8' is a"),
        ("unit: GB/s, direction: uni, ", "", "gpu.yml:7:3: error[facts-unit] column 'lane'"),
        ("confidence: B, note", "confidence: C, note", "Input should be 'A' or 'B'"),
        ("source: blog, read: 2026-11-21, confidence: B, note", "source: blog, confidence: B, note",
         "gpu.yml:16:7: error[facts-field] field 'read' is missing in 'rows.h100.cells.lane'"),
        ("read: 2026-11-20", "read: soon", "must be a date such as 2026-11-21"),
        ("read: 2026-11-20", "read: 2999-01-01", "lies in the future"),
        ("value: 900", "value: true", "must be a number, a text in quotes"),
        ("{value: 900, source: paper", "{value: 900, source: papers",
         "gpu.yml:15:26: error[facts-source] no source 'papers'"),
        ("{value: 900, source: paper", "{value: 900, source: papers", "did you mean 'paper'?"),
        ("      link: {value: 3600", "      lnik: {value: 3600",
         "gpu.yml:25:7: error[facts-column] row 'rubin' fills column 'lnik'"),
        ("      link: {value: 3600", "      lnik: {value: 3600", "did you mean 'link'?"),
        ("status: announced\n", "status: rumoured\n", "'announced' or 'shipping'"),
        ("family: gpu", "family: cpu", "must be named as its file, 'gpu'"),
        ("title: {zh: 几代 GPU, en: GPU generations}", "title: {zh: GPU}", "field 'en' is missing"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_family(old: str, new: str, said: str, tmp_path: Path) -> None:
    assert FAMILY.count(old) >= 1
    found = load(tmp_path, gpu=FAMILY.replace(old, new, 1))[1]
    assert any(said in text for text in found), found


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("url: https://example.org/blog", "url: example.org", "sources/a.yml:11:8: error"),
        ("kind: secondary", "kind: third", "'kind' in 'blog'"),
        ("publisher: Someone", "publsher: Someone", "did you mean 'publisher'?"),
        ('date: "2022-03"', "date: [2022]", "must be a date as far as it is known"),
        ("blog:\n", "paper:\n", "key 'paper' stands twice"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_sources(old: str, new: str, said: str, tmp_path: Path) -> None:
    found = load(tmp_path, sources_a=SOURCES.replace(old, new, 1))[1]
    assert any(said in text for text in found), found


def test_an_unused_source_is_a_warning(tmp_path: Path) -> None:
    more = SOURCES.split("blog:")[0].replace("paper:", "spare:", 1)
    found = load(tmp_path, sources_b=more)[1]
    assert found == [
        "docs/data/sources/b.yml:1:1: warning[facts-unused-source] "
        "no cell names the source 'spare'; remove it or use it"
    ]


def test_one_source_in_two_files_is_an_error(tmp_path: Path) -> None:
    found = load(tmp_path, sources_b=SOURCES)[1]
    assert "source 'paper' is also in docs/data/sources/a.yml:1; keep one" in found[0]


@pytest.mark.parametrize("unit", ["unit: none", "unit: W"])
def test_a_number_column_with_a_unit_or_none_passes(unit: str, tmp_path: Path) -> None:
    text = FAMILY.replace("unit: GB/s, direction: uni", unit)
    assert load(tmp_path, gpu=text)[1] == []


def test_tags_that_could_run_code_are_refused(tmp_path: Path) -> None:
    text = FAMILY + "\nextra: !!python/object/apply:os.getcwd []\n"
    assert "error[facts-yaml]" in load(tmp_path, gpu=text)[1][0]


# --------------------------------------------------------------------- drawing


def drawn(base: FactBase, spec: str = "table: gpu", language: str = "en") -> LexborHTMLParser:
    """Parse the HTML of a block."""
    return LexborHTMLParser(facts_table.render(spec, base, language))


def words(tree: LexborHTMLParser, selector: str) -> list[str]:
    """Texts of all matches, blanks collapsed."""
    return [" ".join(node.text().split()) for node in tree.css(selector)]


def test_all_data_can_be_downloaded(base: FactBase) -> None:
    tree = LexborHTMLParser(facts_table.render("table: gpu", base, "zh", "link/topo"))
    links = [node.attributes["href"] for node in tree.css(".facts__data a[download]")]
    assert links == ["../../data/gpu.csv"]
    files = downloads.files(base)
    assert set(files) == {"data/gpu.csv"}
    rows = list(csv.DictReader(files["data/gpu.csv"].removeprefix("\ufeff").splitlines()))
    lane = next(row for row in rows if row["column"] == "lane")
    assert (lane["row"], lane["value"], lane["unit"]) == ("h100", "12.50", "GB/s")
    assert (lane["direction"], lane["per"], lane["note_en"]) == ("uni", "lane", "computed")
    assert (lane["url"], lane["read"]) == ("https://example.org/blog", "2026-11-21")


@pytest.mark.parametrize(
    ("options", "rows"),
    [
        ("where: year >= 2020", ["H100 SXM"]),
        ("where: link > 900", ["Rubin (preliminary) announced"]),
        ("where: link", ["H100 SXM", "Rubin (preliminary) announced"]),
        ("where: [link >= 900, year]", ["H100 SXM"]),
        ("where: form = module", ["H100 SXM"]),
        ("where: form = 模组", ["H100 SXM"]),
        ("order: -link", ["Rubin (preliminary) announced", "H100 SXM"]),
        ("order: link", ["H100 SXM", "Rubin (preliminary) announced"]),
        ("order: year", ["H100 SXM", "Rubin (preliminary) announced"]),
        ("order: [-year, link]", ["H100 SXM", "Rubin (preliminary) announced"]),
    ],
)
def test_rows_are_filtered_and_ordered(options: str, rows: list[str], base: FactBase) -> None:
    assert words(drawn(base, f"table: gpu\n{options}"), "tbody th") == rows


def test_columns_and_rows_are_chosen_in_order(base: FactBase) -> None:
    tree = drawn(base, "table: gpu\ncolumns: [fp8, year]\nrows: [rubin, h100]\ncaption: Two")
    assert words(tree, "tbody th") == ["Rubin (preliminary) announced", "H100 SXM"]
    assert words(tree, "thead th")[2] == "Year"
    assert words(tree, "caption") == ["Two"]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("table: gup", "no table 'gup'; did you mean 'gpu'?"),
        ("table: storage", "there are: gpu"),
        ("table: gpu\ncolumns: [yaer]", "no column 'yaer'; did you mean 'year'?"),
        ("table: gpu\nrows: [h10]", "no row 'h10'; did you mean 'h100'?"),
        ("table: gpu\nwhere: yaer > 1", "no column 'yaer'; did you mean 'year'?"),
        ("table: gpu\nwhere: year is 1", "'where' holds conditions such as 'year >= 2020'"),
        ("table: gpu\nwhere: {year: 1}", "'where' holds conditions such as"),
        ("table: gpu\nwhere: year > new", "compares numbers with a word"),
        ("table: gpu\nwhere: year > 2999", "no row meets 'where'"),
        ("table: gpu\norder: -yaer", "no column 'yaer'; did you mean 'year'?"),
        ("table: gpu\nrow: [h100]", "no field of a facts block 'row'; did you mean 'rows'?"),
        ("table: gpu\nrows: h100", "'rows' must be a list"),
        ("table: gpu\ncaption: {zh: 甲}", "'caption' must be"),
        ("columns: [year]", "needs a line 'table: NAME'"),
        ("gpu", "holds lines such as 'table: NAME'"),
    ],
)
def test_what_a_block_may_not_ask(spec: str, said: str, base: FactBase) -> None:
    with pytest.raises(BlockError) as error:
        facts_table.render(spec, base, "zh")
    assert said in str(error.value)


@pytest.mark.browser
def test_a_wide_table_scrolls_in_itself_on_a_phone(browser: Browser, base: FactBase) -> None:
    css = "".join(
        (STYLES / name).read_text(encoding="utf-8") for name in ("handbook.css", "data.css")
    )
    page = browser.new_page(viewport={"width": 360, "height": 700})
    table = facts_table.render("table: gpu", base, "en")
    page.set_content(f'<style>{css}</style><div class="md-typeset">{table}</div>')
    widths = page.evaluate(
        "() => { const s = document.querySelector('.facts__scroll');"
        " return [document.documentElement.scrollWidth, s.scrollWidth, s.clientWidth] }"
    )
    page.focus(".facts__scroll")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('.facts__scroll').scrollLeft > 0")
    page.close()
    assert widths[0] <= 360
    assert widths[1] > widths[2]


@pytest.mark.browser
def test_a_column_is_sorted_by_keyboard_and_by_number(browser: Browser, base: FactBase) -> None:
    script = (ROOT / "docs/assets/javascripts/tables.js").read_text(encoding="utf-8")
    page = browser.new_page()
    page.set_content(facts_table.render("table: gpu", base, "en"))
    page.add_script_tag(content=script)
    head = page.locator("thead th", has_text="Link")

    rows = page.locator("tbody th")
    for order, names in (
        ("ascending", ["H100", "Rubin"]),
        ("descending", ["Rubin", "H100"]),
        ("none", ["H100", "Rubin"]),
    ):
        head.locator("button").focus()
        page.keyboard.press("Enter")
        expect(head).to_have_attribute("aria-sort", order)
        expect(rows).to_have_text([re.compile(name) for name in names])
    year = page.locator("thead th", has_text="Year")
    year.locator("button").click()
    year.locator("button").click()
    expect(year).to_have_attribute("aria-sort", "descending")
    expect(rows.last).to_contain_text("Rubin")  # a row without the figure stays last
    expect(head).to_have_attribute("aria-sort", "none")
    page.close()
